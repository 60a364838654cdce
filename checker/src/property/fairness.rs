//! Fairness: who passed the doorway of a fair lock first is granted it first.
//!
//! ```text
//! a   |---queued-----------------------|      granted after b
//! b              |--sent------|===|           asked after a had its place: it overtook a
//! ```
//!
//! Only locks held by one at a time are judged: there, whose answer came first was granted first,
//! unless the lease of the other ran out before its answer arrived. That takes a stretch of time,
//! after the doorway, in which nobody held the lock for as long as the lease; from there on nothing
//! is counted. Each pair counts once, in O(n log n).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::rule::{BlameWindow, Causes, Rule};
use crate::case::{Case, FINDINGS_MAX, Finding, Ruling, Tested, is_shared, keep_first};
use crate::history::{Mode, Nanos};
use crate::holds::Windows;
use crate::operations::{Action, Interval, KeyId, Lease, OpId, Outcome, OwnerId};
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// Distinct lengths of lease for which the free stretches of a lock are looked up. For others a
/// lease may have run out as soon as it is over, whoever held the lock.
const LENGTHS_MAX: usize = 16;

/// The rule of this property.
pub(super) struct Fairness;

impl Rule for Fairness {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, _: Interval) -> String {
        claim(case, finding)
    }

    fn narrate(&self, teller: &mut Teller, _: Interval) {
        teller.doorway();
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        verify_witness(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::Shown
    }

    fn causes(&self) -> Causes {
        Causes::Any
    }

    /// It compares two answers: clocks that are off tell nothing of their order.
    fn survives_clock_error(&self) -> bool {
        false
    }
}

/// Somebody in the queue.
#[derive(Clone, Copy)]
struct Wait {
    op: OpId,
    owner: OwnerId,
    since: Nanos,
    /// Until when it certainly waited.
    until: Nanos,
    is_granted: bool,
    shared: bool,
}

/// Somebody who was granted the lock, and did not hold it when it asked.
#[derive(Clone, Copy)]
struct Grant {
    op: OpId,
    owner: OwnerId,
    sent: Nanos,
    answered: Nanos,
    shared: bool,
}

fn judge(case: &Case) -> Ruling {
    let mut ruling = Ruling {
        engine: "queue-sweep",
        has_matter: false,
        count: 0,
        findings: Vec::new(),
        tested: Tested::Yes,
    };
    let doorways = doorways(case);
    if doorways.is_empty() || case.permits() > 1 {
        let reason = if doorways.is_empty() {
            "no note says who stood in the queue, so the order cannot be seen"
        } else {
            "the queue of a lock with several permits is not judged"
        };
        ruling.tested = Tested::No(reason.to_owned());
        return ruling;
    }
    ruling.has_matter = true;
    let mut grants = grants(case, &doorways);
    let mut is_tested = false;
    for (key, waits) in waits(case, &doorways) {
        let grants = grants.remove(&key).unwrap_or_default();
        is_tested |= waits.iter().filter(|wait| wait.is_granted).any(|wait| {
            let later = grants.partition_point(|grant| grant.sent <= wait.since);
            later < grants.len()
        });
        let room = FINDINGS_MAX.saturating_sub(ruling.findings.len());
        let (all, first) = overtakings(&waits, &grants, room);
        ruling.count += apart(all, &waits, &grants) - own_pairs(&waits, &grants);
        let others = first.into_iter().filter(|(wait, grant)| {
            let together = wait.shared && grant.shared;
            wait.owner != grant.owner && !together
        });
        ruling.findings.extend(others.map(|(wait, grant)| Finding {
            property: Property::Fairness,
            key,
            holds: Vec::new(),
            operations: vec![wait.op, grant.op],
            interval: Interval::new(wait.since, grant.answered),
            certain: true,
        }));
    }
    keep_first(&mut ruling.findings);
    if !ruling.findings.is_empty() {
        let by_acquire = case.holds_by_acquire();
        for finding in &mut ruling.findings {
            finding.holds.extend(by_acquire.get(&finding.operations[1]));
        }
    }
    if !is_tested {
        let reason = "nobody was granted the lock who asked while another was in its queue";
        ruling.tested = Tested::No(reason.to_owned());
    }
    ruling
}

/// When each acquire got its place; of several notes the last counts.
fn doorways(case: &Case) -> HashMap<OpId, Nanos> {
    let notes = case.digest.queued.iter();
    notes
        .filter_map(|note| Some((note.acquire?, note.time)))
        .collect()
}

