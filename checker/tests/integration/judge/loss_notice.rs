//! A holder is not told within one lease that it has lost the lock.

use lockstorm_checker::{Analysis, Nanos, Property, Verdict, check};

use crate::support::{exact, history, judge};

fn promised(text: &str) -> Analysis {
    let mut history = history(text);
    history.header.promises = vec!["tells-of-loss".to_owned()];
    check(&history, &exact())
}

fn judged(text: &str) -> (Verdict, u64) {
    let analysis = promised(text);
    let judgement = &analysis.properties[&Property::LossNotice];
    (judgement.verdict, judgement.count)
}

#[test]
fn who_goes_on_for_more_than_a_lease_without_a_notice_is_a_violation_of_the_promise() {
    let told = |time| format!("a acquire 0..10 ok lease 300\n a lost {time}");
    assert_eq!(judged(&told(611)), (Verdict::Violated, 1));
    assert_eq!(judged(&told(610)), (Verdict::Valid, 0), "near miss");
    let never = |released| format!("a acquire 0..10 ok lease 300\n a release {released}..700 ok");
    assert_eq!(judged(&never(611)), (Verdict::Violated, 1));
    assert_eq!(judged(&never(610)), (Verdict::Valid, 0), "near miss");
    let witness = &promised(&told(700)).properties[&Property::LossNotice].witnesses[0];
    assert_eq!(
        witness.claim,
        "a was not told that it had lost \"lock\" for 0.390 s, longer than its lease"
    );
    let ms = Nanos::from_millis;
    assert_eq!(witness.interval, (ms(310), ms(700)));
}

#[test]
fn servers_that_end_leases_late_may_not_have_lost_it_yet() {
    let count = |time: u64| {
        let mut history = history(&format!("a acquire 0..10 ok lease 300\n a lost {time}"));
        history.header.promises = vec!["tells-of-loss".to_owned()];
        history.header.ends_late_ms = Some(200);
        check(&history, &exact()).properties[&Property::LossNotice].count
    };
    assert_eq!(count(811), 1);
    assert_eq!(count(810), 0, "near miss");
}

#[test]
fn a_renewal_answered_not_owner_is_a_notice() {
    let text = "a acquire 0..10 ok lease 300
                a renew 400..410 not-owner
                a release 900..910 not-owner";
    assert_eq!(judged(text), (Verdict::Valid, 0));
}

#[test]
fn who_is_told_inside_its_lease_of_a_loss_that_was_one_was_told_in_time() {
    let taken = "a acquire 0..10 ok lease 300\n b acquire 20..30 ok lease 300\n a lost 100";
    assert_eq!(judged(taken), (Verdict::Valid, 0));
    let forewarned =
        "a acquire 0..10 ok lease 300\n a suspended 100\n b acquire 400..410 ok lease 300
                      b release 420..430 ok\n a release 500..510 not-owner";
    assert_eq!(judged(forewarned), (Verdict::Valid, 0));
    let given_back = "a acquire 0..10 ok lease 300\n a lost 100\n a release 150..160 ok
                      b acquire 200..210 ok lease 300";
    assert_eq!(judged(given_back).0, Verdict::Unknown, "it had not lost it");
    let readers = "a acquire 0..10 ok lease 300 mode read
                   b acquire 20..30 ok lease 300 mode read
                   a lost 100";
    assert_eq!(judged(readers).0, Verdict::Unknown, "they share it");
    let alone = "a acquire 0..10 ok lease 300\n a lost 100";
    assert_eq!(
        judged(alone).0,
        Verdict::Unknown,
        "nobody knows whether it was lost"
    );
}

#[test]
fn who_stands_still_cannot_be_told() {
    let text = "a acquire 0..10 ok lease 300
                fault F1 pause-client a injected 100
                fault F1 pause-client a observed 100
                fault F1 pause-client a healed 900
                a lost 901";
    let analysis = promised(text);
    assert_eq!(analysis.properties[&Property::LossNotice].count, 0);
}

#[test]
fn whose_link_is_cut_is_told_by_its_own_clock() {
    let text = |told| {
        format!(
            "a acquire 0..10 ok lease 300
             fault F1 cut a→n1 injected 100
             fault F1 cut a→n1 observed 100
             fault F1 cut a→n1 healed 900
             a lost {told}"
        )
    };
    assert_eq!(judged(&text(901)), (Verdict::Violated, 1));
    assert_eq!(judged(&text(600)), (Verdict::Valid, 0));
}

#[test]
fn without_the_promise_it_is_measured() {
    let analysis = judge(
        "a acquire 0..10 ok lease 300\n a lost 700
         b acquire 800..810 ok lease 300\n b release 1200..1210 not-owner
         c acquire 1300..1310 ok lease 300\n c release 1400..1410 ok",
    );
    assert!(!analysis.properties.contains_key(&Property::LossNotice));
    let losses = analysis.losses.expect("two went on after their lease");
    assert_eq!((losses.lost, losses.told), (2, 1));
    assert_eq!(
        losses.sentence(),
        "2 holders went on after their lease had certainly run out: 1 was told, after 0.390 s at \
         the latest; 1 was not, and went on for 0.090 s at the longest"
    );
}

#[test]
fn where_nobody_lost_the_lock_nothing_is_known() {
    let text = "a acquire 0..10 ok lease 300\n a release 100..110 ok";
    assert_eq!(judged(text), (Verdict::Unknown, 0));
    assert_eq!(promised(text).losses, None);
}

#[test]
fn who_is_told_that_nobody_knows_is_told_and_acts_as_holder_no_more() {
    let text = |then: &str| {
        format!(
            "a acquire 0..10 ok lease 300
             a suspended 400
             {then}
             b acquire 500..510 ok lease 1000
             a release 900..910 not-owner
             b release 950..960 ok"
        )
    };
    let analysis = promised(&text(""));
    assert_eq!(analysis.properties[&Property::LossNotice].count, 0);
    assert_eq!(analysis.properties[&Property::LeaseOverrun].count, 0);
    let resumed = promised(&text("a resumed 450"));
    let told = |property| resumed.properties[&property].count;
    assert_eq!(told(Property::LossNotice), 1, "it was told wrongly");
    assert_eq!(told(Property::LeaseOverrun), 1, "and went on");
}

/// A session that is new says nothing of the locks of the one before.
#[test]
fn what_a_loss_or_a_release_has_ended_is_not_held_once_more() {
    let lost = "a acquire 0..10 ok lease 300
                a suspended 100
                b acquire 400..410 ok lease 300
                b release 420..430 ok
                a lost 800
                a resumed 810
                a release 820..830 not-owner";
    assert_eq!(judged(lost), (Verdict::Valid, 0), "it was told at 100");
    let given_back = "a acquire 0..10 ok lease 300
                      a suspended 400
                      a release 700..710 ok
                      a acquire 720..730 ok lease 300
                      a suspended 740
                      a resumed 750
                      a release 760..770 ok";
    let not_his = given_back.replace("a release 700..710 ok", "a release 700..710 not-owner");
    for text in [given_back, &not_his] {
        let told = judged(text);
        assert_eq!(told, (Verdict::Valid, 0), "it was told at 400: {text}");
    }
}

#[test]
fn a_renewal_that_the_library_sent_by_itself_tells_its_client_nothing() {
    let text = "a acquire 0..10 ok lease 300
                a renew 400..410 not-owner by library
                a release 900..910 not-owner";
    assert_eq!(judged(text), (Verdict::Violated, 1));
}
