//! Renders a run or a suite as JUnit XML, in the flavour that Jenkins reads.
//!
//! One test case for each property of each run. A failure says that what its scenario expects did
//! not come; an error says that the run could not tell; a cell without a run is skipped, and so is
//! a property of which nothing is expected, or nothing is known because the run stopped early. An
//! expected violation passes, with its story as output.
//! A run in a situation has a test case for each promise instead, and so has a hunt.

use std::time::Duration;

use lockstorm_checker::{Property, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::endurance;
use crate::error::RenderError;
use crate::head::{self, Head, Standing};
use crate::inert::{visible, visible_lines};
use crate::model::{
    Answer, Endured, ExpectationResult, HuntRecord, HuntSummary, Mishap, NotRun, PromiseOutcome,
    Rate, RunRecord, SuiteRecord,
};
use crate::remedy::Scene;
use crate::{story, words};

/// A run as JUnit XML.
///
/// # Errors
/// [`RenderError::Junit`] when the document cannot be written as XML.
pub fn junit_run(run: &RunRecord) -> Result<String, RenderError> {
    let mut report = Report::new(&*visible(&run.scenario));
    report.add_test_suite(suite_of(run));
    Ok(report.to_string()?)
}

/// A suite as JUnit XML.
///
/// # Errors
/// [`RenderError::Junit`] when the document cannot be written as XML.
pub fn junit_suite(suite: &SuiteRecord) -> Result<String, RenderError> {
    let mut report = Report::new(&*visible(&suite.name));
    for run in &suite.runs {
        report.add_test_suite(suite_of(&run.record));
    }
    let rates = suite.rates();
    if !rates.is_empty() {
        let mut counted = TestSuite::new("counted over the repeated runs");
        counted.add_test_cases(rates.iter().map(counted_case));
        report.add_test_suite(counted);
    }
    report.add_test_suites(suite.hunts.iter().map(hunted));
    if !suite.not_run.is_empty() {
        let mut left_out = TestSuite::new("not run");
        left_out.add_test_cases(suite.not_run.iter().map(skipped));
        report.add_test_suite(left_out);
    }
    Ok(report.to_string()?)
}

/// A hunt as JUnit XML.
///
/// # Errors
/// [`RenderError::Junit`] when the document cannot be written as XML.
pub(crate) fn junit_hunt(hunt: &HuntRecord) -> Result<String, RenderError> {
    let mut report = Report::new("hunt");
    let hunts = hunt.hunts.iter();
    report.add_test_suites(hunts.map(|one| hunted(&HuntSummary::of(one, &hunt.folder))));
    Ok(report.to_string()?)
}

/// Errors that kept a command from its result, as JUnit XML: a test case each.
///
/// # Errors
/// [`RenderError::Junit`] when the document cannot be written as XML.
pub fn junit_mishaps(mishaps: &[Mishap]) -> Result<String, RenderError> {
    let mut report = Report::new("lockstorm");
    let mut suite = TestSuite::new("lockstorm");
    suite.add_test_cases(mishaps.iter().map(|mishap| {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status
            .set_type("error")
            .set_message(&*visible(&mishap.message));
        let place = mishap.place.as_ref();
        let name = place.map_or("began".to_owned(), |(file, line)| format!("{file}:{line}"));
        TestCase::new(&*visible(&name), status)
    }));
    report.add_test_suite(suite);
    Ok(report.to_string()?)
}

fn suite_of(run: &RunRecord) -> TestSuite {
    let place = visible(&words::cell_name(&run.labels)).into_owned();
    let mut suite = TestSuite::new(format!("{place} · seed {}", run.seed));
    suite.add_property(("outcome", &*visible(&Head::of_run(run).line())));
    suite.add_property(("seed", run.seed.to_string().as_str()));
    suite.add_property(("rerun", &*visible(&run.rerun)));
    for before in &run.earlier {
        suite.add_property((before.folder.as_str(), &*visible(&before.found)));
    }
    suite.set_time(Duration::try_from_secs_f64(run.duration_s).unwrap_or_default());
    if run.situation.is_some() {
        suite.add_test_cases(run.outcomes().iter().map(|outcome| {
            let mut case = TestCase::new(outcome.promise.name(), answered(run, outcome));
            case.set_classname(place.clone());
            case
        }));
        return suite;
    }
    suite.add_test_cases(run.expectations.iter().map(|result| {
        let mut case = TestCase::new(result.property.name(), status(run, result));
        case.set_classname(place.clone());
        // What passes needs its story no less than what fails: it is how one checks the check.
        if result.met && result.actual == Verdict::Violated {
            let told = stories(run, result.property);
            case.set_system_out(format!("{}\n{told}", head::of_property(run, result)));
        }
        case
    }));
    if let Some(reason) = &run.stopped {
        let (name, kind, end) = match run.unmet_step {
            Some(_) => ("answers", NonSuccessKind::Failure, "answer"),
            None => ("ran to its end", NonSuccessKind::Error, "stopped"),
        };
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(end).set_message(&*visible(reason));
        let mut case = TestCase::new(name, status);
        case.set_classname(place);
        suite.add_test_case(case);
    }
    suite
}

/// An expectation that counts the runs of a cell.
fn counted_case(rate: &Rate<'_>) -> TestCase {
    let mut status = match Standing::from(rate.outcome()) {
        Standing::Pass | Standing::Unclaimed(_) => TestCaseStatus::success(),
        Standing::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Standing::Undecided => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    status.set_message(head::of_rate(rate));
    let mut case = TestCase::new(rate.property.name(), status);
    case.set_classname(visible(&words::cell_name(rate.labels)).into_owned());
    case
}

/// The promises of a lock that was hunted: what is broken fails, and what was not tried enough to
/// say is skipped.
fn hunted(hunt: &HuntSummary) -> TestSuite {
    let place = visible(&format!("{} on {} · hunt", hunt.lock, hunt.topology)).into_owned();
    let mut suite = TestSuite::new(place.clone());
    suite.add_test_cases(hunt.promises.iter().map(|one| {
        let mut case = TestCase::new(one.promise.name(), endured(one));
        case.set_classname(place.clone());
        case
    }));
    suite
}

fn endured(one: &Endured) -> TestCaseStatus {
    let mut status = match (one.is_broken(), one.is_promised, one.withstood) {
        (true, ..) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        (false, true, Some(_)) => return TestCaseStatus::success(),
        (false, ..) => TestCaseStatus::skipped(),
    };
    let by = one.broken_by.as_deref().unwrap_or_default();
    let with = one.broken_with.map(endurance::faults);
    let message = with.map_or_else(
        || "no plan that was tried breaks it, which is too little to call it withstood".to_owned(),
        |with| format!("broken with {with}: {by}"),
    );
    status
        .set_type(one.promise.name())
        .set_message(&*visible(&message));
    status
}

/// Status of a promise: only what is broken fails.
fn answered(run: &RunRecord, outcome: &PromiseOutcome) -> TestCaseStatus {
    let reason = outcome.reason.as_deref().unwrap_or_default();
    let answer = outcome.answer();
    match answer {
        Answer::Kept => TestCaseStatus::success(),
        Answer::Broken => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let told = outcome.promise.properties().iter();
            let told: String = told.map(|property| stories(run, *property)).collect();
            status.set_type(outcome.promise.name());
            status.set_message(&*visible(reason)).set_description(told);
            status
        }
        Answer::CouldNotTell | Answer::NotPromised => {
            let mut status = TestCaseStatus::skipped();
            let parts = [answer.words(), reason];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            status.set_message(&*visible(&parts.join(": ")));
            status
        }
    }
}

fn status(run: &RunRecord, result: &ExpectationResult) -> TestCaseStatus {
    let kind = match head::for_machines(run, result) {
        Standing::Pass => return TestCaseStatus::success(),
        Standing::Fail => NonSuccessKind::Failure,
        // One test case more tells what stopped it.
        Standing::Undecided if run.stopped.is_none() || result.actual == Verdict::Unknown => {
            NonSuccessKind::Error
        }
        Standing::Undecided | Standing::Unclaimed(_) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(head::of_property(run, result));
            return status;
        }
    };
    let word = match result.actual {
        Verdict::Violated => result.property.name(),
        Verdict::Unknown => "unknown",
        Verdict::Valid => "expected-violation-missing",
    };
    let mut status = TestCaseStatus::non_success(kind);
    let message = head::complaint(run, result);
    status.set_type(word).set_message(&*visible(&message));
    if result.actual == Verdict::Violated {
        status.set_description(stories(run, result.property));
    }
    status
}

