//! Time for which a lock that is wanted and free cannot be had.

use lockstorm_checker::{Analysis, Nanos, Options, Property, Verdict, check};

use crate::support::{exact, history, judge, verdict};

/// a dies with its server; b asks from 120 ms on, and gets the lock at 800 ms.
const CRASH: &str = "a acquire 0..10 ok lease 200
                     b acquire 20..30 refused
                     fault F1 kill n1 injected 100
                     fault F1 kill n1 observed 100
                     b acquire 120..130 failed
                     fault F1 kill n1 healed 700
                     c acquire 400..410 info
                     b acquire 790..800 ok lease 500
                     b release 900..910 ok";

fn bounded(text: &str, bound: u64) -> Analysis {
    let options = Options {
        availability_gap_max: Some(Nanos::from_millis(bound)),
        ..exact()
    };
    check(&history(text), &options)
}

#[test]
fn a_stretch_without_a_grant_is_measured_from_the_end_of_the_lease_to_the_next_grant() {
    let analysis = judge(CRASH);
    let figures = analysis.availability.expect("somebody asked");
    // Wanted until 10 ms, and from 20 to 800 ms; free until 10 ms, and from 210 ms on.
    assert_eq!(figures.wanted, Nanos::from_millis(790));
    assert_eq!(figures.longest, Nanos::from_millis(590));
    assert_eq!(figures.without_grant, Nanos::from_millis(600));
    assert_eq!(figures.permille_without_grant(), 759);
    let sentence = "for 75.9 % of the time in which a lock was asked for, nobody got it and nobody \
                    is known to have held it, for 0.590 s without a break";
    assert_eq!(figures.sentence(), sentence);
    let judged = analysis.properties.get(&Property::Availability);
    assert!(judged.is_none(), "a measure is no verdict");
    let bounded = &bounded(CRASH, 600).properties[&Property::Availability];
    assert_eq!(bounded.verdict, Verdict::Valid);
    assert_eq!(bounded.reason.as_deref(), Some(sentence));
}

#[test]
fn only_a_bound_makes_a_long_stretch_a_violation() {
    let analysis = bounded(CRASH, 589);
    let judgement = &analysis.properties[&Property::Availability];
    assert_eq!((judgement.verdict, judgement.count), (Verdict::Violated, 1));
    let story: Vec<&str> = judgement.witnesses[0]
        .story
        .iter()
        .filter(|step| step.actor != "F1")
        .map(|step| step.text.as_str())
        .collect();
    assert_eq!(
        story,
        [
            "a asked for \"lock\" and was granted it",
            "b asked for \"lock\" and was refused",
            "b asked for \"lock\" and failed",
            "b asked for \"lock\" and was granted it",
            "nobody was granted \"lock\" for 0.590 s, though it was asked for and nobody is \
             known to have held it",
        ]
    );
    let near = &bounded(CRASH, 590).properties[&Property::Availability];
    assert_eq!((near.verdict, near.count), (Verdict::Valid, 0));
    let mut named = history(CRASH);
    named.header.availability_gap_ms_max = Some(589);
    let named = &check(&named, &exact()).properties[&Property::Availability];
    assert_eq!(named.verdict, Verdict::Violated);
}

/// The next client may take its time to start.
#[test]
fn who_was_granted_the_lock_wants_it_no_more() {
    let longest = |answer: &str| {
        let text =
            format!("a acquire 0..10 {answer}\n a release 20..30 ok\n a acquire 900..910 ok");
        judge(&text).availability.expect("somebody asked").longest
    };
    assert_eq!(longest("ok"), Nanos::from_millis(10));
    assert_eq!(longest("refused"), Nanos::from_millis(910));
}

#[test]
fn who_was_refused_does_not_ask_on_by_what_another_asks_later() {
    let text = "a acquire 0..10 ok\n b acquire 15..16 refused\n a release 20..30 ok
                b acquire 40..50 ok\n b release 60..70 ok\n probe acquire 900..910 ok";
    let figures = judge(text).availability.expect("somebody asked");
    assert_eq!(figures.longest, Nanos::from_millis(30));
}

#[test]
fn time_in_which_nobody_asks_does_not_count() {
    let pause = |again: u64| {
        format!(
            "a acquire 0..10 ok\n a release 20..30 ok\n b acquire 15..40 refused
             b acquire {again}..{} ok",
            again + 10
        )
    };
    let longest = |text: &str| judge(text).availability.expect("somebody asked").longest;
    assert_eq!(
        longest(&pause(1040)),
        Nanos::from_millis(1030),
        "one second"
    );
    assert_eq!(longest(&pause(1041)), Nanos::from_millis(20), "near miss");
}

#[test]
fn each_lock_has_its_own_stretches() {
    let text =
        "a acquire 0..10 ok key x\n b acquire 0..90 ok key y\n c acquire 5..300 refused key x";
    let figures = judge(text).availability.expect("somebody asked");
    assert_eq!(figures.wanted, Nanos::from_millis(390));
    assert_eq!(figures.without_grant, Nanos::from_millis(100));
}

#[test]
fn without_faults_contention_or_grants_there_is_no_verdict() {
    let calm = CRASH
        .lines()
        .filter(|line| !line.contains("fault"))
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        !judge(&calm)
            .properties
            .contains_key(&Property::Availability)
    );
    assert_eq!(verdict(Property::Availability, &calm).0, Verdict::Unknown);
    assert_eq!(verdict(Property::Availability, "").0, Verdict::Unknown);
    let longest = bounded(&calm, 100).properties[&Property::Availability].verdict;
    assert_eq!(
        longest,
        Verdict::Violated,
        "a bound that is broken is broken"
    );
}
