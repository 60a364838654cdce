//! Reentrancy: who is granted a lock again while it holds it must release it as often.
//!
//! ```text
//! a   |--=====|--|=====|--|===========|--|     granted twice, released twice
//! b                        |--====             granted in between: one release freed the lock
//! ```
//!
//! The counts come from the ledger, as bounds; replies must lie within them. A partial release that
//! frees the lock is certain where the service counts. Where it does not, the next release, granted
//! too, says that the owner held all the time; but a lock that does not count and does not ask who
//! calls would look the same, so that is a possible violation.

use std::collections::HashMap;

use super::replay;
use super::rule::{BlameWindow, Causes, Rule};
use crate::case::{Case, FINDINGS_MAX, Finding, Ruling, Tested, is_shared, keep_few, keep_first};
use crate::history::{Mode, Nanos};
use crate::holds::{Standing, standings};
use crate::operations::{Action, Interval, KeyId, OpId, Operation, Outcome, OwnerId};
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// The rule of this property.
pub(super) struct Reentrancy;

impl Rule for Reentrancy {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, _: Interval) -> String {
        claim(case, finding)
    }

    fn kind(&self, case: &Case, finding: &Finding) -> Option<&'static str> {
        Some(match breach(case, finding)? {
            Breach::Count(..) => "count",
            Breach::Excess(_) => "excess",
            Breach::Denied(_) => "denied",
            Breach::Freed(..) => "freed",
        })
    }

    fn narrate(&self, teller: &mut Teller, _: Interval) {
        teller.miscounted();
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        verify_witness(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::BetweenHolds
    }

    fn causes(&self) -> Causes {
        Causes::Forgetting
    }

    fn survives_clock_error(&self) -> bool {
        true
    }
}

/// Operations of one owner since it last cannot have held the lock.
#[derive(Default)]
struct Span {
    /// It was granted the lock while it held it.
    entered: bool,
    /// A reply counted its grants.
    counted: bool,
    /// A release gave back a part of its grants.
    partial: Option<OpId>,
    /// The operation before, if that was such a release, and no reply counts.
    pending: Option<OpId>,
}

/// A stretch of time in which an owner held the lock after a partial release.
struct Rest {
    key: KeyId,
    /// From the sending of that release on.
    interval: Interval,
    shared: bool,
    /// The position of the hold; what shows that it went on, where that is not its count.
    hold: Option<usize>,
    operations: Vec<OpId>,
}

fn judge(case: &Case) -> Ruling {
    let mut ruling = Ruling {
        engine: "ledger",
        has_matter: false,
        count: 0,
        findings: Vec::new(),
        tested: Tested::Yes,
    };
    if case.permits() > 1 {
        let reason = "the grants of a lock with several permits are not counted";
        ruling.tested = Tested::Never(reason.to_owned());
        return ruling;
    }
    let mut is_tested = false;
    let mut rests = Vec::new();
    let mut spans: HashMap<(KeyId, OwnerId), Span> = HashMap::new();
    for &standing in case.standings() {
        let operation = case.digest.operation(standing.op);
        if !operation.is_named {
            continue;
        }
        let span = spans.entry((operation.key, operation.owner)).or_default();
        let pending = span.pending.take();
        let is_bad = span.take(standing, operation);
        let is_again = span.entered || operation.count.is_some_and(|count| count > 1);
        ruling.has_matter |= is_again || is_bad;
        is_tested |= span.entered && operation.count.is_some() || is_bad;
        if is_bad {
            ruling.count += 1;
            ruling.findings.push(miscount(operation, standing.op));
            keep_few(&mut ruling.findings);
        }
        let held_on = operation.action == Action::Release
            && operation.outcome == Outcome::Ok
            && standing.least > 0
            && standing.least == standing.most;
        if let Some(partial) = pending.filter(|_| held_on) {
            is_tested = true;
            let since = case.digest.operation(partial).invoked;
            rests.push(Rest {
                key: operation.key,
                interval: Interval::new(since, operation.invoked),
                shared: operation.mode == Mode::Read,
                hold: None,
                operations: vec![partial, standing.op],
            });
        }
    }
    rests.extend(counted_rests(case));
    is_tested |= !rests.is_empty();
    freed(case, &mut ruling, &rests);
    keep_first(&mut ruling.findings);
    name_holds(case, &mut ruling.findings);
    ruling.tested = if !ruling.has_matter {
        Tested::No("no owner was granted the lock again while it held it".to_owned())
    } else if !is_tested {
        Tested::No(
            "no reply counts the grants, and no owner released as often as it was granted".into(),
        )
    } else {
        Tested::Yes
    };
    ruling
}

