//! Model: the history is linearizable for the chosen model.
//!
//! ```text
//! a   |--granted--|                       in every order a is before b, and has not released:
//! b                  |--granted--|        the model allows no such grant
//! ```
//!
//! Each lock, or each guarded resource, is decided for itself: linearizability is local. An
//! operation that may have taken effect later, or never, is tried at every place and left out.

use std::collections::HashMap;

use lockstorm_linearizability::{
    Budget, Call, Datum, Decided, Decision, Exhausted, ModelName, Reason, Reply, Request,
    Specification, Values, decide, distinct, search, shrink, unknown,
};

use super::rule::{BlameWindow, Causes, Rule};
use crate::case::{Case, Finding, Ruling, Run, Tested, keep_first, vacuity};
use crate::history::Nanos;
use crate::model::{Partition, fits, partitions, told_apart};
use crate::operations::{Action, Interval, OpId, OwnerId};
use crate::story::Teller;
use crate::verdict::Property;
use crate::{parallel, text};

/// A claim is one sentence: it is not worth a longer search.
const EXPLAIN_STEPS: u64 = 1_000_000;
/// The least steps for the second look at a witness: about a second.
const REPLAY_STEPS: u64 = 20_000_000;
/// Operations told in one story: more than a reader follows at once.
const STORY_MAX: usize = 40;

/// The rule of this property.
pub(super) struct Model;

impl Rule for Model {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, _: Interval) -> String {
        impossible(case, finding)
    }

    fn narrate(&self, teller: &mut Teller, _: Interval) {
        let operations = teller.finding().operations.clone();
        let skipped = operations.len().saturating_sub(STORY_MAX);
        for id in operations.into_iter().skip(skipped) {
            teller.deed(id);
        }
    }

    fn vacuity_reason(&self, run: &Run) -> Option<String> {
        let is_lock = run.model.is_some_and(ModelName::is_lock);
        is_lock.then(|| vacuity::of_faults(run)).flatten()
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        replay(case, finding).is_some()
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
    let mut ruling = Ruling {
        engine: "frontier",
        has_matter: case.options.model.is_some(),
        count: 0,
        findings: Vec::new(),
        tested: Tested::Yes,
    };
    let Some(model) = case.options.model else {
        ruling.tested = Tested::No("no model was chosen; choose one with --model".to_owned());
        return ruling;
    };
    let drift = case.options.drift(&case.digest.header);
    let fit = fits(case.digest, model)
        .and_then(|()| told_apart(case.digest, all(case), model, drift))
        .map_err(|unfit| unfit.to_string());
    match fit.and_then(|()| calls(case, model, all(case))) {
        Ok((parts, _, values)) => {
            ruling.tested = tested(model, &parts);
            judge_parts(case, &mut ruling, &parts, || {
                Specification::new(model, case.permits(), &mut values.clone())
            });
        }
        Err(reason) => ruling.tested = Tested::No(format!("model {model}: {reason}")),
    }
    keep_first(&mut ruling.findings);
    ruling
}

fn all(case: &Case) -> impl Iterator<Item = OpId> + use<> {
    case.digest.ids()
}

fn calls(
    case: &Case,
    model: ModelName,
    operations: impl Iterator<Item = OpId>,
) -> Result<(Vec<Partition>, Specification, Values), String> {
    let mut values = Values::default();
    let drift = case.options.drift(&case.digest.header);
    let parts = partitions(case.digest, operations, model, drift, &mut values)
        .map_err(|unfit| unfit.to_string())?;
    let specification = Specification::new(model, case.permits(), &mut values);
    Ok((parts, specification, values))
}

fn judge_parts(
    case: &Case,
    ruling: &mut Ruling,
    parts: &[Partition],
    specification: impl Fn() -> Specification + Sync,
) {
    let budget = Budget::of_steps(case.options.budget);
    let threads = case.options.threads(case.digest.operations.len());
    let mut engines: Vec<&'static str> = Vec::new();
    let judged = parallel::map(threads, parts, specification, |specification, part| {
        judge_part(case, part, specification, &budget)
    });
    for (verdict, engine) in judged {
        engines.push(engine);
        match verdict {
            Ok(finding) => {
                ruling.count += u64::from(finding.is_some());
                ruling.findings.extend(finding);
            }
            Err(reason) => ruling.tested = Tested::No(reason),
        }
    }
    ruling.engine = match (
        engines.contains(&"frontier"),
        engines.contains(&"core-sweep"),
    ) {
        (true, true) => "core-sweep, frontier",
        (false, true) => "core-sweep",
        (_, false) => "frontier",
    };
}

