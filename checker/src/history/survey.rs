//! Tells whether the times of a history can be nanoseconds, beside the leases that it names.
//!
//! For: histories of others, whose milliseconds would make every lease last for hours. Not for:
//! judging; it only says when a number can hardly be what it is taken for.

use std::collections::HashMap;

use super::event::{Event, Function, Kind, Nanos, Process};
use super::header::Header;
use super::sink::EventSink;
use super::stamp::TimeUnit;

/// So many calls are enough to know how long one takes.
const CALLS_MAX: usize = 1000;

/// No call over a network is answered in so little time: a round trip within one machine takes
/// several times as long.
const CALL_NANOS_MIN: u64 = 5_000;

/// Few calls are answered in so little time. Where a whole history is over before a hundredth of a
/// lease is, both together are no accident.
const CALL_NANOS_QUICK: u64 = 50_000;

/// How many times longer than the whole history a lease then is.
const SPANS_OF_LEASE: u64 = 100;

/// A history in which leases mean something is not shorter than this part of one.
const SPANS_OF_LEASE_FEW: u64 = 20;

/// A call takes longer than this in the right unit, if it takes any time at all.
const CALL_NANOS_USUAL: u64 = 20_000;

/// Knowledge of the times of a history.
#[derive(Debug, Default)]
pub(super) struct Survey {
    first: Option<Nanos>,
    last: Nanos,
    lease: Option<Nanos>,
    invoked: HashMap<u64, Nanos>,
    calls: Vec<Nanos>,
    /// True if a time is another than the position of its event: without times, positions stand for
    /// them.
    has_times: bool,
}

/// Times that can hardly be nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Length of the history.
    pub span: Nanos,
    /// Time that a call takes, the middle one of all.
    pub call: Nanos,
    /// The shortest lease.
    pub lease: Nanos,
    /// The unit in which the three fit together.
    pub unit: Option<TimeUnit>,
}

impl Survey {
    /// Takes the next event.
    pub(super) fn push(&mut self, event: &Event) {
        let Process::Client(process) = event.process else {
            return;
        };
        self.first = Some(self.first.unwrap_or(event.time).min(event.time));
        self.last = self.last.max(event.time);
        self.has_times |= event.time.0 != event.index;
        if let Some(lease @ 1..) = event.value.lease_ms {
            let lease = Nanos::from_millis(lease);
            self.lease = Some(self.lease.unwrap_or(lease).min(lease));
        }
        let is_of_lock = matches!(
            event.function,
            Function::Acquire | Function::Renew | Function::Release
        );
        if !is_of_lock || self.calls.len() >= CALLS_MAX {
            return;
        }
        match event.kind {
            Kind::Invoke => {
                self.invoked.insert(process, event.time);
            }
            Kind::Ok | Kind::Fail => {
                let invoked = self.invoked.remove(&process);
                self.calls
                    .extend(invoked.map(|invoked| event.time - invoked));
            }
            Kind::Info => {
                self.invoked.remove(&process);
            }
            Kind::Note => {}
        }
    }

    /// The time of the first event.
    pub(super) fn first(&self) -> Option<Nanos> {
        self.first
    }

    /// Reason why the times can hardly be nanoseconds, if so.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        let (first, lease) = (self.first?, self.lease?);
        if !self.has_times || self.calls.is_empty() {
            return None;
        }
        let mut calls = self.calls.clone();
        calls.sort_unstable();
        let call = calls[calls.len() / 2];
        let span = self.last - first;
        let is_short = span.0.saturating_mul(SPANS_OF_LEASE) < lease.0;
        let is_doubtful =
            (1..CALL_NANOS_MIN).contains(&call.0) || is_short && call.0 < CALL_NANOS_QUICK;
        let doubt = Doubt {
            span,
            call,
            lease,
            unit: None,
        };
        is_doubtful.then(|| Doubt {
            unit: doubt.fitting(),
            ..doubt
        })
    }
}

impl Doubt {
    /// The finest unit in which calls take as long as calls do and the history is not over before
    /// a lease has begun to count; where none does both, the finest in which calls do.
    fn fitting(&self) -> Option<TimeUnit> {
        let units = || TimeUnit::ALL.into_iter().skip(1);
        let long = |unit: TimeUnit, time: Nanos| time.0.saturating_mul(unit.nanos());
        let is_usual = |unit: &TimeUnit| long(*unit, self.call) >= CALL_NANOS_USUAL;
        let is_long = |unit: &TimeUnit| long(*unit, self.span) >= self.lease.0 / SPANS_OF_LEASE_FEW;
        let is_both = |unit: &TimeUnit| is_long(unit) && (self.call.0 == 0 || is_usual(unit));
        units().find(is_both).or_else(|| units().find(is_usual))
    }
}

impl EventSink for Survey {
    fn header(&mut self, _: Header) {}

    fn event(&mut self, event: Event) {
        self.push(&event);
    }
}
