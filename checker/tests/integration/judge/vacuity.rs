//! A history that could not have shown a violation is unknown, and says why.

use lockstorm_checker::{Options, Property, Verdict, check};

use crate::support::{history, judge, reason};

const CONTENDED: &str = "a acquire 0..10 ok lease 1000
                         b acquire 20..30 refused
                         a release 40..50 ok\n";

#[test]
fn a_contended_history_without_faults_is_valid() {
    let analysis = judge(CONTENDED);
    assert_eq!(analysis.verdict, Verdict::Valid);
    let judged: Vec<&str> = analysis.properties.keys().map(|p| p.name()).collect();
    assert_eq!(
        judged,
        [
            "mutual-exclusion",
            "lost-lock",
            "lease-overrun",
            "dead-on-arrival",
            "spurious-refusal"
        ]
    );
}

#[test]
fn nothing_and_nobody_are_unknown() {
    assert_eq!(judge("").verdict, Verdict::Unknown);
    assert_eq!(
        reason(Property::MutualExclusion, ""),
        "the history holds no event"
    );
    let refused = "a acquire 0..10 refused";
    assert!(reason(Property::MutualExclusion, refused).contains("known to have been granted"));
    let lonely = "a acquire 0..10 ok\n a release 20..30 ok\n b acquire 30..40 ok";
    assert!(reason(Property::MutualExclusion, lonely).contains("while another owner held"));
}

#[test]
fn trying_while_another_may_hold_is_contention_and_readers_do_not_contend() {
    let hand_over = "a acquire 0..10 ok\n a release 20..30 ok\n b acquire 29..40 ok";
    assert_eq!(judge(hand_over).coverage.contended, 1);
    let readers = "a acquire 0..10 ok mode read\n b acquire 5..20 ok mode read";
    assert_eq!(judge(readers).coverage.contended, 0);
    let phantom = "a acquire 0..10 info\n b acquire 20..30 ok";
    assert_eq!(
        judge(phantom).coverage.contended,
        0,
        "an unproved acquire is no holder"
    );
}

#[test]
fn a_fault_that_was_not_seen_to_work_proves_nothing() {
    let asked = format!("{CONTENDED} fault F1 kill n1 requested 15");
    assert_eq!(
        reason(Property::MutualExclusion, &asked),
        "fault F1 (kill n1) was asked for, but never injected"
    );
    let injected = format!("{asked}\n fault F1 kill n1 injected 16");
    for property in [
        Property::MutualExclusion,
        Property::LostLock,
        Property::LeaseOverrun,
    ] {
        assert_eq!(
            reason(property, &injected),
            "fault F1 (kill n1) was injected, but its effect was never observed"
        );
    }
    let observed = format!("{injected}\n fault F1 kill n1 observed 17 connection refused");
    assert_eq!(judge(&observed).verdict, Verdict::Valid);
}

#[test]
fn a_fault_that_no_hold_met_proves_nothing() {
    let fault = |from: u64, to: u64| {
        format!(
            "{CONTENDED}
             fault F1 cut a→n1 injected {from}
             fault F1 cut a→n1 observed {from}
             fault F1 cut a→n1 healed {to}"
        )
    };
    assert_eq!(
        reason(Property::MutualExclusion, &fault(60, 90)),
        "no lock was held while a fault was active"
    );
    assert_eq!(judge(&fault(45, 90)).verdict, Verdict::Valid);
    assert_eq!(judge(&fault(45, 90)).coverage.granted_under_fault, 1);
}

#[test]
fn faults_under_which_no_acquire_was_answered_put_no_lease_to_the_test() {
    let under = |outcome: &str| {
        format!(
            "a acquire 0..10 ok lease 1000 waited 0
             fault F1 delay n1→b injected 15
             fault F1 delay n1→b observed 20
             b acquire 20..30 {outcome}
             fault F1 delay n1→b healed 40"
        )
    };
    assert_eq!(
        reason(Property::DeadOnArrival, &under("info")),
        "each acquire or renewal that was under way while a fault was active had no clear answer"
    );
    let before = "a acquire 0..10 ok lease 1000 waited 0
                  fault F1 kill n1 injected 15
                  fault F1 kill n1 observed 20";
    let judged = &judge(before).properties[&Property::DeadOnArrival];
    assert_eq!(judged.verdict, Verdict::Valid, "no acquire met it");
    // A late lease that is refused is one that is not handed out.
    for answer in ["refused", "ok lease 1000 waited 0"] {
        let judged = &judge(&under(answer)).properties[&Property::DeadOnArrival];
        assert_eq!(judged.verdict, Verdict::Valid, "{answer}");
    }
}

#[test]
fn a_violation_outranks_every_doubt() {
    let text = "a acquire 0..10 ok\n b acquire 20..30 ok\n fault F1 kill n1 requested 15";
    let analysis = judge(text);
    assert_eq!(analysis.verdict, Verdict::Violated);
    assert_eq!(analysis.properties[&Property::MutualExclusion].reason, None);
}

#[test]
fn only_what_is_asked_for_is_judged() {
    let options = Options {
        only: Some([Property::LostLock, Property::Liveness].into()),
        ..Options::default()
    };
    let analysis = check(&history(CONTENDED), &options);
    let verdicts: Vec<_> = analysis.properties.values().map(|j| j.verdict).collect();
    assert_eq!(verdicts, [Verdict::Valid, Verdict::Unknown]);
    assert_eq!(analysis.verdict, Verdict::Unknown);
}
