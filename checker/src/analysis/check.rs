//! A whole history in, an analysis out.
//!
//! For: everything that is derived from a history before a property is judged, and what the answers
//! of the properties come to. Not for: judging, which each property does by its own rule.

use std::collections::BTreeMap;

use super::blame::blamed;
use super::derived::Derived;
use super::off_clocks::{doubted, survivors};
use super::witness::witness;
use crate::case::{Case, Finding, Ruling, Run, Tested, windows};
use crate::history::{History, Nanos};
use crate::operations::{Action, Digest, Interval, Operation};
use crate::options::Options;
use crate::parallel;
use crate::property::rule;
use crate::verdict::{Analysis, FaultSummary, Judgement, Property, Stalls, Verdict, Witness};

/// Reason why a violation that was found is not reported.
const WITNESS_FAILED: &str = "a witness did not stand up to its replay, which is a fault of the \
                              checker: please report it with the history";

/// Judges a history.
pub fn check(history: &History, options: &Options) -> Analysis {
    check_digest(&Digest::of(history), options)
}

/// Judges a history of which only the digest was kept.
pub fn check_digest(digest: &Digest, options: &Options) -> Analysis {
    let recorded = Derived::new(digest, options).judge();
    let error = options.clock_error(&digest.header);
    let most = error.max();
    let doubted = doubted(&recorded);
    if most == Nanos(0) || doubted.is_empty() {
        return recorded;
    }
    let wider = Options {
        only: Some(
            doubted
                .into_iter()
                .filter(|&one| rule(one).survives_clock_error())
                .collect(),
        ),
        ..options.with_bounds_longer_by(most + most, &digest.header)
    };
    let widened = Derived::new(&digest.widened(&error), &wider).judge();
    survivors(recorded, widened, most)
}

/// Sums up how often and how long the recorder of the history stood still, if it did.
fn stalls(digest: &Digest) -> Option<Stalls> {
    let lengths = digest.asides.stalls.iter();
    let lengths = lengths.map(|stall| stall.interval.1 - stall.interval.0);
    let stalls = lengths.fold(Stalls::default(), |all, length| Stalls {
        count: all.count + 1,
        total: all.total + length,
        longest: all.longest.max(length),
    });
    (stalls.count > 0).then_some(stalls)
}

/// Tells whether there was an acquire or a renewal under way while a fault was active, and none of
/// these got an answer.
fn is_unanswered(digest: &Digest, faults: &[FaultSummary]) -> bool {
    let windows = windows(faults);
    let gives = |one: &&Operation| matches!(one.action, Action::Acquire | Action::Renew);
    let under_way = |one: &&Operation| {
        let end = one
            .completion
            .map_or(Nanos::MAX, |completion| completion.time);
        windows.touch(Interval::new(one.invoked, end))
    };
    let calls = digest.operations.iter().filter(gives);
    let mut met = calls.filter(under_way).peekable();
    met.peek().is_some() && met.all(|one| one.answered().is_none())
}

/// The answer of one property.
struct Answer {
    ruling: Ruling,
    /// Number of violations that are blamed on each fault.
    by_fault: Vec<u64>,
    witnesses: Vec<Witness>,
    /// `true` if each witness stood up to its replay.
    stands: bool,
}

impl Derived<'_> {
    /// Every property that was asked for.
    fn judge(self) -> Analysis {
        let options = self.options;
        let wanted = Property::ALL.into_iter().filter(|&one| options.wants(one));
        let wanted: Vec<Property> = wanted.collect();
        let threads = options.threads(self.digest.operations.len());
        let case = self.case();
        let answers = parallel::map(
            threads,
            &wanted,
            || (),
            |(), &property| answer(&case, property),
        );
        drop(case);
        self.conclude(wanted.into_iter().zip(answers).collect())
    }

    fn conclude(self, answers: Vec<(Property, Answer)>) -> Analysis {
        let mut faults = self.faults;
        for (at, fault) in faults.iter_mut().enumerate() {
            let inside = answers.iter().map(|(_, answer)| answer.by_fault[at]);
            fault.violations = inside.sum();
        }
        let run = Run {
            coverage: &self.coverage,
            faults: &faults,
            availability: self.availability,
            model: self.options.model,
            is_granted: self.holds.iter().any(|hold| !hold.core.is_empty()),
            is_unanswered: is_unanswered(self.digest, &faults),
        };
        let is_told = |answer: &Answer| answer.ruling.has_matter || self.options.only.is_some();
        let told = answers.into_iter().filter(|(_, answer)| is_told(answer));
        let properties: BTreeMap<Property, Judgement> = told
            .map(|(property, answer)| (property, answer.judgement(property, &run)))
            .collect();
        let verdicts = properties.values().map(|judgement| judgement.verdict);
        Analysis {
            verdict: verdicts.reduce(Verdict::merge).unwrap_or(Verdict::Unknown),
            properties,
            coverage: self.coverage,
            faults,
            losses: self.losses,
            stalls: stalls(self.digest),
            availability: (self.availability.wanted > Nanos(0)).then_some(self.availability),
        }
    }
}

fn answer(case: &Case, property: Property) -> Answer {
    let ruling = rule(property).judge(case);
    let shown = ruling.findings.iter().take(case.options.witnesses_max);
    let broken = shown
        .clone()
        .find(|finding| !rule(finding.property).verify_witness(case, finding));
    debug_assert!(
        broken.is_none(),
        "the witness does not stand alone: {broken:?}"
    );
    let stands = broken.is_none();
    Answer {
        by_fault: by_fault(case, &ruling.findings),
        witnesses: shown
            .filter(|_| stands)
            .map(|finding| witness(case, finding))
            .collect(),
        stands,
        ruling,
    }
}

/// Counts the violations that are blamed on each fault.
fn by_fault(case: &Case, findings: &[Finding]) -> Vec<u64> {
    let mut counts = vec![0; case.faults.len()];
    for at in findings.iter().flat_map(|finding| blamed(case, finding)) {
        counts[at] += 1;
    }
    counts
}

impl Answer {
    fn judgement(self, property: Property, run: &Run) -> Judgement {
        let ruling = self.ruling;
        let mut judgement = Judgement {
            verdict: Verdict::Unknown,
            engine: ruling.engine.to_owned(),
            count: ruling.count,
            ..Judgement::default()
        };
        judgement.reason = match ruling.tested {
            _ if !self.stands => Some(WITNESS_FAILED.to_owned()),
            Tested::Never(reason) => {
                judgement.count = 0;
                Some(reason)
            }
            _ if ruling.count > 0 => {
                judgement.witnesses = self.witnesses;
                judgement.verdict = Verdict::Violated;
                None
            }
            Tested::No(reason) => Some(reason),
            Tested::Yes => rule(property).vacuity_reason(run).or_else(|| {
                judgement.verdict = Verdict::Valid;
                rule(property).remark(run)
            }),
            Tested::Remarked(remark) => rule(property).vacuity_reason(run).or_else(|| {
                judgement.verdict = Verdict::Valid;
                Some(remark)
            }),
        };
        judgement
    }
}
