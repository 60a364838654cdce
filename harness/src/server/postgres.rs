//! PostgreSQL: a primary, and replicas that get what was written after the writer has its answer.
//!
//! A server lets in whoever comes to its address, which is the run's own. It refuses to run as
//! root, see [`not_as_root`]. A replica begins with a copy of its primary and follows its log.

use std::fs::{self, Permissions};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::{FaultError, Rank, Redis, Server};
use lockstorm_scenarios::{Memory, Persistence, Postgres, System};
use tokio::time::{Instant, sleep};

use super::binary::{Program, find_pgbouncer, find_postgres};
use super::family::prove_clean;
use super::node::{Node, absolute, show};
use super::pooler::{self, PoolerServer};
use super::role::{DataRole, Role};
use super::shape::{Address, NodePlace, Shape, places, start_each};
use super::software::Software;
use crate::connection::{Answer, PostgresWire, Route, ask_sql, postgres_literal};
use crate::environment_error::EnvironmentError;
use crate::locks::number_of_lock;
use crate::process::{Facade, bind_source, not_as_root};

/// Time that a server may take from its start to its first answer.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// Time that replicas may take to have what the primary has.
const IN_STEP_WITHIN: Duration = Duration::from_secs(20);
/// Pause between two questions whether they have.
const POLL: Duration = Duration::from_millis(5);
/// Time that a server may take to answer what it is asked.
const PATIENCE: Duration = Duration::from_millis(500);

/// Name under which everybody comes.
const USER: &str = "lockstorm";
/// Rules by which everybody is let in who finds the address.
const LETS_IN: &str = "host all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n";
/// Statements for what locks need: a table of leases, and a sequence of fencing tokens.
const TABLES: [&str; 3] = [
    "CREATE SCHEMA lockstorm",
    "CREATE TABLE lockstorm.leases (name bytea PRIMARY KEY, owner bytea NOT NULL, \
     fence bigint NOT NULL, expires timestamptz NOT NULL)",
    "CREATE SEQUENCE lockstorm.fence",
];
/// Statements that remove all that clients have made in the database that they are given: sessions,
/// and with them their locks, and schemas.
const CLEANS: [&str; 3] = [
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    "DO $$ DECLARE one text; BEGIN \
     FOR one IN SELECT nspname FROM pg_namespace \
     WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' \
     LOOP EXECUTE format('DROP SCHEMA %I CASCADE', one); END LOOP; END $$",
    "CREATE SCHEMA public",
];
/// Number of things that clients can leave elsewhere: sessions that are not over yet, their locks,
/// transactions in two steps, databases, users, and settings.
const LEFT: &str = "SELECT \
    (SELECT count(*) FROM pg_stat_activity \
     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) + \
    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') + \
    (SELECT count(*) FROM pg_prepared_xacts) + \
    (SELECT count(*) FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres') + \
    (SELECT count(*) FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> 'lockstorm') + \
    (SELECT count(*) FROM pg_db_role_setting)";
/// Place in the log behind all that was written.
const END_OF_LOG: &str = "SELECT pg_current_wal_lsn()";
/// Settings of every server. What a writer was answered is on its disk, and on no other.
const SETTINGS: [&str; 15] = [
    "unix_socket_directories=",
    "max_connections=1000",
    "shared_buffers=8MB",
    // Goes with the folder of its data.
    "dynamic_shared_memory_type=mmap",
    "fsync=on",
    "synchronous_commit=on",
    "synchronous_standby_names=",
    "wal_keep_size=64MB",
    "wal_sender_timeout=2s",
    "wal_receiver_status_interval=1s",
    "wal_retrieve_retry_interval=100ms",
    "autovacuum=off",
    "jit=off",
    "logging_collector=on",
    "log_filename=log",
];

/// One server.
struct Database {
    name: String,
    public: SocketAddr,
    private: SocketAddr,
    /// Where the primary listens that it begins with a copy of, and where everybody finds it.
    follows: Option<Address>,
    facades: Vec<Facade>,
    folder: PathBuf,
    program: PathBuf,
}

impl Database {
    async fn ask(&self, statement: &str) -> Result<Answer, FaultError> {
        let answer = ask_sql::<PostgresWire>(self.private, statement, PATIENCE).await;
        answer.map_err(|reason| self.failure(reason))
    }