/// Finds what is impossible of one lock or resource, if anything is; the error says why nobody can
/// tell.
fn judge_part(
    case: &Case,
    part: &Partition,
    specification: &Specification,
    budget: &Budget,
) -> (Result<Option<Finding>, String>, &'static str) {
    let Decided {
        decision,
        engine,
        shown,
    } = decide(specification, &part.calls, budget);
    let verdict = match decision {
        Decision::Legal => Ok(None),
        Decision::Illegal { due, taken, .. } => {
            let due_call = &part.calls[due.0 as usize];
            let finding = Finding {
                property: Property::Model,
                key: part.key,
                holds: Vec::new(),
                operations: ids(
                    shown.unwrap_or_else(|| shrink(specification, &part.calls, due, taken))
                ),
                interval: Interval::new(due_call.invoked.into(), due_call.returned.into()),
                certain: true,
            };
            Ok(Some(told_whole(case, part, taken, finding)))
        }
        Decision::Unknown { exhausted, decided } => {
            let lock = text::lock(case.digest.key(part.key));
            let all = part.calls.len();
            let more = match exhausted {
                Exhausted::Steps(_) => " (allow more with --budget)",
                Exhausted::Configurations(_) | Exhausted::Bytes(_) => "",
            };
            Err(format!(
                "{exhausted}{more}; {decided} of {all} calls on {lock} were decided, all possible"
            ))
        }
    };
    (verdict, engine)
}

/// The operations that the engines name, as the digest has them.
fn ids(operations: Vec<lockstorm_linearizability::OpId>) -> Vec<OpId> {
    operations.into_iter().map(OpId::from).collect()
}

/// The finding with as many operations as it takes to tell its holds apart: a reader who comes back
/// without his release in between would hold twice.
fn told_whole(case: &Case, part: &Partition, taken: u32, finding: Finding) -> Finding {
    let with = |operations| Finding {
        operations,
        ..finding.clone()
    };
    if are_told_apart(case, &finding) {
        return finding;
    }
    let given_back = with(with_releases(case, &finding));
    if are_told_apart(case, &given_back) && replay(case, &given_back).is_some() {
        return given_back;
    }
    with(ids(distinct(part.calls[..taken as usize].iter())))
}

fn are_told_apart(case: &Case, finding: &Finding) -> bool {
    let drift = case.options.drift(&case.digest.header);
    let apart = |model| {
        let operations = finding.operations.iter().copied();
        told_apart(case.digest, operations, model, drift).is_ok()
    };
    case.options.model.is_none_or(apart)
}

/// The operations of a finding, and the releases of their owners that were left out of it.
fn with_releases(case: &Case, finding: &Finding) -> Vec<OpId> {
    let digest = case.digest;
    // Each owner, and since when it is told of.
    let mut owners: HashMap<OwnerId, Nanos> = HashMap::new();
    for operation in finding.operations.iter().map(|&id| digest.operation(id)) {
        let since = owners.entry(operation.owner).or_insert(operation.invoked);
        *since = operation.invoked.min(*since);
    }
    let gives_back = |&id: &OpId| {
        let operation = digest.operation(id);
        operation.action == Action::Release
            && operation.key == finding.key
            && operation.invoked <= finding.interval.end
            && owners
                .get(&operation.owner)
                .is_some_and(|&since| since <= operation.invoked)
    };
    let is_told = |id: &OpId| finding.operations.binary_search(id).is_ok();
    all(case)
        .filter(|id| is_told(id) || gives_back(id))
        .collect()
}

fn tested(model: ModelName, parts: &[Partition]) -> Tested {
    let mut calls = parts.iter().flat_map(|part| &part.calls);
    if calls.any(|call| call.is_operation() && call.is_required()) {
        Tested::Yes
    } else {
        Tested::No(format!(
            "no operation that the model {model} speaks of was completed"
        ))
    }
}

