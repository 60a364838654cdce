//! Holds of one owner, read from its operations in its own order.

use crate::oracle::cells::{
    DRIFT, Hold, alive, begin, claims, doubt, explained, follow, keep, lengthen, loosen,
};
use crate::oracle::ops::{Act, End, Op};

/// Holds of an owner, as a writer and as a reader.
pub(crate) fn holds(own: &[&Op]) -> Vec<Hold> {
    let [mut writer, mut reader] = [(); 2].map(|()| Past {
        alive: alive(own),
        loose: Some(0),
        ..Past::default()
    });
    for (position, &op) in own.iter().enumerate() {
        let later = &own[position + 1..];
        if op.act == Act::Lost {
            writer.take(position, op, later);
            reader.take(position, op, later);
            continue;
        }
        let (here, there) = if op.read {
            (&mut reader, &mut writer)
        } else {
            (&mut writer, &mut reader)
        };
        let knows = here.open || here.phantom.is_some();
        match op.act {
            Act::Acquire => there.asked_beside(op),
            Act::Renew if !knows => there.renewed_beside(op),
            Act::Release if !knows && (op.read || here.lapsed.is_none()) => {
                there.released_beside(op);
            }
            Act::Renew | Act::Release | Act::Lost => {}
        }
        here.take(position, op, later);
    }
    writer.holds.append(&mut reader.holds);
    for hold in &mut writer.holds {
        doubt(hold, own);
    }
    writer.holds
}

/// All that the past of an owner matters, in one mode.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Default)]
struct Past<'a> {
    holds: Vec<Hold>,
    alive: u64,
    /// The last hold goes on.
    open: bool,
    /// The indeterminate acquire that may be proved.
    phantom: Option<(usize, &'a Op)>,
    /// The last release without an answer.
    doubted: Option<usize>,
    /// Left, but every release failed: it cannot be gone.
    kept: bool,
    /// Grants of the last hold that no release was sent for, and whether the service counts them.
    grants: u32,
    counted: bool,
    /// Releases without an answer, and those of them that may yet end a later hold.
    doubts: u32,
    in_doubt: u32,
    /// Releases sent since the last hold began, and whether one without an answer ended it.
    sent: u32,
    left_in_doubt: bool,
    /// The hold that was given up last.
    lapsed: Option<usize>,
    /// By how much renewals without an answer may yet extend a later lease, if that is known.
    loose: Option<u64>,
}

impl<'a> Past<'a> {
    fn last(&mut self) -> &mut Hold {
        self.holds.last_mut().expect("there is a hold")
    }

    fn take(&mut self, position: usize, op: &'a Op, later: &[&Op]) {
        let (ok, unknown) = (op.end == End::Ok, op.end == End::Unknown);
        self.give_up(op);
        if op.act == Act::Lost || op.act == Act::Renew && op.end == End::NotOwner {
            self.grants = 0;
        }
        let partial = op.act == Act::Release
            && self.grants > 1 + self.doubts
            && op.end != End::NotOwner
            && op.count.map_or(self.counted, |count| count > 0);
        if unknown && op.act == Act::Renew {
            let subject = if self.open {
                self.holds.last()
            } else {
                self.lapsed.map(|at| &self.holds[at])
            };
            let length = op.lease.or(subject.and_then(|hold| hold.lease));
            let slack = length.map(|length| length + DRIFT);
            self.loose = self.loose.zip(slack).map(|(all, slack)| all + slack);
        }
        match op.act {
            Act::Acquire if ok && self.open => {
                let last = self.last();
                lengthen(last, op, op.lease);
                if op.count > Some(1) {
                    last.show(op);
                }
                self.grants = (self.grants + 1).min(op.count.unwrap_or(u32::MAX));
                self.counted = op.count.is_some_and(|count| count > 1);
            }
            Act::Acquire if ok => {
                self.settle(op);
                self.push(begin(op, op.inv, op.res, self.alive, self.in_doubt));
            }
            Act::Release if self.open && partial => keep(self.last(), op),
            Act::Acquire if unknown => {
                if self.open {
                    self.last().ceiling = None;
                }
                let all = self.phantom.into_iter().chain([(position, op)]);
                self.phantom = all.min_by_key(claims);
            }
            Act::Renew | Act::Release if !self.open && ok && self.phantom.is_some() => {
                self.prove(op);
            }
            Act::Renew if !self.open && ok => {
                self.may_be_of_lapsed(op);
            }
            Act::Renew if !self.open && unknown => {
                if let Some(lapsed) = self.lapsed {
                    let lapsed = &mut self.holds[lapsed];
                    loosen(lapsed, op.lease.or(lapsed.lease));
                }
            }
            Act::Renew | Act::Release | Act::Lost if self.open => {
                self.open = op.act != Act::Release;
                self.kept = !self.open && op.end == End::Failed;
                self.left_in_doubt = !self.open && unknown;
                let has_phantom = self.phantom.is_some();
                follow(self.last(), op, explained(op, later, has_phantom));
            }
            Act::Release if self.kept => {
                let last = self.last();
                let inside = last.floor.is_none_or(|floor| op.res < floor);
                let denied = op.end == End::NotOwner && last.shown.is_none();
                let is_lost = denied && inside && !explained(op, later, false);
                last.lost = last.lost.or(is_lost.then_some(op.res));
                self.kept = op.end == End::Failed;
            }
            Act::Acquire | Act::Renew | Act::Release | Act::Lost => {}
        }
        if op.act == Act::Release {
            self.release(position, op);
        }
    }

