//! The head of every report: whether what was expected came, and beside it what was found.
//!
//! For: word, sign and sentence of both, made in one place for terminal, pages, Markdown, pictures,
//! JUnit and annotations. A lock that broke as predicted passes, and is called violated in the same
//! breath. Not for: colours and shapes; each of those has its own for a [`Sign`].
//!
//! ```text
//! ✓ PASS · mutual exclusion violated, as expected
//! │ │      └ what was found, in words
//! │ └ whether what was expected came
//! └ the sign of that, as is the colour
//! ```

use lockstorm_checker::{Analysis, Verdict};
use lockstorm_scenarios::Expected;

use crate::grid::run_verdict;
use crate::model::{ExpectationResult, Outcome, RunRecord, SuiteRecord};
use crate::words;

/// Properties that a sentence names; the list of properties has them all.
const NAMED_MAX: usize = 3;

/// What a colour, a shape and a glyph stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Good,
    Open,
    Bad,
}

impl Sign {
    /// Its second channel beside the colour.
    pub(crate) const fn glyph(self) -> char {
        match self {
            Self::Good => '✓',
            Self::Open => '?',
            Self::Bad => '✗',
        }
    }
}

impl From<Verdict> for Sign {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Valid => Self::Good,
            Verdict::Unknown => Self::Open,
            Verdict::Violated => Self::Bad,
        }
    }
}

/// Whether what was expected came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It came.
    Pass,
    /// It did not.
    Fail,
    /// The run could not tell.
    Undecided,
    /// Nothing was expected, so all that there is to say is what was found.
    Unclaimed(Verdict),
}

impl Standing {
    /// The big word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Undecided | Self::Unclaimed(Verdict::Unknown) => "UNDECIDED",
            Self::Unclaimed(Verdict::Violated) => "VIOLATION FOUND",
            Self::Unclaimed(Verdict::Valid) => "NO VIOLATION FOUND",
        }
    }

    /// What it looks like.
    pub(crate) fn sign(self) -> Sign {
        match self {
            Self::Pass => Sign::Good,
            Self::Fail => Sign::Bad,
            Self::Undecided => Sign::Open,
            Self::Unclaimed(verdict) => verdict.into(),
        }
    }

    /// That of one property of a run. What a run that stopped early has not shown says nothing.
    pub(crate) fn of_result(run: &RunRecord, result: &ExpectationResult) -> Self {
        let is_open = run.stopped.is_some() && result.actual != Verdict::Violated;
        match result.expected {
            _ if is_open => Self::Undecided,
            _ if run.without_scenario => Self::Unclaimed(result.actual),
            Expected::Any => Self::Unclaimed(result.actual),
            Expected::Valid | Expected::Violated | Expected::Unknown => result.outcome().into(),
        }
    }
}

/// What a machine is told of one property: it has no sign for what was found where nothing was
/// expected, and of a history by itself every violation is one too many.
pub(crate) fn for_machines(run: &RunRecord, result: &ExpectationResult) -> Standing {
    match Standing::of_result(run, result) {
        Standing::Unclaimed(_) if run.without_scenario => result.outcome().into(),
        standing => standing,
    }
}

impl From<Outcome> for Standing {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::AsExpected => Self::Pass,
            Outcome::LivenessFailed | Outcome::Unexpected => Self::Fail,
            Outcome::Unknown => Self::Undecided,
        }
    }
}

/// Both axes of a run, a suite or a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Whether what was expected came.
    pub standing: Standing,
    /// What was found, and what was expected where it is something else.
    pub found: String,
}

impl Head {
    /// That of a run.
    pub fn of_run(run: &RunRecord) -> Self {
        let stopped = run.stopped.is_some();
        if claims_nothing(run) {
            let standing = Standing::Unclaimed(run_verdict(run));
            let found = Found::of(&run.analysis, &unclaimed(&run.analysis)).sentence(stopped);
            return Self { standing, found };
        }
        let standing = run.outcome.into();
        let found = Found::of(&run.analysis, &run.expectations).sentence(stopped);
        Self { standing, found }
    }

