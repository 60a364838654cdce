//! Verdict of the final phase on one lock, read one millisecond at a time.

use lockstorm_checker::history::{Event, Function, History, Kind, PhaseNote, Process, Value};
use lockstorm_checker::{Nanos, Verdict};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::oracle::cells::DRIFT;
use crate::oracle::ops::{Act, End, Op, history};

/// One lock that was held before, and is asked for in the final phase.
pub(crate) struct Ending {
    pub(crate) ops: Vec<Op>,
    pub(crate) start: u64,
    /// Counted from the start.
    pub(crate) bound: u64,
    /// True if the history names the bound; the checker is told of it otherwise.
    pub(crate) is_named: bool,
}

/// Leases from before, some of them running still; then tries and waits, refused or granted.
pub(crate) fn ending(seed: u64) -> Ending {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let start: u64 = 30;
    let bound = rng.random_range(8..=40);
    let mut ops = Vec::new();
    for owner in 0..rng.random_range(0..=2) {
        let inv = rng.random_range(0..25);
        let end = if rng.random_bool(0.8) {
            End::Ok
        } else {
            End::Unknown
        };
        ops.push(Op {
            lease: Some(rng.random_range(1..40)),
            ..Op::new(owner, Act::Acquire, inv, inv + rng.random_range(0..4), end)
        });
    }
    for owner in 10..10 + rng.random_range(0..=3) {
        let inv = rng.random_range(start..start + bound);
        // Most waits take nearly all of the time that there is.
        let res = if rng.random_bool(0.7) {
            (start + bound + 2)
                .saturating_sub(rng.random_range(0..6))
                .max(inv)
        } else {
            inv + rng.random_range(0..3)
        };
        let end = if rng.random_bool(0.9) {
            End::Refused
        } else {
            End::Ok
        };
        ops.push(Op::new(owner, Act::Acquire, inv, res, end));
    }
    Ending {
        ops,
        start,
        bound,
        is_named: rng.random_bool(0.5),
    }
}

impl Ending {
    const fn end(&self) -> u64 {
        self.start + self.bound
    }

    pub(crate) fn history(&self) -> History {
        let mut history = history(&self.ops);
        let at = Nanos::from_millis(self.start);
        let before = history.events.partition_point(|event| event.time < at);
        let bound = self.is_named.then(|| Nanos::from_millis(self.bound));
        let note = PhaseNote {
            name: "final".into(),
            bound,
        };
        let phase = Event {
            index: 0,
            time: at,
            kind: Kind::Note,
            process: Process::Nemesis,
            function: Function::Phase,
            key: "".into(),
            value: Value {
                phase: Some(Box::new(note)),
                ..Value::default()
            },
            error: None,
            extra: None,
        };
        history.events.insert(before, phase);
        for (index, event) in (0..).zip(&mut history.events) {
            event.index = index;
        }
        history
    }

    /// Tells whether a lease from before may be running at this moment.
    fn may_be_leased(&self, at: u64) -> bool {
        self.ops.iter().any(|op| {
            let runs_out = |lease| op.res + lease + DRIFT;
            op.lease.is_some_and(|lease| at <= runs_out(lease))
        })
    }

    /// How many milliseconds from `from` on nobody can have had a lease, up to `to`.
    fn free_between(&self, from: u64, to: u64) -> u64 {
        let cells = (from.max(self.start)..to).filter(|at| !self.may_be_leased(at + 1));
        cells.count() as u64
    }

    /// The definition: valid where it was had in time; violated where somebody waited for nearly
    /// all of the time in which it was free, to the end, or asked and was refused when it was free
    /// and the bound was as good as over.
    pub(crate) fn judge(&self) -> Verdict {
        let tries = self.ops.iter().filter(|op| op.res >= self.start);
        let mut verdict = Verdict::Unknown;
        for op in tries.clone() {
            if op.end == End::Ok && op.res <= self.end() {
                return Verdict::Valid;
            }
            if self.shows(op) {
                verdict = Verdict::Violated;
            }
        }
        let was_asked = tries.clone().any(|op| op.inv <= self.end());
        if was_asked { verdict } else { Verdict::Unknown }
    }

    fn shows(&self, op: &Op) -> bool {
        let in_bound = if self.is_named {
            self.free_between(self.start, self.end())
        } else {
            self.bound
        };
        let is_most = |waited: u64| in_bound > 0 && 10 * waited >= 9 * in_bound;
        let last = self.ops.iter().map(|op| op.res).max().unwrap_or(0);
        match op.end {
            End::Refused => {
                let late = 10 * (op.res - self.start) >= 9 * self.bound;
                let was_free = !self.may_be_leased(op.inv);
                late && (was_free || is_most(self.free_between(self.start, op.res)))
            }
            // Granted after the bound.
            End::Ok => last >= self.end() && is_most(self.free_between(op.inv, self.end())),
            End::Unknown | End::Failed | End::NotOwner => false,
        }
    }
}