impl Span {
    /// Takes the next operation of the owner; whether its answer does not fit what was before.
    fn take(&mut self, standing: Standing, operation: &Operation) -> bool {
        let Some(expected) = Expected::of(standing, operation) else {
            return false;
        };
        let miscounted = operation.count.is_some_and(|count| !expected.fits(count));
        match (operation.action, operation.outcome) {
            (Action::Acquire, _) => {
                if standing.most == 0 {
                    *self = Self::default();
                }
                // What was given back before says nothing of a hold that begins.
                if standing.least == 0 {
                    self.partial = None;
                }
                self.entered |= standing.least > 0;
                self.counted |= operation.count.is_some_and(|count| count > 1);
                miscounted
            }
            (_, Outcome::Ok) => {
                self.counted |= operation.count.is_some_and(|count| count > 0);
                if standing.least > 1 {
                    self.partial = Some(standing.op);
                    self.pending = Some(standing.op).filter(|_| !self.counted);
                }
                let told = !operation.is_ownership_open;
                miscounted || self.entered && standing.most == 0 && told
            }
            (_, _) => self.counted && self.partial.is_some() && standing.least > 0,
        }
    }
}

/// The counts that a reply may tell.
struct Expected {
    least: u32,
    most: u32,
}

impl Expected {
    /// `None` where the operation overlaps others of its owner.
    fn of(standing: Standing, operation: &Operation) -> Option<Self> {
        let Standing { least, most, .. } = standing;
        if most == u32::MAX {
            return None;
        }
        Some(match operation.action {
            Action::Acquire => Self {
                least: least.saturating_add(1),
                most: most.saturating_add(1),
            },
            // A release that finds nothing leaves nothing.
            Action::Release | Action::Renew | Action::Resource(_) | Action::Other => Self {
                least: least.saturating_sub(1),
                most: most.saturating_sub(1),
            },
        })
    }

    fn fits(&self, count: u32) -> bool {
        self.least <= count && count <= self.most
    }
}

fn miscount(operation: &Operation, id: OpId) -> Finding {
    let end = operation.answered().unwrap_or(operation.invoked);
    Finding {
        property: Property::Reentrancy,
        key: operation.key,
        holds: Vec::new(),
        operations: vec![id],
        interval: Interval::new(operation.invoked, end),
        certain: true,
    }
}

