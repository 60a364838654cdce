//! A lease is over when its owner learns that it was granted.

use lockstorm_checker::{Drift, Nanos, Options, Property, Verdict, check};

use crate::support::{exact, history, judge, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::DeadOnArrival, text)
}

#[test]
fn a_grant_that_arrives_after_its_lease_is_a_violation_and_one_just_before_is_none() {
    let text = |answered| format!("a acquire 0..{answered} ok lease 300 waited 0");
    assert_eq!(judged(&text(300)), (Verdict::Violated, 1));
    assert_eq!(judged(&text(299)), (Verdict::Valid, 0), "near miss");
    let text = text(350);
    let witness = &judge(&text).properties[&Property::DeadOnArrival].witnesses[0];
    assert_eq!(
        witness.claim,
        "a was granted \"lock\" 0.050 s after its lease could last be relied upon"
    );
    let ms = Nanos::from_millis;
    assert_eq!(witness.interval, (ms(300), ms(350)));
    assert!(!witness.certain, "nobody saw when the server had it");
    assert_eq!(witness.holders[0].client, "a");
}

#[test]
fn the_lease_counts_from_the_try_that_was_granted() {
    let text = |waited| format!("a acquire 0..900 ok lease 300 waited {waited}");
    assert_eq!(judged(&text(600)), (Verdict::Violated, 1));
    assert_eq!(judged(&text(601)), (Verdict::Valid, 0), "near miss");
}

#[test]
fn who_may_have_waited_is_not_judged_without_a_trace() {
    let text = "a acquire 0..900 ok lease 300";
    assert_eq!(judged(text), (Verdict::Unknown, 0));
    assert!(
        !judge(text)
            .properties
            .contains_key(&Property::DeadOnArrival)
    );
    let told = |time| format!("{text}\n told {time} n1 a SET lock x\n told 950 n1 a GET lock");
    assert_eq!(judged(&told(600)), (Verdict::Violated, 1));
    assert_eq!(judged(&told(601)), (Verdict::Valid, 0), "near miss");
    let by_another = "a acquire 0..900 ok lease 300\n told 100 n1 b SET lock x";
    assert_eq!(judged(by_another), (Verdict::Unknown, 0));
}

#[test]
fn calls_that_came_in_time_are_good_whoever_waited() {
    let in_time = "a acquire 0..299 ok lease 300";
    assert_eq!(judged(in_time), (Verdict::Valid, 0));
    let refused = format!("{in_time}\n b acquire 0..900 refused");
    assert_eq!(
        judged(&refused),
        (Verdict::Valid, 0),
        "he was told of no lock"
    );
    let late = format!("{in_time}\n b acquire 0..300 ok lease 300");
    assert_eq!(judged(&late), (Verdict::Unknown, 0));
}

#[test]
fn the_last_reply_of_the_servers_accuses_and_clears_nobody() {
    let text = |time| format!("a acquire 0..900 ok lease 300\n replied {time} n1 a");
    let judgement = &judge(&text(500)).properties[&Property::DeadOnArrival];
    assert_eq!((judgement.verdict, judgement.count), (Verdict::Violated, 1));
    let witness = &judgement.witnesses[0];
    assert!(witness.certain);
    assert_eq!(
        witness.claim,
        "a was granted \"lock\" 0.100 s after its lease could last be relied upon, counted from \
         when the servers sent it their last reply"
    );
    let mut story = witness.story.iter();
    assert!(story.any(|step| step.text == "n1 last replied to a"));
    let mut history = history(&text(500));
    history.header.ends_late_ms = Some(100);
    let analysis = check(&history, &exact());
    let witness = &analysis.properties[&Property::DeadOnArrival].witnesses[0];
    assert!(
        !witness.certain,
        "servers that end leases late may have it still"
    );
    assert_eq!(
        judged(&text(601)),
        (Verdict::Unknown, 0),
        "it may be another's"
    );
    assert_eq!(judged(&text(901)), (Verdict::Unknown, 0), "that is later");
    let of_another = "a acquire 0..900 ok lease 300\n replied 100 n1 b";
    assert_eq!(judged(of_another), (Verdict::Unknown, 0));
}

