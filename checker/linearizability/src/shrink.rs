//! A failing prefix → a minimal set of operations that cannot have happened.
//!
//! To drop an operation is to know nothing of it: it may have taken effect at any time, or never.
//! An operation can go if the others are impossible without that knowledge, and if without the
//! operation nothing but the same return fails: so a read never becomes impossible only because its
//! write was left out. What remains is minimal in this sense: drop any one operation, and there is
//! an order, or another return fails than before. It is not the smallest of all such sets, and
//! where the steps or the windows do not suffice, it holds more than it must.
//!
//! A prefix may be a million calls long, so windows of growing length before the failing return
//! are tried: the calls in them, and those before them that they build upon. A window will do if
//! it fails by itself, and only because of the return at its end.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::search::{Decision, counted};
use crate::budget::Budget;
use crate::call::{Call, CallId, Datum, OpId, OwnerId, Reply, Request};
use crate::specification::Specification;
use crate::time::Time;

/// Lengths of the windows, in calls. Most faults show in the first.
const WINDOWS: [usize; 4] = [64, 256, 1024, 4096];
/// Steps for one window, and for one trial in it: less than a second, and a tenth of it.
const WINDOW_STEPS: u64 = 2_000_000;
const TRIAL_STEPS: u64 = 200_000;

/// The operations that show that `due` cannot have returned, in order of invocation.
pub fn shrink(specification: &Specification, calls: &[Call], due: CallId, taken: u32) -> Vec<OpId> {
    let prefix = &calls[..taken as usize];
    for length in WINDOWS {
        let start = prefix.len().saturating_sub(length).min(due.0 as usize);
        let window = Window::of(specification, prefix, start, due);
        if let Some(operations) = window.minimal() {
            return operations;
        }
        if start == 0 {
            break;
        }
    }
    distinct(prefix.iter())
}

/// Reduces `chosen`, calls known to show that `due` cannot have returned, to the operations that
/// show it, in order of invocation; `None` if they do not show it, or are too many.
pub fn minimal(
    specification: &Specification,
    calls: &[Call],
    due: CallId,
    chosen: &[CallId],
) -> Option<Vec<OpId>> {
    let most = WINDOWS.last().is_some_and(|&most| chosen.len() <= most);
    let window = Window {
        specification,
        calls: select(calls, chosen.iter().map(|id| id.0 as usize)),
        due: calls[due.0 as usize].op,
        spent: Cell::new(0),
    };
    (most && !chosen.is_empty()).then(|| window.minimal())?
}

/// The operations of calls, each once, in order of invocation.
pub fn distinct<'a>(calls: impl Iterator<Item = &'a Call>) -> Vec<OpId> {
    let mut operations: Vec<OpId> = calls
        .filter(|call| call.is_operation())
        .map(|call| call.op)
        .collect();
    operations.sort_unstable();
    operations
}

struct Window<'a> {
    specification: &'a Specification,
    calls: Vec<Call>,
    due: OpId,
    /// Steps of the trials so far.
    spent: Cell<u64>,
}

impl<'a> Window<'a> {
    fn of(specification: &'a Specification, prefix: &[Call], start: usize, due: CallId) -> Self {
        let chosen = foundation(prefix, start);
        Self {
            specification,
            calls: select(prefix, chosen.into_iter()),
            due: prefix[due.0 as usize].op,
            spent: Cell::new(0),
        }
    }

    /// The smallest set of operations of the window that fails; `None` if the window does not
    /// fail, or fails for want of what was before it.
    fn minimal(&self) -> Option<Vec<OpId>> {
        let nothing = HashSet::new();
        if !self.fails_at_last(&nothing) || self.fails_knowing_all_but(&[self.due].into()) {
            return None;
        }
        let mut left: Vec<OpId> = distinct(self.calls.iter());
        left.retain(|&op| op != self.due);
        let mut dropped = nothing;
        let mut length = left.len().div_ceil(2);
        while length > 0 && self.spent.get() < WINDOW_STEPS {
            let mut kept = Vec::new();
            for chunk in left.chunks(length) {
                let before = dropped.clone();
                dropped.extend(chunk);
                if !self.fails_knowing_all_but(&dropped) || !self.fails_at_last(&dropped) {
                    dropped = before;
                    kept.extend_from_slice(chunk);
                }
            }
            // What could not go may go when others have gone.
            let is_last = length == 1 && kept.len() == left.len();
            left = kept;
            length = if is_last { 0 } else { length.div_ceil(2) };
        }
        left.push(self.due);
        left.sort_unstable();
        Some(left)
    }

