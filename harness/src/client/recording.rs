//! Records what a client asks and what it is answered.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{
    Event, Function, Givers, Kind, Mode, Name, Ownership, Process, Until, Value,
};

use super::job::STALE;
use super::session::{Reply, Session};
use crate::connection::CLIENT_KILLED;
use crate::locks::{Grant, LockRequest, Outcome, Released};
use crate::recorder::MAIN;

impl Session {
    /// Records a note on `key`, of now unless another time is named.
    pub(super) async fn note(
        &mut self,
        function: Function,
        key: &Name,
        ask: LockRequest,
        time: Option<Nanos>,
    ) {
        let value = self.value(ask);
        let mut event = self.event(MAIN, Kind::Note, function, key, value);
        event.time = time.unwrap_or(event.time);
        self.sink.record(event).await;
    }

    /// Says who asks, and how; leaves out what is usual.
    pub(super) fn value(&self, ask: LockRequest) -> Value {
        Value {
            owner: Some(self.owner.clone()),
            mode: (ask.mode == Mode::Read).then_some(Mode::Read),
            permits: (ask.permits != 1).then_some(ask.permits),
            ..Value::default()
        }
    }

    /// Says what an acquire asks for.
    pub(super) fn asked(&self, ask: LockRequest) -> Value {
        Value {
            lease_ms: self.lease_ms,
            until: self.until,
            wait_ms: ask.wait.map(|wait| wait.as_millis() as u64),
            ..self.value(ask)
        }
    }

    /// Records the completion of an operation and says what it was.
    pub(super) async fn complete<T: Answer>(
        &mut self,
        lane: usize,
        function: Function,
        key: &Name,
        ask: LockRequest,
        outcome: Outcome<T>,
    ) -> Reply {
        let denial = if function == Function::Acquire {
            Event::REFUSED
        } else if matches!(function, Function::Read | Function::Append) {
            STALE
        } else {
            Event::NOT_OWNER
        };
        let mut value = self.value(ask);
        let (kind, error, reply) = match outcome {
            Outcome::Done(answer) => {
                answer.fill(&mut value);
                (Kind::Ok, None, Reply::Done)
            }
            Outcome::Denied => (Kind::Fail, Some(denial.into()), Reply::Denied),
            Outcome::Failed(text) => (Kind::Fail, Some(text.into()), Reply::Failed),
            Outcome::Unknown(text) => (Kind::Info, Some(text.into()), Reply::Unknown),
            Outcome::Killed => (Kind::Info, Some(CLIENT_KILLED.into()), Reply::Killed),
        };
        let mut event = self.event(lane, kind, function, key, value);
        event.time = self.lock.answered().unwrap_or(event.time);
        self.error.clone_from(&error);
        event.error = error;
        self.sink.record(event).await;
        if kind == Kind::Info {
            self.processes.retire(lane);
        }
        reply
    }

    pub(super) async fn record(
        &mut self,
        lane: usize,
        kind: Kind,
        function: Function,
        key: &Name,
        value: Value,
        error: Option<Name>,
    ) {
        let event = Event {
            error,
            ..self.event(lane, kind, function, key, value)
        };
        self.sink.record(event).await;
    }

    /// An event of now.
    fn event(
        &mut self,
        lane: usize,
        kind: Kind,
        function: Function,
        key: &Name,
        value: Value,
    ) -> Event {
        Event {
            index: 0,
            time: self.sink.clock().now(),
            kind,
            process: Process::Client(self.processes.of(lane)),
            function,
            key: key.clone(),
            value,
            error: None,
            extra: None,
        }
    }
}

/// Details that a reply tells besides its outcome.
pub(super) trait Answer {
    fn fill(&self, value: &mut Value);
}

impl Answer for Grant {
    fn fill(&self, value: &mut Value) {
        value.lease_ms = self.lease.map(|lease| lease.as_millis() as u64);
        value.until = self.is_of_session.then_some(Until::SessionEnd);
        value.token = self.token;
        value.waited_ns = Some(self.waited.as_nanos() as u64).filter(|&waited| waited > 0);
    }
}

impl Answer for (Grant, Option<Box<Givers>>) {
    fn fill(&self, value: &mut Value) {
        self.0.fill(value);
        value.by.clone_from(&self.1);
    }
}

impl Answer for Released {
    fn fill(&self, value: &mut Value) {
        value.count = self.count;
        value.ownership = self.is_ownership_open.then_some(Ownership::Unknown);
    }
}
