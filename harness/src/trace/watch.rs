//! Asks all servers what they know of the locks, and notes what is there and what has changed.
//!
//! For: rounds at the steps of a script, and in storms at each stage of a fault and at times. Not
//! for: every change that there is: what comes and goes between two rounds is not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use lockstorm_checker::Nanos;
use lockstorm_checker::history::{
    Event, FaultNote, Function, Kind, Name, NodeView, Process, Value, ViewNote,
};
use lockstorm_nemesis::{Deployment as _, NoteSink, ProcessState, process_state};
use tokio::sync::{Mutex, Notify};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::marks::Marks;
use super::view::{look, silent};
use crate::recorder::EventSink;
use crate::server::{Node, Servers};

/// Locks that are asked for at most, the first of the run.
const KEYS_MAX: usize = 32;
/// Views noted in one run at most: a history of more would tell of little else.
const VIEWS_MAX: u32 = 10_000;
/// Interval at which a storm is looked at when nothing happens.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Time that a server may take for all that it is asked in a round; a script waits for it.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);
/// Time for a server that was silent the last time: it is not waited for twice.
const SILENT_ANSWERS_WITHIN: Duration = Duration::from_millis(50);
/// By how much the end of a key has to move to be news: less is the time that a look takes.
const MOVED: Duration = Duration::from_millis(100);

/// Watches over the locks of one run.
pub struct Watch {
    servers: Arc<Servers>,
    keys: Vec<Name>,
    marks: Marks,
    sink: EventSink,
    /// Views noted last. Held during a round, so that rounds come one after the other.
    seen: Mutex<Seen>,
    /// Something has happened that a storm is to be looked at for.
    wanted: Notify,
}

#[derive(Default)]
struct Seen {
    views: BTreeMap<Name, (Nanos, Vec<NodeView>)>,
    noted: u32,
    /// The servers that did not answer in the last round.
    silent: BTreeSet<String>,
}

impl Watch {
    /// Has looked at nothing yet.
    pub fn new(servers: Arc<Servers>, mut keys: Vec<Name>, sink: EventSink) -> Self {
        keys.truncate(KEYS_MAX);
        Self {
            servers,
            keys,
            marks: Marks::default(),
            sink,
            seen: Mutex::default(),
            wanted: Notify::new(),
        }
    }

    /// By which marks the servers know the clients.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// One round: asks all servers at once, and notes of each lock what is new.
    pub async fn look(&self) {
        let mut seen = self.seen.lock().await;
        let since = self.sink.clock().now();
        let data = self.servers.nodes().iter();
        // Sentinels keep no locks.
        let data = data.filter(|node| node.role.data().is_some());
        let data: Vec<&Node> = data.collect();
        let keys = self.keys.iter();
        let keys: Vec<Name> = keys
            .map(|key| self.servers.server_key(key).into())
            .collect();
        let looks = data.iter().map(|node| {
            let within = if seen.silent.contains(&node.name) {
                SILENT_ANSWERS_WITHIN
            } else {
                ANSWERS_WITHIN
            };
            self.look_at(node, &keys, within)
        });
        let columns = join_all(looks).await;
        let silent = data
            .iter()
            .zip(&columns)
            .filter(|(_, views)| is_silent(views));
        seen.silent = silent.map(|(node, _)| node.name.clone()).collect();
        for (at, key) in self.keys.iter().enumerate() {
            let views = columns.iter().filter_map(|column| column[at].clone());
            let (now, views): (Nanos, Vec<NodeView>) = (self.sink.clock().now(), views.collect());
            let old = seen.views.get(key);
            let is_same = old.is_some_and(|old| is_same((old.0, &old.1), (now, &views)));
            // What is there is told each time: a token may outlast the hold that it was for.
            let is_empty = !views.iter().any(NodeView::is_there);
            if is_same && is_empty || seen.noted >= VIEWS_MAX {
                continue;
            }
            seen.noted += 1;
            self.note(key, since, views.clone()).await;
            seen.views.insert(key.clone(), (now, views));
        }
    }

