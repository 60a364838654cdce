//! The story of a witness: numbered steps that cite events and end with the contradiction.

use lockstorm_checker::verdict::{Step, StepKind, Witness};
use lockstorm_checker::{Nanos, Property};

use crate::support::judge;

fn witness(property: Property, text: &str) -> Witness {
    judge(text).properties[&property].witnesses[0].clone()
}

fn lines(witness: &Witness) -> Vec<String> {
    witness.story.iter().map(Step::line).collect()
}

const FAILOVER: &str = "fault F1 cut primary→replica-1 injected 5
                        fault F1 cut primary→replica-1 observed 8 offset stands still
                        a acquire 20..30 ok lease 2000 token 17
                        b acquire 40..50 refused
                        fault F2 kill primary injected 60
                        fault F2 kill primary observed 65 connection refused
                        b acquire 100..110 ok lease 2000 token 17
                        a release 500..510 ok
                        b release 600..610 ok";

#[test]
fn the_story_of_two_holders_tells_what_came_between_the_grants() {
    let witness = witness(Property::MutualExclusion, FAILOVER);
    assert_eq!(
        lines(&witness),
        [
            " 1  0.005 s  fault F1 (cut primary→replica-1) was injected",
            " 2  0.008 s  fault F1 (cut primary→replica-1) took effect: offset stands still",
            " 3  0.030 s  a was granted \"lock\" with token 17, its lease good until 2.020 s",
            " 4  0.050 s  b asked for \"lock\" and was refused",
            " 5  0.060 s  fault F2 (kill primary) was injected",
            " 6  0.065 s  fault F2 (kill primary) took effect: connection refused",
            " 7  0.110 s  b was granted \"lock\" with token 17, its lease good until 2.100 s",
            " 8  0.500 s  a released \"lock\"",
            " 9  0.500 s  a and b both held \"lock\" for 0.390 s inside their leases",
        ]
    );
    assert_eq!(witness.faults_active, ["F1", "F2"]);
    assert_eq!(witness.signature, "mutual-exclusion, cut+kill, certain");
}

#[test]
fn steps_cite_their_events_and_say_who_holds() {
    let witness = witness(Property::MutualExclusion, FAILOVER);
    let grant = &witness.story[6];
    assert_eq!(grant.kind, StepKind::Grant);
    assert_eq!(grant.evidence, [8, 9]);
    assert_eq!(grant.before.as_deref(), Some("held by a"));
    assert_eq!(grant.after.as_deref(), Some("held by a and b"));
    let end = witness.story.last().unwrap();
    assert_eq!(
        (end.kind, end.actor.as_str()),
        (StepKind::Contradiction, "checker")
    );
    // That b was refused explains, and proves nothing.
    assert_eq!(end.evidence, [2, 3, 8, 9, 10, 11]);
    for step in &witness.story {
        assert!(!step.evidence.is_empty(), "{}", step.text);
    }
}

#[test]
fn a_fault_that_was_healed_before_is_not_part_of_the_story() {
    let text = FAILOVER.replace("observed 8", "healed 8");
    let witness = witness(Property::MutualExclusion, &text);
    assert_eq!(witness.faults_active, ["F2"]);
    assert!(!lines(&witness).iter().any(|line| line.contains("F1")));
}

#[test]
fn a_release_that_was_given_up_and_arrives_late_is_part_of_the_story() {
    let late = |told: &str| {
        let text = format!(
            "a acquire 0..10 ok lease 100
             a release 20..40 info
             b acquire 200..210 ok lease 1000
             told {told} DEL lock
             c acquire 310..320 ok lease 1000"
        );
        let witness = witness(Property::MutualExclusion, &text);
        let texts = witness.story.iter().map(|step| step.text.as_str());
        let of_a = texts.filter(|text| text.starts_with("a "));
        of_a.map(str::to_owned).collect::<Vec<_>>()
    };
    let given_up = "a asked to release \"lock\" and had no clear answer";
    assert_eq!(late("300 n1 a"), [given_up, "a sent n1: DEL lock"]);
    assert_eq!(
        late("100 n1 a"),
        [""; 0],
        "it was there before b had the lock"
    );
    assert_eq!(late("300 n1 c"), [""; 0]);
}

