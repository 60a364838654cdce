//! Every combination of what is expected and what is found, in every report.

use lockstorm_checker::Property;

use super::*;
use crate::encode::Record;
use crate::github::github_run;
use crate::html::{RunSources, index_page, run_page};
use crate::junit::junit_run;
use crate::known::Known;
use crate::listing::{Entry, Listing};
use crate::markdown::markdown_run;
use crate::measures::Measures;
use crate::model::EarlierTry;
use crate::terminal::{TerminalOptions, terminal_run};
use crate::trace::Trace;
use crate::{gallery, sample};

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
        ("annotations", github_run(run, None)),
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
fn a_run_that_came_out_in_a_later_try_is_called_flaky_by_every_report() {
    let mut run = run(Expected::Valid, Verdict::Valid, false);
    run.earlier = vec![EarlierTry {
        folder: "try-1".to_owned(),
        outcome: Outcome::Unknown,
        found: "mutual exclusion unknown".to_owned(),
    }];
    assert!(run.is_flaky());
    // One that the machine had held up, and which told less.
    run.earlier.push(EarlierTry {
        outcome: Outcome::AsExpected,
        ..run.earlier[0].clone()
    });
    for (kind, text) in rendered(&run) {
        assert!(
            text.contains("flaky: not so in 1 earlier try"),
            "{kind}: {text}"
        );
    }
    let mut held_up = run.clone();
    held_up.earlier.remove(0);
    assert!(!held_up.is_flaky());
    // A baseline that has the run knows nothing of a flaky one.
    let same = Known::of(&Record::Run(Box::new(run.clone())));
    for known in [None, Some(&same)] {
        assert!(
            github_run(&run, known).contains("::warning title=flaky"),
            "a green step says it too"
        );
    }
}

#[test]
fn what_proves_something_is_not_tried_again() {
    let again = |expected, actual| run(expected, actual, false).may_be_tried_again();
    assert!(!again(Expected::Valid, Verdict::Valid));
    assert!(!again(Expected::Valid, Verdict::Violated));
    assert!(again(Expected::Violated, Verdict::Valid));
    assert!(again(Expected::Valid, Verdict::Unknown));
    let mut late = run(Expected::Valid, Verdict::Violated, false);
    late.outcome = Outcome::LivenessFailed;
    assert!(!late.may_be_tried_again());
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
        "PASS · availability violated, of which the scenario expects nothing; no violation of \
         mutual exclusion, as expected"
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
