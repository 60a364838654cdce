//! MariaDB: a primary, and replicas that get what was written after the writer has its answer.
//!
//! Servers keep no table of users: whoever comes to their addresses, which are the run's own, is
//! let in, and no installation has to come before the first start. A replica reads the primary's
//! log of changes from its beginning, and finds there the table of locks that the primary was
//! given.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_nemesis::{FaultError, Rank, Redis, Server};
use lockstorm_scenarios::{Mariadb, Memory, Persistence, System};
use tokio::time::{Instant, sleep};

use super::binary::{Program, find_mariadb};
use super::family::prove_clean;
use super::node::{Node, absolute};
use super::role::{DataRole, Role};
use super::shape::{NodePlace, Shape, places, start_each};
use super::software::Software;
use crate::connection::{Answer, MysqlWire, Route, ask_sql, mysql_literal};
use crate::environment_error::EnvironmentError;
use crate::process::{Facade, bind_source};

/// Time that a server may take from its start to its first answer.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// Time that replicas may take to have what the primary has.
const IN_STEP_WITHIN: Duration = Duration::from_secs(20);
/// Pause between two questions whether they have.
const POLL: Duration = Duration::from_millis(5);
/// Time that a server may take to answer what it is asked.
const PATIENCE: Duration = Duration::from_millis(500);

/// Begin of the log of changes, which replicas read from there.
const FIRST_LOG: &str = "changes.000001";
/// The table of locks, and the database that it is in.
const TABLE: [&str; 2] = [
    "CREATE DATABASE IF NOT EXISTS lockstorm",
    "CREATE TABLE IF NOT EXISTS lockstorm.locks \
     (name VARBINARY(255) PRIMARY KEY, owner VARCHAR(64) NOT NULL) ENGINE = InnoDB",
];

/// Sessions of clients: others are the server's own, and those of replicas.
const SESSIONS: &str = "SELECT id FROM information_schema.processlist \
    WHERE user <> 'system user' AND command NOT IN ('Binlog Dump', 'Daemon') \
    AND id <> CONNECTION_ID()";
/// Tables that are not the server's own. A whole database is not dropped: without the tables that
/// an installation has, a primary does it and notes an error, over which its replicas stumble.
const TABLES: &str = "SELECT CONCAT('`', table_schema, '`.`', table_name, '`') \
    FROM information_schema.tables WHERE table_schema \
    NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')";
/// Databases that clients have made.
const DATABASES: &str = "SELECT schema_name FROM information_schema.schemata WHERE schema_name \
    NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys', 'lockstorm')";

/// One server.
struct Database {
    /// Its number, from 1 on.
    number: usize,
    name: String,
    public: SocketAddr,
    private: SocketAddr,
    facades: Vec<Facade>,
    /// Number of starts so far.
    starts: AtomicU64,
    folder: PathBuf,
    program: PathBuf,
}

impl Database {
    async fn ask(&self, statement: &str) -> Result<Answer, FaultError> {
        let answer = ask_sql::<MysqlWire>(self.private, statement, PATIENCE).await;
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
}

#[async_trait]
impl Server for Database {
    fn system(&self) -> System {
        System::Mariadb
    }

    fn greeting(&self) -> &'static str {
        "SELECT 1"
    }

    async fn greet(&self) -> Result<(), FaultError> {
        self.number("SELECT 1").await.map(|_| ())
    }

    /// The name that it was started under: no other start has it.
    async fn run(&self) -> Result<String, FaultError> {
        self.value("SELECT @@report_host").await
    }

    async fn rank(&self) -> Result<Rank, FaultError> {
        let answer = self.ask("SHOW SLAVE STATUS").await?;
        let follows = matches!(&answer, Answer::Rows(rows) if !rows.is_empty());
        let whom = if follows { "another" } else { "nobody" };
        Ok(Rank {
            leads: !follows,
            term: 0,
            words: format!("SHOW SLAVE STATUS says that it follows {whom}"),
        })
    }

