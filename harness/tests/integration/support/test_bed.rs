//! Real servers that a test can break and listen to, and clients of one lock on them.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_checker::history::{FaultNote, Header, NodeView, read_jsonl};
use lockstorm_harness::client::AnyLock;
use lockstorm_harness::clock::RunClock;
use lockstorm_harness::connection::{Dialer, LateReply, NoTrail, Trail, Wire};
use lockstorm_harness::locks::{LockContext, SharedState};
use lockstorm_harness::recorder::Recorder;
use lockstorm_harness::seed::Seed;
use lockstorm_harness::server::Servers;
use lockstorm_harness::trace::Watch;
use lockstorm_nemesis::{Nemesis, NoteSink};
use lockstorm_scenarios::{
    Cut, CutMode, FaultSpec, Link, Lock, Replicated, Single, Topology, load_str,
};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use super::{WITHIN, servers};

/// Pause between two looks at an awaited condition.
const POLL: Duration = Duration::from_millis(10);
/// Long enough for any server, short enough to wait for where no reply comes.
const REPLY_TIMEOUT: Duration = Duration::from_millis(500);

/// Takes no notes.
struct Silent;

#[async_trait]
impl NoteSink for Silent {
    async fn note(&self, _: FaultNote) {}
}

/// Servers and a nemesis to break them; the folder lives as long.
pub struct TestBed {
    reply_timeout: Duration,
    pub servers: Arc<Servers>,
    pub nemesis: Nemesis,
    _folder: Option<tempfile::TempDir>,
}

impl TestBed {
    /// One server, without the fabric.
    pub async fn single() -> Self {
        Self::new(Topology::Single(Single::default()), false).await
    }

    /// One server, with the fabric between it and its clients.
    pub async fn behind_the_fabric() -> Self {
        Self::new(Topology::Single(Single::default()), true).await
    }

    /// A primary and replicas, with the fabric between them.
    pub async fn replicated(replicas: u32) -> Self {
        let topology = Topology::Replicated(Replicated {
            replicas,
            ..Replicated::default()
        });
        Self::new(topology, true).await
    }

