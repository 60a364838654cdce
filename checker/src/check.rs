//! The checker as a whole: a history in, an analysis out.

use std::sync::OnceLock;

use crate::availability::availability;
use crate::case::{Case, Ruling};
use crate::coverage::coverage;
use crate::digest::Digest;
use crate::faults::{faults, window};
use crate::history::{History, Nanos};
use crate::holds::holds_by;
use crate::options::Options;
use crate::parallel;
use crate::property::rule;
use crate::verdict::{Analysis, Judgement, Property, Verdict};
use crate::witness::witness;

/// Judges a history.
pub fn check(history: &History, options: &Options) -> Analysis {
    check_digest(&Digest::of(history), options)
}

/// Judges a history of which only the digest was kept.
pub fn check_digest(digest: &Digest, options: &Options) -> Analysis {
    let threads = options.threads(digest.operations.len());
    let holds = holds_by(threads, digest, options.drift(&digest.header));
    let mut analysis = Analysis {
        faults: faults(digest),
        ..Analysis::default()
    };
    let (coverage, (figures, _)) = parallel::both(
        threads,
        || coverage(threads, digest, &holds, &analysis.faults),
        || availability(digest, &holds, Nanos::MAX),
    );
    analysis.coverage = coverage;
    analysis.availability = (figures.wanted > Nanos(0)).then_some(figures);
    let case = Case {
        digest,
        holds: &holds,
        faults: &analysis.faults,
        coverage: &analysis.coverage,
        availability: figures,
        options,
        by_owner: OnceLock::new(),
        proofs: OnceLock::new(),
        standings: OnceLock::new(),
    };
    let wanted = |property: &Property| {
        let only = options.only.as_ref();
        only.is_none_or(|only| only.contains(property))
    };
    let wanted: Vec<Property> = Property::ALL.into_iter().filter(wanted).collect();
    let judged = parallel::map(
        threads,
        &wanted,
        || (),
        |(), &property| judge(&case, property),
    );
    for (property, judged) in wanted.into_iter().zip(judged) {
        let Some((judgement, violations)) = judged else {
            continue;
        };
        for (fault, count) in analysis.faults.iter_mut().zip(violations) {
            fault.violations += count;
        }
        analysis.properties.insert(property, judgement);
    }
    analysis.verdict = analysis
        .properties
        .values()
        .map(|judgement| judgement.verdict)
        .reduce(Verdict::merge)
        .unwrap_or(Verdict::Unknown);
    analysis
}

/// The answer for one property, with the violations inside each fault; `None` where the history has
/// no matter for it, and nobody asked.
fn judge(case: &Case, property: Property) -> Option<(Judgement, Vec<u64>)> {
    let ruling = rule(property).judge(case);
    let is_told = ruling.has_matter || case.options.only.is_some();
    is_told.then(|| (judgement(case, property, &ruling), by_fault(case, &ruling)))
}

/// How many of the violations lie inside each fault.
fn by_fault(case: &Case, ruling: &Ruling) -> Vec<u64> {
    let inside = |fault| {
        let window = window(fault)?;
        let findings = ruling.findings.iter();
        let inside = findings.filter(|finding| window.touches(finding.interval));
        Some(inside.count() as u64)
    };
    case.faults
        .iter()
        .map(|fault| inside(fault).unwrap_or(0))
        .collect()
}

fn judgement(case: &Case, property: Property, ruling: &Ruling) -> Judgement {
    let told = &ruling.findings[..ruling.findings.len().min(case.options.witnesses_max)];
    let mut judgement = Judgement {
        engine: ruling.engine.to_owned(),
        count: ruling.count,
        ..Judgement::default()
    };
    if let Some(broken) = told
        .iter()
        .find(|finding| !rule(finding.property).stands_alone(case, finding))
    {
        debug_assert!(false, "the witness does not stand alone: {broken:?}");
        judgement.verdict = Verdict::Unknown;
        judgement.reason = Some(
            "a witness did not stand up to its replay, which is a fault of the checker: please \
             report it with the history"
                .to_owned(),
        );
    } else if ruling.count > 0 {
        judgement.verdict = Verdict::Violated;
        judgement.witnesses = told.iter().map(|finding| witness(case, finding)).collect();
    } else if let Some(reason) = &ruling.vacuous {
        judgement.verdict = Verdict::Unknown;
        judgement.reason = Some(reason.clone());
    } else {
        judgement.reason = rule(property).remark(case);
    }
    judgement
}
