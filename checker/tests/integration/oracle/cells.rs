//! The definitions, as they stand: who holds in which millisecond, asked for every pair.
//!
//! Made for owners that do one thing after the other. Slow on purpose, and free of intervals: a
//! cell is the millisecond from `t` to `t + 1`, and holds are sets of cells.

use crate::oracle::ops::{Act, End, Op};
use crate::oracle::past;

/// Taken off and added to every lease, in milliseconds.
pub(crate) const DRIFT: u64 = 1;
/// No history lasts longer.
const CELLS: u64 = 64;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) exclusion: u64,
    pub(crate) overrun: u64,
    /// Overruns that reach beyond the ceiling.
    pub(crate) certain: u64,
    pub(crate) lost: u64,
    /// Leases that were over when they were granted.
    pub(crate) dead: u64,
}

/// One hold. `None` is "never".
pub(crate) struct Hold {
    pub(crate) owner: u8,
    pub(crate) read: bool,
    pub(crate) granted: u64,
    pub(crate) leaves: Option<u64>,
    /// True if it is a release that says so.
    pub(crate) released: bool,
    pub(crate) told: Option<u64>,
    pub(crate) floor: Option<u64>,
    pub(crate) ceiling: Option<u64>,
    /// By how much renewals without an answer may yet move that.
    pub(crate) slack: u64,
    /// When it was last known to act as holder, unless it left before.
    pub(crate) acting: u64,
    /// When it was denied inside its lease, without an excuse.
    pub(crate) lost: Option<u64>,
    /// That of its first grant.
    pub(crate) lease: Option<u64>,
    /// An earlier release may yet end it: it was certainly there up to here.
    pub(crate) shown: Option<u64>,
}

impl Hold {
    fn within(&self, cell: u64) -> bool {
        let before = |end: Option<u64>| end.is_none_or(|end| cell < end);
        self.granted <= cell && before(self.leaves) && before(self.told)
    }

    fn guaranteed(&self, cell: u64) -> bool {
        let before = |end: Option<u64>| end.is_none_or(|end| cell < end);
        self.within(cell) && before(self.floor) && before(self.shown)
    }

    fn believes(&self, cell: u64) -> bool {
        self.within(cell) && cell < self.acting
    }

    fn stale(&self, cell: u64) -> bool {
        self.believes(cell) && self.floor.is_some_and(|floor| cell >= floor)
    }

    pub(crate) fn show(&mut self, success: &Op) {
        self.shown = self.shown.map(|shown| shown.max(success.inv));
    }

    fn excludes(&self, other: &Self) -> bool {
        self.owner != other.owner && !(self.read && other.read)
    }
}

pub(crate) fn judge(ops: &[Op]) -> Counts {
    let mut holds = Vec::new();
    for owner in 0..=u8::MAX {
        let own: Vec<&Op> = ops.iter().filter(|op| op.owner == owner).collect();
        if !own.is_empty() {
            holds.extend(past::holds(&own));
        }
    }
    let mut counts = Counts {
        dead: (0..ops.len()).filter(|&at| is_dead(at, ops)).count() as u64,
        ..Counts::default()
    };
    for (position, hold) in holds.iter().enumerate() {
        counts.lost += u64::from(hold.lost.is_some());
        for (other_position, other) in holds.iter().enumerate() {
            if !hold.excludes(other) {
                continue;
            }
            let both = (0..CELLS).any(|cell| hold.guaranteed(cell) && other.guaranteed(cell));
            counts.exclusion += u64::from(both && position < other_position);
            let overrun = |cell: &u64| hold.stale(*cell) && other.believes(*cell);
            let last = (0..CELLS).filter(overrun).max();
            counts.overrun += u64::from(last.is_some());
            let certain = last.is_some_and(|last| hold.ceiling.is_some_and(|end| last >= end));
            counts.certain += u64::from(certain);
        }
    }
    counts
}

/// Tells whether no cell of a lease is left when its owner is told of it, nor one of another lease
/// of its own that it had asked for by then, nor had it begun to give the lock back.
fn is_dead(at: usize, ops: &[Op]) -> bool {
    let op = &ops[at];
    let grants = |op: &Op| matches!(op.act, Act::Acquire | Act::Renew) && op.end == End::Ok;
    // Without a lease it is good forever.
    let is_good = |op: &Op, cell: u64| op.lease.is_none_or(|lease| cell + DRIFT < op.inv + lease);
    let told = op.res;
    let own = |other: &&Op| other.owner == op.owner && other.inv <= told;
    let kept = ops
        .iter()
        .filter(own)
        .any(|other| grants(other) && is_good(other, told));
    // Those of one owner stand in its order.
    let mut later = ops[at..].iter().filter(own);
    grants(op) && !kept && !later.any(|other| other.act == Act::Release)
}

/// Where no release says when a hold ended, its owner acted as holder inside its lease, and later
/// as far as its own renewals and releases show it; one that releases elsewhere, and did not ask
/// anew, as long as it lives.
pub(crate) fn doubt(hold: &mut Hold, own: &[&Op]) {
    let releases = own.iter().any(|op| op.act == Act::Release);
    let Some(floor) = hold.floor.filter(|_| !hold.released) else {
        return;
    };
    if hold.leaves.is_none() && releases {
        return;
    }
    let of_holder = own.iter().filter(|op| {
        let acts = matches!(op.act, Act::Renew | Act::Release) && op.read == hold.read;
        acts && hold.leaves.is_none_or(|leaves| op.inv <= leaves)
    });
    let last = of_holder.map(|op| op.inv).max().unwrap_or(0);
    hold.acting = hold.acting.min(last.max(floor));
}

