//! Guarded resource: the damage itself, on what the lock protects.
//!
//! Five kinds, each decided only where it is certain. An indeterminate write counts as one that may
//! have taken effect once, later, or never.
//! - **Lost update**: two holders read one version of a value, and both wrote.
//! - **Stale write**: a holder's write was accepted after that of a later holder.
//! - **Lost append**: the last read does not show an acknowledged append.
//! - **Double effect**: a read shows a value more often than it was appended.
//! - **Repeat**: two holders appended one value that neither had found; a double effect as well.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::replay;
use super::resource::{self, Damage, Usage};
use super::rule::{BlameWindow, Causes, Rule};
use crate::case::{Case, FINDINGS_MAX, Finding, Ruling, Run, Tested, keep_first, vacuity};
use crate::history::Nanos;
use crate::operations::{Interval, OpId, Operation};
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// The rule of this property.
pub(super) struct GuardedResource;

impl Rule for GuardedResource {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, _interval: Interval) -> String {
        damaged(case, finding)
    }

    fn narrate(&self, teller: &mut Teller, _interval: Interval) {
        teller.damage();
    }

    fn vacuity_reason(&self, run: &Run) -> Option<String> {
        vacuity::of_exclusion(run)
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay::damage(case, finding)
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

fn judge(case: &Case) -> Ruling {
    let usages = resource::usages(case);
    let mut ruling = Ruling {
        engine: "section-scan",
        has_matter: false,
        count: 0,
        findings: Vec::new(),
        tested: Tested::Yes,
    };
    for usage in &usages {
        let guarded = |used: &resource::Use| used.is_write() && used.hold.is_some();
        ruling.has_matter |= usage.uses.iter().any(guarded);
        judge_one(case, &mut ruling, usage);
    }
    if !ruling.has_matter {
        ruling.tested = Tested::No("no holder changed a resource of the lock".to_owned());
    }
    keep_first(&mut ruling.findings);
    ruling
}

fn judge_one(case: &Case, ruling: &mut Ruling, usage: &Usage) {
    let mut found: Vec<Vec<OpId>> = Vec::new();
    let damage = resource::appends(case, usage);
    for (append, read) in damage.lost {
        found.push(vec![append.id, read.id]);
    }
    for (append, read) in damage.doubled {
        found.push(vec![read.id, append.id]);
    }
    // One write does one damage, and it is told by what it leaves behind.
    let mut told: HashSet<OpId> = HashSet::new();
    for pair in resource::repeats(case, usage) {
        told.insert(pair[1].write.id);
        found.push(pair_of(pair));
    }
    for (late, early) in resource::stale_writes(case, usage) {
        if told.insert(late.id) {
            found.push(vec![late.id, early.id]);
        }
    }
    for pair in resource::lost_updates(case, usage) {
        if !told.contains(&pair[1].write.id) {
            found.push(pair_of(pair));
        }
    }
    if found.is_empty() {
        return;
    }
    let writers = usage.uses.iter().filter(|used| used.is_write());
    let writers: HashMap<OpId, usize> = writers
        .filter_map(|used| Some((used.id, used.hold?)))
        .collect();
    let holds = |ids: &[OpId]| -> Vec<usize> {
        let holds: BTreeSet<usize> = ids
            .iter()
            .filter_map(|id| writers.get(id).copied())
            .collect();
        holds.into_iter().collect()
    };
    ruling.count += found.len() as u64;
    let room = FINDINGS_MAX.saturating_sub(ruling.findings.len());
    found.truncate(room);
    let new = found.into_iter().map(|ids| finding(case, holds(&ids), ids));
    ruling.findings.extend(new);
}

/// Returns the write of the later section and that of the earlier one, then what each had read.
fn pair_of([early, late]: [resource::Section; 2]) -> Vec<OpId> {
    vec![late.write.id, early.write.id, late.read, early.read]
}

fn finding(case: &Case, holds: Vec<usize>, operations: Vec<OpId>) -> Finding {
    let all = operations.iter().map(|&id| case.digest.operation(id));
    let start = all.clone().map(|operation| operation.invoked).min();
    let end = all.filter_map(Operation::answered).max();
    let (start, end) = (start.unwrap_or(Nanos(0)), end.unwrap_or(Nanos::MAX));
    Finding {
        property: Property::GuardedResource,
        key: case.digest.operation(operations[0]).key,
        holds,
        operations,
        interval: Interval::new(start, end),
        certain: true,
    }
}

fn damaged(case: &Case, finding: &Finding) -> String {
    let digest = case.digest;
    let who = |position: usize| {
        let operation = digest.operation(finding.operations[position]);
        text::name(digest.owner(operation.owner))
    };
    let lock = text::lock(digest.key(finding.key));
    match Damage::of(case, finding) {
        Damage::LostUpdate => {
            let (late, early) = (who(0), who(1));
            format!(
                "{early} and {late} both changed the resource of {lock} from the same version: \
                 the update of {early} is lost"
            )
        }
        Damage::StaleWrite => format!(
            "a stale write of {} to the resource of {lock} was accepted, after {} had been granted \
             the lock and had written",
            who(0),
            who(1)
        ),
        Damage::LostAppend => format!(
            "an append of {} to the resource of {lock} was acknowledged, and is lost",
            who(0)
        ),
        Damage::DoubleEffect => format!(
            "an append of {} to the resource of {lock} took effect more than once",
            who(1)
        ),
        Damage::Repeat => {
            let (late, early) = (who(0), who(1));
            let append = digest.detail(digest.operation(finding.operations[0]));
            let value = append.and_then(|detail| detail.asked);
            let value = value.map_or("one value", |value| digest.value(value));
            format!(
                "{early} and {late} both appended {} to the resource of {lock}, and neither had \
                 found it there: it took effect twice",
                text::prose(value)
            )
        }
    }
}
