//! Damage to what the lock protects.

use lockstorm_checker::{Property, Verdict, check};

use crate::support::{exact, history, judge, reason, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::GuardedResource, text)
}

fn story(text: &str) -> Vec<String> {
    let witness = &judge(text).properties[&Property::GuardedResource].witnesses[0];
    witness.story.iter().map(|step| step.text.clone()).collect()
}

/// Both hold, both read the 5 that was there from the start, and both write.
const LOST: &str = "a acquire 0..10 ok lease 1000
                    b acquire 20..30 ok lease 1000
                    a read 40..50 ok saw 5
                    b read 45..55 ok saw 5
                    b write 80..90 ok value 7
                    a write 60..85 ok value 6
                    a release 100..110 ok
                    b release 120..130 ok";

#[test]
fn two_updates_of_one_version_are_one_lost_update() {
    assert_eq!(judged(LOST), (Verdict::Violated, 1));
    assert_eq!(
        story(LOST)[2..],
        [
            "a read the resource and was told that it is done (5)",
            "b read the resource and was told that it is done (5)",
            "a wrote 6 to the resource and was told that it is done",
            "b wrote 7 to the resource and was told that it is done",
            "a and b both changed the resource of \"lock\" from the same version: the update of a \
             is lost",
        ]
    );
    let third = LOST.replace(
        "a release",
        "c acquire 0..10 ok
         c read 20..30 ok saw 5
         c write 40..41 ok value 9
         a release",
    );
    assert_eq!(judged(&third), (Verdict::Violated, 2));
}

#[test]
fn an_update_of_what_the_other_wrote_is_in_order() {
    let text = LOST.replace("b read 45..55 ok saw 5", "b read 86..87 ok saw 6");
    let text = text.replace("b write 80..90", "b write 88..90");
    assert_eq!(judged(&text), (Verdict::Valid, 0));
}

#[test]
fn a_write_that_may_not_have_taken_effect_loses_nothing() {
    for outcome in ["info", "failed", "refused"] {
        let text = LOST.replace("a write 60..85 ok", &format!("a write 60..85 {outcome}"));
        assert_eq!(judged(&text), (Verdict::Valid, 0), "{outcome}");
    }
}

#[test]
fn a_value_that_may_have_come_back_is_no_version() {
    let back = "c write 0..? pending value 5";
    assert_eq!(judged(&format!("{LOST}\n {back}")).1, 0, "late, after 6");
    for value in ["5", "\"5\""] {
        let once = format!("c write 35..38 ok value {value}\n{LOST}");
        assert_eq!(judged(&once), (Verdict::Violated, 1), "both read the one");
        let late = format!("c write 35..42 ok value {value}\n{LOST}");
        assert_eq!(judged(&late).1, 0, "near miss: 5 may be that of the start");
        let twice = format!("{once}\n d write 36..37 ok value {value}");
        assert_eq!(judged(&twice).1, 0, "{value}");
    }
    let settled = format!("c write 0..1 ok value 4\n c write 2..? pending value 5\n{LOST}");
    assert_eq!(judged(&settled), (Verdict::Violated, 1));
}

#[test]
fn what_is_not_read_and_written_in_one_hold_is_no_update() {
    for (from, to) in [
        ("a release 100..110", "a release 55..58"),
        ("a read 40..50", "a read 5..8"),
        ("a read 40..50", "a read 40..60"),
        ("a read 40..50 ok", "a acquire 52..53 ok\n a read 40..50 ok"),
        ("b acquire 20..30 ok", "b acquire 20..30 ok mode read"),
        ("a read 40..50 ok saw 5", "a read 40..50 ok"),
    ] {
        let text = LOST.replace(from, to);
        assert_eq!(judged(&text).1, 0, "{to}");
    }
    let mut semaphore = history(LOST);
    semaphore.header.permits = Some(2);
    let analysis = check(&semaphore, &exact());
    assert!(!analysis.properties.contains_key(&Property::GuardedResource));
}