    fn failure(&self, reason: String) -> FaultError {
        FaultError::Node {
            action: "ask",
            node: self.name.clone(),
            reason,
        }
    }

    async fn value(&self, statement: &str) -> Result<String, FaultError> {
        let answer = self.ask(statement).await?;
        let value = answer.value().map(str::to_owned);
        value.ok_or_else(|| self.failure(format!("'{statement}' was answered {answer:?}")))
    }

    async fn number(&self, statement: &str) -> Result<i64, FaultError> {
        let value = self.value(statement).await?;
        let number = value.parse();
        number.map_err(|_| self.failure(format!("'{statement}' was answered '{value}'")))
    }

    /// Runs one of the programs that come with the server, to its end.
    fn run_program(&self, name: &str, arguments: &[&str]) -> Result<(), EnvironmentError> {
        let program = self.program.with_file_name(name);
        let mut command = Command::new(&program);
        command.args(arguments).stdin(Stdio::null());
        not_as_root(&mut command);
        let output = command.output();
        let output = output.map_err(EnvironmentError::io("start", show(&program)))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("it says nothing").to_owned();
        let failed = std::io::Error::other(last);
        Err(EnvironmentError::io("run", show(&program))(failed))
    }

    /// Fills the empty folder of its data.
    fn set_up(&self, data: &Path) -> Result<(), EnvironmentError> {
        let path = show(data);
        // It refuses a folder that others may look into.
        fs::set_permissions(data, Permissions::from_mode(0o700))
            .map_err(EnvironmentError::io("close", path.clone()))?;
        match &self.follows {
            None => {
                let how = ["--no-sync", "--no-instructions", "-A", "trust", "-U", USER];
                let more = ["--locale=C", "-E", "UTF8", "--wal-segsize=1", "-D", &path];
                self.run_program("initdb", &[&how[..], &more[..]].concat())?;
            }
            Some(primary) => {
                // Past the network, which carries what comes later.
                let (host, port) = (primary.private.ip(), primary.private.port());
                let (host, port) = (host.to_string(), port.to_string());
                let from = ["-h", &host, "-p", &port, "-U", USER, "-D", &path];
                let how = ["-X", "stream", "--checkpoint=fast", "--no-sync"];
                self.run_program("pg_basebackup", &[&from[..], &how[..]].concat())?;
                write(&data.join("standby.signal"), "")?;
                let follows = format!("primary_conninfo = '{}'\n", way_to(primary.public));
                write(&data.join("postgresql.auto.conf"), &follows)?;
            }
        }
        write(&data.join("pg_hba.conf"), LETS_IN)
    }
}

fn write(path: &Path, text: &str) -> Result<(), EnvironmentError> {
    fs::write(path, text).map_err(EnvironmentError::io("write", show(path)))
}

/// Words by which a replica finds its primary.
fn way_to(primary: SocketAddr) -> String {
    let (host, port) = (primary.ip(), primary.port());
    format!("host={host} port={port} user={USER}")
}

#[async_trait]
impl Server for Database {
    fn system(&self) -> System {
        System::Postgres
    }

    fn greeting(&self) -> &'static str {
        "SELECT 1"
    }

    async fn greet(&self) -> Result<(), FaultError> {
        self.number("SELECT 1").await.map(|_| ())
    }

    async fn run(&self) -> Result<String, FaultError> {
        let at = self.value("SELECT pg_postmaster_start_time()").await?;
        Ok(format!("that began at {at}"))
    }

    async fn rank(&self) -> Result<Rank, FaultError> {
        let follows = self.value("SELECT pg_is_in_recovery()").await? == "t";
        let whom = if follows { "another" } else { "nobody" };
        Ok(Rank {
            leads: !follows,
            term: 0,
            words: format!("pg_is_in_recovery() says that it follows {whom}"),
        })
    }

    async fn clock_us(&self) -> Result<i64, FaultError> {
        self.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
            .await
    }

    async fn entries(&self) -> Result<u64, FaultError> {
        let count = self
            .number("SELECT count(*) FROM lockstorm.leases WHERE expires > clock_timestamp()")
            .await?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    async fn has(&self, key: &str) -> Result<bool, FaultError> {
        let (name, number) = (postgres_literal(key), number_of_lock(key).cast_unsigned());
        let (high, low) = (number >> 32, number & u64::from(u32::MAX));
        let known = format!(
            "SELECT (SELECT count(*) FROM lockstorm.leases \
             WHERE name = {name} AND expires > clock_timestamp()) + \
             (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted \
             AND classid = {high} AND objid = {low})"
        );
        Ok(self.number(&known).await? > 0)
    }

    async fn has_no_old_entry(&self) -> Result<bool, FaultError> {
        Ok(self.entries().await? == 0)
    }

    async fn keeps_nothing(&self) -> bool {
        false
    }

    /// Ends the lease; the count of holders goes on.
    async fn remove(&self, key: &str) -> Result<u64, FaultError> {
        let name = postgres_literal(key);
        let end = format!(
            "UPDATE lockstorm.leases SET expires = '-infinity' \
             WHERE name = {name} AND expires > clock_timestamp()"
        );
        match self.ask(&end).await? {
            Answer::Changed(rows) => Ok(rows),
            other => Err(self.failure(format!("the update was answered {other:?}"))),
        }
    }

    /// A primary writes into its log what its replicas are to hear. A replica asks for the log
    /// anew.
    async fn speak(&self) -> Result<(), FaultError> {
        let speak = if self.rank().await?.leads {
            "SELECT pg_logical_emit_message(true, 'lockstorm', '')"
        } else {
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE backend_type = 'walreceiver'"
        };
        self.ask(speak).await.map(|_| ())
    }

    fn redis(&self) -> Option<&dyn Redis> {
        None
    }
}