    /// Tells whether the calls without the dropped operations fail, and at the return at which the
    /// whole window fails.
    fn fails_at_last(&self, dropped: &HashSet<OpId>) -> bool {
        let left = (0..self.calls.len()).filter(|&at| !dropped.contains(&self.calls[at].op));
        let calls = select(&self.calls, left);
        match self.decide(&calls) {
            Decision::Illegal { due, .. } => calls[due.0 as usize].op == self.due,
            Decision::Legal | Decision::Unknown { .. } => false,
        }
    }

    fn fails_knowing_all_but(&self, dropped: &HashSet<OpId>) -> bool {
        let calls: Vec<Call> = self
            .calls
            .iter()
            .map(|&call| {
                if dropped.contains(&call.op) {
                    unknown(call)
                } else {
                    call
                }
            })
            .collect();
        matches!(self.decide(&calls), Decision::Illegal { .. })
    }

    fn decide(&self, calls: &[Call]) -> Decision {
        let budget = Budget::of_steps(TRIAL_STEPS);
        let (decision, steps) = counted(self.specification, calls.iter(), &budget);
        self.spent.set(self.spent.get() + steps);
        decision
    }
}

/// Some of the calls, in their order.
fn select(calls: &[Call], chosen: impl Iterator<Item = usize>) -> Vec<Call> {
    let mut places = vec![None; calls.len()];
    let mut selected: Vec<Call> = Vec::new();
    for at in chosen {
        let call = calls[at];
        places[at] = Some(CallId(selected.len() as u32));
        let after = call.after.and_then(|after| places[after.0 as usize]);
        selected.push(Call { after, ..call });
    }
    selected
}

/// Returns the call as if it had never been answered.
pub fn unknown(call: Call) -> Call {
    let request = match call.request {
        Request::Acquire {
            mode,
            permits,
            lease,
            ..
        } => Request::Acquire {
            mode,
            permits,
            token: None,
            lease,
        },
        Request::Renew { .. }
        | Request::Release { .. }
        | Request::Expire(_)
        | Request::Read(_)
        | Request::Write(_)
        | Request::Cas { .. }
        | Request::Append(_) => call.request,
    };
    Call {
        returned: Time::MAX,
        request,
        ..call
    }
}

/// The places of the calls from `start` on, and of those before them that they build upon: the
/// last grant of each owner, the last write of each value, the grant with the greatest token, and
/// the ends of their leases.
fn foundation(prefix: &[Call], start: usize) -> Vec<usize> {
    let mut chosen: BTreeSet<usize> = (start..prefix.len()).collect();
    let mut owners: HashSet<OwnerId> = prefix[start..].iter().map(|call| call.owner).collect();
    let mut values: HashSet<Datum> = prefix[start..].iter().filter_map(seen).collect();
    let mut greatest = None;
    for (at, call) in prefix[..start].iter().enumerate().rev() {
        if call.returned >= prefix[start].invoked && call.is_operation() {
            chosen.insert(at);
        }
        match (call.request, call.reply) {
            (Request::Acquire { token, .. }, Reply::Done) => {
                if owners.remove(&call.owner) {
                    chosen.insert(at);
                }
                greatest = greatest.max(token.map(|token| (token, at)));
            }
            (Request::Write(value) | Request::Cas { new: value, .. }, Reply::Done) => {
                if values.remove(&value) {
                    chosen.insert(at);
                    values.extend(seen(call));
                }
            }
            (
                Request::Acquire { .. }
                | Request::Renew { .. }
                | Request::Release { .. }
                | Request::Expire(_)
                | Request::Read(_)
                | Request::Write(_)
                | Request::Cas { .. }
                | Request::Append(_),
                _,
            ) => {}
        }
    }
    chosen.extend(greatest.map(|(_, at)| at));
    let releases = prefix[..start].iter().enumerate().filter(|(_, call)| {
        matches!(call.request, Request::Release { .. } | Request::Expire(_))
            && call.reply == Reply::Done
    });
    // What was granted before the window is given back as well.
    let mut granted: HashMap<OwnerId, usize> = HashMap::new();
    for &at in &chosen {
        if matches!(prefix[at].request, Request::Acquire { .. }) {
            granted.entry(prefix[at].owner).or_insert(at);
        }
    }
    let ends: Vec<usize> = releases
        .filter(|(at, call)| granted.get(&call.owner).is_some_and(|grant| grant < at))
        .map(|(at, _)| at)
        .collect();
    chosen.extend(ends);
    chosen.into_iter().collect()
}

/// The value that a call needs to find.
fn seen(call: &Call) -> Option<Datum> {
    match (call.request, call.reply) {
        (Request::Read(value), _)
        | (
            Request::Cas {
                expected: value, ..
            },
            Reply::Done,
        ) => Some(value),
        (
            Request::Acquire { .. }
            | Request::Renew { .. }
            | Request::Release { .. }
            | Request::Expire(_)
            | Request::Write(_)
            | Request::Cas { .. }
            | Request::Append(_),
            _,
        ) => None,
    }
}