/// Returns the grants of owners that asked without holding the lock, and without a place left over
/// from an earlier try; by key, in order of invocation.
fn grants(case: &Case, doorways: &HashMap<OpId, Nanos>) -> HashMap<KeyId, Vec<Grant>> {
    let mut left_over: HashMap<(KeyId, OwnerId), bool> = HashMap::new();
    let mut grants: HashMap<KeyId, Vec<Grant>> = HashMap::new();
    for (op, acquire) in OpId::each(&case.digest.operations) {
        if acquire.action != Action::Acquire {
            continue;
        }
        let place = left_over.entry((acquire.key, acquire.owner)).or_default();
        let had_place = *place;
        let granted = acquire.is_grant();
        *place = !granted && (had_place || doorways.contains_key(&op));
        // Who queued did not hold the lock; a reentrant grant needs no place in the queue.
        let fresh = doorways.contains_key(&op)
            || case.standing(op).is_some_and(|standing| standing.most == 0);
        if let Some(answered) = acquire
            .answered()
            .filter(|_| granted && fresh && !had_place)
        {
            grants.entry(acquire.key).or_default().push(Grant {
                op,
                owner: acquire.owner,
                sent: acquire.invoked,
                answered,
                shared: acquire.mode == Mode::Read,
            });
        }
    }
    // The order of events is not that of time where each process has a clock of its own.
    for grants in grants.values_mut() {
        grants.sort_by_key(|grant| (grant.sent, grant.op));
    }
    grants
}

/// Returns the waits of those who stood in the queue, by key.
fn waits(case: &Case, doorways: &HashMap<OpId, Nanos>) -> BTreeMap<KeyId, Vec<Wait>> {
    let timeout = case.digest.header.extra.get("queue_timeout_ms");
    let timeout = timeout
        .and_then(serde_json::Value::as_u64)
        .map(Nanos::from_millis);
    let mut free = Free::default();
    let mut waits: BTreeMap<KeyId, Vec<Wait>> = BTreeMap::new();
    for (&op, &since) in doorways {
        let acquire = case.digest.operation(op);
        let waited = match (acquire.outcome, acquire.completion) {
            (Outcome::Ok, Some(granted)) => granted.time,
            (Outcome::Unknown, None) => case.digest.alive[acquire.owner.0 as usize],
            (Outcome::Unknown, Some(_))
            | (Outcome::Ok, None)
            | (Outcome::Refused | Outcome::NotOwner | Outcome::Failed, _) => continue,
        };
        let shared = acquire.mode == Mode::Read;
        let drift = case.options.drift(&case.digest.header);
        let lease = Lease::granted(Nanos(0), Nanos(0), acquire.lease, drift).floor;
        let expired = free.at_length(case, acquire.key, shared, lease, since);
        let dropped = timeout.map_or(Nanos::MAX, |timeout| since + timeout);
        waits.entry(acquire.key).or_default().push(Wait {
            op,
            owner: acquire.owner,
            since,
            until: waited.min(expired).min(dropped),
            is_granted: acquire.is_grant(),
            shared,
        });
    }
    for waits in waits.values_mut() {
        waits.sort_by_key(|wait| (wait.since, wait.op));
    }
    waits
}

/// The stretches in which nobody held a lock that are as long as a lease.
#[derive(Default)]
struct Free {
    gaps: HashMap<(KeyId, bool, Nanos), Vec<Interval>>,
}

impl Free {
    /// When a grant after `since`, of a lease of `length`, can have expired at the earliest.
    fn at_length(
        &mut self,
        case: &Case,
        key: KeyId,
        shared: bool,
        length: Nanos,
        since: Nanos,
    ) -> Nanos {
        if length == Nanos::MAX {
            return Nanos::MAX;
        }
        let place = (key, shared, length);
        if !self.gaps.contains_key(&place) && self.gaps.len() >= LENGTHS_MAX {
            return since + length;
        }
        let gaps = self.gaps.entry(place).or_insert_with(|| {
            let first = case.holds.partition_point(|hold| hold.key < key);
            let last = case.holds.partition_point(|hold| hold.key <= key);
            let excludes = case.holds[first..last].iter().filter(|hold| {
                let held = !hold.guaranteed().is_empty();
                held && !(shared && is_shared(hold))
            });
            let held = excludes.map(crate::Hold::guaranteed).collect();
            Windows::union(held).gaps_longer_than(length.saturating_sub(Nanos(1)))
        });
        let first = gaps.partition_point(|gap| gap.end <= since);
        let later = gaps[first..].iter().take(2);
        let ends = later.map(|gap| (gap.start.max(since) + length, gap.end));
        let mut fitting = ends.filter(|(expired, end)| expired <= end);
        fitting.next().map_or(Nanos::MAX, |(expired, _)| expired)
    }
}

