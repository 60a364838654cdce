//! Record of what clients saw: operations for the judges of the test, events for the checker.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{
    Event, FailureKind, FailureNote, Function, Header, History, Kind, Mode, Name, NodeView,
    PhaseNote, Process, Value, ViewNote,
};
use serde_json::json;

use crate::mutation::plan::Lock;
use crate::mutation::service::{Ask, Reply};

/// A tick is a tenth of a millisecond.
const TICK: u64 = 100_000;

/// One operation, as its client saw it.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) key: usize,
    pub(crate) process: u64,
    pub(crate) owner: String,
    pub(crate) ask: Ask,
    pub(crate) token: Option<u64>,
    pub(crate) inv: u64,
    /// Time and content of the answer; `None`: the client gave up, or died.
    pub(crate) answer: Option<(u64, Reply)>,
}

impl Op {
    pub(crate) fn is_grant(&self) -> bool {
        matches!(self.answer, Some((_, Reply::Granted { .. })))
    }

    pub(crate) fn granted_token(&self) -> Option<u64> {
        match self.answer {
            Some((_, Reply::Granted { token, .. })) => token,
            _ => None,
        }
    }

    pub(crate) fn answered(&self) -> u64 {
        self.answer.as_ref().map_or(u64::MAX, |&(time, _)| time)
    }

    pub(crate) fn lease(&self) -> Option<u64> {
        match self.ask {
            Ask::Acquire { lease, .. } | Ask::Renew { lease, .. } => lease,
            Ask::Release { .. } | Ask::Read | Ask::Write(_) | Ask::List | Ask::Append(_) => None,
        }
    }
}

/// A note of a client.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) key: usize,
    pub(crate) owner: String,
    pub(crate) time: u64,
    /// The operation that is queued; `None`: the lock is lost.
    pub(crate) queued: Option<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Record {
    events: Vec<Event>,
    pub(crate) ops: Vec<Op>,
    pub(crate) notes: Vec<Note>,
    /// Time at which the service of which key was asked what it has.
    pub(crate) looks: Vec<(usize, u64)>,
    /// When the final phase began, and its bound.
    pub(crate) last: Option<(u64, u64)>,
}

impl Record {
    pub(crate) fn invoke(&mut self, op: Op) -> usize {
        let mut event = Self::event(&op, op.inv, Kind::Invoke);
        event.value.owner = Some(Name::from(&*op.owner));
        event.value.token = op.token;
        let mode = |read: bool| Some(if read { Mode::Read } else { Mode::Write });
        let value = &mut event.value;
        match op.ask {
            Ask::Acquire {
                read,
                permits,
                lease,
            } => {
                value.mode = mode(read);
                value.permits = Some(permits);
                value.lease_ms = lease.map(|ticks| ticks / 10);
            }
            Ask::Renew { read, lease } => {
                value.mode = mode(read);
                value.lease_ms = lease.map(|ticks| ticks / 10);
            }
            Ask::Release { read, permits } => {
                value.mode = mode(read);
                value.permits = Some(permits);
            }
            Ask::Write(number) | Ask::Append(number) => value.value = Some(Box::new(json!(number))),
            Ask::Read | Ask::List => {}
        }
        self.push(event);
        self.ops.push(op);
        self.ops.len() - 1
    }

    pub(crate) fn answer(&mut self, at: usize, time: u64, reply: Reply) {
        let op = self.ops[at].clone();
        let mut event = Self::event(&op, time, Kind::Ok);
        match &reply {
            Reply::Granted { token, count } => {
                event.value.token = *token;
                event.value.count = *count;
            }
            Reply::Done { count } => event.value.count = *count,
            Reply::Value(number) => event.value.value = Some(Box::new(json!(number))),
            Reply::List(list) => event.value.value = Some(Box::new(json!(list))),
            Reply::Refused => (event.kind, event.error) = (Kind::Fail, Some(Event::REFUSED.into())),
            Reply::NotOwner => {
                (event.kind, event.error) = (Kind::Fail, Some(Event::NOT_OWNER.into()));
            }
            Reply::Stale => (event.kind, event.error) = (Kind::Fail, Some("stale token".into())),
            Reply::Queued => return,
        }
        self.push(event);
        self.ops[at].answer = Some((time, reply));
    }

