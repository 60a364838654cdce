//! Words for what a hunt says of each promise: terminal, Markdown and page say the same.

use crate::model::{Endurance, Found, Hunted, Size, TriedOf};

/// The smallest number of faults that break the promise, as far as it was searched: `2`, or `≥ 2`
/// where every smaller plan told that it was kept, or that none is known.
pub(crate) fn breaking_number(hunted: &Hunted, endurance: &Endurance) -> String {
    if let Some(faults) = endurance.broken_with {
        return faults.to_string();
    }
    match sizes_withstood(hunted, endurance) {
        0 => "none found".to_owned(),
        // The first size has no fault.
        sizes => format!("≥ {sizes}"),
    }
}

/// The number of sizes, from no fault on, of which every plan was tried, and every trial that tests
/// the promise told that it was kept; none if no trial has tested it.
fn sizes_withstood(hunted: &Hunted, endurance: &Endurance) -> usize {
    let whole = |size: &&Size| {
        let mut tried = endurance.tried.iter();
        let of_promise = tried.find(|tried| tried.faults == size.faults);
        let all_tried = size.tried + size.impossible == size.all;
        let is_kept = |one: &TriedOf| one.told == one.trials && one.broken == 0;
        all_tried && of_promise.is_none_or(is_kept)
    };
    let sizes = hunted.sizes.iter().take_while(whole).count();
    let mut tested = endurance.tried.iter().filter(|one| one.faults < sizes);
    if tested.any(|one| one.trials > 0) {
        sizes
    } else {
        0
    }
}

/// Sums up the trials, in a sentence: `1 fault: 231 of 231 told; 2 faults: 120 of 200 told`.
pub(crate) fn tried(endurance: &Endurance) -> String {
    let tried = endurance.tried.iter().filter(|tried| tried.trials > 0);
    let tried = tried.map(|one| {
        let faults = faults(one.faults);
        let broken = match one.broken {
            0 => String::new(),
            times => format!(", {times} broke it"),
        };
        format!("{faults}: {} of {} told{broken}", one.told, one.trials)
    });
    tried.collect::<Vec<_>>().join("; ")
}

/// Says what fails although no lock of this kind could prevent it.
pub(crate) fn inherent(endurance: &Endurance) -> Option<String> {
    let (with, by) = (endurance.inherent_with?, endurance.inherent_by.as_ref()?);
    Some(format!(
        "with {}, which no lock of this kind prevents: {by}",
        faults(with)
    ))
}

/// Says how many plans of one size were tried.
pub(crate) fn coverage(size: &Size) -> String {
    let impossible = match size.impossible {
        0 => String::new(),
        one => format!("; {one} cannot come about"),
    };
    format!(
        "{}: {} of {} plans tried, {} told something{impossible}",
        faults(size.faults),
        size.tried,
        size.all,
        size.told
    )
}

/// `1 fault`, `2 faults`.
pub(crate) fn faults(count: usize) -> String {
    match count {
        0 => "no fault".to_owned(),
        1 => "1 fault".to_owned(),
        more => format!("{more} faults"),
    }
}

/// Trials of a hunt, and their pace.
pub(crate) fn pace(hunted: &Hunted) -> String {
    let trials: u64 = hunted.sizes.iter().map(|size| size.tried).sum();
    let seconds = hunted.trials_ms as f64 / 1e3;
    let rate = if seconds > 0.0 {
        trials as f64 / seconds
    } else {
        0.0
    };
    format!(
        "lease {} ms, {} points, {trials} trials in {seconds:.0} s ({rate:.1} a second)",
        hunted.lease_ms, hunted.points
    )
}

/// Tells a finding in a sentence.
pub(crate) fn finding(found: &Found) -> String {
    let promised = if found.is_promised {
        ""
    } else {
        ", which is not promised,"
    };
    format!(
        "{}{promised} is broken with {}, {} of {} times: {}",
        found.promise.name(),
        faults(found.faults),
        found.times,
        found.runs,
        found.plan
    )
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios::Promise;

    use super::*;

    fn endurance(told: u64) -> Endurance {
        Endurance {
            promise: Promise::Exclusive,
            is_promised: true,
            broken_with: None,
            inherent_with: None,
            inherent_by: None,
            tried: vec![TriedOf {
                faults: 1,
                trials: 8,
                told,
                broken: 0,
            }],
        }
    }

    #[test]
    fn only_what_was_tried_and_told_to_the_last_plan_is_withstood() {
        let size = |tried| Size {
            faults: 1,
            all: 10,
            tried,
            told: tried,
            impossible: 2,
        };
        let without_fault = || Size {
            faults: 0,
            all: 1,
            tried: 1,
            told: 1,
            impossible: 0,
        };
        let hunted = |tried| Hunted {
            sizes: vec![without_fault(), size(tried)],
            ..Hunted::default()
        };
        assert_eq!(breaking_number(&hunted(8), &endurance(8)), "≥ 2");
        assert_eq!(breaking_number(&hunted(7), &endurance(8)), "none found");
        assert_eq!(breaking_number(&hunted(8), &endurance(7)), "none found");
        let mut healthy = endurance(8);
        healthy.tried.insert(
            0,
            TriedOf {
                trials: 1,
                told: 1,
                ..TriedOf::default()
            },
        );
        assert_eq!(breaking_number(&hunted(8), &healthy), "≥ 2");
        assert_eq!(breaking_number(&hunted(7), &healthy), "≥ 1");
        let mut seen_once = endurance(8);
        seen_once.tried[0].broken = 1;
        assert_eq!(breaking_number(&hunted(8), &seen_once), "none found");
        let mut broken = endurance(8);
        broken.broken_with = Some(2);
        assert_eq!(breaking_number(&hunted(8), &broken), "2");
    }
}