#[test]
fn a_compare_and_set_that_two_win_is_a_lost_update() {
    let text = "a acquire 0..10 ok\n b acquire 20..30 ok
                a cas 40..50 ok value [5,6]
                b cas 60..70 ok value [5,7]";
    assert_eq!(judged(text), (Verdict::Violated, 1));
    let refused = text.replace("60..70 ok", "60..70 refused");
    assert_eq!(judged(&refused), (Verdict::Valid, 0));
    let chained = text.replace("[5,7]", "[6,7]");
    assert_eq!(judged(&chained), (Verdict::Valid, 0));
}

/// b gets the lock after the lease of a, and writes; then a wakes up.
const STALE: &str = "a acquire 0..10 ok lease 100
                     b acquire 200..210 ok lease 1000
                     b write 220..230 ok value 2
                     a write 240..250 ok value 1";

#[test]
fn a_write_after_that_of_a_later_holder_is_stale() {
    assert_eq!(judged(STALE), (Verdict::Violated, 1));
    assert_eq!(
        story(STALE).last().map(String::as_str),
        Some(
            "a stale write of a to the resource of \"lock\" was accepted, after b had been granted \
             the lock and had written"
        )
    );
}

#[test]
fn a_write_that_is_not_certainly_later_or_not_certainly_stale_is_not_accused() {
    for (from, to) in [
        ("a write 240..250 ok", "a write 225..250 ok"),
        ("a write 240..250 ok", "a write 240..250 failed"),
        ("a write 240..250 ok", "a write 240..250 info"),
        ("b write 220..230 ok", "b write 220..230 info"),
        ("b write", "a release 215..218 ok\n b write"),
        ("b write", "a acquire 215..235 ok lease 100\n b write"),
        ("b write", "a acquire 215..235 info\n b write"),
        ("b write", "a renew 215..235 ok\n b write"),
        ("b acquire 200..210", "b acquire 10..210"),
        ("b acquire", "a lost 205\n b acquire"),
    ] {
        let text = STALE.replace(from, to);
        assert_eq!(judged(&text).1, 0, "{to}");
    }
    let release = STALE.replace("a write", "b release 232..235 ok\n a write");
    assert_eq!(
        judged(&release),
        (Verdict::Violated, 1),
        "b need not hold any more"
    );
}

#[test]
fn one_write_that_is_stale_and_loses_an_update_is_one_damage() {
    let text = STALE
        .replace("b acquire", "a read 20..30 ok saw 0\n b acquire")
        .replace("b write", "b read 212..214 ok saw 0\n b write");
    assert_eq!(judged(&text), (Verdict::Violated, 1));
}

/// Two holders append, and a third reads.
const LIST: &str = "a acquire 0..10 ok
                    b acquire 5..50 ok
                    a append 20..30 ok value 1
                    a release 40..45 ok
                    b append 60..70 ok value 2
                    b release 80..90 ok
                    c read 100..110 ok saw [1,2]";

#[test]
fn an_acknowledged_append_that_the_last_read_does_not_show_is_lost() {
    assert_eq!(judged(LIST), (Verdict::Valid, 0));
    let lost = LIST.replace("[1,2]", "[2]");
    assert_eq!(judged(&lost), (Verdict::Violated, 1));
    let claim = story(&lost).pop();
    let expected = "an append of a to the resource of \"lock\" was acknowledged, and is lost";
    assert_eq!(claim.as_deref(), Some(expected));
    let unknown = lost.replace("20..30 ok", "20..30 info");
    assert_eq!(judged(&unknown), (Verdict::Valid, 0), "indeterminate");
    let racing = lost.replace("20..30 ok", "20..100 ok");
    assert_eq!(judged(&racing).1, 0, "near miss: at the same instant");
    let later = format!("{lost}\n c read 120..130 ok saw [1,2]");
    assert_eq!(judged(&later), (Verdict::Valid, 0), "the last read has it");
}

#[test]
fn a_value_that_is_seen_more_often_than_it_was_appended_took_effect_twice() {
    let twice = LIST.replace("[1,2]", "[1,2,1]");
    assert_eq!(judged(&twice), (Verdict::Violated, 1));
    let claim = story(&twice).pop();
    let expected = "an append of a to the resource of \"lock\" took effect more than once";
    assert_eq!(claim.as_deref(), Some(expected));
    let again = format!("{twice}\n b append 62..? pending value 1");
    assert_eq!(judged(&again), (Verdict::Valid, 0), "two were made");
    let before = format!("x read 1..2 ok saw [1]\n{twice}");
    assert_eq!(judged(&before), (Verdict::Valid, 0), "one was there before");
}