    async fn clock_us(&self) -> Result<i64, FaultError> {
        self.number("SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)")
            .await
    }

    async fn entries(&self) -> Result<u64, FaultError> {
        let count = self.number("SELECT COUNT(*) FROM lockstorm.locks").await?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    async fn has(&self, key: &str) -> Result<bool, FaultError> {
        let name = mysql_literal(key);
        let known = format!(
            "SELECT IS_USED_LOCK({name}) IS NOT NULL OR \
             EXISTS (SELECT * FROM lockstorm.locks WHERE name = {name})"
        );
        Ok(self.number(&known).await? > 0)
    }

    async fn has_no_old_entry(&self) -> Result<bool, FaultError> {
        Ok(self.entries().await? == 0)
    }

    async fn keeps_nothing(&self) -> bool {
        false
    }

    async fn remove(&self, key: &str) -> Result<u64, FaultError> {
        let name = mysql_literal(key);
        let delete = format!("DELETE FROM lockstorm.locks WHERE name = {name}");
        match self.ask(&delete).await? {
            Answer::Changed(rows) => Ok(rows),
            other => Err(self.failure(format!("the delete was answered {other:?}"))),
        }
    }

    /// A primary lets its replicas hear of it ten times a second. A replica only listens, and says
    /// something where it asks for the log of changes anew.
    async fn speak(&self) -> Result<(), FaultError> {
        if self.rank().await?.leads {
            return Ok(());
        }
        for statement in ["STOP SLAVE IO_THREAD", "START SLAVE IO_THREAD"] {
            self.ask(statement).await?;
        }
        Ok(())
    }

    fn redis(&self) -> Option<&dyn Redis> {
        None
    }
}

#[async_trait]
impl Software for Database {
    fn start_command(&self, _memory: Memory) -> Result<Command, EnvironmentError> {
        let path = |name: &str| -> Result<String, EnvironmentError> {
            Ok(absolute(&self.folder.join(name))?.display().to_string())
        };
        let start = self.starts.fetch_add(1, Ordering::Relaxed);
        let mut command = Command::new(&self.program);
        command
            // Whoever starts it as root has to say so.
            .args(["--no-defaults", "--user=root"])
            .arg(format!("--datadir={}", path("data")?))
            .arg(format!("--log-error={}", path("log")?))
            // In the folder of its data, for the system takes no long name here.
            .arg("--socket=socket")
            .arg(format!("--pid-file={}", path("pid")?))
            .arg(format!("--bind-address={}", self.private.ip()))
            .arg(format!("--port={}", self.private.port()))
            .arg(format!("--server-id={}", self.number))
            .arg(format!("--report-host=start-{start}"))
            .args([
                "--skip-grant-tables",
                "--skip-networking=0",
                "--skip-name-resolve",
            ])
            .args([
                "--log-bin=changes",
                "--relay-log=relayed",
                "--slave-net-timeout=1",
            ])
            // A change is safe on the disk before its writer has an answer.
            .args(["--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1"])
            // Small, and started soon.
            .args(["--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M"])
            .args(["--innodb-autoextend-increment=1", "--performance-schema=0"])
            .args([
                "--innodb-data-file-path=ibdata1:3M:autoextend",
                "--max-connections=4000",
            ])
            .arg("--innodb-temp-data-file-path=ibtmp1:3M:autoextend");
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
        let pid = std::fs::read_to_string(self.folder.join("pid"));
        if pid.ok().as_deref().map(str::trim) != Some(&*process.to_string()) {
            return Err("it has not said which process it is".to_owned());
        }
        self.greet().await.map_err(|error| error.to_string())
    }
}

#[async_trait]
impl Shape for Mariadb {
    fn roles(&self, public: &[SocketAddr]) -> Vec<Role> {
        let role = |follows| {
            Role::Data(DataRole {
                follows,
                persistence: Persistence::AofAlways,
                ..DataRole::default()
            })
        };
        let replicas = (0..self.replicas).map(|_| role(Some(public[0])));
        std::iter::once(role(None)).chain(replicas).collect()
    }

