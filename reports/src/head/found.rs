//! Result in one sentence.
//!
//! For: naming what matters and leaving out what nobody doubts. Not for: whether that is good.

use lockstorm_checker::{Analysis, Verdict};
use lockstorm_scenarios::Expected;

use super::against;
use crate::model::ExpectationResult;
use crate::words;

/// Properties that a sentence names; the list of properties has them all.
const NAMED_MAX: usize = 3;

/// Says the verdict on the property with this name.
pub(super) fn found(name: &str, actual: Verdict) -> String {
    let word = words::verdict(actual);
    match actual {
        Verdict::Violated | Verdict::Unknown => format!("{name} {word}"),
        Verdict::Valid => format!("{word} of {name}"),
    }
}

/// Verdicts on each property, grouped by what there is to say of them.
pub(super) struct Found<'a> {
    analysis: &'a Analysis,
    results: &'a [ExpectationResult],
}

/// Those of which the same is said, in the order in which it matters.
const GROUPS: [(Expected, Verdict); 11] = [
    (Expected::Valid, Verdict::Violated),
    (Expected::Unknown, Verdict::Violated),
    (Expected::Violated, Verdict::Valid),
    (Expected::Violated, Verdict::Unknown),
    (Expected::Unknown, Verdict::Valid),
    (Expected::Valid, Verdict::Unknown),
    (Expected::Violated, Verdict::Violated),
    (Expected::Unknown, Verdict::Unknown),
    (Expected::Any, Verdict::Violated),
    (Expected::Any, Verdict::Unknown),
    (Expected::Valid, Verdict::Valid),
];

impl<'a> Found<'a> {
    pub(super) const fn of(analysis: &'a Analysis, results: &'a [ExpectationResult]) -> Self {
        Self { analysis, results }
    }

    /// All of it; of a run that stopped before its end, with the words for that.
    pub(super) fn sentence(&self, end: Option<&str>) -> String {
        let stopped = end.is_some();
        let mut clauses: Vec<String> = GROUPS
            .iter()
            .filter_map(|group| self.clause(*group, stopped))
            .collect();
        if clauses.is_empty() {
            clauses.push(self.nothing(stopped));
        }
        if let Some(end) = end {
            // Where nothing is certain it is the reason, and otherwise a remark.
            let is_certain = self.results.iter().any(|r| r.actual == Verdict::Violated);
            let at = if is_certain { clauses.len() } else { 0 };
            clauses.insert(at, end.to_owned());
        }
        clauses.join("; ")
    }

    /// Says one sentence of all properties that stand alike.
    fn clause(&self, (expected, actual): (Expected, Verdict), stopped: bool) -> Option<String> {
        let alike = |result: &&ExpectationResult| {
            (result.expected.of_one_run(), result.actual) == (expected, actual)
                && self.is_told(result)
        };
        let first = self.results.iter().find(alike)?;
        // What a stopped run has not shown says nothing, and neither does what nobody doubts.
        let is_silent = match (expected, actual) {
            (Expected::Valid, Verdict::Valid) => stopped || !self.leaves_room(),
            (_, Verdict::Valid) => stopped,
            (_, Verdict::Violated | Verdict::Unknown) => false,
        };
        if is_silent {
            return None;
        }
        let all: Vec<String> = self
            .results
            .iter()
            .filter(alike)
            .map(|r| self.name(r))
            .collect();
        let names = listed(&all);
        let found = found(&names, actual);
        // An unknown where no violation is expected: that it differs goes without saying.
        let is_plain = (expected, actual) == (Expected::Valid, Verdict::Unknown);
        let against = if is_plain || self.is_unclaimed() {
            String::new()
        } else {
            against(first)
        };
        Some(format!("{found}{against}"))
    }

    /// Tells whether a property is worth a word: one that was not judged, and of which nothing is
    /// expected, is not.
    fn is_told(&self, result: &ExpectationResult) -> bool {
        let judged = &self.analysis.properties;
        result.expected.of_one_run() != Expected::Any || judged.contains_key(&result.property)
    }

    /// Tells whether only such properties are worth a word of which nothing is expected, so that
    /// one would miss what came of the others.
    fn leaves_room(&self) -> bool {
        let results = self.results.iter().filter(|result| self.is_told(result));
        let mut telling = results
            .filter(|r| r.actual != Verdict::Valid || !r.met)
            .peekable();
        telling.peek().is_some() && telling.all(|r| r.expected.of_one_run() == Expected::Any)
    }

    fn is_unclaimed(&self) -> bool {
        let mut results = self.results.iter();
        results.all(|result| result.expected.of_one_run() == Expected::Any)
    }

    /// Where no property is violated or unknown, and none was expected to be.
    fn nothing(&self, stopped: bool) -> String {
        let told = self.results.iter().filter(|result| self.is_told(result));
        let names: Vec<String> = told.map(|result| self.name(result)).collect();
        if names.is_empty() {
            "nothing was judged".to_owned()
        } else if stopped {
            "no violation before that".to_owned()
        } else if self.is_unclaimed() {
            format!("{} judged", listed(&names))
        } else {
            "no violation found, as expected".to_owned()
        }
    }

    /// A property, and how often it is violated if that is more than once.
    fn name(&self, result: &ExpectationResult) -> String {
        let name = words::property(result.property);
        let judged = self.analysis.properties.get(&result.property);
        match judged.map_or(0, |judgement| judgement.count) {
            0 | 1 => name,
            times => format!("{name} ({times}×)"),
        }
    }
}

/// Names as a sentence has them: `a, b and c`; of many the first.
fn listed(all: &[String]) -> String {
    let more = all.len().saturating_sub(NAMED_MAX);
    let mut told: Vec<String> = all[..all.len() - more].to_vec();
    if more > 0 {
        told.push(format!("{more} more"));
    }
    match told.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}