    /// Ends the hold of an owner that asks anew.
    fn give_up(&mut self, op: &Op) {
        let (ok, unknown) = (op.end == End::Ok, op.end == End::Unknown);
        let anew = op.act == Act::Acquire && (ok || unknown);
        // It may be the hold of an indeterminate acquire that is renewed.
        let renewed = op.act == Act::Renew && ok && self.phantom.is_some();
        if !self.open || !(anew || renewed) {
            return;
        }
        let last = self.last();
        let asked = if ok { op.res } else { op.inv };
        let inside = last.floor.is_none_or(|floor| asked <= floor);
        if !inside || last.told.is_some() {
            self.leave(op);
        }
    }

    /// The hold is open no longer, though no release of it was sent.
    fn leave(&mut self, op: &Op) {
        let last = self.last();
        (last.leaves, last.released) = (Some(op.inv), op.act == Act::Release);
        (self.open, self.left_in_doubt) = (false, false);
        self.lapsed = Some(self.holds.len() - 1);
    }

    /// Ends the reading of an owner that asks to write.
    fn asked_beside(&mut self, op: &Op) {
        let asks = matches!(op.end, End::Ok | End::Unknown);
        if self.open && asks && !op.read {
            self.leave(op);
        }
        self.give_up(op);
    }

    /// A renewal in the other mode, of which there is nothing.
    fn renewed_beside(&mut self, op: &Op) {
        if !self.open {
            return;
        }
        let last = self.last();
        let end = op.lease.map(|lease| op.res + lease + DRIFT);
        match op.end {
            End::Ok => {
                let moved = last.ceiling.zip(end);
                last.ceiling = moved.map(|(one, other)| one.max(other + last.slack));
            }
            End::Unknown => loosen(last, op.lease.or(last.lease)),
            End::Refused | End::NotOwner | End::Failed => {}
        }
    }

    /// A release in the other mode, of which there is nothing: it may be of this one.
    fn released_beside(&mut self, op: &Op) {
        if !self.open {
            return;
        }
        self.leave(op);
        let excuses = matches!(op.end, End::Ok | End::Unknown);
        let last = self.last();
        last.lost = last.lost.filter(|&denied| !excuses || denied < op.inv);
    }

    /// A grant inside the lease of the hold before, of which one release had no answer, says that
    /// this release is done.
    fn settle(&mut self, op: &Op) {
        let inside = self.holds.last().is_some_and(|last| {
            let before = last.floor.is_none_or(|floor| op.res <= floor);
            before && last.told.is_none()
        });
        self.in_doubt -= u32::from(self.left_in_doubt && self.sent == 1 && inside);
    }

    fn push(&mut self, mut hold: Hold) {
        hold.slack += self.loose.unwrap_or(0);
        let moved = hold.ceiling.zip(self.loose);
        hold.ceiling = moved.map(|(end, loose)| end + loose);
        self.holds.push(hold);
        (self.open, self.kept, self.left_in_doubt) = (true, false, false);
        (self.grants, self.counted) = (1, false);
        (self.lapsed, self.sent) = (None, 0);
    }

    /// A renewal or a release that an indeterminate acquire explains, unless it may just as well be
    /// of a hold that was given up, and may go on.
    fn prove(&mut self, op: &Op) {
        self.kept = false;
        if self.may_be_of_lapsed(op) {
            self.left_in_doubt = false;
            return;
        }
        let (sent, acquire) = self.phantom.take().expect("the caller saw it");
        let mut hold = begin(acquire, acquire.inv, op.res, self.alive, self.in_doubt);
        // It may still give back what the renewal proves.
        let strikes = self.doubted > Some(sent);
        if op.act == Act::Release {
            (hold.leaves, hold.released) = (Some(op.res), true);
        } else {
            lengthen(&mut hold, op, op.lease.or(acquire.lease));
            (hold.leaves, hold.released) = (strikes.then_some(op.res), strikes);
        }
        self.push(hold);
        self.open = op.act == Act::Renew && !strikes;
    }

    /// Tells whether a success may be of the hold that was given up; a renewal then lengthens it.
    fn may_be_of_lapsed(&mut self, op: &Op) -> bool {
        let before = self.lapsed.map(|at| &mut self.holds[at]);
        let may_go_on = |before: &&mut Hold| before.ceiling.is_none_or(|end| op.inv <= end);
        let Some(before) = before.filter(may_go_on) else {
            return false;
        };
        if op.act == Act::Renew {
            let renewed = op.lease.map(|lease| op.res + lease + DRIFT);
            let end = before.ceiling.zip(renewed);
            before.ceiling = end.map(|(end, renewed)| end.max(renewed + before.slack));
        }
        true
    }

    fn release(&mut self, position: usize, op: &Op) {
        let unknown = op.end == End::Unknown;
        self.grants = self.grants.saturating_sub(1);
        self.doubts += u32::from(unknown);
        self.in_doubt += u32::from(unknown);
        self.sent += 1;
        self.doubted = unknown.then_some(position).or(self.doubted);
        if op.end == End::NotOwner || op.end == End::Ok && op.count == Some(0) {
            self.grants = 0;
        }
    }
}