/// Both hold, neither finds 7, and both append it.
const REPEAT: &str = "a acquire 0..10 ok lease 1000
                      b acquire 20..30 ok lease 1000
                      a read 40..50 ok saw [1]
                      b read 45..55 ok saw [1]
                      b append 60..70 ok value 7
                      a append 65..80 ok value 7
                      a release 100..110 ok
                      b release 120..130 ok";

#[test]
fn a_value_that_two_holders_appended_because_neither_had_found_it_took_effect_twice() {
    assert_eq!(judged(REPEAT), (Verdict::Violated, 1));
    assert_eq!(
        story(REPEAT)[2..],
        [
            "a read the resource and was told that it is done ([1])",
            "b read the resource and was told that it is done ([1])",
            "b appended 7 to the resource and was told that it is done",
            "a appended 7 to the resource and was told that it is done",
            "b and a both appended 7 to the resource of \"lock\", and neither had found it there: \
             it took effect twice",
        ]
    );
    let third = REPEAT.replace(
        "a release",
        "c acquire 0..10 ok
         c read 20..30 ok saw []
         c append 81..82 ok value 7
         a release",
    );
    assert_eq!(judged(&third), (Verdict::Violated, 2));
    let stale = REPEAT.replace("a append 65..80", "a append 75..80");
    assert_eq!(
        judged(&stale),
        (Verdict::Violated, 1),
        "one write, one damage"
    );
}

#[test]
fn an_append_that_need_not_have_been_repeated_is_not_accused() {
    for (from, to) in [
        ("a append 65..80 ok", "a append 65..80 info"),
        ("a append 65..80 ok", "a append 65..80 failed"),
        ("a append 65..80 ok value 7", "a append 65..80 ok value 8"),
        ("a read 40..50 ok saw [1]", "a read 40..50 ok saw [1,7]"),
        ("a read 40..50 ok saw [1]", "a read 40..50 ok"),
        ("a read 40..50 ok saw [1]", "a read 40..66 ok saw [1]"),
        ("a read 40..50 ok saw [1]", "a read 40..50 ok saw \"1\""),
        ("a read 40..50", "a read 5..8"),
        ("a read 40..50 ok", "a acquire 52..53 ok\n a read 40..50 ok"),
        ("a release 100..110", "a release 55..58"),
        ("b acquire 20..30 ok", "b acquire 20..30 ok mode read"),
        ("a release", "x write 90..91 ok value []\n a release"),
    ] {
        let text = REPEAT.replace(from, to);
        assert_ne!(text, REPEAT, "{from}");
        assert_eq!(judged(&text).1, 0, "{to}");
    }
}

/// The second holder reads after the first has appended, and is not shown it: that is no fault of
/// the lock, and the sections did not meet.
#[test]
fn a_read_that_comes_after_the_append_and_does_not_show_it_makes_no_repeat() {
    let turns = "a acquire 0..10 ok\n a read 11..12 ok saw []\n a append 13..14 ok value 7
                 a release 15..16 ok\n c acquire 2..17 refused
                 b acquire 20..30 ok\n b read 31..32 ok saw []\n b append 33..34 ok value 7
                 b release 35..36 ok";
    assert_eq!(judged(turns), (Verdict::Violated, 1));
    let claim = story(turns).pop();
    let expected = "an append of a to the resource of \"lock\" was acknowledged, and is lost";
    assert_eq!(claim.as_deref(), Some(expected), "the resource lost it");
    let shown = turns.replace("31..32 ok saw []", "31..32 ok saw [7]");
    assert_eq!(judged(&shown), (Verdict::Valid, 0), "both wanted it twice");
}

#[test]
fn lists_that_are_also_set_and_what_is_no_list_are_not_compared() {
    let set = format!("{LIST}\n c write 95..96 ok value []").replace("[1,2]", "[]");
    assert_eq!(judged(&set).1, 0);
    let text = LIST.replace("[1,2]", "\"2\"");
    assert_eq!(judged(&text).1, 0);
}

