//! A client does not answer within its bound, or its process ends by itself.

use lockstorm_checker::{Analysis, Property, Verdict, check};

use crate::support::{exact, history, judge};

/// Of a history that says that failures were noted.
fn noted(text: &str) -> Analysis {
    let mut history = history(text);
    history.header.notes_failures = Some(true);
    check(&history, &exact())
}

fn judged(text: &str) -> (Verdict, u64) {
    let judgement = &noted(text).properties[&Property::Progress];
    (judgement.verdict, judgement.count)
}

fn reason(text: &str) -> Option<String> {
    noted(text).properties[&Property::Progress].reason.clone()
}

#[test]
fn a_call_that_outlives_its_bound_is_a_hang() {
    let text = "a acquire 0..600 info lease 300\n a hang 510 acquire 500";
    assert_eq!(judged(text), (Verdict::Violated, 1));
    let witness = &noted(text).properties[&Property::Progress].witnesses[0];
    assert_eq!(
        witness.claim,
        "a did not answer 'acquire' on \"lock\" within 0.500 s, and nothing kept the servers from \
         answering"
    );
    let steps: Vec<&str> = witness.story.iter().map(|step| &*step.text).collect();
    assert_eq!(steps[0], "a asked for \"lock\"");
    assert_eq!(
        steps[1],
        "a failed; the last that it wrote until then: Traceback / ConnectionError: closed"
    );
}

#[test]
fn a_hang_under_a_fault_that_may_be_its_cause_is_not_judged() {
    let under = |fault: &str| {
        format!(
            "fault F1 {fault} injected 100
             fault F1 {fault} observed 110
             fault F1 {fault} healed 200
             a acquire 150..700 info lease 300
             a hang 650 acquire 500"
        )
    };
    for excuse in ["kill n1", "pause n1", "pause-client a"] {
        assert_eq!(judged(&under(excuse)), (Verdict::Unknown, 0), "{excuse}");
    }
    assert_eq!(
        reason(&under("kill n1")).as_deref(),
        Some("a did not answer while fault F1 (kill n1) was active")
    );
    // The servers answer all the same.
    for other in ["pause-client b", "flush-scripts n1", "delete-key lock"] {
        assert_eq!(judged(&under(other)), (Verdict::Violated, 1), "{other}");
    }
    let over = under("kill n1").replace("acquire 150..700", "acquire 190..710");
    let over = over.replace("hang 650", "hang 701");
    assert_eq!(judged(&over), (Verdict::Violated, 1), "it was over");
}

#[test]
fn a_process_that_ends_inside_a_call_or_a_hold_is_a_crash() {
    let inside = "a acquire 0..600 info lease 300\n a crash 510 acquire";
    assert_eq!(judged(inside), (Verdict::Violated, 1));
    let holding = |time| format!("a acquire 0..10 ok lease 300\n a crash {time} -");
    assert_eq!(judged(&holding(299)), (Verdict::Violated, 1));
    assert_eq!(judged(&holding(301)), (Verdict::Unknown, 0), "near miss");
    let done = "a acquire 0..10 ok lease 300\n a release 20..30 ok\n a crash 40 -";
    assert_eq!(judged(done), (Verdict::Unknown, 0));
    assert_eq!(
        reason(done).as_deref(),
        Some(
            "the process of a ended by itself (exit status: 1), when it neither held a lock nor \
             made a call"
        )
    );
    let claim = |text: &str| {
        noted(text).properties[&Property::Progress].witnesses[0]
            .claim
            .clone()
    };
    assert_eq!(
        claim(inside),
        "the process of a ended by itself (exit status: 1) in the call 'acquire' on \"lock\""
    );
    assert_eq!(
        claim(&holding(100)),
        "the process of a ended by itself (exit status: 1) while it held \"lock\""
    );
}

#[test]
fn without_a_word_on_failures_nothing_is_cleared() {
    let analysis = judge("a acquire 0..10 ok lease 300\n a release 20..30 ok");
    assert!(!analysis.properties.contains_key(&Property::Progress));
    assert_eq!(
        judged("a acquire 0..10 ok lease 300\n a release 20..30 ok"),
        (Verdict::Valid, 0)
    );
}

#[test]
fn a_library_is_held_to_its_own_bound_whatever_becomes_of_its_servers() {
    let under = |fault: &str| {
        format!(
            "fault F1 {fault} injected 100
             fault F1 {fault} observed 110
             a acquire 150..700 info lease 300
             a hang 650 acquire 500 own"
        )
    };
    let kill = under("kill n1");
    assert_eq!(judged(&kill), (Verdict::Violated, 1));
    let witness = &noted(&kill).properties[&Property::Progress].witnesses[0];
    assert_eq!(
        witness.claim,
        "a did not answer 'acquire' on \"lock\" within 0.500 s, the longest that a call takes by \
         its library's own word"
    );
    let paused = under("pause-client a");
    assert_eq!(judged(&paused), (Verdict::Unknown, 0), "it stood still");
}

/// A fault or a stall at any time while an answer is waited for may be why there is none.
#[test]
fn a_hang_is_excused_by_what_happened_in_the_time_that_it_was_given_beyond_its_bound() {
    let hang = "a acquire 150..1200 info lease 300
 a hang 1150 acquire 500 own 1000";
    assert_eq!(judged(hang), (Verdict::Violated, 1));
    assert_eq!(
        noted(hang).properties[&Property::Progress].witnesses[0].claim,
        "a did not answer 'acquire' on \"lock\" within 0.500 s, the longest that a call takes by \
         its library's own word; it was given 1.000 s"
    );
    let before_the_bound = format!("stall 200..600\n {hang}");
    assert_eq!(judged(&before_the_bound), (Verdict::Unknown, 0));
    let before_the_call = format!("stall 20..120\n {hang}");
    assert_eq!(judged(&before_the_call), (Verdict::Violated, 1));
}
