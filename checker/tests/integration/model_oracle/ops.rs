//! Operations in the plainest form, and the history that they make. Times are in milliseconds.
//!
//! Those of one owner follow each other in the list. An owner goes on under a new process id after
//! an operation without an answer, and wherever two of its operations overlap.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{
    Event, Function, Header, History, Kind, Mode, Process, Value, write_event, write_header,
};
use serde_json::json;

/// Taken off and added to every lease, in milliseconds: floor and ceiling never coincide.
pub(crate) const DRIFT: u64 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Acquire {
        read: bool,
        permits: u32,
        lease: Option<u64>,
        token: Option<u64>,
    },
    Renew {
        read: bool,
        lease: Option<u64>,
    },
    Release {
        read: bool,
        permits: u32,
    },
    /// With what was read.
    Read(Seen),
    Write(u8),
    Cas(Option<u8>, u8),
    Append(u8),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Value(Option<u8>),
    List(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Ok,
    /// An acquire met a holder; a renewal or release is not the owner's; a compare-and-set met
    /// another value.
    Denied,
    /// Certainly never executed.
    Failed,
    /// An info at the time of `res`.
    Unknown,
}

#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) owner: u8,
    pub(crate) call: Call,
    pub(crate) inv: u64,
    pub(crate) res: u64,
    pub(crate) end: End,
}

impl Op {
    /// Tells whether it asks for a lease.
    pub(crate) fn is_leased(&self) -> bool {
        match self.call {
            Call::Acquire { lease, .. } | Call::Renew { lease, .. } => lease.is_some(),
            _ => false,
        }
    }

    /// Tells whether some order has to explain it.
    pub(crate) fn is_required(&self) -> bool {
        match self.end {
            End::Ok | End::Denied => true,
            End::Failed | End::Unknown => false,
        }
    }
}

/// The process of each operation.
pub(crate) fn processes(ops: &[Op]) -> Vec<u64> {
    let mut processes: Vec<u64> = Vec::new();
    for (position, op) in ops.iter().enumerate() {
        let own = |at: &usize| ops[*at].owner == op.owner;
        let process = match (0..position).rfind(own) {
            Some(last) if ops[last].end == End::Unknown || ops[last].res > op.inv => {
                processes[last] + 100
            }
            Some(last) => processes[last],
            None => u64::from(op.owner),
        };
        processes.push(process);
    }
    processes
}

/// The events of `ops`, which are in order of invocation; at equal times in the order of the list.
pub(crate) fn history(ops: &[Op]) -> History {
    let mut events = Vec::new();
    for (process, op) in processes(ops).into_iter().zip(ops) {
        let (function, asked, replied) = values(op);
        let invoke = Event {
            index: 0,
            time: Nanos::from_millis(op.inv),
            kind: Kind::Invoke,
            process: Process::Client(process),
            function,
            key: "".into(),
            value: asked,
            error: None,
            extra: None,
        };
        let (kind, error) = match (op.end, &op.call) {
            (End::Ok, _) => (Kind::Ok, None),
            (End::Denied, Call::Acquire { .. }) => (Kind::Fail, Some(Event::REFUSED)),
            (End::Denied, Call::Renew { .. } | Call::Release { .. }) => {
                (Kind::Fail, Some(Event::NOT_OWNER))
            }
            (End::Denied, Call::Read(_) | Call::Write(_) | Call::Cas(..) | Call::Append(_)) => {
                (Kind::Fail, None)
            }
            (End::Failed, _) => (Kind::Fail, Some("never sent")),
            (End::Unknown, _) => (Kind::Info, None),
        };
        let completion = Event {
            time: Nanos::from_millis(op.res),
            kind,
            value: if op.end == End::Ok {
                replied
            } else {
                Value::default()
            },
            error: error.map(Into::into),
            ..invoke.clone()
        };
        events.push(invoke);
        events.push(completion);
    }
    events.sort_by_key(|event| event.time);
    for (index, event) in (0..).zip(&mut events) {
        event.index = index;
    }
    History {
        events,
        ..History::default()
    }
}

/// The function, what is asked, and what an `ok` answers.
fn values(op: &Op) -> (Function, Value, Value) {
    let owned = Value {
        owner: Some(op.owner.to_string().into()),
        ..Value::default()
    };
    let content = |json: serde_json::Value| Value {
        value: Some(Box::new(json)),
        ..Value::default()
    };
    let mode = |read: bool| Some(if read { Mode::Read } else { Mode::Write });
    match &op.call {
        &Call::Acquire {
            read,
            permits,
            lease,
            token,
        } => {
            let asked = Value {
                mode: mode(read),
                permits: Some(permits),
                lease_ms: lease,
                ..owned
            };
            let granted = Value {
                token,
                ..Value::default()
            };
            (Function::Acquire, asked, granted)
        }
        &Call::Renew { read, lease } => {
            let asked = Value {
                mode: mode(read),
                lease_ms: lease,
                ..owned
            };
            (Function::Renew, asked, Value::default())
        }
        &Call::Release { read, permits } => {
            let asked = Value {
                mode: mode(read),
                permits: Some(permits),
                ..owned
            };
            (Function::Release, asked, Value::default())
        }
        Call::Read(seen) => {
            let seen = match seen {
                Seen::Value(value) => json!(value),
                Seen::List(list) => json!(list),
            };
            (Function::Read, owned, content(seen))
        }
        Call::Write(value) => (Function::Write, content(json!(value)), Value::default()),
        Call::Cas(old, new) => (Function::Cas, content(json!([old, new])), Value::default()),
        Call::Append(value) => (Function::Append, content(json!(value)), Value::default()),
    }
}

/// A history as the lines of a file, ready to be judged again by hand.
pub(crate) fn lines(ops: &[Op]) -> String {
    let mut out = Vec::new();
    let header = Header {
        drift_ppm: Some(0),
        drift_ms: Some(DRIFT),
        ..Header::new()
    };
    write_header(&mut out, &header);
    for event in &history(ops).events {
        write_event(&mut out, event);
    }
    String::from_utf8(out).expect("the writer writes UTF-8")
}