#[test]
fn a_resource_that_several_locks_use_is_not_judged() {
    let shared = format!("{LOST}\n c write 41..42 ok value 5 key other resource r");
    let shared = shared.replace(" saw 5", " saw 5 resource r");
    let shared = shared
        .replace("value 7", "value 7 resource r")
        .replace("value 6", "value 6 resource r");
    assert_eq!(judged(&shared).1, 0);
    let alone = shared.replace("key other resource r", "key other resource q");
    assert_eq!(judged(&alone), (Verdict::Violated, 1));
}

#[test]
fn without_writes_of_a_holder_the_property_has_no_matter() {
    let text = "a acquire 0..10 ok\n b acquire 5..8 refused\n a read 20..30 ok saw 5
                c write 20..30 ok value 5";
    let analysis = judge(text);
    assert!(!analysis.properties.contains_key(&Property::GuardedResource));
    assert_eq!(judged(text).0, Verdict::Unknown);
    let alone = "a acquire 0..10 ok\n a write 20..30 ok value 5";
    assert!(reason(Property::GuardedResource, alone).contains("while another owner held"));
}

#[test]
fn what_one_process_does_is_in_order_though_the_times_tie() {
    let of = |process: u32| {
        format!(
            "a acquire 0..10 ok lease 50 process 1000
             a read 10..20 ok saw 5 process 1000
             a write 20..30 ok value 6 process {process}
             b acquire 15..18 ok lease 50 process 2000
             b read 18..25 ok saw 5 process 2000
             b write 25..40 ok value 7 process 2000"
        )
    };
    assert_eq!(judged(&of(1000)), (Verdict::Violated, 1));
    assert_eq!(
        judged(&of(1001)).1,
        0,
        "two processes: the write may have come first"
    );
}

#[test]
fn a_version_is_known_from_the_instant_at_which_its_writer_reads_it_back() {
    let text = "a acquire 0..1 ok process 1
                a read 2..3 ok saw 0 process 1
                a write 4..10 ok value 1 process 1
                a read 10..11 ok saw 1 process 1
                a write 12..13 ok value 2 process 1
                a release 14..15 ok process 1
                b acquire 16..17 ok
                b read 18..19 ok saw 1
                b write 20..21 ok value 2";
    assert_eq!(judged(text), (Verdict::Violated, 1));
    let of_another = text.replace("a read 10..11 ok saw 1 process 1", "a read 10..11 ok saw 1");
    assert_eq!(judged(&of_another).1, 0, "a tie with another process");
}

#[test]
fn who_reads_again_what_was_there_before_its_own_write_has_lost_that() {
    let text = "a acquire 0..1 ok
                a read 2..3 ok saw 0
                a write 4..5 ok value 1
                a read 6..7 ok saw 0
                a write 8..9 ok value 1";
    assert_eq!(judged(text), (Verdict::Violated, 1));
    let at_once = text.replace("6..7", "3..7");
    assert_eq!(judged(&at_once).1, 0, "what one holder does at once");
}

#[test]
fn the_last_that_a_client_did_is_done_by_a_client_that_is_alive() {
    let text = "a acquire 0..1 ok lease 100
                a read 2..3 ok saw 0
                a write 4..5 ok value 1
                a release 6..7 ok
                b acquire 8..9 ok lease 100
                b read 10..11 ok saw 0
                b write 12..12 ok value 1";
    assert_eq!(judged(text), (Verdict::Violated, 1));
}

#[test]
fn a_write_belongs_to_the_hold_that_its_process_releases_at_the_same_instant() {
    let text = "a acquire 0..1 ok process 1
                a read 2..3 ok saw 0 process 1
                a write 5..5 ok value 1 process 1
                a release 5..6 ok process 1
                b acquire 8..9 ok
                b read 10..11 ok saw 0
                b write 12..13 ok value 1";
    assert_eq!(judged(text), (Verdict::Violated, 1));
    let of_another = text.replace("a release 5..6 ok process 1", "a release 5..6 ok");
    assert_eq!(judged(&of_another).1, 0, "a tie with another process");
}