#[async_trait]
impl Software for Database {
    fn start_command(&self, memory: Memory) -> Result<Command, EnvironmentError> {
        let folder = absolute(&self.folder)?;
        let data = folder.join("data");
        if memory == Memory::Lost {
            self.set_up(&data)?;
        }
        let mut command = Command::new(&self.program);
        command.arg("-D").arg(&data);
        let own = [
            format!("listen_addresses={}", self.private.ip()),
            format!("port={}", self.private.port()),
            format!("log_directory={}", show(&folder)),
        ];
        for setting in SETTINGS.map(str::to_owned).iter().chain(&own) {
            command.args(["-c", setting]);
        }
        not_as_root(&mut command);
        if let IpAddr::V4(source) = self.public.ip() {
            bind_source(&mut command, source, self.facades.clone())
                .map_err(EnvironmentError::io("start", self.name.clone()))?;
        }
        Ok(command)
    }

    fn ready_within(&self) -> Duration {
        READY_WITHIN
    }

    async fn is_ready(&self, process: i32) -> Result<(), String> {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid"));
        let file = file.unwrap_or_default();
        if file.lines().next() != Some(&*process.to_string()) {
            return Err("it has not said which process it is".to_owned());
        }
        self.greet().await.map_err(|error| error.to_string())
    }
}