    /// The client stops waiting.
    pub(crate) fn give_up(&mut self, at: usize, time: u64) {
        let op = self.ops[at].clone();
        let mut event = Self::event(&op, time, Kind::Info);
        event.error = Some("timeout".into());
        self.push(event);
    }

    pub(crate) fn note(&mut self, key: usize, process: u64, note: Note) {
        let function = if note.queued.is_some() {
            Function::Queued
        } else {
            Function::Lost
        };
        self.push(Event {
            index: 0,
            time: Nanos(note.time * TICK),
            kind: Kind::Note,
            process: Process::Client(process),
            function,
            key: format!("key-{key}").into(),
            value: Value {
                owner: Some(Name::from(&*note.owner)),
                ..Value::default()
            },
            error: None,
            extra: None,
        });
        self.notes.push(note);
    }

    /// The client fails in an operation.
    pub(crate) fn fail(&mut self, at: usize, (kind, bound): (FailureKind, Option<u64>), time: u64) {
        let op = self.ops[at].clone();
        let mut event = Self::event(&op, time, Kind::Note);
        event.function = Function::Failure;
        event.value.owner = Some(Name::from(&*op.owner));
        event.value.failure = Some(Box::new(FailureNote {
            is_own_bound: false,
            kind,
            during: None,
            bound: bound.map(|bound| Nanos(bound * TICK)),
            waited: None,
            status: None,
            last_lines: Vec::new(),
        }));
        self.push(event);
    }

    pub(crate) fn final_phase(&mut self, time: u64, bound: u64) {
        self.last = Some((time, bound));
        self.push(Event {
            index: 0,
            time: Nanos(time * TICK),
            kind: Kind::Note,
            process: Process::Nemesis,
            function: Function::Phase,
            key: "".into(),
            value: Value {
                phase: Some(Box::new(PhaseNote {
                    name: "final".into(),
                    bound: Some(Nanos(bound * TICK)),
                })),
                ..Value::default()
            },
            error: None,
            extra: None,
        });
    }

    /// Records the tokens that the service of a key was seen to have.
    pub(crate) fn view<'a>(
        &mut self,
        key: usize,
        time: u64,
        tokens: impl Iterator<Item = (&'a str, u64)>,
    ) {
        let now = Nanos(time * TICK);
        let mut nodes: Vec<NodeView> = tokens
            .map(|(owner, expires)| NodeView {
                node: "n1".into(),
                role: Some("primary".into()),
                held_by: vec![owner.into()],
                left_ms: (expires < u64::MAX).then(|| expires.saturating_sub(time) / 10),
                ..NodeView::default()
            })
            .collect();
        self.looks.push((key, time));
        if nodes.is_empty() {
            nodes.push(NodeView {
                node: "n1".into(),
                role: Some("primary".into()),
                ..NodeView::default()
            });
        }
        self.push(Event {
            index: 0,
            time: now,
            kind: Kind::Note,
            process: Process::Nemesis,
            function: Function::View,
            key: format!("key-{key}").into(),
            value: Value {
                view: Some(Box::new(ViewNote {
                    since: Some(now),
                    nodes,
                })),
                ..Value::default()
            },
            error: None,
            extra: None,
        });
    }

    fn event(op: &Op, time: u64, kind: Kind) -> Event {
        Event {
            index: 0,
            time: Nanos(time * TICK),
            kind,
            process: Process::Client(op.process),
            function: match op.ask {
                Ask::Acquire { .. } => Function::Acquire,
                Ask::Renew { .. } => Function::Renew,
                Ask::Release { .. } => Function::Release,
                Ask::Read | Ask::List => Function::Read,
                Ask::Write(_) => Function::Write,
                Ask::Append(_) => Function::Append,
            },
            key: format!("key-{}", op.key).into(),
            value: Value::default(),
            error: None,
            extra: None,
        }
    }

    fn push(&mut self, mut event: Event) {
        event.index = self.events.len() as u64;
        self.events.push(event);
    }

    pub(crate) fn history(&self, lock: Lock) -> History {
        let mut header = Header::new();
        // In a queue a call waits, and nothing says for how long.
        header.notes_failures = Some(true);
        header.asks_once = (lock != Lock::Fair).then_some(true);
        if let Lock::Semaphore(permits) = lock {
            header.permits = Some(permits);
        }
        History {
            header,
            events: self.events.clone(),
            ..History::default()
        }
    }
}