/// When the owner was last known to be alive.
pub(crate) fn alive(own: &[&Op]) -> u64 {
    let known = own.iter().map(|op| match op.end {
        End::Unknown => op.inv,
        End::Ok | End::Refused | End::NotOwner | End::Failed => op.res,
    });
    known.max().expect("an owner has operations")
}

/// How much an indeterminate acquire holds if it is proved. Nobody can tell which of several took
/// effect, so it is the one that claims least.
pub(crate) fn claims((_, acquire): &(usize, &Op)) -> (bool, u64) {
    let lease = acquire.lease.unwrap_or(u64::MAX);
    (!acquire.read, acquire.inv.saturating_add(lease))
}

/// Tells whether a release of the same hold was sent at the instant of the answer: it is
/// concurrent, and may have come first. What follows is of the hold of an indeterminate acquire,
/// where there is one that a renewal can be about.
pub(crate) fn explained(op: &Op, later: &[&Op], has_phantom: bool) -> bool {
    let begins_anew = |later: &Op| {
        let renews = later.act == Act::Renew && later.end == End::Ok && later.read == op.read;
        if op.act == Act::Renew && renews && has_phantom {
            return true;
        }
        let doubtful = later.end == End::Unknown && op.act == Act::Renew;
        later.act == Act::Acquire && (later.end == End::Ok || doubtful)
    };
    // After it was told so, it gives up the hold by what it asks for in either mode.
    let bears = |later: &&&Op| {
        let asks = later.act == Act::Acquire && op.act == Act::Renew;
        later.read == op.read || asks
    };
    let effective = |later: &Op| matches!(later.end, End::Ok | End::Unknown);
    later
        .iter()
        .filter(bears)
        .take_while(|later| !begins_anew(later) && later.inv <= op.res)
        .any(|later| later.act == Act::Release && effective(later))
}

/// A partial release may extend the lease, an indeterminate one at any time.
pub(crate) fn keep(hold: &mut Hold, partial: &Op) {
    if partial.end == End::Ok {
        hold.show(partial);
    }
    let extended = hold.lease.filter(|_| partial.end != End::Unknown);
    hold.ceiling = hold
        .ceiling
        .zip(extended)
        .map(|(end, lease)| end.max(partial.res + lease + DRIFT + hold.slack));
}

pub(crate) fn begin(acquire: &Op, inv: u64, granted: u64, alive: u64, in_doubt: u32) -> Hold {
    Hold {
        owner: acquire.owner,
        read: acquire.read,
        granted,
        leaves: None,
        released: false,
        told: None,
        floor: acquire
            .lease
            .map(|lease| (inv + lease).saturating_sub(DRIFT)),
        ceiling: acquire.lease.map(|lease| granted + lease + DRIFT),
        slack: 0,
        acting: alive,
        lost: None,
        lease: acquire.lease,
        shown: (in_doubt > 0).then_some(granted),
    }
}

/// Renewals of the random histories name their lease, or the hold has none.
pub(crate) fn lengthen(hold: &mut Hold, success: &Op, lease: Option<u64>) {
    hold.floor = hold
        .floor
        .zip(lease)
        .map(|(floor, lease)| floor.max((success.inv + lease).saturating_sub(DRIFT)));
    hold.ceiling = hold
        .ceiling
        .zip(lease)
        .map(|(end, lease)| end.max(success.res + lease + DRIFT + hold.slack));
}

/// A renewal without an answer extends what is still there, by its own length at the most.
pub(crate) fn loosen(hold: &mut Hold, length: Option<u64>) {
    hold.slack += length.map_or(0, |length| length + DRIFT);
    let moved = hold.ceiling.zip(length);
    hold.ceiling = moved.map(|(end, length)| end + length + DRIFT);
}

/// A renewal, a release or a notice during an open hold.
pub(crate) fn follow(hold: &mut Hold, op: &Op, excused: bool) {
    let inside = hold.floor.is_none_or(|floor| op.res < floor);
    let denied = op.end == End::NotOwner && op.act != Act::Lost && hold.shown.is_none();
    if denied && inside && !excused {
        hold.lost = hold.lost.or(Some(op.res));
    }
    if op.end == End::Ok && op.act != Act::Lost {
        hold.show(op);
    }
    if op.end == End::Ok && op.act == Act::Release && op.count > Some(0) {
        keep(hold, op);
    }
    match (op.act, op.end) {
        (Act::Release, _) => (hold.leaves, hold.released) = (Some(op.inv), true),
        (Act::Lost, _) => hold.told = hold.told.or(Some(op.inv)),
        (Act::Renew, End::Ok) => lengthen(hold, op, op.lease),
        (Act::Renew, End::NotOwner) => hold.told = hold.told.or(Some(op.res)),
        (Act::Renew, End::Unknown) => loosen(hold, op.lease.or(hold.lease)),
        (Act::Acquire | Act::Renew, _) => {}
    }
}
