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

mod found;
mod property;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use lockstorm_checker::{Analysis, Verdict};
use lockstorm_scenarios::Expected;

pub(crate) use self::property::{complaint, expectation, verdict};

use self::found::{Found, found};
use crate::model::{Answer, ExpectationResult, Outcome, Rate, RunRecord, SuiteRecord, run_verdict};
use crate::{assessment, words};

/// Expectations that count runs which the head of a suite names; results.json has them all.
const RATES_MAX: usize = 3;

/// Meaning of a colour, a shape and a glyph.
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

/// True if what was expected came.
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

    /// Returns its sign.
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
        match result.expected.of_one_run() {
            _ if is_open => Self::Undecided,
            _ if run.without_scenario => Self::Unclaimed(result.actual),
            Expected::Any | Expected::ViolatedIn(_) => Self::Unclaimed(result.actual),
            Expected::Valid | Expected::Violated | Expected::Unknown => result.outcome().into(),
        }
    }
}

/// Returns the standing of one property for machines: they have no sign for what was found where
/// nothing was expected, and of a history by itself every violation is one too many.
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
    /// True if what was expected came.
    pub standing: Standing,
    /// Result, and what was expected where that is something else.
    pub found: String,
}

impl Head {
    /// That of a run.
    pub fn of_run(run: &RunRecord) -> Self {
        if run.situation.is_some() {
            return Self::of_situation(run);
        }
        let end = end(run);
        if claims_nothing(run) && run.unmet_step.is_none() {
            let standing = Standing::Unclaimed(run_verdict(run));
            let found =
                Found::of(&run.analysis, &unclaimed(&run.analysis)).sentence(end.as_deref());
            return Self { standing, found };
        }
        let standing = run.outcome.into();
        let found = Found::of(&run.analysis, &run.expectations).sentence(end.as_deref());
        let found = match tries(run) {
            Some(tries) => format!("{found}; {tries}"),
            None => found,
        };
        Self { standing, found }
    }

    /// That of a run in a situation: what the lock kept and broke of what is tested there.
    fn of_situation(run: &RunRecord) -> Self {
        let outcomes = run.outcomes();
        let with = |wanted: Answer| {
            let outcomes = outcomes.iter().filter(|outcome| outcome.answer() == wanted);
            let names: Vec<&str> = outcomes.map(|outcome| outcome.promise.name()).collect();
            (!names.is_empty()).then(|| format!("{}: {}", wanted.words(), names.join(", ")))
        };
        let mut parts: Vec<String> = [
            Answer::Broken,
            Answer::Kept,
            Answer::CouldNotTell,
            Answer::NotPromised,
        ]
        .into_iter()
        .filter_map(with)
        .collect();
        let inherent = run.inherent();
        if !inherent.is_empty() {
            let names = inherent
                .iter()
                .map(|(property, _)| words::property(*property));
            parts.push(format!(
                "inherent: {}",
                names.collect::<Vec<_>>().join(", ")
            ));
        }
        Self {
            standing: run.outcome.into(),
            found: parts.join("; "),
        }
    }

    /// That of a comparison or a repetition.
    pub fn of_suite(suite: &SuiteRecord) -> Self {
        if assessment::is_assessment(suite) {
            return Self {
                standing: match assessment::worst_answer(suite) {
                    Some(Answer::Broken) => Standing::Fail,
                    Some(_) => Standing::Pass,
                    None => Standing::Undecided,
                },
                found: assessment::sentence(suite),
            };
        }
        let records = || suite.runs.iter().map(|run| &run.record);
        let with = |wanted| records().filter(|run| run_verdict(run) == wanted).count();
        let (violated, valid) = (with(Verdict::Violated), with(Verdict::Valid));
        let runs = words::count(suite.runs.len() as u64, "run");
        let others = format!(
            "{valid} without a violation found, {} unknown{}",
            with(Verdict::Unknown),
            words::unfinished(suite)
        );
        let verdicts = records().map(run_verdict).reduce(Verdict::merge);
        let rates = rates(suite);
        let is_unclaimed = rates.is_empty() && records().all(claims_nothing);
        if let Some(verdict) = verdicts.filter(|_| is_unclaimed) {
            return Self {
                standing: Standing::Unclaimed(verdict),
                found: format!("{violated} of {runs} violated, {others}"),
            };
        }
        let met = records().filter(|run| run.outcome == Outcome::AsExpected);
        Self {
            standing: suite.outcome().into(),
            found: format!(
                "{} of {runs} as expected: {violated} violated, {others}{}{rates}",
                met.count(),
                flaky(suite)
            ),
        }
    }

    /// That of a history by itself, of which nobody expects anything.
    pub(crate) fn of_analysis(analysis: &Analysis) -> Self {
        Self {
            standing: Standing::Unclaimed(analysis.verdict),
            found: Found::of(analysis, &unclaimed(analysis)).sentence(None),
        }
    }