    /// Servers of this shape.
    pub async fn new(topology: Topology, fabric: bool) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        // Members that write to disk before they answer, or a JVM that has just begun, take their
        // time on a busy machine.
        let is_slow = matches!(topology, Topology::Etcd(_) | Topology::Zookeeper(_));
        let servers = servers(topology, fabric, folder.path()).await;
        Self {
            reply_timeout: REPLY_TIMEOUT * if is_slow { 4 } else { 1 },
            _folder: Some(folder),
            ..Self::of(servers)
        }
    }

    /// These servers, whose files somebody else keeps.
    pub fn of(servers: Servers) -> Self {
        let servers = Arc::new(servers);
        Self {
            reply_timeout: REPLY_TIMEOUT,
            nemesis: Nemesis::new(servers.clone(), Arc::new(Silent), Seed(1).stream("lots")),
            servers,
            _folder: None,
        }
    }

    /// Client number `n`, called `c<n>`, with its side of the lock.
    pub fn client(&self, n: usize, lock: &str) -> AnyLock {
        AnyLock::new(&spec(lock), self.context(n)).expect("it is one of ours")
    }

    /// Client number `n`, which gives servers on a busy machine more time for an answer.
    pub fn patient(&self, n: usize, lock: &str) -> AnyLock {
        let mut context = self.context(n);
        context.dialer.reply_timeout *= 6;
        AnyLock::new(&spec(lock), context).expect("it is one of ours")
    }

    /// Client number `n`, as a thread of the instance that has the state `shared`.
    pub fn thread(&self, n: usize, lock: &str, shared: SharedState) -> AnyLock {
        let context = LockContext {
            shared,
            ..self.context(n)
        };
        AnyLock::new(&spec(lock), context).expect("it is one of ours")
    }

    /// Context of client number `n`, from which a lock can be made.
    pub fn context(&self, n: usize) -> LockContext {
        self.context_with(n, Arc::new(NoTrail))
    }

    /// Context with somebody who is told which servers the client turns to.
    pub fn context_with(&self, n: usize, trail: Arc<dyn Trail>) -> LockContext {
        let name = format!("c{n}");
        let dialer = Dialer {
            source: self.servers.introduce_client(&name, n),
            gate: self.servers.registry().register(&name),
            reply_timeout: self.reply_timeout,
            batch_timeout: Duration::ZERO,
            late: LateReply::Closes,
            trail,
            commands: &[],
        };
        LockContext {
            client: name.clone(),
            dialer,
            route: self.servers.route(),
            shared: SharedState::default(),
            rng: Seed(1).stream(&name),
        }
    }

    /// Asks the primary.
    pub async fn ask(&self, args: &[&str]) -> String {
        let reply = self.servers.command("primary", args).await;
        reply.expect("the primary answers")
    }

    /// Asks the primary for a number.
    pub async fn number(&self, args: &[&str]) -> i64 {
        let reply = self.ask(args).await;
        reply.parse().expect("the reply is a number")
    }

    /// Waits until the primary answers as it should.
    pub async fn until(&self, args: &[&str], right: &str) {
        let deadline = Instant::now() + WITHIN;
        loop {
            let reply = self.ask(args).await;
            if reply == right {
                return;
            }
            assert!(Instant::now() < deadline, "{args:?}: still {reply}");
            sleep(POLL).await;
        }
    }

    /// Nothing passes in this direction from now on.
    pub async fn cut(&mut self, from: &str, to: &str) {
        let cut = Cut {
            from: from.into(),
            to: to.into(),
            mode: CutMode::Stall,
        };
        let cut = self.nemesis.inject(&FaultSpec::Cut(cut)).await;
        cut.expect("the link is cut, and that is observed");
    }

    /// Everything passes again.
    pub async fn heal(&mut self, from: &str, to: &str) {
        let link = Link {
            from: from.into(),
            to: to.into(),
        };
        let healed = self.nemesis.heal_link(&link).await;
        healed.expect("the link heals");
    }

    /// Views that a watch notes of `keys` on these servers, in one round. Where a value or a key is
    /// `mark-of-a`, the client `a` wrote it.
    pub async fn views(&self, keys: &[&str]) -> Vec<(String, Vec<NodeView>)> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("history.jsonl");
        let recorder = Recorder::start(&path, &Header::new(), RunClock::start());
        let recorder = recorder.expect("the file can be created");
        let names = keys.iter().map(|&key| key.into()).collect();
        let watch = Watch::new(Arc::clone(&self.servers), names, recorder.sink());
        watch.marks().note("mark-of-a".to_owned(), &"a".into());
        watch.look().await;
        recorder.finish().await.expect("all is written");
        let file = File::open(&path).expect("the file is there");
        let history = read_jsonl(BufReader::new(file), "history").expect("and a history");
        let views = history.events.into_iter().filter_map(|event| {
            let view = event.value.view?;
            Some((event.key.to_string(), view.nodes))
        });
        views.collect()
    }

    /// Listens to all that the primary is sent from now on.
    pub async fn monitor(&self) -> Monitor {
        let address = self.servers.nodes()[0].private;
        let stream = TcpStream::connect(address).await.expect("it is up");
        let mut wire = Wire::new(stream);
        let begun = wire.send(&redis::cmd("MONITOR")).await;
        begun.expect("the server tells what it is sent");
        Monitor { wire }
    }
}

/// A connection that hears what a server executes.
pub struct Monitor {
    wire: Wire,
}

impl Monitor {
    /// The next command, as the server tells it: time, sender, words.
    pub async fn next(&mut self) -> String {
        match self.wire.read().await.expect("the server goes on telling") {
            redis::Value::SimpleString(line) => line,
            odd => panic!("no line of MONITOR: {odd:?}"),
        }
    }

    /// All that clients sent so far; what their scripts called is left out.
    pub async fn so_far(&mut self, bed: &TestBed) -> Vec<String> {
        const MARK: &str = "up-to-here";
        bed.ask(&["ECHO", MARK]).await;
        let mut lines = Vec::new();
        loop {
            let line = self.next().await;
            if line.contains(MARK) {
                return lines;
            }
            if !line.contains(" lua] ") {
                lines.push(line);
            }
        }
    }
}

/// The lock that a scenario file would name so.
pub fn spec(lock: &str) -> Lock {
    let many = ["redlock", "redisson-multi", "redisson-red"];
    let topology = if many.iter().any(|many| lock.starts_with(many)) {
        "independent"
    } else if lock.starts_with("etcd") {
        "etcd"
    } else if lock.starts_with("zookeeper") {
        "zookeeper"
    } else if lock.starts_with("mysql") {
        "mariadb"
    } else if lock.starts_with("postgres") {
        "postgres"
    } else {
        "single"
    };
    let text = format!(
        "name = \"test\"\ntopology.{topology} = {{}}\nlock.{lock}\n\
         [[step]]\nacquire = {{ client = \"a\" }}\n"
    );
    let loaded = load_str(&text, "test", &[]).expect("the lock is written as it should be");
    loaded.scenario.lock.expect("a lock is named")
}

/// How many of these lines are the command.
pub fn with_command(lines: &[String], command: &str) -> usize {
    let quoted = format!("] \"{command}\" ");
    lines.iter().filter(|line| line.contains(&quoted)).count()
}