    /// That of a comparison or a repetition.
    pub fn of_suite(suite: &SuiteRecord) -> Self {
        let records = || suite.runs.iter().map(|run| &run.record);
        let with = |wanted| records().filter(|run| run_verdict(run) == wanted).count();
        let (violated, valid) = (with(Verdict::Violated), with(Verdict::Valid));
        let runs = words::count(suite.runs.len() as u64, "run");
        let others = format!(
            "{valid} without a violation found, {} unknown{}",
            with(Verdict::Unknown),
            words::not_reached(suite)
        );
        let verdicts = records().map(run_verdict).reduce(Verdict::merge);
        if let Some(verdict) = verdicts.filter(|_| records().all(claims_nothing)) {
            return Self {
                standing: Standing::Unclaimed(verdict),
                found: format!("{violated} of {runs} violated, {others}"),
            };
        }
        let met = records().filter(|run| run.outcome == Outcome::AsExpected);
        Self {
            standing: suite.outcome().into(),
            found: format!(
                "{} of {runs} as expected: {violated} violated, {others}",
                met.count()
            ),
        }
    }

    /// That of a history by itself, of which nobody expects anything.
    pub(crate) fn of_analysis(analysis: &Analysis) -> Self {
        Self {
            standing: Standing::Unclaimed(analysis.verdict),
            found: Found::of(analysis, &unclaimed(analysis)).sentence(false),
        }
    }

    /// Both axes, without the sign: `PASS · mutual exclusion violated, as expected`.
    pub fn line(&self) -> String {
        format!("{} · {}", self.standing.word(), self.found)
    }

    /// The same behind its sign.
    pub(crate) fn signed(&self) -> String {
        format!("{} {}", self.standing.sign().glyph(), self.line())
    }
}

/// Whether nothing at all is expected of what was judged.
pub(crate) fn claims_nothing(run: &RunRecord) -> bool {
    let mut results = run.expectations.iter();
    let is_any = results.all(|result| result.expected == Expected::Any);
    !run.expectations.is_empty() && (run.without_scenario || is_any)
}

/// What was judged, without an expectation.
fn unclaimed(analysis: &Analysis) -> Vec<ExpectationResult> {
    let judged = analysis.properties.iter();
    let results = judged.map(|(property, judgement)| ExpectationResult {
        property: *property,
        expected: Expected::Any,
        actual: judgement.verdict,
        met: true,
    });
    results.collect()
}

/// What was found of what has this name.
fn found(name: &str, actual: Verdict) -> String {
    let word = words::verdict(actual);
    match actual {
        Verdict::Violated | Verdict::Unknown => format!("{name} {word}"),
        Verdict::Valid => format!("{word} of {name}"),
    }
}

/// Both axes of one property: `FAIL · lost lock violated, where no violation was expected`.
pub(crate) fn of_property(run: &RunRecord, result: &ExpectationResult) -> String {
    let word = Standing::of_result(run, result).word();
    let found = found(&words::property(result.property), result.actual);
    let against = if claims_nothing(run) {
        String::new()
    } else {
        against(result)
    };
    format!("{word} · {found}{against}")
}

/// How a verdict stands against what was expected of it, as the end of a sentence.
pub(crate) fn against(result: &ExpectationResult) -> String {
    if result.expected == Expected::Any {
        match result.actual {
            Verdict::Violated | Verdict::Unknown => ", of which nothing was expected".to_owned(),
            Verdict::Valid => String::new(),
        }
    } else if result.met {
        ", as expected".to_owned()
    } else {
        format!(", where {} was expected", words::expected(result.expected))
    }
}