    /// Both axes, without the sign: `PASS · mutual exclusion violated, as expected`.
    pub fn line(&self) -> String {
        format!("{} · {}", self.standing.word(), self.found)
    }

    /// Returns the result behind its sign.
    pub(crate) fn signed(&self) -> String {
        format!("{} {}", self.standing.sign().glyph(), self.line())
    }
}

/// Words for the end of a run that stopped before its last step.
fn end(run: &RunRecord) -> Option<String> {
    run.stopped.as_ref()?;
    Some(match run.unmet_step {
        Some(n) => format!("step {n} was not answered as the scenario says"),
        None => "stopped early".to_owned(),
    })
}

/// Words for the runs of a suite that needed more than one try.
fn flaky(suite: &SuiteRecord) -> String {
    match suite
        .runs
        .iter()
        .filter(|run| run.record.is_flaky())
        .count()
    {
        0 => String::new(),
        some => format!("; {some} flaky"),
    }
}

/// Words for the expectations that count runs: those that were not met, and where all were, the
/// first, each behind a semicolon.
fn rates(suite: &SuiteRecord) -> String {
    let rates = suite.rates();
    let is_met = |rate: &&Rate<'_>| rate.outcome() == Outcome::AsExpected;
    let missed = rates.iter().filter(|rate| !is_met(rate));
    let told: Vec<&Rate<'_>> = match missed.clone().count() {
        0 => rates.iter().collect(),
        _ => missed.collect(),
    };
    let mut text = String::new();
    for rate in told.iter().take(RATES_MAX) {
        let _ = write!(text, "; {}", of_rate(rate));
    }
    if let Some(more @ 1..) = told.len().checked_sub(RATES_MAX) {
        let alike = if is_met(&told[0]) {
            "as expected"
        } else {
            "not as expected"
        };
        let _ = write!(text, "; {more} more counts {alike}");
    }
    text
}

/// One expectation that counts runs, and what came: `lost lock violated in 3 of 20 runs, as
/// expected`.
pub(crate) fn of_rate(rate: &Rate<'_>) -> String {
    let property = words::property(rate.property);
    let open = match rate.unknown {
        0 => String::new(),
        some => format!(" ({some} could not tell)"),
    };
    let runs = words::count(rate.of, "run");
    let against = match rate.outcome() {
        Outcome::AsExpected => ", as expected".to_owned(),
        Outcome::LivenessFailed | Outcome::Unknown | Outcome::Unexpected => {
            format!(", where {} were expected", words::runs(rate.expected))
        }
    };
    format!(
        "{property} violated in {} of {runs}{open}{against}",
        rate.violated
    )
}

/// Words for the tries before this one.
fn tries(run: &RunRecord) -> Option<String> {
    let before = run.earlier.len();
    if run.is_flaky() {
        let otherwise = run.earlier.iter();
        let otherwise = otherwise.filter(|before| before.outcome != Outcome::AsExpected);
        Some(format!(
            "flaky: not so in {}",
            words::count(otherwise.count() as u64, "earlier try")
        ))
    } else {
        (before > 0).then(|| format!("tried {} times", before + 1))
    }
}

/// Tells whether nothing at all is expected of what was judged.
pub(crate) fn claims_nothing(run: &RunRecord) -> bool {
    let mut results = run.expectations.iter();
    let is_any = results.all(|result| result.expected.of_one_run() == Expected::Any);
    !run.expectations.is_empty() && (run.without_scenario || is_any)
}

/// Returns the judged properties, without an expectation.
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

/// Both axes of one property: `FAIL · lost lock violated, where no violation was expected`.
pub(crate) fn of_property(run: &RunRecord, result: &ExpectationResult) -> String {
    let word = Standing::of_result(run, result).word();
    let found = found(&words::property(result.property), result.actual);
    let against = if run.stopped.is_some() && result.actual == Verdict::Valid {
        " before the run stopped early".to_owned()
    } else if claims_nothing(run) {
        String::new()
    } else {
        against(result)
    };
    format!("{word} · {found}{against}")
}

/// How a verdict stands against what was expected of it, as the end of a sentence.
pub(crate) fn against(result: &ExpectationResult) -> String {
    if matches!(result.expected, Expected::ViolatedIn(_)) {
        ", which is counted over the repeated runs".to_owned()
    } else if result.expected == Expected::Any {
        match result.actual {
            Verdict::Violated | Verdict::Unknown => {
                ", of which the scenario expects nothing".to_owned()
            }
            Verdict::Valid => String::new(),
        }
    } else if result.met {
        ", as expected".to_owned()
    } else {
        format!(", where {} was expected", words::expected(result.expected))
    }
}
