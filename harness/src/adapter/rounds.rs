//! The renewals of a client that has its own watchdog, recorded as they are announced and answered.

use std::collections::BTreeMap;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Event, Function, Kind, Mode, Name, Process, Value};

use super::message::{Answer, Target};
use crate::recorder::{EventSink, Processes};

/// Renewals under way at once, at most.
const UNDER_WAY_MAX: usize = 1000;

/// The renewals of one client.
pub(crate) struct Rounds {
    owner: Name,
    lease_ms: Option<u64>,
    sink: EventSink,
    /// One for each renewal that is under way.
    processes: Processes,
    under_way: BTreeMap<u64, (usize, Target)>,
    /// Renewals have higher numbers than this one.
    last: u64,
}

impl Rounds {
    /// None yet.
    pub(crate) fn new(
        owner: Name,
        lease_ms: Option<u64>,
        sink: EventSink,
        processes: Processes,
    ) -> Self {
        Self {
            owner,
            lease_ms,
            sink,
            processes,
            under_way: BTreeMap::new(),
            last: 0,
        }
    }

    /// A renewal that was announced is not to be sent: the history knows nothing of it.
    ///
    /// # Errors
    /// In words, why it cannot be.
    pub(super) fn left_out(&mut self, number: u64) -> Result<(), String> {
        self.count(number)
    }

    /// Numbers grow.
    fn count(&mut self, number: u64) -> Result<(), String> {
        if number <= self.last {
            return Err(format!(
                "it announces renewal {number} after renewal {}",
                self.last
            ));
        }
        self.last = number;
        Ok(())
    }

    /// A renewal is about to be sent: it is recorded before it may be.
    ///
    /// # Errors
    /// In words, why it cannot be.
    pub(super) async fn announced(&mut self, number: u64, target: Target) -> Result<(), String> {
        self.count(number)?;
        if self.under_way.len() >= UNDER_WAY_MAX {
            return Err(format!(
                "it has more than {UNDER_WAY_MAX} renewals under way"
            ));
        }
        let taken: Vec<usize> = self.under_way.values().map(|(lane, _)| *lane).collect();
        let free = (0..UNDER_WAY_MAX).find(|lane| !taken.contains(lane));
        let lane = free.expect("fewer are taken than there are");
        let value = Value {
            lease_ms: self.lease_ms,
            by_library: true,
            ..self.value(&target)
        };
        let now = self.sink.clock().now();
        self.record(lane, now, Kind::Invoke, &target, value, None)
            .await;
        self.under_way.insert(number, (lane, target));
        Ok(())
    }

    /// A renewal was answered at `time`.
    ///
    /// # Errors
    /// In words, why the answer cannot be.
    pub(super) async fn answered(
        &mut self,
        number: u64,
        outcome: Answer,
        time: Nanos,
    ) -> Result<(), String> {
        let Some((lane, target)) = self.under_way.remove(&number) else {
            return Err(format!(
                "it answers renewal {number}, which is not under way"
            ));
        };
        let mut value = self.value(&target);
        let word = outcome.word();
        let (kind, error): (Kind, Option<Name>) = match outcome {
            Answer::Renewed { lease_ms } => {
                value.lease_ms = lease_ms;
                (Kind::Ok, None)
            }
            Answer::NotOwner => (Kind::Fail, Some(Event::NOT_OWNER.into())),
            Answer::Failed { text } => (Kind::Fail, Some(text.into())),
            Answer::Error { text } => (Kind::Info, Some(text.into())),
            Answer::Hello { .. }
            | Answer::Opened(_)
            | Answer::Granted { .. }
            | Answer::Released { .. }
            | Answer::Refused { .. }
            | Answer::Held
            | Answer::Suspended
            | Answer::Cancelled
            | Answer::Done
            | Answer::Unsupported { .. } => {
                self.under_way.insert(number, (lane, target));
                return Err(format!("it answers renewal {number} with '{word}'"));
            }
        };
        self.record(lane, time, kind, &target, value, error).await;
        if kind == Kind::Info {
            self.processes.retire(lane);
        }
        Ok(())
    }

    /// The client is gone: nobody knows what became of the renewals that were under way.
    pub(super) async fn given_up(&mut self, why: &str) {
        for (lane, target) in std::mem::take(&mut self.under_way).into_values() {
            let value = self.value(&target);
            let now = self.sink.clock().now();
            self.record(lane, now, Kind::Info, &target, value, Some(why.into()))
                .await;
            self.processes.retire(lane);
        }
    }

    fn value(&self, target: &Target) -> Value {
        Value {
            owner: Some(self.owner.clone()),
            mode: (target.mode == Mode::Read).then_some(Mode::Read),
            ..Value::default()
        }
    }

    async fn record(
        &mut self,
        lane: usize,
        time: Nanos,
        kind: Kind,
        target: &Target,
        value: Value,
        error: Option<Name>,
    ) {
        let event = Event {
            index: 0,
            time,
            kind,
            process: Process::Client(self.processes.of(lane)),
            function: Function::Renew,
            key: target.key.as_str().into(),
            value,
            error,
            extra: None,
        };
        self.sink.record(event).await;
    }
}