/// The pairs of a wait and a grant that was asked for after its beginning and answered before its
/// end: how many, and the first `limit` of them. Both come in order of their beginning.
fn overtakings(waits: &[Wait], grants: &[Grant], limit: usize) -> (u64, Vec<(Wait, Grant)>) {
    let mut ends: Vec<(Nanos, usize)> = waits
        .iter()
        .enumerate()
        .map(|(at, wait)| (wait.until, at))
        .collect();
    ends.sort_unstable();
    let mut ranks = vec![0; waits.len()];
    for (rank, &(_, at)) in ends.iter().enumerate() {
        ranks[at] = rank;
    }
    let mut queue = Counts(vec![0; waits.len() + 1]);
    let mut standing: BTreeSet<(Nanos, usize)> = BTreeSet::new();
    let (mut come, mut count, mut first) = (0, 0, Vec::new());
    for grant in grants {
        while let Some(wait) = waits.get(come).filter(|wait| wait.since < grant.sent) {
            queue.add(ranks[come]);
            if limit > 0 {
                standing.insert((wait.until, come));
            }
            come += 1;
        }
        let gone = ends.partition_point(|&(until, _)| until <= grant.answered);
        count += come as u64 - queue.below(gone);
        // Who is gone when this one was asked for is not there for later ones either.
        while standing
            .first()
            .is_some_and(|&(until, _)| until < grant.sent)
        {
            standing.pop_first();
        }
        let later = standing.range((grant.answered + Nanos(1), 0)..);
        let room = limit - first.len();
        first.extend(later.take(room).map(|&(_, at)| (waits[at], *grant)));
    }
    (count, first)
}

/// Returns how many of `all` pairs are left without those of two readers, who do not keep each
/// other waiting.
fn apart(all: u64, waits: &[Wait], grants: &[Grant]) -> u64 {
    let waits: Vec<Wait> = waits.iter().copied().filter(|wait| wait.shared).collect();
    let grants: Vec<Grant> = grants
        .iter()
        .copied()
        .filter(|grant| grant.shared)
        .collect();
    all - overtakings(&waits, &grants, 0).0
}

/// The pairs of one owner with itself, which it has where it does several things at once.
fn own_pairs(waits: &[Wait], grants: &[Grant]) -> u64 {
    let mut by_owner: HashMap<OwnerId, (Vec<Wait>, Vec<Grant>)> = HashMap::new();
    for wait in waits {
        by_owner.entry(wait.owner).or_default().0.push(*wait);
    }
    for grant in grants {
        if let Some(own) = by_owner.get_mut(&grant.owner) {
            own.1.push(*grant);
        }
    }
    let own = by_owner.values();
    own.map(|(waits, grants)| apart(overtakings(waits, grants, 0).0, waits, grants))
        .sum()
}

/// How many there are below a rank (a Fenwick tree).
struct Counts(Vec<u64>);

impl Counts {
    fn add(&mut self, rank: usize) {
        let mut at = rank + 1;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    fn below(&self, rank: usize) -> u64 {
        let (mut at, mut sum) = (rank, 0);
        while at > 0 {
            sum += self.0[at];
            at -= at & at.wrapping_neg();
        }
        sum
    }
}

fn claim(case: &Case, finding: &Finding) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let &[waiting, granted] = finding.operations.as_slice() else {
        return format!("somebody was granted {lock} before one who queued earlier");
    };
    let (waiting, granted) = (
        case.digest.operation(waiting),
        case.digest.operation(granted),
    );
    let first = text::name(case.digest.owner(waiting.owner));
    format!(
        "{} was granted {lock} before {first}, who had its place in the queue {} before the other \
         asked",
        text::name(case.digest.owner(granted.owner)),
        text::length(granted.invoked - finding.interval.start),
    )
}

fn verify_witness(case: &Case, finding: &Finding) -> bool {
    let &[waiting, granted] = finding.operations.as_slice() else {
        return false;
    };
    let note = |note: &crate::QueuedNote| note.acquire == Some(waiting);
    let place = case.digest.queued.iter().rfind(|queued| note(queued));
    let (waiting, granted) = (
        case.digest.operation(waiting),
        case.digest.operation(granted),
    );
    let after = place.is_some_and(|place| place.time < granted.invoked);
    let waits = match waiting.answered() {
        Some(answered) => granted.answered().is_some_and(|before| before < answered),
        None => waiting.completion.is_none(),
    };
    let shared = waiting.mode == Mode::Read && granted.mode == Mode::Read;
    granted.is_grant() && after && waits && !shared && waiting.owner != granted.owner
}
