//! Words for what a hunt says of each promise: terminal, Markdown and page say the same.

use std::collections::BTreeMap;

use crate::model::{Endurance, Endured, Found, HuntSummary, Hunted, Size, TriedOf};

impl HuntSummary {
    /// Takes from a hunt what stands beside an assessment; `folder` is that of the hunt.
    pub fn of(hunted: &Hunted, folder: &str) -> Self {
        Self {
            lock: hunted.lock.clone(),
            topology: hunted.topology.clone(),
            folder: folder.to_owned(),
            sizes: hunted.sizes.clone(),
            promises: hunted
                .promises
                .iter()
                .filter(|one| is_tried(one))
                .map(|one| endured(hunted, one))
                .collect(),
        }
    }

    /// Sums it up, a sentence for each number of faults that breaks something or breaks nothing.
    pub fn sentences(&self) -> Vec<String> {
        let promised = |is_promised: bool| {
            let mut broken: BTreeMap<usize, Vec<String>> = BTreeMap::new();
            let of_kind = self
                .promises
                .iter()
                .filter(|one| one.is_promised == is_promised);
            for one in of_kind {
                if let (Some(count), Some(by)) = (one.broken_with, &one.broken_by) {
                    let told = format!("{} by {by}", one.promise.name());
                    broken.entry(count).or_default().push(told);
                }
            }
            broken
        };
        let mut sentences = Vec::new();
        for (count, broken) in promised(true) {
            sentences.push(format!(
                "Hunted, it breaks with {}: {}",
                faults(count),
                broken.join("; ")
            ));
        }
        for (count, broken) in promised(false) {
            let (with, broken) = (faults(count), broken.join("; "));
            sentences.push(format!(
                "What it does not promise breaks with {with}: {broken}"
            ));
        }
        let is_broken = !sentences.is_empty();
        let withstood = self.withstood();
        let is_told = is_broken || withstood.is_some();
        sentences.extend(withstood);
        sentences.extend(self.too_few().filter(|_| !is_told));
        let inherent = self.promises.iter().find_map(|one| {
            let (count, by) = (one.inherent_with?, one.inherent_by.as_ref()?);
            Some(format!(
                "Two hold it with {}, which no lock of its kind prevents: {by}",
                faults(count)
            ))
        });
        sentences.extend(inherent);
        sentences
    }

    /// Says that nothing was broken, and that this is no more than a part of the smallest plans.
    fn too_few(&self) -> Option<String> {
        let size = self.sizes.iter().find(|size| size.tried < size.all)?;
        let (tried, all, faults) = (size.tried, size.all, faults(size.faults));
        Some(format!(
            "Nothing that was tried broke it: {tried} of {all} plans of {faults}, too few to say \
             that it withstands them"
        ))
    }

    /// Says what no plan of the largest size breaks that was tried to the last.
    fn withstood(&self) -> Option<String> {
        let most = self.promises.iter().filter_map(|one| one.withstood).max()?;
        let of_most = self
            .promises
            .iter()
            .filter(|one| one.withstood == Some(most));
        let kept = of_most.filter(|one| one.is_promised && one.broken_with.is_none());
        let kept: Vec<&str> = kept.map(|one| one.promise.name()).collect();
        let size = self.sizes.iter().find(|size| size.faults == most)?;
        let plans = match most {
            0 => return None,
            1 => format!("{} single faults", size.tried),
            more => format!("{} plans of {more} faults", size.tried),
        };
        (!kept.is_empty()).then(|| format!("None of {plans} breaks {}", kept.join(", ")))
    }
}

impl Endured {
    /// The smallest number of faults that break the promise, as far as it was searched: `2`, or
    /// `≥ 2` where every smaller plan told that it was kept, or that none is known.
    pub fn number(&self) -> String {
        match (self.broken_with, self.withstood) {
            (Some(faults), _) => faults.to_string(),
            (None, Some(faults)) => format!("≥ {}", faults + 1),
            (None, None) => "none found".to_owned(),
        }
    }
}

/// The number in a cell of a comparison; in brackets what the lock does not promise.
pub(crate) fn cell(endured: Option<&Endured>) -> String {
    match endured {
        None => "–".to_owned(),
        Some(one) if one.is_promised => one.number(),
        Some(one) => format!("({})", one.number()),
    }
}

/// Title of the numbers in a comparison.
pub(crate) const NUMBERS: &str = "Hunted: the fewest faults that break each promise";

/// Meaning of the numbers in a comparison.
pub(crate) const NUMBERS_MEANING: &str = "'≥ 2' says that every single fault was tried and none \
    broke it; what stands in brackets is not promised";

/// The endurance of a promise without the trials behind it.
fn endured(hunted: &Hunted, endurance: &Endurance) -> Endured {
    let of_promise = |one: &&Found| {
        let faults = Some(one.faults) == endurance.broken_with;
        one.promise == endurance.promise && one.is_confirmed() && faults
    };
    let broken_by = hunted.found.iter().find(of_promise);
    Endured {
        promise: endurance.promise,
        is_promised: endurance.is_promised,
        broken_with: endurance.broken_with,
        broken_by: broken_by.map(|one| one.plan.clone()),
        // The first size has no fault.
        withstood: sizes_withstood(hunted, endurance).checked_sub(1),
        inherent_with: endurance.inherent_with,
        inherent_by: endurance.inherent_by.clone(),
    }
}

/// The breaking number of a promise, see [`Endured::number`]; `not tried` where no trial put it to
/// the test.
pub(crate) fn breaking_number(hunted: &Hunted, endurance: &Endurance) -> String {
    if is_tried(endurance) {
        endured(hunted, endurance).number()
    } else {
        "not tried".to_owned()
    }
}

fn is_tried(endurance: &Endurance) -> bool {
    endurance.tried.iter().any(|tried| tried.trials > 0)
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
    if !is_tried(endurance) {
        return "no trial put it to the test".to_owned();
    }
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
        one => format!("; {one} more had a fault that never came about"),
    };
    format!(
        "{}: {} of {} plans tried, {} conclusive{impossible}",
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
    let courses = match hunted.courses {
        0 => String::new(),
        courses => format!(", which went in {courses} different ways"),
    };
    format!(
        "lease {} ms, {} points, {trials} trials in {seconds:.0} s ({rate:.1} a second){courses}",
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
    let (promise, with) = (found.promise.name(), faults(found.faults));
    let (times, runs, plan) = (found.times, found.runs, &found.plan);
    if times == 0 {
        return format!(
            "{promise}{promised} was broken with {with} in the search, and in none of {runs} runs \
             of its script: {plan}"
        );
    }
    format!("{promise}{promised} is broken with {with}, {times} of {runs} times: {plan}")
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
