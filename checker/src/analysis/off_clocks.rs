//! Part of an analysis that is left when clocks may be off.
//!
//! A violation counts only where the history shows one with every operation as long as it may have
//! been. Who looked at the recorded times alone may have seen more: that is unknown then.

use crate::history::Nanos;
use crate::text;
use crate::verdict::{Analysis, Judgement, Property, Verdict};

/// The properties that the recorded times show to be violated.
pub(crate) fn doubted(recorded: &Analysis) -> Vec<Property> {
    let violated = recorded.properties.iter();
    let violated = violated.filter(|(_, judgement)| judgement.verdict == Verdict::Violated);
    violated.map(|(&property, _)| property).collect()
}

/// The analysis of the recorded times, less what the widened ones do not show.
pub(crate) fn survivors(recorded: Analysis, widened: Analysis, error: Nanos) -> Analysis {
    let mut left = recorded;
    let mut sure = widened.properties;
    for (&property, judgement) in &mut left.properties {
        if judgement.verdict != Verdict::Violated {
            continue;
        }
        let survived = sure.remove(&property);
        let survived = survived.filter(|sure| sure.verdict == Verdict::Violated);
        *judgement = match survived {
            Some(sure) => sure,
            None => explained(judgement, error),
        };
    }
    let verdicts = left.properties.values().map(|one| one.verdict);
    left.verdict = verdicts.reduce(Verdict::merge).unwrap_or(Verdict::Unknown);
    for (fault, sure) in left.faults.iter_mut().zip(widened.faults) {
        fault.violations = sure.violations;
    }
    left
}

fn explained(judgement: &Judgement, error: Nanos) -> Judgement {
    let reason = format!(
        "the recorded times show {}, which clocks that are off by up to {} explain",
        match judgement.count {
            1 => "a violation".to_owned(),
            many => format!("{many} violations"),
        },
        text::length(error)
    );
    Judgement {
        verdict: Verdict::Unknown,
        reason: Some(reason),
        engine: judgement.engine.clone(),
        count: 0,
        witnesses: Vec::new(),
    }
}
