//! Parts of an analysis besides its verdicts: counters, faults, and its stored form.

use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::{Coverage, Cycles};
use lockstorm_checker::{Analysis, Nanos, Property};

use crate::support::judge;

const AMNESIA: &str = "a acquire 0..10 ok lease 2000 token 1
                       b acquire 20..30 refused
                       fault F1 kill n1 requested 38
                       fault F1 kill n1 injected 40
                       fault F1 kill n1 observed 45 connection refused
                       c acquire 50..60 info
                       fault F1 kill n1 healed 70 answers again, empty
                       b acquire 80..90 ok lease 2000 token 1
                       a renew 100..110 not-owner
                       b release 200..210 ok
                       d acquire 220..230 ok lease 20
                       d alive 500";

#[test]
fn the_counters_tell_what_the_history_contains() {
    assert_eq!(
        judge(AMNESIA).coverage,
        Coverage {
            events: 19,
            operations: 7,
            keys: 1,
            owners: 4,
            granted: 3,
            refused: 1,
            indeterminate: 1,
            contended: 3,
            granted_under_fault: 1,
            redirects: 0,
            reconnects: 0,
            expired: 1,
            // Of b: a was told that it had lost the lock, d is not known to have given it back.
            cycles: Some(Cycles {
                count: 1,
                since: Nanos::from_millis(80),
                until: Nanos::from_millis(210),
            }),
        }
    );
}

/// Probes of the final phase leave the clients' cycles as they were.
#[test]
fn cycles_of_the_final_phase_do_not_count() {
    let text = "a acquire 0..10 ok\n a release 20..30 ok\n b acquire 40..50 ok
                b release 60..70 info\n final 80 bound 1000
                p acquire 90..95 ok\n p release 96..99 ok";
    let expected = Cycles {
        count: 1,
        since: Nanos(0),
        until: Nanos::from_millis(30),
    };
    assert_eq!(judge(text).coverage.cycles, Some(expected));
    assert_eq!(judge("a acquire 0..10 ok").coverage.cycles, None);
}

#[test]
fn faults_are_gathered_with_their_stages_and_what_fell_into_them() {
    let analysis = judge(AMNESIA);
    let [fault] = &*analysis.faults else {
        panic!("there is one fault");
    };
    assert_eq!(
        (&*fault.id, &*fault.kind, &*fault.target.to_string()),
        ("F1", "kill", "n1")
    );
    assert_eq!(fault.at(FaultPhase::Healed), Some(Nanos::from_millis(70)));
    assert_eq!(
        fault.stages[2].evidence.as_deref(),
        Some("connection refused")
    );
    assert_eq!(fault.operations, 1, "the acquire of c");
    assert_eq!(
        fault.violations, 3,
        "two holders, a lost lock, and a token given out twice, though it was healed by then"
    );
}

#[test]
fn an_analysis_is_stored_and_read_back_without_loss() {
    let analysis = judge(AMNESIA);
    assert_eq!(analysis.properties[&Property::MutualExclusion].count, 1);
    let json = serde_json::to_string(&analysis).unwrap();
    let back: Analysis = serde_json::from_str(&json).unwrap();
    assert_eq!(back, analysis);
}

#[test]
fn equal_input_gives_an_equal_answer() {
    let json = |analysis| serde_json::to_string(&analysis).unwrap();
    assert_eq!(json(judge(AMNESIA)), json(judge(AMNESIA)));
}

#[test]
fn every_property_is_explained_at_length_and_in_a_line() {
    for property in Property::ALL {
        let text = property.explain();
        assert!(text.starts_with(&format!("{property}: {}\n", property.summary())));
        for part in [
            "Definition",
            "Whose fault",
            "Example",
            "What to do",
            "Source",
        ] {
            assert!(
                text.contains(&format!("\n{part}")),
                "{property} lacks {part}"
            );
        }
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{property}"
        );
    }
}
