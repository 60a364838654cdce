//! Nothing that was acknowledged is missing in the history of a harness that was killed.
//!
//! Each round SIGKILL ends a storm at another moment, `LOCKSTORM_ROUNDS` times (3 unless set; `make
//! kills` takes 200). What must be there is known from others: from adapters that write down what
//! they are asked before they answer, and from a MONITOR of the server. Every request that got out
//! must be invoked in the history, and every answer after which its client asked for more must be
//! completed there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;

use crate::support::{have_server, lockstorm, wait_until};
use lockstorm_checker::history::{Event, Function, Kind, read_jsonl};

/// Clients of a storm.
const CLIENTS: usize = 4;

/// A client that is granted whatever it asks for, and says in a file what it was asked before it
/// answers: `$0` is the folder of these files.
const ADAPTER: &str = r#"
while read -r line; do
  id=${line#*'"id":'}; id=${id%%,*}
  case $line in
    *'"do":"hello"'*) is='"hello","protocol":1,"name":"writes down"' ;;
    *'"do":"open"'*) is='"opened"'; client=${line#*'"client":"'}; exec 3>"$0/${client%%'"'*}" ;;
    *'"do":"acquire"'*) echo "$line" >&3; is='"granted"' ;;
    *'"do":"release"'*) echo "$line" >&3; is='"released"' ;;
    *) is='"done"' ;;
  esac
  echo "{\"id\":$id,\"is\":$is}"
done
"#;

/// A storm without end, as fast as it goes.
fn storm(lock: &str) -> String {
    format!(
        "name = \"killed\"\n\
         description = \"Ended from outside, long before its time.\"\n\
         expect = {{ mutual-exclusion = \"any\" }}\n\
         topology.single = {{}}\n{lock}\n\
         clients = {{ count = {CLIENTS}, hold = \"0ms\", think = \"0ms\" }}\n\
         storm.duration = \"5m\"\n"
    )
}

/// A run that is going to be killed.
struct Run {
    child: Child,
    folder: tempfile::TempDir,
}

impl Run {
    fn start(lock: impl Fn(&Path) -> String, port: u16) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("killed.toml");
        fs::write(&file, storm(&lock(folder.path()))).expect("the folder takes a file");
        let child = lockstorm()
            .arg("run")
            .arg(&file)
            .args(["--progress", "none", "--port", &port.to_string(), "--out"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be started");
        Self { child, folder }
    }

    fn history(&self) -> PathBuf {
        self.folder.path().join("latest/history.jsonl")
    }

    /// Number of events that were recorded so far, about.
    fn events(&self) -> usize {
        let bytes = fs::read(self.history()).unwrap_or_default();
        bytes.split(|byte| *byte == b'\n').count()
    }

    /// Waits until so many more events were recorded.
    fn wait_for_events(&self, events: usize) {
        let wanted = self.events() + events;
        wait_until("the history grows", || self.events() >= wanted);
    }

    /// SIGKILL; gives the events that the history has.
    fn kill(&mut self) -> Vec<Event> {
        self.child.kill().expect("it is alive");
        self.child.wait().expect("it ends");
        let file = File::open(self.history()).expect("there is a history");
        let history = read_jsonl(BufReader::new(file), "history");
        history.expect("it can be read").events
    }
}

/// A test that fails leaves nothing behind either.
impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Counts of what must be in a history, and of what is missing in it.
#[derive(Debug, Default)]
struct Tally {
    asked: usize,
    asked_missing: usize,
    answered: usize,
    answered_missing: usize,
}

impl Tally {
    /// Of `asked` requests and `answered` answers, the history has so many.
    fn count(&mut self, (asked, there): (usize, usize), (answered, completed): (usize, usize)) {
        self.asked += asked;
        self.asked_missing += asked.saturating_sub(there);
        self.answered += answered;
        self.answered_missing += answered.saturating_sub(completed);
    }

    #[expect(clippy::print_stderr, reason = "the figures are what one wants to see")]
    fn assert_nothing_is_missing(&self, rounds: usize) {
        eprintln!("{rounds} kills: {self:?}");
        assert!(self.asked > rounds * 50, "the test must see something");
        assert_eq!((self.asked_missing, self.answered_missing), (0, 0));
    }
}

fn rounds() -> usize {
    let rounds = std::env::var("LOCKSTORM_ROUNDS").ok();
    rounds.map_or(3, |rounds| rounds.parse().expect("a number"))
}

/// After how many events the run of a round is killed.
const fn moment(round: usize) -> usize {
    400 + round * 397 % 3000
}

/// How many of these events are of this kind: invocations, or ends of what was invoked.
fn number<'e>(events: impl IntoIterator<Item = &'e Event>, invoked: bool) -> usize {
    let matches = |event: &&Event| match event.kind {
        Kind::Invoke => invoked,
        Kind::Ok | Kind::Fail | Kind::Info => !invoked,
        Kind::Note => false,
    };
    events.into_iter().filter(matches).count()
}