/// The time after each partial release, by the count of the service, up to the next operation that
/// may have been granted its owner: that one would say that the release had not freed the lock.
fn counted_rests(case: &Case) -> Vec<Rest> {
    let kept = case.holds.iter().enumerate();
    let mut kept: Vec<(KeyId, OwnerId, OpId, usize)> = kept
        .filter_map(|(at, hold)| Some((hold.key, hold.owner, hold.partial?, at)))
        .collect();
    kept.sort_unstable();
    let mut rests: Vec<Rest> = Vec::new();
    if kept.is_empty() {
        return rests;
    }
    let mut last: HashMap<(KeyId, OwnerId), usize> = HashMap::new();
    let operations = OpId::each(&case.digest.operations);
    for (id, operation) in operations.filter(|(_, operation)| tells(operation)) {
        let place = (operation.key, operation.owner);
        if let Some(rest) = last.remove(&place) {
            let end = &mut rests[rest].interval.end;
            *end = operation.invoked.min(*end);
        }
        let before = kept.partition_point(|&(key, owner, first, _)| {
            (key, owner, first) <= (place.0, place.1, id)
        });
        let Some(&(key, owner, _, at)) = before.checked_sub(1).map(|before| &kept[before]) else {
            continue;
        };
        let (hold, end) = (&case.holds[at], case.holds[at].guaranteed().end);
        let inside = operation.invoked < end && hold.release.is_none_or(|last| id < last);
        let is_release = operation.action == Action::Release && case.is_of_mode(operation, hold);
        let gives_back = is_release && operation.count != Some(0);
        if (key, owner) == place && inside && gives_back {
            last.insert(place, rests.len());
            rests.push(Rest {
                key,
                interval: Interval::new(operation.invoked, end),
                shared: is_shared(hold),
                hold: Some(at),
                operations: vec![id],
            });
        }
    }
    rests
}

/// Tells whether an operation on the lock may tell that its caller held it.
fn tells(operation: &Operation) -> bool {
    let may_tell = matches!(operation.outcome, Outcome::Ok | Outcome::Unknown);
    match operation.action {
        Action::Acquire | Action::Renew | Action::Release => may_tell,
        Action::Resource(_) | Action::Other => false,
    }
}

/// Grants to others in a time in which an owner held on after a partial release. None of them is
/// its own: it asked for nothing in between.
fn freed(case: &Case, ruling: &mut Ruling, rests: &[Rest]) {
    if rests.is_empty() {
        return;
    }
    let guaranteed = |&at: &usize| {
        let hold = &case.holds[at];
        !hold.guaranteed().is_empty() && hold.is_fresh(case.digest)
    };
    let mut all: Vec<usize> = (0..case.holds.len()).filter(guaranteed).collect();
    all.sort_by_key(|&at| (case.holds[at].key, case.holds[at].core.start));
    let alone = all
        .iter()
        .copied()
        .filter(|&at| !is_shared(&case.holds[at]));
    let alone: Vec<usize> = alone.collect();
    for rest in rests {
        let grants = if rest.shared { &alone } else { &all };
        let place = |at: usize| (case.holds[at].key, case.holds[at].core.start);
        let first = grants.partition_point(|&at| place(at) <= (rest.key, rest.interval.start));
        let last = grants.partition_point(|&at| place(at) < (rest.key, rest.interval.end));
        let inside = grants.get(first..last).unwrap_or_default();
        ruling.count += inside.len() as u64;
        // All are counted, the first are told: a crowd must not take a list for each of its pairs.
        for &at in inside
            .iter()
            .take(FINDINGS_MAX.saturating_sub(ruling.findings.len()))
        {
            ruling.findings.push(Finding {
                property: Property::Reentrancy,
                key: rest.key,
                holds: rest.hold.into_iter().chain([at]).collect(),
                operations: rest.operations.clone(),
                interval: case.holds[at].guaranteed().intersect(rest.interval),
                certain: rest.hold.is_some(),
            });
        }
    }
}

/// For the story: the hold that a miscounted operation belongs to.
fn name_holds(case: &Case, findings: &mut [Finding]) {
    for finding in findings.iter_mut().take(case.options.witnesses_max) {
        let Some(&id) = finding.operations.first() else {
            continue;
        };
        let shown = case.digest.operation(id);
        let own = case.holds.iter().enumerate().filter(|(_, hold)| {
            let same = (hold.key, hold.owner) == (shown.key, shown.owner);
            same && hold.is_granted() && hold.acquire < id && hold.core.start <= shown.invoked
        });
        let last = own.max_by_key(|(_, hold)| hold.core.start);
        if let Some((at, _)) = last.filter(|(at, _)| !finding.holds.contains(at)) {
            finding.holds.insert(0, at);
        }
    }
}