    fn program(&self, _redis: Program) -> Result<Program, EnvironmentError> {
        find_mariadb()
    }

    fn software(&self, place: NodePlace<'_>) -> Box<dyn Software> {
        let own = place.all.iter().position(|other| other.name == place.name);
        Box::new(Database {
            number: own.map_or(1, |at| at + 1),
            name: place.name.to_owned(),
            public: place.public,
            private: place.private,
            facades: place.facades(),
            starts: AtomicU64::new(1),
            folder: place.folder.to_owned(),
            program: place.program.path.clone(),
        })
    }

    fn route(&self, nodes: &[Node]) -> Route {
        Route::new(places(&nodes[..1]))
    }

    async fn start(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        start_each(nodes).await?;
        let primary = &nodes[0];
        for statement in TABLE {
            tell(primary, statement).await?;
        }
        for replica in &nodes[1..] {
            follow(replica, primary.public, (FIRST_LOG, 4)).await?;
            wait_until_in_step(replica).await?;
        }
        Ok(())
    }

    fn can_be_cleaned(&self) -> bool {
        true
    }

    /// The locks of a session, and what it has made for itself, end with it.
    async fn clean(&self, nodes: &[Node]) -> Result<(), EnvironmentError> {
        let primary = &nodes[0];
        end_sessions(primary).await?;
        for table in names(primary, TABLES).await? {
            tell(primary, &format!("DROP TABLE {table}")).await?;
        }
        if let Some(database) = names(primary, DATABASES).await?.first() {
            return Err(primary.not_ready(&format!("it has a database '{database}'")));
        }
        for statement in TABLE {
            tell(primary, statement).await?;
        }
        let end = ask(primary, "SHOW MASTER STATUS").await?;
        let end = log_of(&end).ok_or_else(|| primary.not_ready(&format!("{end:?}")))?;
        for replica in &nodes[1..] {
            wait_until_has(replica, &end).await?;
        }
        for node in nodes {
            prove_clean(node).await?;
        }
        Ok(())
    }

