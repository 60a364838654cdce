//! Operations in the plainest form, and the history that they make. Times are in milliseconds.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Event, Function, Header, History, Kind, Mode, Process, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Acquire,
    Renew,
    Release,
    /// A note: the client was told that it lost the lock.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Ok,
    Refused,
    NotOwner,
    Failed,
    /// An info at the time of `res`.
    Unknown,
}

/// The operations of one owner follow each other in the list, and in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) owner: u8,
    pub(crate) act: Act,
    pub(crate) inv: u64,
    pub(crate) res: u64,
    pub(crate) end: End,
    pub(crate) lease: Option<u64>,
    pub(crate) read: bool,
    /// Count in the reply.
    pub(crate) count: Option<u32>,
}

impl Op {
    pub(crate) fn new(owner: u8, act: Act, inv: u64, res: u64, end: End) -> Self {
        Self {
            owner,
            act,
            inv,
            res,
            end,
            lease: None,
            read: false,
            count: None,
        }
    }
}

/// The events of `ops`; at equal times in the order of the list. An owner is one process, so that
/// all that it does is in order.
pub(crate) fn history(ops: &[Op]) -> History {
    let mut events = Vec::new();
    for op in ops {
        let function = match op.act {
            Act::Acquire => Function::Acquire,
            Act::Renew => Function::Renew,
            Act::Release => Function::Release,
            Act::Lost => Function::Lost,
        };
        let invoke = Event {
            index: 0,
            time: Nanos::from_millis(op.inv),
            kind: if op.act == Act::Lost {
                Kind::Note
            } else {
                Kind::Invoke
            },
            process: Process::Client(op.owner.into()),
            function,
            key: "".into(),
            value: Value {
                owner: Some(op.owner.to_string().into()),
                mode: Some(if op.read { Mode::Read } else { Mode::Write }),
                lease_ms: op.lease,
                ..Value::default()
            },
            error: None,
            extra: None,
        };
        let (kind, error) = match op.end {
            End::Ok => (Kind::Ok, None),
            End::Refused => (Kind::Fail, Some(Event::REFUSED)),
            End::NotOwner => (Kind::Fail, Some(Event::NOT_OWNER)),
            End::Failed => (Kind::Fail, Some("never sent")),
            End::Unknown => (Kind::Info, None),
        };
        let completion = Event {
            time: Nanos::from_millis(op.res),
            kind,
            error: error.map(Into::into),
            value: Value {
                count: op.count,
                ..invoke.value.clone()
            },
            ..invoke.clone()
        };
        events.push(invoke);
        if op.act != Act::Lost {
            events.push(completion);
        }
    }
    events.sort_by_key(|event| event.time);
    for (index, event) in (0..).zip(&mut events) {
        event.index = index;
    }
    let header = Header {
        asks_once: Some(true),
        ..Header::new()
    };
    History {
        header,
        events,
        ..History::default()
    }
}

/// For the message of a failure.
pub(crate) fn show(ops: &[Op]) -> String {
    let lines: Vec<String> = ops.iter().map(|op| format!("{op:?}")).collect();
    lines.join("\n")
}