/// The impossible call of a witness, and why, found in its operations alone.
fn replay(case: &Case, finding: &Finding) -> Option<(Call, Vec<Reason>, Values)> {
    let model = case.options.model?;
    let operations = finding.operations.iter().copied();
    let (parts, specification, values) = calls(case, model, operations).ok()?;
    let [part] = &*parts else {
        return None;
    };
    // Where the sweep has decided, the caller's budget may be too small for the frontier.
    let budget = Budget::of_steps(case.options.budget.max(REPLAY_STEPS));
    match search(&specification, part.calls.iter(), &budget) {
        Decision::Illegal { due, reasons, .. } => {
            Some((part.calls[due.0 as usize], reasons, values))
        }
        Decision::Legal | Decision::Unknown { .. } => None,
    }
}

/// Finds the impossible call as [`replay`] does, with the releases that were left out of the
/// witness as operations of which nothing is known: an owner that has given the lock back since is
/// not accused of holding it only.
fn explain(case: &Case, finding: &Finding) -> Option<(Call, Vec<Reason>, Values)> {
    let model = case.options.model?;
    let is_told = |id: OpId| finding.operations.binary_search(&id).is_ok();
    let operations = with_releases(case, finding).into_iter();
    let (parts, specification, values) = calls(case, model, operations).ok()?;
    let [part] = &*parts else {
        return None;
    };
    let relaxed: Vec<Call> = part
        .calls
        .iter()
        .map(|&call| {
            if is_told(call.op.into()) {
                call
            } else {
                unknown(call)
            }
        })
        .collect();
    match search(
        &specification,
        relaxed.iter(),
        &Budget::of_steps(EXPLAIN_STEPS),
    ) {
        Decision::Illegal { due, reasons, .. } => Some((relaxed[due.0 as usize], reasons, values)),
        Decision::Legal | Decision::Unknown { .. } => None,
    }
}

fn impossible(case: &Case, finding: &Finding) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let model = case
        .options
        .model
        .map_or(String::new(), |model| model.to_string());
    let Some((call, reasons, values)) = explain(case, finding).or_else(|| replay(case, finding))
    else {
        return format!(
            "no order of the operations on {lock} is one that the model {model} allows"
        );
    };
    let owner = text::name(case.digest.owner(call.owner.into()));
    let what = observed(&call, &lock, &values);
    let mut why: Vec<String> = reasons
        .iter()
        .map(|reason| {
            let value = |datum: Datum| text::prose(values.text(datum));
            reason.words(|owner| text::name(case.digest.owner(owner.into())), value)
        })
        .collect();
    why.dedup();
    let why = if why.is_empty() {
        String::new()
    } else {
        format!(": {}", why.join(", or "))
    };
    let others = match finding.operations.len() {
        0 | 1 => "by itself".to_owned(),
        count => format!("in any order of these {count} operations"),
    };
    format!("{owner} {what}, which the model {model} does not allow {others}{why}")
}

/// Says what a call observed, in words that follow its owner.
fn observed(call: &Call, lock: &str, values: &Values) -> String {
    let value = |datum| text::prose(values.text(datum));
    match (call.request, call.reply) {
        (Request::Acquire { .. }, Reply::Done) => format!("was granted {lock}"),
        (Request::Acquire { .. }, Reply::Denied) => format!("was refused {lock}"),
        (Request::Renew { .. }, Reply::Done) => format!("renewed {lock}"),
        (Request::Release { .. }, Reply::Done) => format!("released {lock}"),
        (Request::Renew { .. } | Request::Release { .. }, Reply::Denied) => {
            format!("was told that it does not hold {lock}")
        }
        (Request::Expire(_), _) => format!("lost {lock} at the end of its lease"),
        (Request::Read(seen), _) => format!("read {}", value(seen)),
        (Request::Write(new), _) => format!("wrote {}", value(new)),
        (Request::Append(added), _) => format!("appended {}", value(added)),
        (Request::Cas { expected, new }, Reply::Done) => {
            format!("set {} where it found {}", value(new), value(expected))
        }
        (Request::Cas { expected, .. }, Reply::Denied) => {
            format!("was told that the value is not {}", value(expected))
        }
    }
}