#[test]
fn the_story_of_an_overrun_tells_when_the_lease_ran_out() {
    let witness = witness(
        Property::LeaseOverrun,
        "a acquire 0..10 ok lease 100
         a renew 50..60 ok lease 100
         fault F1 pause a injected 70
         fault F1 pause a observed 75 stopped
         b acquire 80..200 ok lease 1000
         fault F1 pause a healed 250
         a release 260..270 not-owner
         b release 280..290 ok",
    );
    let texts: Vec<&str> = witness
        .story
        .iter()
        .map(|step| step.text.as_str())
        .collect();
    assert_eq!(
        texts,
        [
            "a was granted \"lock\", its lease good until 0.100 s",
            "a renewed \"lock\" (renewal 1), its lease good until 0.150 s",
            "fault F1 (pause a) was injected",
            "fault F1 (pause a) took effect: stopped",
            "the lease of a on \"lock\" may have run out from here on",
            "the lease of a on \"lock\" has certainly run out",
            "b was granted \"lock\", its lease good until 1.080 s",
            "fault F1 (pause a) was healed",
            "a released \"lock\", and was told that it does not hold it",
            "a took itself for the holder of \"lock\" after its lease had certainly run out, while \
             b held it, for 0.060 s",
        ]
    );
    assert!(!witness.story[4].certain, "the end of a lease is inferred");
}

#[test]
fn the_story_of_a_lost_lock_names_who_was_granted_it_meanwhile() {
    let witness = witness(
        Property::LostLock,
        "a acquire 0..10 ok lease 1000
         b acquire 20..30 ok lease 1000
         a release 40..50 not-owner",
    );
    let texts: Vec<&str> = witness
        .story
        .iter()
        .map(|step| step.text.as_str())
        .collect();
    assert_eq!(
        texts,
        [
            "a was granted \"lock\", its lease good until 1.000 s",
            "b was granted \"lock\", its lease good until 1.020 s",
            "a asked to release \"lock\" and was told that it does not hold it",
            "the service told a that it does not hold \"lock\", 0.950 s before its lease could run \
             out",
        ]
    );
}

#[test]
fn a_proof_is_marked_as_a_conclusion() {
    let witness = witness(
        Property::MutualExclusion,
        "a acquire 0..20 info lease 1000
         a renew 30..40 ok lease 1000
         b acquire 50..60 ok lease 1000",
    );
    let proof = &witness.story[0];
    assert_eq!(
        proof.text,
        "a holds \"lock\": its acquire had no clear answer, but its renewal was granted"
    );
    assert!(!proof.certain);
    assert_eq!(proof.t, Nanos::from_millis(40));
}

#[test]
fn names_with_markup_or_control_letters_stay_inert() {
    let text = FAILOVER
        .replace("offset stands still", "\u{1b}[2Jgone")
        .replace("a acquire", "</b>\u{7} acquire");
    let witness = witness(Property::MutualExclusion, &text);
    for line in lines(&witness) {
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

/// A plain DEL: the release of a client whose lease is over takes the lock away from another.
#[test]
fn a_release_by_somebody_else_is_told_as_what_set_the_second_holder_free() {
    let text = "c acquire 0..10 ok lease 20
                b acquire 40..50 ok lease 2000
                c release 60..70 ok
                d acquire 80..90 ok lease 2000
                d release 400..410 ok
                b release 500..510 ok";
    let witness = witness(Property::MutualExclusion, text);
    let told = lines(&witness);
    let cause = " 2  0.070 s  c released \"lock\", and was told that it did";
    assert_eq!(told[1], cause, "{told:#?}");
    assert_eq!(witness.story[1].evidence, [4, 5]);
}