    /// Asks `node` about the keys.
    async fn look_at(&self, node: &Node, keys: &[Name], within: Duration) -> Vec<Option<NodeView>> {
        // Whom the system knows not to answer need not be waited for.
        let why = match node.pid().map(process_state) {
            Some(ProcessState::Alive) => None,
            Some(ProcessState::Stopped) => Some("it is stopped"),
            Some(ProcessState::Gone) | None => Some("it is dead"),
        };
        match why {
            Some(why) => vec![Some(silent(&node.name, why)); keys.len()],
            None => look(node, keys, &self.marks, within).await,
        }
    }

    async fn note(&self, key: &Name, since: Nanos, nodes: Vec<NodeView>) {
        let value = Value {
            view: Some(Box::new(ViewNote {
                since: Some(since),
                nodes,
            })),
            ..Value::default()
        };
        let now = self.sink.clock().now();
        self.record(Function::View, (key, now), value).await;
    }

    async fn record(&self, function: Function, (key, time): (&Name, Nanos), value: Value) {
        let event = Event {
            index: 0,
            time,
            kind: Kind::Note,
            process: Process::Nemesis,
            function,
            key: key.clone(),
            value,
            error: None,
            extra: None,
        };
        self.sink.record(event).await;
    }

    /// Round after round, until a storm is over.
    pub async fn look_until(&self, over: &CancellationToken) {
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = over.cancelled() => return,
                _ = ticks.tick() => {}
                () = self.wanted.notified() => {}
            }
            self.look().await;
        }
    }
}

/// Tells whether a server did not answer at all.
fn is_silent(views: &[Option<NodeView>]) -> bool {
    let mut views = views.iter().flatten();
    views.any(|view| view.error.is_some() && view.role.is_none())
}

/// Tells whether nothing has changed but the time.
fn is_same(old: (Nanos, &[NodeView]), new: (Nanos, &[NodeView])) -> bool {
    let end =
        |time: Nanos, view: &NodeView| view.left_ms.map(|left| time + Nanos::from_millis(left));
    let moved = MOVED.as_nanos() as u64;
    let same = |(a, b): (&NodeView, &NodeView)| {
        let ends = match (end(old.0, a), end(new.0, b)) {
            (Some(a), Some(b)) => a.0.abs_diff(b.0) <= moved,
            (a, b) => a == b,
        };
        let timeless = |view: &NodeView| NodeView {
            left_ms: None,
            ..view.clone()
        };
        ends && timeless(a) == timeless(b)
    };
    old.1.len() == new.1.len() && old.1.iter().zip(new.1).all(same)
}

/// Records the notes of the nemesis, and has the watch look at what each of them has changed.
pub struct FaultNoteSink {
    /// Sink into which the notes go.
    pub sink: EventSink,
    /// Watch that looks, if there is one.
    pub watch: Option<Arc<Watch>>,
}

#[async_trait]
impl NoteSink for FaultNoteSink {
    async fn note(&self, note: FaultNote) {
        self.sink.note(note).await;
        if let Some(watch) = &self.watch {
            watch.wanted.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(left_ms: u64) -> Vec<NodeView> {
        vec![NodeView {
            node: "n1".into(),
            held_by: vec!["a".into()],
            left_ms: Some(left_ms),
            ..NodeView::default()
        }]
    }

    #[test]
    fn a_key_that_grows_older_is_no_news_and_one_that_is_renewed_is() {
        let at = Nanos::from_millis;
        let first = held(2000);
        assert!(is_same((at(0), &first), (at(700), &held(1290))));
        assert!(!is_same((at(0), &first), (at(700), &held(2000))));
        assert!(!is_same((at(0), &first), (at(700), &[])));
        let mut forever = held(0);
        forever[0].left_ms = None;
        assert!(!is_same((at(0), &first), (at(700), &forever)));
        assert!(is_same((at(0), &forever), (at(700), &forever)));
    }
}