#[test]
fn who_has_the_lock_by_the_word_of_the_servers_was_not_granted_it_too_late() {
    let late = "a acquire 0..900 ok lease 300";
    let traced = format!("{late}\n told 100 n1 a SET lock x\n told 950 n1 b GET lock");
    assert_eq!(judged(&traced), (Verdict::Violated, 1));
    for text in [late, &traced] {
        let had = format!("{text}\n view 901 n1:leader:a n2:!killed");
        assert_eq!(judged(&had), (Verdict::Valid, 0), "{text}");
        let other = format!("{text}\n a acquire 901..905 ok lease 300\n view 910 n1:leader:a");
        assert_ne!(judged(&other).0, Verdict::Valid, "that is another grant");
        for view in [
            "view 899 n1:leader:a",
            "view 901 n1:leader:b",
            "view 901 n1:leader:a n2:follower:-",
        ] {
            let none = format!("{text}\n {view}");
            assert_ne!(judged(&none).0, Verdict::Valid, "{none}");
        }
    }
}

#[test]
fn a_command_from_before_the_try_that_was_granted_dates_nothing() {
    let judged = |time: u64| {
        let text = format!(
            "a acquire 0..900 ok lease 300 waited 550
             told {time} n1 a SET lock x
             told 950 n1 a GET lock"
        );
        let mut history = history(&text);
        history.header.waits_at_least = Some(true);
        let judgement = &check(&history, &exact()).properties[&Property::DeadOnArrival];
        (judgement.verdict, judgement.count)
    };
    assert_eq!(judged(50), (Verdict::Unknown, 0));
    assert_eq!(judged(549), (Verdict::Unknown, 0), "near miss");
    assert_eq!(judged(560), (Verdict::Violated, 1));
}

#[test]
fn a_trace_that_was_cut_off_before_the_answer_dates_nothing() {
    let told = |last: u64| {
        let others = "told 60 n1 b GET lock\n".repeat(10_000);
        format!(
            "a acquire 0..900 ok lease 300
             told 50 n1 a SET lock x
             {others} told {last} n1 b GET lock"
        )
    };
    assert_eq!(judged(&told(899)), (Verdict::Unknown, 0));
    assert_eq!(judged(&told(900)), (Verdict::Violated, 1));
}

#[test]
fn it_is_certain_where_the_server_was_seen_to_get_the_request_long_before() {
    let certain = |time| {
        let text = format!(
            "a acquire 0..900 ok lease 300 waited 0\n told {time} n1 a SET lock x NX PX 300"
        );
        let analysis = judge(&text);
        analysis.properties[&Property::DeadOnArrival].witnesses[0].certain
    };
    assert!(certain(599));
    assert!(!certain(600), "it may just have lasted");
}

#[test]
fn it_is_certain_where_another_was_granted_the_lock_meanwhile() {
    let judge = |other: &str| {
        let text = format!("a acquire 0..250 ok lease 300 waited 0\n {other}");
        let options = Options {
            drift: Some(Drift {
                ppm: 0,
                fixed: Nanos::from_millis(100),
            }),
            ..Options::default()
        };
        let analysis = check(&history(&text), &options);
        analysis.properties[&Property::DeadOnArrival].witnesses[0].clone()
    };
    let had = judge("b acquire 10..240 ok lease 500");
    assert!(had.certain);
    let claim = "a was granted \"lock\" 0.050 s after its lease could last be relied upon, when b \
                 had it";
    assert_eq!(had.claim, claim);
    for other in [
        "b acquire 10..260 ok lease 500",
        "b acquire 10..240 info lease 500",
        "b acquire 10..100 ok lease 200",
        "b acquire 10..100 ok lease 500\n b release 200..210 ok",
        "b acquire 10..240 refused",
    ] {
        assert!(!judge(other).certain, "{other}");
    }
}