/// Each story of a property, and the command that repeats the run.
fn stories(run: &RunRecord, property: Property) -> String {
    let judged = run.analysis.properties.get(&property);
    let witnesses = judged.map_or(&[][..], |judgement| &judgement.witnesses);
    let mut text = String::from("\n");
    for witness in witnesses {
        text.push_str(&story::plain(&Scene::of_run(run, witness)));
        text.push('\n');
    }
    text.push_str(&visible_lines(&format!("repeat: {}", visible(&run.rerun))));
    text
}

fn skipped(not_run: &NotRun) -> TestCase {
    let mut status = TestCaseStatus::skipped();
    status.set_message(&*visible(&not_run.reason));
    TestCase::new(&*visible(&words::cell_name(&not_run.labels)), status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn an_expected_violation_passes_and_tells_its_story() {
        insta::assert_snapshot!(junit_run(&sample::failover_run()).unwrap());
    }

    #[test]
    fn a_suite_fails_errs_and_skips_where_it_should() {
        insta::assert_snapshot!(junit_suite(&sample::suite()).unwrap());
    }

    #[test]
    fn an_assessment_has_a_case_for_each_promise_and_only_what_is_broken_fails() {
        insta::assert_snapshot!(junit_suite(&sample::assessment()).unwrap());
    }

    #[test]
    fn an_expected_violation_that_stays_away_is_a_failure() {
        let mut run = sample::control_run();
        run.expectations[0].expected = lockstorm_scenarios::Expected::Violated;
        run.expectations[0].met = false;
        let xml = junit_run(&run).unwrap();
        assert!(xml.contains("type=\"expected-violation-missing\""), "{xml}");
    }

    #[test]
    fn hostile_text_is_only_text() {
        let run = junit_run(&sample::hostile_run()).unwrap();
        let suite = junit_suite(&sample::hostile_suite()).unwrap();
        for xml in [run, suite] {
            assert!(!xml.contains("<img"), "{xml}");
            assert!(!xml.contains("</script"), "{xml}");
            assert!(!xml.contains('\u{1b}'), "{xml}");
        }
    }
}
