//! A harness that stood still accuses nobody of what it did not see in time.

use lockstorm_checker::{Analysis, Nanos, Options, Property, Verdict, check};

use crate::support::{exact, history};

/// Number of violations, with and without a stall. Nor is a lock cleared of what was missed.
fn counts(property: Property, text: &str, stall: &str) -> (u64, u64) {
    let judgement = |text: &str| {
        let judgement = judged(text).properties[&property].clone();
        (judgement.count, judgement.verdict)
    };
    let (seen, _) = judgement(text);
    let (stalled, verdict) = judgement(&format!("{text}\n {stall}"));
    if stalled < seen {
        assert_eq!(verdict, Verdict::Unknown, "{property:?}");
    }
    (seen, stalled)
}

fn judged(text: &str) -> Analysis {
    let mut history = history(text);
    history.header.asks_once = Some(true);
    history.header.notes_failures = Some(true);
    history.header.promises = vec!["tells-of-loss".to_owned()];
    let options = Options {
        availability_gap_max: Some(Nanos::from_millis(300)),
        ..exact()
    };
    check(&history, &options)
}

#[test]
fn what_the_harness_missed_is_not_held_against_a_lock() {
    let gap = "fault F1 kill n1 injected 5\n fault F1 kill n1 observed 6
               fault F1 kill n1 healed 7
               a acquire 0..10 ok lease 100\n b acquire 50..60 refused
               b acquire 700..710 ok lease 100";
    assert_eq!(
        counts(Property::Availability, gap, "stall 120..690"),
        (1, 0)
    );
    let dead = "a acquire 0..400 ok lease 100";
    assert_eq!(
        counts(Property::DeadOnArrival, dead, "stall 10..390"),
        (1, 0)
    );
    let loss = "a acquire 0..10 ok lease 300\n a lost 700";
    assert_eq!(counts(Property::LossNotice, loss, "stall 320..690"), (1, 0));
    let hang = "a acquire 0..700 info lease 300\n a hang 650 acquire 500";
    assert_eq!(counts(Property::Progress, hang, "stall 160..640"), (1, 0));
    let early = counts(Property::Progress, hang, "stall 10..100");
    assert_eq!(early, (1, 1), "it was over before the bound began");
}

#[test]
fn a_stall_is_told_in_the_story_and_in_figures() {
    let text = "a acquire 0..10 ok lease 2000\n b acquire 700..710 ok lease 2000
                a release 800..810 ok\n stall 20..690";
    let analysis = judged(text);
    let stalls = analysis.stalls.expect("there is one");
    assert_eq!(
        stalls.sentence(),
        "the harness stood still for 0.670 s; no lock is accused of what it missed meanwhile"
    );
    let witness = &analysis.properties[&Property::MutualExclusion].witnesses[0];
    let told = "the harness had stood still for 0.670 s, since 0.020 s";
    assert!(witness.story.iter().any(|step| step.text == told));
    assert_eq!(judged("a acquire 0..10 ok lease 20").stalls, None);
}