#[test]
fn a_history_may_say_that_each_call_is_one_request() {
    let mut history = history("a acquire 0..900 ok lease 300");
    history.header.asks_once = Some(true);
    let analysis = check(&history, &exact());
    assert_eq!(analysis.properties[&Property::DeadOnArrival].count, 1);
}

#[test]
fn a_renewal_is_judged_like_a_grant() {
    let text = |answered| {
        format!(
            "a acquire 0..10 ok lease 300 waited 0
             a renew 100..{answered} ok lease 300 waited 0
             told 100 n1 a PEXPIRE lock 300"
        )
    };
    assert_eq!(judged(&text(400)), (Verdict::Violated, 1));
    assert_eq!(judged(&text(399)), (Verdict::Valid, 0), "near miss");
    let witness = &judge(&text(500)).properties[&Property::DeadOnArrival].witnesses[0];
    assert_eq!(
        witness.claim,
        "a was told that \"lock\" is renewed 0.100 s after its lease could last be relied upon, \
         counted from when the servers got its last request"
    );
}

#[test]
fn another_lease_of_the_owner_keeps_the_lock_and_a_release_ends_the_matter() {
    let late = "a acquire 0..900 ok lease 300 waited 0";
    for excuse in [
        "a renew 700..710 ok lease 300",
        "a renew 899..1150 ok lease 300",
        "a acquire 700..710 ok lease 300 waited 0",
        "a release 800..1000 ok",
    ] {
        let text = format!("{late}\n {excuse}");
        assert_eq!(judged(&text), (Verdict::Valid, 0), "{excuse}");
    }
    for none in [
        "a renew 600..610 ok lease 300",
        "a renew 901..910 ok lease 300",
        "b renew 700..710 ok lease 300",
        "a release 901..910 ok",
    ] {
        let text = format!("{late}\n {none}");
        assert_eq!(judged(&text).0, Verdict::Violated, "{none}");
    }
}

#[test]
fn a_validity_of_nothing_accuses_itself() {
    let mut history = history("a acquire 0..10 ok lease 300");
    history.events[1].value.lease_ms = Some(0);
    let analysis = check(&history, &exact());
    let judgement = &analysis.properties[&Property::DeadOnArrival];
    assert_eq!((judgement.verdict, judgement.count), (Verdict::Violated, 1));
    let claim = "a was granted \"lock\", with a validity of nothing";
    assert_eq!(judgement.witnesses[0].claim, claim);
    // Where nobody wrote down how long a lease is, nothing was granted for no time.
    history.events[0].value.lease_ms = Some(0);
    let analysis = check(&history, &exact());
    assert!(!analysis.properties.contains_key(&Property::DeadOnArrival));
}

#[test]
fn a_lock_without_a_lease_is_never_dead() {
    let text = "a acquire 0..9000 ok waited 0\n b acquire 0..10 refused";
    assert_eq!(judged(text), (Verdict::Unknown, 0));
    let why = "of no lease does the history say when the request for it was sent";
    let only = lockstorm_checker::Options {
        only: Some([Property::DeadOnArrival].into()),
        ..exact()
    };
    let analysis = check(&history(text), &only);
    let judgement = &analysis.properties[&Property::DeadOnArrival];
    assert_eq!(judgement.reason.as_deref(), Some(why));
}

#[test]
fn a_wait_that_is_the_least_of_it_accuses_nobody() {
    let text = "a acquire 0..900 ok lease 300 waited 0";
    let mut history = history(text);
    assert_eq!(judged(text), (Verdict::Violated, 1));
    history.header.waits_at_least = Some(true);
    let analysis = check(&history, &exact());
    assert!(!analysis.properties.contains_key(&Property::DeadOnArrival));
}
