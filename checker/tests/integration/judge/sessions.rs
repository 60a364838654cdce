//! Locks that are held as long as the session of their owner lasts.

use lockstorm_checker::{ModelName, Options, Property, Verdict, check};

use crate::carried::{Tried, carries};
use crate::support::{exact, history, judge, verdict};

/// The verdicts on mutual exclusion, on overruns, and of a model that knows owners.
fn judged(text: &str) -> [Verdict; 3] {
    let by_owner = Options {
        only: Some([Property::Model].into()),
        model: Some(ModelName::OwnerAware),
        ..exact()
    };
    [
        verdict(Property::MutualExclusion, text).0,
        verdict(Property::LeaseOverrun, text).0,
        check(&history(text), &by_owner).verdict,
    ]
}

/// b is granted the lock at 300 ms, which a had since 10 ms; `between` happens meanwhile.
fn handed_on(between: &str) -> String {
    format!(
        "a acquire 0..10 ok until session-end
         b acquire 290..300 ok until session-end
         {between}
         b release 900..910 ok"
    )
}

#[test]
fn while_the_session_lasts_nobody_else_is_granted_the_lock() {
    let [exclusion, overrun, model] = judged(&handed_on("a release 500..510 ok"));
    assert_eq!(exclusion, Verdict::Violated);
    assert_eq!(overrun, Verdict::Unknown, "no lease was granted");
    assert_eq!(model, Verdict::Violated);
}

#[test]
fn whose_session_has_ended_does_not_hold_the_lock() {
    for word in ["lost", "ended", "suspended"] {
        let [exclusion, overrun, model] = judged(&handed_on(&format!("a {word} 200")));
        assert_eq!(exclusion, Verdict::Valid, "{word}");
        assert_eq!(overrun, Verdict::Valid, "{word}");
        assert_eq!(model, Verdict::Valid, "{word}");
    }
}

#[test]
fn a_client_that_crashes_takes_its_sessions_along() {
    let [exclusion, _, model] = judged(&handed_on("a crash 200 work"));
    assert_eq!(exclusion, Verdict::Valid);
    assert_eq!(model, Verdict::Valid);
}

/// The server sees the end of a session before its owner does, and how long before nobody knows.
#[test]
fn a_session_that_ends_later_than_the_next_grant_accuses_its_owner_of_what_may_be() {
    let text = handed_on("a lost 400");
    let [exclusion, overrun, model] = judged(&text);
    assert_eq!(exclusion, Verdict::Valid);
    assert_eq!(overrun, Verdict::Violated);
    assert_eq!(model, Verdict::Valid);
    let analysis = judge(&text);
    let witness = &analysis.properties[&Property::LeaseOverrun].witnesses[0];
    assert!(!witness.certain);
    assert_eq!(
        witness.claim,
        "a took itself for the holder of \"lock\" after its session may have ended, while b \
         held it, for 0.100 s"
    );
    let steps = witness.story.iter().map(|step| &*step.text);
    let told = "the session of a on \"lock\" may have ended at any time from here on";
    assert!(
        steps.clone().any(|step| step == told),
        "{:?}",
        steps.collect::<Vec<_>>()
    );
}

/// A release may find that the session is over, and since when nobody knows.
#[test]
fn a_session_that_ends_during_a_release_may_have_ended_before_it() {
    let text = handed_on("a release 400..600 info\na lost 500");
    let [exclusion, overrun, model] = judged(&text);
    assert_eq!(exclusion, Verdict::Valid);
    assert_eq!(overrun, Verdict::Violated);
    assert_eq!(model, Verdict::Valid);
}

/// A renewal that is answered shows that the session lasted when it was sent.
#[test]
fn what_shows_that_a_session_lasts_proves_the_hold() {
    let text = handed_on("a renew 320..330 ok\na lost 400");
    let [exclusion, _, model] = judged(&text);
    assert_eq!(exclusion, Verdict::Violated);
    assert_eq!(model, Verdict::Violated);
}

#[test]
fn a_session_that_goes_on_after_all_held_the_lock() {
    let text = handed_on("a suspended 200\na resumed 400\na release 500..510 ok");
    let [exclusion, _, model] = judged(&text);
    assert_eq!(exclusion, Verdict::Violated);
    assert_eq!(model, Verdict::Violated);
}

/// The end of a later session tells nothing of what was given back before.
#[test]
fn the_end_of_a_session_leaves_earlier_holds_alone() {
    let text = "a acquire 0..10 ok until session-end
         b acquire 20..30 ok until session-end
         b release 40..50 ok
         a release 60..70 ok
         a acquire 80..90 ok until session-end
         a ended 100";
    let [exclusion, _, _] = judged(text);
    assert_eq!(exclusion, Verdict::Violated);
}

/// An acquire without an answer may have taken effect and may have ended with its session.
#[test]
fn an_unanswered_acquire_of_a_session_accuses_nobody() {
    let text = "a acquire 0..10 info until session-end
         b acquire 20..30 ok until session-end
         b release 40..50 ok";
    for (at, verdict) in judged(text).into_iter().enumerate() {
        assert_ne!(verdict, Verdict::Violated, "{at}");
    }
}

/// Both sessions ended before their owners learned it; the first one was over when the second
/// began.
#[test]
fn of_two_whose_sessions_ended_the_one_that_had_the_lock_first_is_named_first() {
    let text = "a acquire 0..10 ok until session-end
                b acquire 290..300 ok until session-end
                a lost 1000
                b lost 1020
                b release 1030..1040 not-owner";
    let history = history(text);
    let analysis = check(&history, &exact());
    let judgement = &analysis.properties[&Property::LeaseOverrun];
    assert_eq!(judgement.count, 2);
    let claims = judgement.witnesses.iter().map(|witness| &*witness.claim);
    let claims: Vec<&str> = claims.collect();
    assert!(claims[0].starts_with("a took"), "{claims:?}");
    assert!(claims[1].starts_with("b took"), "{claims:?}");
    carries(&history, &exact(), "two sessions", &mut Tried::new());
}

/// Nothing but the end of the session says that a lock may have been taken away.
#[test]
fn what_an_overrun_of_a_session_rests_on_includes_the_end_of_the_session() {
    for end in [
        "a lost 400",
        "a ended 400",
        "a suspended 400",
        "a crash 400 work",
    ] {
        let history = history(&handed_on(end));
        carries(&history, &exact(), end, &mut Tried::new());
    }
}
