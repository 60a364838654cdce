//! A server keeps the token of an owner that gave up or gave back the lock.

use lockstorm_checker::{Property, Verdict, check};

use crate::support::{exact, history, judge, reason, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::Leftover, text)
}

#[test]
fn a_token_without_expiry_after_a_try_that_failed_or_a_release_is_left_behind() {
    for done in [
        "a acquire 0..10 refused lease 300",
        "a acquire 0..10 failed lease 300",
        "a acquire 0..10 info lease 300",
        "a acquire 0..10 ok lease 300\n a release 15..20 ok",
        "a acquire 0..10 ok lease 300\n a release 15..20 not-owner",
        "a acquire 0..10 ok lease 300\n a release 15..20 ok count 0",
    ] {
        let seen = |view: &str| judged(&format!("{done}\n view 30 {view}"));
        assert_eq!(seen("n1:primary:a"), (Verdict::Violated, 1), "{done}");
        assert_eq!(seen("n1:primary:a:200"), (Verdict::Valid, 0), "{done}");
        assert_eq!(seen("n1:primary:b"), (Verdict::Valid, 0), "{done}");
        assert_eq!(seen("n1:replica:a"), (Verdict::Valid, 0), "{done}");
        assert_eq!(seen("n1:primary:-"), (Verdict::Valid, 0), "{done}");
    }
}

/// A server frees what was of a session when it learns that the connection has ended.
#[test]
fn what_was_of_a_session_is_left_behind_only_where_it_keeps_another_out_for_long() {
    let text = |last: u64| {
        format!(
            "a acquire 0..10 info until session-end
             view 20 n1:primary:a
             b acquire {last}..{} refused until session-end
             view {} n1:primary:a",
            last + 10,
            last + 20
        )
    };
    assert_eq!(judged(&text(900)), (Verdict::Valid, 0));
    assert_eq!(judged(&text(1_100)), (Verdict::Violated, 1));
}

/// A client that died cannot end its session, and servers do so when its time is over: a member of
/// ZooKeeper tells no time, and looks for such sessions now and then.
#[test]
fn what_goes_with_a_session_is_left_behind_once_that_had_to_be_over() {
    let judged = |last: u64| {
        let text = format!(
            "a acquire 0..10 info lease 300
             view 20 n1:leader:a:session
             b acquire {last}..{} refused lease 300
             view {} n1:leader:a:session",
            last + 10,
            last + 20
        );
        let mut history = history(&text);
        history.header.ends_late_ms = Some(500);
        let analysis = check(&history, &exact());
        analysis.properties[&Property::Leftover].verdict
    };
    assert_eq!(judged(400), Verdict::Valid, "within the time of servers");
    assert_eq!(judged(800), Verdict::Valid, "to its end");
    assert_eq!(judged(811), Verdict::Violated);
    let alone = "a acquire 0..10 info lease 300\n view 20 n1:leader:a:session";
    assert_eq!(verdict(Property::Leftover, alone), (Verdict::Valid, 0));
}

#[test]
fn who_may_hold_or_is_still_asking_leaves_nothing_behind() {
    for open in [
        "a acquire 0..10 ok",
        "a acquire 0..10 refused\n a acquire 15..20 ok",
        "a acquire 0..10 refused\n a acquire 15..? pending",
        "a acquire 0..10 refused\n a acquire 15..30 refused",
        "a acquire 0..10 ok\n a release 15..20 info",
        "a acquire 0..10 ok\n a release 15..20 ok count 1",
        "a acquire 0..10 ok\n a release 15..? pending",
    ] {
        let text = format!("b acquire 0..5 refused\n {open}\n view 30 n1:primary:a");
        assert_eq!(judged(&text), (Verdict::Valid, 0), "{open}");
    }
}

#[test]
fn who_asks_anew_while_the_servers_are_asked_leaves_nothing_behind() {
    let text = |sent: u64| {
        format!(
            "a acquire 0..10 refused
             a acquire {sent}..{} refused
             look 20..30 n1:primary:a",
            sent + 5
        )
    };
    assert_eq!(judged(&text(25)), (Verdict::Valid, 0));
    assert_eq!(judged(&text(31)), (Verdict::Violated, 1), "near miss");
}