/// The four ways to violate the property.
enum Breach<'a> {
    Count(Standing, &'a Operation),
    Excess(&'a Operation),
    Denied(&'a Operation),
    Freed(&'a Operation, usize),
}

fn breach<'a>(case: &Case<'a>, finding: &Finding) -> Option<Breach<'a>> {
    let id = finding.operation()?;
    let shown = case.digest.operation(id);
    let other = finding
        .holds
        .last()
        .filter(|&&at| case.holds[at].owner != shown.owner);
    if let Some(&at) = other {
        return Some(Breach::Freed(shown, at));
    }
    let standing = case.standing(id)?;
    Some(match (shown.action, shown.outcome) {
        (Action::Release, Outcome::NotOwner) => Breach::Denied(shown),
        (Action::Release, _) if standing.most == 0 => Breach::Excess(shown),
        (_, _) => Breach::Count(standing, shown),
    })
}

fn claim(case: &Case, finding: &Finding) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let owner = |operation: &Operation| text::name(case.digest.owner(operation.owner));
    match breach(case, finding) {
        Some(Breach::Count(standing, shown)) => {
            let who = owner(shown);
            let told = text::times(shown.count.unwrap_or_default());
            let held = Expected::of(standing, shown).map_or_else(String::new, |expected| {
                if expected.least == expected.most {
                    text::times(expected.least)
                } else {
                    format!("between {} and {} times", expected.least, expected.most)
                }
            });
            format!("{who} was told that it holds {lock} {told}, though it holds it {held}")
        }
        Some(Breach::Excess(shown)) => {
            format!(
                "{} was told that it gave {lock} back, though it held none of its grants any more",
                owner(shown)
            )
        }
        Some(Breach::Denied(shown)) => format!(
            "{} was told that it does not hold {lock}, though it had given back only a part of its \
             grants",
            owner(shown)
        ),
        Some(Breach::Freed(shown, at)) => format!(
            "{} was granted {lock} while {} still held it, after a partial release",
            text::name(case.digest.owner(case.holds[at].owner)),
            owner(shown)
        ),
        None => format!("the grants of {lock} were miscounted"),
    }
}

/// With nothing left but what the owner did, and the hold of the other.
fn verify_witness(case: &Case, finding: &Finding) -> bool {
    let Some(&last) = finding.operations.last() else {
        return false;
    };
    let shown = case.digest.operation(last);
    if finding.certain
        && finding
            .holds
            .iter()
            .any(|&at| case.holds[at].owner != shown.owner)
    {
        return replay::holders(case, finding, replay::Guaranteed::Both);
    }
    let end = shown.answered().unwrap_or(Nanos::MAX);
    let own: Vec<Operation> = case
        .digest
        .operations
        .iter()
        .filter(|operation| {
            let same = (operation.key, operation.owner) == (shown.key, shown.owner);
            same && operation.invoked <= end
        })
        .copied()
        .collect();
    let drift = case.options.drift(&case.digest.header);
    let standings = standings(&own, &case.digest.lost, drift);
    let at = |standing: &&Standing| own[standing.op.position()].invoke == shown.invoke;
    let Some(&standing) = standings.iter().find(at) else {
        return false;
    };
    let misfit = shown.count.is_some_and(|count| {
        Expected::of(standing, shown).is_some_and(|expected| !expected.fits(count))
    });
    let others = finding.holds.iter().map(|&at| &case.holds[at]);
    let mut others = others.filter(|hold| hold.owner != shown.owner);
    let since = case.digest.operation(finding.operations[0]).invoked;
    let between = |start: Nanos| since < start && start < shown.invoked;
    match others.next() {
        Some(other) => standing.least > 0 && between(other.core.start),
        None => misfit || standing.most == 0 || standing.least > 0,
    }
}
