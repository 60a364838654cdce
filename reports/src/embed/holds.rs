//! The embedded holds: only what differs from what their operations let expect.

use std::collections::HashMap;

use lockstorm_checker::{Action, Digest, Hold, KeyId, Nanos};

use super::column::{Column, zigzag};
use super::lanes::Lanes;
use super::selection::Selection;
use super::ticks::{TOKEN_MAX, Unit};

/// The columns of holds, in order of their acquires.
#[derive(Debug, Default)]
pub(super) struct HoldColumns {
    /// Operations passed over since the acquire of the hold before.
    pub(super) acquires: Column,
    /// Ticks from the answer of the acquire (or its invocation, if none came) to the grant.
    pub(super) starts: Column,
    /// Zero without a release; one for the client's next release of the lock; else two more than
    /// the operations from the acquire to it.
    pub(super) releases: Column,
    /// Time at which the certain hold ends: zero with the sending of the release; one for never;
    /// else two more than its ticks.
    pub(super) ends: Column,
    /// Ends of the possible hold, and the answer of the release.
    pub(super) hull_ends: Column,
    /// The floor of the lease, in ticks since it was asked for; see [`LeaseEnds`].
    pub(super) floors: Column,
    /// The ceiling, in ticks since the grant.
    pub(super) ceilings: Column,
    /// Zero without a token; else one more than how far it is from the next after the last of its
    /// lock.
    pub(super) tokens: Column,
    /// Tokens that are no numbers to JavaScript, each with the number of its hold.
    pub(super) large_tokens: Vec<(usize, String)>,
}

/// Ends of leases, which hardly differ from hold to hold: the difference to the one before.
#[derive(Debug, Default)]
struct LeaseEnds {
    before: u64,
}

impl LeaseEnds {
    /// The code of an end `after` ticks: zero means that there is none.
    fn code(&mut self, after: Option<i64>) -> i64 {
        let code = after.map_or(0, |after| zigzag(after) + 1);
        let difference = code.cast_signed() - self.before.cast_signed();
        self.before = code;
        difference
    }
}

/// Memory of the encoder from hold to hold.
struct Encoder<'a> {
    digest: &'a Digest,
    unit: Unit,
    columns: HoldColumns,
    floors: LeaseEnds,
    ceilings: LeaseEnds,
    last_token: HashMap<KeyId, u64>,
}

impl HoldColumns {
    /// `holds` are in order of their acquires, and all of their operations are selected.
    pub(super) fn of(
        digest: &Digest,
        holds: &[&Hold],
        selection: &Selection,
        lanes: &Lanes,
        unit: Unit,
    ) -> Self {
        let next_release = next_releases(digest, selection, lanes);
        let mut encoder = Encoder {
            digest,
            unit,
            columns: Self::default(),
            floors: LeaseEnds::default(),
            ceilings: LeaseEnds::default(),
            last_token: HashMap::new(),
        };
        let mut next = 0;
        for (number, hold) in holds.iter().enumerate() {
            let acquire = selection.number(hold.acquire);
            encoder.columns.acquires.number(acquire - next);
            next = acquire + 1;
            let release = hold.release.map(|id| selection.number(id));
            let is_next = release == next_release[acquire as usize].map(u64::from);
            encoder.columns.releases.number(match release {
                None => 0,
                Some(_) if is_next => 1,
                Some(release) => release - acquire + 2,
            });
            encoder.times(hold);
            encoder.token(number, hold);
        }
        encoder.columns
    }
}

impl Encoder<'_> {
    fn times(&mut self, hold: &Hold) {
        let unit = self.unit;
        let acquire = self.digest.operation(hold.acquire);
        let answered = acquire.completion.map_or(acquire.invoked, |done| done.time);
        let start = unit.ticks(hold.core.start);
        self.columns.starts.signed(start - unit.ticks(answered));

        let release = hold.release.map(|id| self.digest.operation(id));
        let sent = release.map_or(Nanos::MAX, |release| release.invoked);
        let told = release.and_then(lockstorm_checker::Operation::answered);
        let told = told.unwrap_or(Nanos::MAX);
        self.columns.ends.number(self.end(hold.left(), sent, start));
        self.columns
            .hull_ends
            .number(self.end(hold.hull.end, told, start));

        let after = |at: Nanos, from: i64| (at != Nanos::MAX).then(|| unit.ticks(at) - from);
        let lease = hold.own_lease(self.digest);
        let floor = after(lease.floor, unit.ticks(acquire.asked()));
        let ceiling = after(lease.ceiling, start);
        self.columns.floors.signed(self.floors.code(floor));
        self.columns.ceilings.signed(self.ceilings.code(ceiling));
    }

    fn end(&self, end: Nanos, expected: Nanos, start: i64) -> u64 {
        if end == expected {
            0
        } else if end == Nanos::MAX {
            1
        } else {
            (self.unit.ticks(end) - start).max(0).unsigned_abs() + 2
        }
    }

    fn token(&mut self, number: usize, hold: &Hold) {
        let Some(token) = hold.token else {
            self.columns.tokens.number(0);
            return;
        };
        if token >= TOKEN_MAX {
            self.columns.tokens.number(0);
            self.columns.large_tokens.push((number, token.to_string()));
            return;
        }
        let last = self.last_token.insert(hold.key, token).unwrap_or(0);
        let step = token.cast_signed() - last.cast_signed() - 1;
        self.columns.tokens.number(zigzag(step) + 1);
    }
}

/// For each selected operation the next release after it in its lane.
fn next_releases(digest: &Digest, selection: &Selection, lanes: &Lanes) -> Vec<Option<u32>> {
    let mut next = vec![None; lanes.len()];
    let mut found = vec![None; selection.len()];
    for (number, position) in selection.positions().enumerate().rev() {
        let next = &mut next[lanes.at(position) as usize];
        found[number] = *next;
        if digest.operations[position].action == Action::Release {
            *next = Some(number as u32);
        }
    }
    found
}