    /// The others follow the promoted one from where its own log of changes is: what one of them
    /// has and it has not stays there.
    async fn promote(&self, nodes: &[Node], route: &Route, node: &Node) -> Result<(), FaultError> {
        let refused = |reason: String| FaultError::Node {
            action: "promote",
            node: node.name.clone(),
            reason,
        };
        let ask = async |node: &Node, statement: String| {
            let answer = ask_sql::<MysqlWire>(node.private, &statement, PATIENCE).await;
            answer.map_err(refused)
        };
        ask(node, "STOP SLAVE".to_owned()).await?;
        ask(node, "RESET SLAVE ALL".to_owned()).await?;
        let at = ask(node, "SHOW MASTER STATUS".to_owned()).await?;
        let (log, position) = log_of(&at).ok_or_else(|| refused(format!("{at:?}")))?;
        for other in nodes {
            let follows = other.role.data().is_some_and(|role| role.follows.is_some());
            if other.name != node.name && other.pid().is_some() && follows {
                let change = change_to(node.public, (&log, position));
                for statement in ["STOP SLAVE".to_owned(), change, "START SLAVE".to_owned()] {
                    ask(other, statement).await?;
                }
            }
        }
        route.replace(places(std::slice::from_ref(node)));
        Ok(())
    }
}

/// Name of the log of changes that a server writes, and where its end is.
fn log_of(status: &Answer) -> Option<(String, u64)> {
    let Answer::Rows(rows) = status else {
        return None;
    };
    match rows.first()?.as_slice() {
        [Some(log), Some(position), ..] => Some((log.clone(), position.parse().ok()?)),
        _ => None,
    }
}

/// Statement that has a replica read the log of another server from there on.
fn change_to(primary: SocketAddr, (log, position): (&str, u64)) -> String {
    let (ip, port) = (primary.ip(), primary.port());
    format!(
        "CHANGE MASTER TO MASTER_HOST = '{ip}', MASTER_PORT = {port}, MASTER_USER = 'replica', \
         MASTER_LOG_FILE = '{log}', MASTER_LOG_POS = {position}, MASTER_CONNECT_RETRY = 1, \
         MASTER_HEARTBEAT_PERIOD = 0.1"
    )
}

async fn follow(
    replica: &Node,
    primary: SocketAddr,
    from: (&str, u64),
) -> Result<(), EnvironmentError> {
    tell(replica, &change_to(primary, from)).await?;
    tell(replica, "START SLAVE").await
}

async fn ask(node: &Node, statement: &str) -> Result<Answer, EnvironmentError> {
    let answer = ask_sql::<MysqlWire>(node.private, statement, READY_WITHIN).await;
    answer.map_err(|reason| node.not_ready(&reason))
}

async fn tell(node: &Node, statement: &str) -> Result<(), EnvironmentError> {
    ask(node, statement).await.map(|_| ())
}

/// The first column of what a server says.
async fn names(node: &Node, statement: &str) -> Result<Vec<String>, EnvironmentError> {
    let first = |row: Vec<Option<String>>| row.into_iter().next().flatten();
    match ask(node, statement).await? {
        Answer::Rows(rows) => Ok(rows.into_iter().filter_map(first).collect()),
        _ => Ok(Vec::new()),
    }
}

/// Ends the sessions of all clients, and waits until they are over.
async fn end_sessions(node: &Node) -> Result<(), EnvironmentError> {
    let deadline = Instant::now() + IN_STEP_WITHIN;
    loop {
        let sessions = names(node, SESSIONS).await?;
        let Some(one) = sessions.first() else {
            return Ok(());
        };
        if Instant::now() > deadline {
            return Err(node.not_ready(&format!("session {one} does not end")));
        }
        for session in sessions {
            // One that has just ended is not known any more.
            let _ = ask(node, &format!("KILL {session}")).await;
        }
        sleep(POLL).await;
    }
}

/// Waits until a replica has what its primary had written up to here.
async fn wait_until_has(
    replica: &Node,
    (log, position): &(String, u64),
) -> Result<(), EnvironmentError> {
    let within = IN_STEP_WITHIN.as_secs();
    let wait = format!("SELECT MASTER_POS_WAIT('{log}', {position}, {within})");
    let answer = ask_sql::<MysqlWire>(replica.private, &wait, 2 * IN_STEP_WITHIN).await;
    let answer = answer.map_err(|reason| replica.not_ready(&reason))?;
    // It tells how much the replica lacked, -1 where it still does, and NULL where it follows
    // nobody.
    let lacked = answer.value().and_then(|value| value.parse::<i64>().ok());
    match lacked {
        Some(0..) => Ok(()),
        Some(_) | None => Err(replica.not_ready("it lacks what its primary has")),
    }
}

/// Waits until a replica has the table of locks.
async fn wait_until_in_step(replica: &Node) -> Result<(), EnvironmentError> {
    let deadline = Instant::now() + IN_STEP_WITHIN;
    while let Err(error) = replica.server().entries().await {
        if Instant::now() > deadline {
            return Err(replica.not_ready(&error.to_string()));
        }
        sleep(POLL).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_tells_where_its_log_ends() {
        let cell = |text: &str| Some(text.to_owned());
        let status = Answer::Rows(vec![vec![cell("changes.000002"), cell("342"), None, None]]);
        assert_eq!(log_of(&status), Some(("changes.000002".to_owned(), 342)));
        assert_eq!(log_of(&Answer::Rows(Vec::new())), None);
    }
}