#[test]
fn a_token_with_an_expiry_is_left_behind_once_it_keeps_another_out_for_more_than_a_lease() {
    let text = |sent: u64, answered: u64, more: &str| {
        format!(
            "a acquire 0..10 refused lease 300
             view 320 n1:primary:a:300
             b acquire {sent}..{answered} refused lease 300
             view 400 n1:primary:a:250
             {more}"
        )
    };
    assert_eq!(judged(&text(330, 340, "")), (Verdict::Violated, 1));
    let kept = [
        (300, 330, "sent within a lease"),
        (330, 401, "nobody looked afterwards"),
    ];
    for (sent, answered, why) in kept {
        assert_eq!(
            judged(&text(sent, answered, "")),
            (Verdict::Valid, 0),
            "{why}"
        );
    }
    let by_another = "c acquire 325..326 ok lease 300";
    assert_eq!(judged(&text(330, 340, by_another)), (Verdict::Valid, 0));
    let asks_anew = "a acquire 350..360 refused lease 300";
    assert_eq!(judged(&text(330, 340, asks_anew)), (Verdict::Valid, 0));
    let witness = judge(&text(330, 340, "")).properties[&Property::Leftover].witnesses[0].clone();
    assert_eq!(
        witness.claim,
        "n1 still had the token of a on \"lock\" more than one lease after a was refused, and b \
         was refused the lock"
    );
    assert_eq!(
        witness.signature,
        "leftover (keeps others out), no fault, certain"
    );
}

#[test]
fn the_story_cites_what_was_seen() {
    let text = "a acquire 0..10 ok lease 300\n a release 15..20 ok\n view 30 n1:primary:a";
    let analysis = judge(text);
    let witness = &analysis.properties[&Property::Leftover].witnesses[0];
    let claim =
        "n1 has the token of a on \"lock\", without an expiry, after its release was answered";
    assert_eq!(witness.claim, claim);
    let steps: Vec<&str> = witness.story.iter().map(|step| &*step.text).collect();
    let seen = steps
        .iter()
        .any(|step| step.contains("n1 was asked, and has the token of a"));
    assert!(seen, "{steps:#?}");
    assert_eq!(witness.holders.len(), 1);
}

#[test]
fn after_a_failover_only_the_server_that_was_promoted_last_counts() {
    let seen = |node: &str| {
        let text = format!(
            "a acquire 0..10 refused
             role 20 replica-1 replica primary
             view 30 {node}:primary:a"
        );
        judged(&text)
    };
    assert_eq!(seen("primary"), (Verdict::Valid, 0));
    assert_eq!(seen("replica-1"), (Verdict::Violated, 1));
}

#[test]
fn without_a_look_at_the_servers_nothing_is_said() {
    let text = "a acquire 0..10 refused\n b acquire 20..30 ok";
    assert!(!judge(text).properties.contains_key(&Property::Leftover));
    let early = "view 5 n1:primary:a\n a acquire 10..20 refused";
    assert!(!judge(early).properties.contains_key(&Property::Leftover));
}

#[test]
fn nobody_knows_whose_it_is_that_outlasts_every_lease_and_names_nobody() {
    let seen = |time: u64, more: &str| {
        judged(&format!(
            "a acquire 0..10 refused lease 300\n {more}\n view {time} n1:primary:?v"
        ))
    };
    assert_eq!(seen(311, ""), (Verdict::Unknown, 0));
    assert_eq!(seen(310, ""), (Verdict::Valid, 0), "near miss");
    for taken in [
        "b acquire 20..25 ok lease 1000",
        "b acquire 20..25 refused lease 300",
        "b acquire 20..? pending lease 300",
    ] {
        assert_eq!(seen(311, taken), (Verdict::Valid, 0), "{taken}");
    }
    let replica = "a acquire 0..10 refused lease 300\n view 400 n1:replica:?v";
    assert_eq!(judged(replica), (Verdict::Valid, 0));
    let why = reason(
        Property::Leftover,
        "a acquire 0..10 refused lease 300\n view 400 n1:primary:?v",
    );
    assert_eq!(
        why,
        "n1 had v at \"lock\" when nobody can have held it, which says not whose it is"
    );
}

/// Members of a collection may be over without having been removed.
#[test]
fn a_member_without_an_expiry_is_left_behind_where_it_keeps_others_out() {
    let text = |refused: &str| {
        format!(
            "a acquire 0..10 refused lease 300
             view 320 n1:primary:a?zset
             {refused}
             view 500 n1:primary:a?zset"
        )
    };
    assert_eq!(judged(&text("")), (Verdict::Valid, 0));
    assert_eq!(
        judged(&text("b acquire 400..410 refused")),
        (Verdict::Violated, 1)
    );
}