/// What was found of each property, by what there is to say of it.
struct Found<'a> {
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
    const fn of(analysis: &'a Analysis, results: &'a [ExpectationResult]) -> Self {
        Self { analysis, results }
    }

    fn sentence(&self, stopped: bool) -> String {
        let mut clauses: Vec<String> = GROUPS
            .iter()
            .filter_map(|group| self.clause(*group, stopped))
            .collect();
        if clauses.is_empty() {
            clauses.push(self.nothing(stopped));
        }
        if stopped {
            // Where nothing is certain it is the reason, and otherwise a remark.
            let is_certain = self.results.iter().any(|r| r.actual == Verdict::Violated);
            let at = if is_certain { clauses.len() } else { 0 };
            clauses.insert(at, "stopped early".to_owned());
        }
        clauses.join("; ")
    }

    /// What is said of all that stand alike.
    fn clause(&self, (expected, actual): (Expected, Verdict), stopped: bool) -> Option<String> {
        let alike = |result: &&ExpectationResult| {
            (result.expected, result.actual) == (expected, actual) && self.is_told(result)
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
        // Of what could not be decided it is no news that it is not what was expected.
        let is_plain = (expected, actual) == (Expected::Valid, Verdict::Unknown);
        let against = if is_plain || self.is_unclaimed() {
            String::new()
        } else {
            against(first)
        };
        Some(format!("{found}{against}"))
    }

    /// What was not judged, and of which nothing is expected, is not worth a word.
    fn is_told(&self, result: &ExpectationResult) -> bool {
        let judged = &self.analysis.properties;
        result.expected != Expected::Any || judged.contains_key(&result.property)
    }

    /// Whether only such properties are worth a word of which nothing is expected, so that one
    /// would miss what came of the others.
    fn leaves_room(&self) -> bool {
        let results = self.results.iter().filter(|result| self.is_told(result));
        let mut telling = results
            .filter(|r| r.actual != Verdict::Valid || !r.met)
            .peekable();
        telling.peek().is_some() && telling.all(|r| r.expected == Expected::Any)
    }

    fn is_unclaimed(&self) -> bool {
        let mut results = self.results.iter();
        results.all(|result| result.expected == Expected::Any)
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

#[cfg(test)]
mod tests {
    use lockstorm_checker::Property;

    use super::*;
    use crate::gallery;
    use crate::github::github_run;
    use crate::html::{RunSources, index_page, run_page};
    use crate::junit::junit_run;
    use crate::listing::{Entry, Listing};
    use crate::markdown::markdown_run;
    use crate::measures::Measures;
    use crate::sample;
    use crate::terminal::{TerminalOptions, terminal_run};
    use crate::trace::Trace;

    const EXPECTED: [Expected; 4] = [
        Expected::Valid,
        Expected::Violated,
        Expected::Unknown,
        Expected::Any,
    ];
    const FOUND: [Verdict; 3] = [Verdict::Valid, Verdict::Unknown, Verdict::Violated];

    /// A run that judged mutual exclusion and nothing else.
    fn run(expected: Expected, actual: Verdict, stopped: bool) -> RunRecord {
        let mut run = match actual {
            Verdict::Violated => sample::failover_run(),
            Verdict::Valid | Verdict::Unknown => sample::control_run(),
        };
        let properties = &mut run.analysis.properties;
        properties.retain(|property, _| *property == Property::MutualExclusion);
        for judgement in properties.values_mut() {
            judgement.verdict = actual;
            judgement.count = judgement.witnesses.len() as u64;
        }
        run.analysis.verdict = actual;
        run.expectations = vec![ExpectationResult {
            property: Property::MutualExclusion,
            expected,
            actual,
            met: expected.is_met_by(actual),
        }];
        run.stopped = stopped.then(|| "step 2 (acquire): got refused".to_owned());
        run.outcome = Outcome::of(&run.expectations, stopped);
        run
    }

    fn all_runs() -> Vec<RunRecord> {
        let mut all = Vec::new();
        for expected in EXPECTED {
            for actual in FOUND {
                all.extend([false, true].map(|stopped| run(expected, actual, stopped)));
            }
        }
        all
    }

    #[test]
    fn both_axes_are_told_of_every_combination() {
        let lines: Vec<String> = all_runs()
            .iter()
            .map(|run| {
                let result = &run.expectations[0];
                let stopped = if run.stopped.is_some() {
                    ", stopped"
                } else {
                    ""
                };
                let head = Head::of_run(run).signed();
                format!(
                    "{:?} × {:?}{stopped}: {head}",
                    result.expected, result.actual
                )
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    /// The terminal, Markdown, the page, its index, a picture, JUnit and annotations.
    fn rendered(run: &RunRecord) -> Vec<(&'static str, String)> {
        let trace = Trace::default();
        let measures = Measures::of(&trace);
        let sources = RunSources {
            history: Err("there is none"),
            measures: None,
            data: None,
            scenario: None,
        };
        let listing = Listing {
            entries: vec![Entry::of_run("x/1", run)],
            ..Listing::default()
        };
        let pictures = gallery::of_run(run, &measures);
        let picture = pictures.iter().find(|picture| picture.name == "timeline");
        let picture = picture.expect("every run has a timeline");
        vec![
            ("terminal", terminal_run(run, TerminalOptions::default())),
            ("Markdown", markdown_run(run)),
            ("page", run_page(run, &sources)),
            ("index", index_page(&listing)),
            ("picture", crate::plots::svg(&picture.drawing).into_string()),
            ("JUnit", junit_run(run).expect("the record is XML")),
            ("annotations", github_run(run)),
        ]
    }

    #[test]
    fn every_report_has_both_axes_of_every_combination() {
        for run in all_runs() {
            let head = Head::of_run(&run);
            for (kind, text) in rendered(&run) {
                let text = text.replace("**", "");
                assert!(
                    text.contains(head.standing.word()),
                    "{kind}: {head:?}\n{text}"
                );
                assert!(text.contains(&head.found), "{kind}: {head:?}\n{text}");
            }
        }
    }

    /// The green of success beside a broken lock always has the word for it in the same line.
    #[test]
    fn no_report_ticks_off_a_violation_without_a_word_on_it() {
        for expected in EXPECTED {
            let run = run(expected, Verdict::Violated, false);
            for (kind, text) in rendered(&run) {
                let ticked = text.lines().filter(|line| line.contains("✓"));
                for line in ticked {
                    assert!(line.contains("violated"), "{kind}: {line}");
                }
            }
        }
    }

    #[test]
    fn exit_codes_and_heads_agree() {
        for run in all_runs() {
            let standing = Head::of_run(&run).standing;
            match (run.outcome, standing) {
                (Outcome::AsExpected, Standing::Pass | Standing::Unclaimed(_))
                | (Outcome::Unknown, Standing::Undecided)
                | (Outcome::Unexpected | Outcome::LivenessFailed, Standing::Fail) => {}
                // A violation stays one when the run stops after it.
                (Outcome::Unknown, Standing::Unclaimed(verdict)) => {
                    assert_ne!(verdict, Verdict::Valid, "{run:?}");
                }
                (outcome, standing) => panic!("{outcome:?} is told as {standing:?}: {run:?}"),
            }
        }
    }

    #[test]
    fn a_bound_on_waiting_that_was_missed_fails() {
        let mut late = run(Expected::Valid, Verdict::Violated, false);
        late.expectations[0].property = Property::Liveness;
        late.outcome = Outcome::of(&late.expectations, false);
        let head = Head::of_run(&late);
        assert_eq!(late.outcome, Outcome::LivenessFailed);
        assert_eq!(
            head.line(),
            "FAIL · liveness violated, where no violation was expected"
        );
    }

    #[test]
    fn what_nobody_expected_anything_of_does_not_hide_what_somebody_did() {
        let mut both = run(Expected::Valid, Verdict::Valid, false);
        let judgement = lockstorm_checker::verdict::Judgement {
            verdict: Verdict::Violated,
            ..Default::default()
        };
        let judged = &mut both.analysis.properties;
        judged.insert(Property::Availability, judgement);
        both.expectations.push(ExpectationResult {
            property: Property::Availability,
            expected: Expected::Any,
            actual: Verdict::Violated,
            met: true,
        });
        assert_eq!(
            Head::of_run(&both).line(),
            "PASS · availability violated, of which nothing was expected; no violation of mutual \
             exclusion, as expected"
        );
    }

    #[test]
    fn a_run_that_judged_nothing_says_so() {
        let mut empty = run(Expected::Valid, Verdict::Valid, false);
        empty.expectations.clear();
        empty.analysis.properties.clear();
        empty.outcome = Outcome::of(&[], false);
        assert_eq!(
            Head::of_run(&empty).line(),
            "UNDECIDED · nothing was judged"
        );
    }

    #[test]
    fn a_history_by_itself_is_told_by_what_was_found() {
        let analysis = sample::failover_run().analysis;
        let head = Head::of_analysis(&analysis);
        assert_eq!(head.standing, Standing::Unclaimed(Verdict::Violated));
        assert_eq!(
            head.line(),
            "VIOLATION FOUND · mutual exclusion and lost lock violated"
        );
    }

    #[test]
    fn the_report_of_a_history_by_itself_speaks_of_no_expectation() {
        for actual in FOUND {
            let mut alone = run(Expected::Valid, actual, false);
            alone.without_scenario = true;
            let head = Head::of_run(&alone);
            assert_eq!(head.standing, Standing::Unclaimed(actual));
            for (kind, text) in rendered(&alone) {
                assert!(text.contains(head.standing.word()), "{kind}: {text}");
                assert!(!text.contains("as expected"), "{kind}: {text}");
                assert!(!text.contains("was expected"), "{kind}: {text}");
            }
            let is_failure = junit_run(&alone).is_ok_and(|xml| xml.contains("<failure"));
            assert_eq!(is_failure, actual == Verdict::Violated, "{alone:?}");
        }
    }

    #[test]
    fn a_suite_counts_what_was_as_expected_and_what_was_found() {
        let mut suite = sample::suite();
        assert_eq!(
            Head::of_suite(&suite).line(),
            "FAIL · 3 of 5 runs as expected: 3 violated, 1 without a violation found, 1 unknown"
        );
        for run in &mut suite.runs {
            for result in &mut run.record.expectations {
                result.expected = Expected::Any;
            }
        }
        assert_eq!(
            Head::of_suite(&suite).line(),
            "VIOLATION FOUND · 3 of 5 runs violated, 1 without a violation found, 1 unknown"
        );
    }
}