#[async_trait]
impl Shape for Postgres {
    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        let role = |follows| {
            Role::Data(DataRole {
                follows,
                persistence: Persistence::AofAlways,
                ..DataRole::default()
            })
        };
        let replicas = (0..self.replicas).map(|_| role(Some(public[0])));
        let pooler = self.pooler.map(|_| Role::Pooler);
        std::iter::once(role(None))
            .chain(replicas)
            .chain(pooler)
            .collect()
    }

    fn program(&self, _redis: Program) -> Result<Program, EnvironmentError> {
        if self.pooler.is_some() {
            find_pgbouncer()?;
        }
        find_postgres()
    }

    fn software(&self, place: NodePlace<'_>) -> Box<dyn Software> {
        if let (Role::Pooler, Some(mode)) = (place.role, self.pooler) {
            // It was found before; where it went since, its start says so.
            let program = find_pgbouncer().map_or_else(|_| "pgbouncer".into(), |found| found.path);
            return Box::new(PoolerServer::new(&place, program, mode));
        }
        let follows = place.role.data().and_then(|role| role.follows);
        let primary = place.all.iter().find(|node| Some(node.public) == follows);
        Box::new(Database {
            name: place.name.to_owned(),
            public: place.public,
            private: place.private,
            follows: primary.cloned(),
            facades: place.facades(),
            folder: place.folder.to_owned(),
            program: place.program.path.clone(),
        })
    }

    fn route(&self, nodes: &[Node]) -> Route {
        Route::new(places(std::slice::from_ref(entrance(nodes))))
    }

    async fn writable(&self, nodes: &[Node], route: &Route) -> Vec<String> {
        let entrance = entrance(nodes);
        if entrance.role.data().is_some() {
            return route.nodes().into_iter().map(|(name, _)| name).collect();
        }
        let behind = data_nodes(nodes).find(|node| pooler::leads_to(entrance, node.public));
        behind.map(|node| node.name.clone()).into_iter().collect()
    }

    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        let (primary, replicas) = nodes.split_at(1);
        start_each(primary).await?;
        tell(&primary[0], &TABLES).await?;
        start_each(replicas).await?;
        for replica in data_nodes(replicas) {
            wait_until_streaming(replica).await?;
        }
        Ok(())
    }

    /// A pooler keeps connections that were ended for good ones.
    fn can_be_cleaned(&self) -> bool {
        self.pooler.is_none()
    }

    async fn clean(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        let (primary, replicas) = nodes.split_at(1);
        tell(&primary[0], &CLEANS).await?;
        tell(&primary[0], &TABLES).await?;
        wait_until_says(&primary[0], LEFT, "0").await?;
        let at = ask_sql::<PostgresWire>(primary[0].private, END_OF_LOG, PATIENCE).await;
        let at = at.map_err(|reason| primary[0].not_ready(&reason))?;
        for replica in replicas {
            wait_until_streaming(replica).await?;
            let has = format!(
                "SELECT pg_last_wal_replay_lsn() >= '{}'",
                at.value().unwrap_or_default()
            );
            wait_until_says(replica, &has, "t").await?;
        }
        for node in nodes {
            prove_clean(node).await?;
        }
        Ok(())
    }

    async fn promote(&self, nodes: &[Node], route: &Route, node: &Node) -> Result<(), FaultError> {
        let ask = async |node: &Node, statement: String| {
            let answer = ask_sql::<PostgresWire>(node.private, &statement, READY_WITHIN).await;
            answer.map_err(|reason| FaultError::Node {
                action: "promote",
                node: node.name.clone(),
                reason,
            })
        };
        ask(node, "SELECT pg_promote()".to_owned()).await?;
        for other in nodes {
            let follows = other.role.data().is_some_and(|role| role.follows.is_some());
            if other.name != node.name && other.pid().is_some() && follows {
                let way = way_to(node.public);
                ask(
                    other,
                    format!("ALTER SYSTEM SET primary_conninfo = '{way}'"),
                )
                .await?;
                ask(other, "SELECT pg_reload_conf()".to_owned()).await?;
            }
        }
        let Some(pooler) = nodes.iter().find(|node| node.role.data().is_none()) else {
            route.replace(places(std::slice::from_ref(node)));
            return Ok(());
        };
        let led = pooler::lead(pooler, node.public).await;
        led.map_err(|reason| FaultError::Node {
            action: "lead to another",
            node: pooler.name.clone(),
            reason,
        })
    }
}

/// The node where clients come.
fn entrance(nodes: &[Node]) -> &Node {
    let pooler = nodes.iter().find(|node| node.role.data().is_none());
    pooler.unwrap_or(&nodes[0])
}

/// Those that keep data.
fn data_nodes(nodes: &[Node]) -> impl Iterator<Item = &Node> {
    nodes.iter().filter(|node| node.role.data().is_some())
}

async fn tell(node: &Node, statements: &[&str]) -> Result<(), EnvironmentError> {
    for statement in statements {
        let told = ask_sql::<PostgresWire>(node.private, statement, READY_WITHIN).await;
        told.map_err(|reason| node.not_ready(&reason))?;
    }
    Ok(())
}

/// Waits until a replica hears its primary.
async fn wait_until_streaming(replica: &Node) -> Result<(), EnvironmentError> {
    const STREAMS: &str = "SELECT count(*) FROM pg_stat_wal_receiver WHERE status = 'streaming'";
    wait_until_says(replica, STREAMS, "1").await
}

async fn wait_until_says(
    node: &Node,
    statement: &str,
    value: &str,
) -> Result<(), EnvironmentError> {
    let deadline = Instant::now() + IN_STEP_WITHIN;
    loop {
        let said = ask_sql::<PostgresWire>(node.private, statement, PATIENCE).await;
        if said
            .as_ref()
            .is_ok_and(|answer| answer.value() == Some(value))
        {
            return Ok(());
        }
        if Instant::now() > deadline {
            let reason = format!("'{statement}' was answered {said:?}, and not {value}");
            return Err(node.not_ready(&reason));
        }
        sleep(POLL).await;
    }
}
