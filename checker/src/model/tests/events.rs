//! Scripts → events.

use crate::history::{Event, Function, Kind, Mode, Nanos, Process, Value};

/// One call of an owner, and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// An acquire that is granted, with a lease of so many instants.
    Granted(Mode, Option<u64>),
    /// One that is refused.
    Refused(Mode),
    /// One without an answer.
    AskedFor(Mode, Option<u64>),
    Released,
    /// A release that is answered "not owner".
    NotOwner,
    /// A release without an answer.
    MayBeReleased,
}

impl Deed {
    pub(super) fn is_answered(self) -> bool {
        !matches!(self, Self::AskedFor(..) | Self::MayBeReleased)
    }
}

/// Deeds of an owner, each with the time at which it is sent and the time at which it is answered.
pub(super) type Script = Vec<(Deed, u64, u64)>;

/// The events of owners that follow these scripts, one instant a millisecond.
pub(super) fn history(scripts: &[&Script]) -> Vec<Event> {
    let mut events = Vec::new();
    for (owner, script) in (0_u64..).zip(scripts) {
        let mut process = owner;
        let mut held = Mode::Write;
        for &(deed, sent, answered) in *script {
            let mut both = call(owner, process, deed, sent, answered);
            match deed {
                Deed::Granted(mode, _) | Deed::AskedFor(mode, _) => held = mode,
                Deed::Refused(_) => {}
                // It names the mode of its hold.
                Deed::Released | Deed::NotOwner | Deed::MayBeReleased => {
                    for event in &mut both {
                        event.value.mode = Some(held);
                    }
                }
            }
            events.extend(both);
            process += if deed.is_answered() { 0 } else { 100 };
        }
    }
    in_order(events)
}

/// The events in order of time, with their indices.
pub(super) fn in_order(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by_key(|event| event.time);
    for (index, event) in (0..).zip(&mut events) {
        event.index = index;
    }
    events
}

/// The two events of a call.
pub(super) fn call(owner: u64, process: u64, deed: Deed, sent: u64, answered: u64) -> [Event; 2] {
    let (function, mode, lease_ms) = match deed {
        Deed::Granted(mode, lease) | Deed::AskedFor(mode, lease) => {
            (Function::Acquire, mode, lease)
        }
        Deed::Refused(mode) => (Function::Acquire, mode, None),
        Deed::Released | Deed::NotOwner | Deed::MayBeReleased => {
            (Function::Release, Mode::Write, None)
        }
    };
    let (kind, error) = match deed {
        Deed::Granted(..) | Deed::Released => (Kind::Ok, None),
        Deed::Refused(_) => (Kind::Fail, Some(Event::REFUSED)),
        Deed::NotOwner => (Kind::Fail, Some(Event::NOT_OWNER)),
        Deed::AskedFor(..) | Deed::MayBeReleased => (Kind::Info, None),
    };
    let invoke = Event {
        index: 0,
        time: Nanos::from_millis(sent),
        kind: Kind::Invoke,
        process: Process::Client(process),
        function,
        key: "".into(),
        value: Value {
            owner: Some(owner.to_string().into()),
            lease_ms,
            mode: (mode == Mode::Read).then_some(mode),
            ..Value::default()
        },
        error: None,
        extra: None,
    };
    let mut completion = invoke.clone();
    completion.kind = kind;
    completion.time = Nanos::from_millis(answered);
    completion.error = error.map(Into::into);
    [invoke, completion]
}
