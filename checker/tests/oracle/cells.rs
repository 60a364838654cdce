//! The definitions, as they stand: who holds in which millisecond, asked for every pair.
//!
//! Made for owners that do one thing after the other. Slow on purpose, and free of intervals: a
//! cell is the millisecond from `t` to `t + 1`, and holds are sets of cells.

use crate::ops::{Act, End, Op};

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
}

/// One hold. `None` is "never".
struct Hold {
    owner: u8,
    read: bool,
    granted: u64,
    leaves: Option<u64>,
    told: Option<u64>,
    floor: Option<u64>,
    ceiling: Option<u64>,
    alive: u64,
    lost: bool,
    /// That of its first grant.
    lease: Option<u64>,
}

impl Hold {
    fn within(&self, cell: u64) -> bool {
        let before = |end: Option<u64>| end.is_none_or(|end| cell < end);
        self.granted <= cell && before(self.leaves) && before(self.told)
    }

    fn guaranteed(&self, cell: u64) -> bool {
        self.within(cell) && self.floor.is_none_or(|floor| cell < floor)
    }

    fn believes(&self, cell: u64) -> bool {
        self.within(cell) && cell < self.alive
    }

    fn stale(&self, cell: u64) -> bool {
        self.believes(cell) && self.floor.is_some_and(|floor| cell >= floor)
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
            holds.extend(holds_of(&own));
        }
    }
    let mut counts = Counts::default();
    for (position, hold) in holds.iter().enumerate() {
        counts.lost += u64::from(hold.lost);
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

/// What one owner's operations, in its own order, say that it held.
fn holds_of(own: &[&Op]) -> Vec<Hold> {
    let alive = alive(own);
    let mut holds: Vec<Hold> = Vec::new();
    let mut open = false;
    let mut phantom: Option<(usize, &Op)> = None;
    // The last release without an answer.
    let mut doubted: Option<usize> = None;
    // Left, but every release failed: it cannot be gone.
    let mut kept = false;
    // Grants of the last hold that no release was sent for, and whether the service counts them.
    let (mut grants, mut counted) = (0_u32, false);
    // Releases without an answer.
    let mut doubts = 0;
    for (position, op) in own.iter().enumerate() {
        let (ok, unknown) = (op.end == End::Ok, op.end == End::Unknown);
        let anew = op.act == Act::Acquire && (ok || unknown);
        // It may be the hold of an indeterminate acquire that is renewed.
        let renewed = op.act == Act::Renew && ok && phantom.is_some();
        if (anew || renewed)
            && open
            && let Some(last) = holds.last_mut()
        {
            let asked = if ok { op.res } else { op.inv };
            let inside = last.floor.is_none_or(|floor| asked <= floor);
            if !inside || last.told.is_some() || last.read != op.read {
                last.leaves = Some(op.inv);
                open = false;
            }
        }
        let told = op.act == Act::Lost || op.act == Act::Renew && op.end == End::NotOwner;
        if told {
            grants = 0;
        }
        let partial = op.act == Act::Release
            && grants > 1 + doubts
            && op.end != End::NotOwner
            && op.count.map_or(counted, |count| count > 0);
        match op.act {
            Act::Acquire if ok && open => {
                let last = holds.last_mut().expect("a hold is open");
                lengthen(last, op, op.lease);
                grants = (grants + 1).min(op.count.unwrap_or(u32::MAX));
                counted = op.count.is_some_and(|count| count > 1);
            }
            Act::Acquire if ok => {
                holds.push(begin(op, op.inv, op.res, alive));
                (open, kept) = (true, false);
                (grants, counted) = (1, false);
            }
            Act::Release if open && partial => {
                keep(holds.last_mut().expect("a hold is open"), op);
            }
            Act::Acquire if unknown => {
                if open && let Some(last) = holds.last_mut() {
                    last.ceiling = None;
                }
                phantom = phantom
                    .into_iter()
                    .chain([(position, *op)])
                    .min_by_key(claims);
            }
            Act::Renew | Act::Release if !open && ok && phantom.is_some() => {
                let (sent, acquire) = phantom.take().expect("asked in the guard");
                let mut hold = begin(acquire, acquire.inv, op.res, alive);
                // It may still give back what the renewal proves.
                let strikes = doubted > Some(sent);
                if op.act == Act::Release {
                    hold.leaves = Some(op.res);
                } else {
                    lengthen(&mut hold, op, op.lease.or(acquire.lease));
                    hold.leaves = strikes.then_some(op.res);
                }
                (open, kept) = (op.act == Act::Renew && !strikes, false);
                (grants, counted) = (1, false);
                holds.push(hold);
            }
            Act::Renew | Act::Release | Act::Lost if open => {
                let last = holds.last_mut().expect("a hold is open");
                open = op.act != Act::Release;
                kept = !open && op.end == End::Failed;
                let excused = explained(op, &own[position + 1..]);
                follow(last, op, excused);
            }
            Act::Release if kept => {
                let last = holds.last_mut().expect("a hold was left");
                let inside = op.inv > last.granted && last.floor.is_none_or(|floor| op.res < floor);
                let excused = explained(op, &own[position + 1..]);
                last.lost |= op.end == End::NotOwner && inside && !excused;
                kept = op.end == End::Failed;
            }
            Act::Acquire | Act::Renew | Act::Release | Act::Lost => {}
        }
        if op.act == Act::Release {
            grants = grants.saturating_sub(1);
            doubts += u32::from(unknown);
            doubted = unknown.then_some(position).or(doubted);
            if op.end == End::NotOwner || ok && op.count == Some(0) {
                grants = 0;
            }
        }
    }
    holds
}

/// When the owner was last known to be alive.
fn alive(own: &[&Op]) -> u64 {
    let known = own.iter().map(|op| match op.end {
        End::Unknown => op.inv,
        End::Ok | End::Refused | End::NotOwner | End::Failed => op.res,
    });
    known.max().expect("an owner has operations")
}

/// How much an indeterminate acquire holds if it is proved. Nobody can tell which of several took
/// effect, so it is the one that claims least.
fn claims((_, acquire): &(usize, &Op)) -> (bool, u64) {
    let lease = acquire.lease.unwrap_or(u64::MAX);
    (!acquire.read, acquire.inv.saturating_add(lease))
}

/// Whether a release of the same hold was sent at the instant of the answer: it is concurrent, and
/// may have come first.
fn explained(op: &Op, later: &[&Op]) -> bool {
    let begins_anew = |later: &Op| {
        let doubtful = later.end == End::Unknown && op.act == Act::Renew;
        later.act == Act::Acquire && (later.end == End::Ok || doubtful)
    };
    let effective = |later: &Op| matches!(later.end, End::Ok | End::Unknown);
    later
        .iter()
        .take_while(|later| !begins_anew(later) && later.inv <= op.res)
        .any(|later| later.act == Act::Release && effective(later))
}

/// A partial release may extend the lease, an indeterminate one at any time.
fn keep(hold: &mut Hold, partial: &Op) {
    let extended = hold.lease.filter(|_| partial.end != End::Unknown);
    hold.ceiling = hold
        .ceiling
        .zip(extended)
        .map(|(end, lease)| end.max(partial.res + lease + DRIFT));
}

fn begin(acquire: &Op, inv: u64, granted: u64, alive: u64) -> Hold {
    Hold {
        owner: acquire.owner,
        read: acquire.read,
        granted,
        leaves: None,
        told: None,
        floor: acquire
            .lease
            .map(|lease| (inv + lease).saturating_sub(DRIFT)),
        ceiling: acquire.lease.map(|lease| granted + lease + DRIFT),
        alive,
        lost: false,
        lease: acquire.lease,
    }
}

/// Renewals of the random histories name their lease, or the hold has none.
fn lengthen(hold: &mut Hold, success: &Op, lease: Option<u64>) {
    hold.floor = hold
        .floor
        .zip(lease)
        .map(|(floor, lease)| floor.max((success.inv + lease).saturating_sub(DRIFT)));
    hold.ceiling = hold
        .ceiling
        .zip(lease)
        .map(|(end, lease)| end.max(success.res + lease + DRIFT));
}

/// A renewal, a release or a notice during an open hold.
fn follow(hold: &mut Hold, op: &Op, excused: bool) {
    let inside = op.inv > hold.granted && hold.floor.is_none_or(|floor| op.res < floor);
    if op.end == End::NotOwner && op.act != Act::Lost && inside && !excused {
        hold.lost = true;
    }
    match (op.act, op.end) {
        (Act::Release, _) => hold.leaves = Some(op.inv),
        (Act::Lost, _) => hold.told = hold.told.or(Some(op.inv)),
        (Act::Renew, End::Ok) => {
            let floor = hold.floor;
            lengthen(hold, op, op.lease);
            if op.inv <= hold.granted {
                hold.floor = floor;
            }
        }
        (Act::Renew, End::NotOwner) if op.inv > hold.granted => {
            hold.told = hold.told.or(Some(op.res));
        }
        (Act::Renew, End::Unknown) => hold.ceiling = None,
        (Act::Acquire | Act::Renew, _) => {}
    }
}