fn of_owner<'e>(events: &'e [Event], owner: &'e str) -> impl Iterator<Item = &'e Event> {
    events
        .iter()
        .filter(move |event| event.value.owner.as_deref() == Some(owner))
}

#[test]
fn what_an_adapter_was_asked_and_answered_is_in_the_history() {
    if !have_server() {
        return;
    }
    let mut tally = Tally::default();
    for round in 0..rounds() {
        let lock = |folder: &Path| {
            let command = serde_json::json!(["sh", "-c", ADAPTER, folder]);
            format!("lock.adapter = {{ name = \"w\", command = {command}, lease = \"10s\" }}")
        };
        let mut run = Run::start(lock, 24_000);
        run.wait_for_events(moment(round));
        let events = run.kill();
        for client in 0..CLIENTS {
            let owner = format!("c{client}");
            let log =
                fs::read_to_string(run.folder.path().join(&owner)).expect("each client is asked");
            let asked: Vec<&str> = log.lines().collect();
            let invoked = of_owner(&events, &owner).filter(|event| event.kind == Kind::Invoke);
            for (event, line) in invoked.zip(&asked) {
                let request: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
                assert_eq!(request["do"], event.function.as_str());
                assert_eq!(request["key"], *event.key);
            }
            let there = number(of_owner(&events, &owner), true);
            let completed = number(of_owner(&events, &owner), false);
            // Who asks for more has its answer.
            tally.count(
                (asked.len(), there),
                (asked.len().saturating_sub(1), completed),
            );
        }
    }
    tally.assert_nothing_is_missing(rounds());
}

#[test]
fn what_a_server_was_told_is_in_the_history() {
    if !have_server() {
        return;
    }
    let mut tally = Tally::default();
    for round in 0..rounds() {
        let port = 24_100;
        let mut run = Run::start(|_| "lock.token = { lease = \"10s\" }".to_owned(), port);
        let mut server = None;
        wait_until("the server tells what it executes", || {
            server = listener(port).and_then(monitor);
            server.is_some()
        });
        let seen = count(server.expect("it tells"));
        run.wait_for_events(moment(round));
        let events = run.kill();
        let seen = seen.join().expect("the server was heard");
        let mut operations = 0;
        for ((function, key), told) in &seen {
            let of = events
                .iter()
                .filter(|event| event.function == *function && *event.key == **key);
            tally.count((*told, number(of, true)), (0, 0));
            operations += told;
        }
        // Each client has one operation under way at most.
        let answered = operations.saturating_sub(CLIENTS);
        tally.count((0, 0), (answered, number(&events, false)));
    }
    tally.assert_nothing_is_missing(rounds());
}

/// The server that listens on this port, if it does already. The harness itself listens at the end
/// of its block of addresses, for as long as the block is its own.
fn listener(port: u16) -> Option<SocketAddr> {
    let sockets = fs::read_to_string("/proc/net/tcp").expect("this is Linux");
    sockets.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (address, at) = words.next()?.split_once(':')?;
        let is_listening = words.nth(1) == Some("0A");
        let address = u32::from_str_radix(address, 16).ok()?;
        let address = Ipv4Addr::from(address.to_ne_bytes());
        let is_server = address.octets()[2] == 0;
        let here = is_listening && is_server && u16::from_str_radix(at, 16) == Ok(port);
        here.then(|| SocketAddr::from((address, port)))
    })
}

/// Listens to all that the server executes from now on; `None` if it is not ready yet.
fn monitor(server: SocketAddr) -> Option<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(server).ok()?;
    stream.write_all(b"MONITOR\r\n").ok()?;
    let mut lines = BufReader::new(stream);
    let mut answer = String::new();
    lines.read_line(&mut answer).ok()?;
    answer.starts_with("+OK").then_some(lines)
}

/// Hears what the server executes until it ends: how often each key was acquired and released.
fn count(told: BufReader<TcpStream>) -> thread::JoinHandle<BTreeMap<(Function, String), usize>> {
    thread::spawn(move || {
        let mut seen = BTreeMap::new();
        // What it says last may be torn, or end in an error.
        for line in told.lines().map_while(Result::ok) {
            // +1700000000.000000 [0 127.0.0.1:1] "SET" "lock-0" ...
            let Some((sender, words)) = line.split_once("] ") else {
                continue;
            };
            let words: Vec<&str> = words
                .split(' ')
                .map(|word| word.trim_matches('"'))
                .collect();
            let by_script = sender.ends_with("lua");
            let function = match (words[0].to_ascii_lowercase().as_str(), by_script) {
                ("set", false) => Function::Acquire,
                // The script of a release looks first whose the key is.
                ("get", true) => Function::Release,
                _ => continue,
            };
            *seen.entry((function, words[1].to_owned())).or_default() += 1;
        }
        seen
    })
}
