//! The checker as a whole: a history in, an analysis out.

use std::sync::OnceLock;

use crate::case::{Case, Ruling};
use crate::coverage::coverage;
use crate::digest::Digest;
use crate::faults::{faults, window};
use crate::history::History;
use crate::holds::holds;
use crate::options::Options;
use crate::property::rule;
use crate::verdict::{Analysis, Judgement, Property, Verdict};
use crate::witness::witness;

/// Judges a history.
pub fn check(history: &History, options: &Options) -> Analysis {
    check_digest(&Digest::of(history), options)
}

/// Judges a history of which only the digest was kept.
pub fn check_digest(digest: &Digest, options: &Options) -> Analysis {
    let holds = holds(digest, options.drift(&digest.header));
    let mut analysis = Analysis {
        faults: faults(digest),
        ..Analysis::default()
    };
    analysis.coverage = coverage(digest, &holds, &analysis.faults);
    let case = Case {
        digest,
        holds: &holds,
        faults: &analysis.faults,
        coverage: &analysis.coverage,
        options,
        standings: OnceLock::new(),
    };
    let mut violations = vec![0; analysis.faults.len()];
    for property in Property::ALL {
        if options
            .only
            .as_ref()
            .is_some_and(|only| !only.contains(&property))
        {
            continue;
        }
        let ruling = rule(property).judge(&case);
        if !ruling.has_matter && options.only.is_none() {
            continue;
        }
        count_by_fault(&case, &ruling, &mut violations);
        analysis
            .properties
            .insert(property, judgement(&case, &ruling));
    }
    for (fault, count) in analysis.faults.iter_mut().zip(violations) {
        fault.violations = count;
    }
    analysis.verdict = analysis
        .properties
        .values()
        .map(|judgement| judgement.verdict)
        .reduce(Verdict::merge)
        .unwrap_or(Verdict::Unknown);
    analysis
}

fn count_by_fault(case: &Case, ruling: &Ruling, violations: &mut [u64]) {
    for (fault, count) in case.faults.iter().zip(violations) {
        let Some(window) = window(fault) else {
            continue;
        };
        let inside = ruling
            .findings
            .iter()
            .filter(|finding| window.touches(finding.interval));
        *count += inside.count() as u64;
    }
}

fn judgement(case: &Case, ruling: &Ruling) -> Judgement {
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
    }
    judgement
}
