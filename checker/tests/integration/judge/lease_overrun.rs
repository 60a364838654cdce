//! A client acts as holder after its lease, while another holds.

use lockstorm_checker::history::Header;
use lockstorm_checker::{Nanos, Property, Verdict, check};

use crate::support::{exact, history, judge, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::LeaseOverrun, text)
}

/// The lease of a runs out at 100 ms, b is granted at 150 ms, a releases at `leaves`.
fn pause(leaves: u64) -> String {
    format!(
        "a acquire 0..0 ok lease 100
         b acquire 90..150 ok lease 1000
         a release {leaves}..{} not-owner
         b release 900..910 ok",
        leaves + 10
    )
}

#[test]
fn a_stale_holder_is_a_violation_of_its_own_and_not_of_mutual_exclusion() {
    let analysis = judge(&pause(400));
    assert_eq!(
        analysis.properties[&Property::LeaseOverrun].verdict,
        Verdict::Violated
    );
    assert_eq!(
        analysis.properties[&Property::MutualExclusion].verdict,
        Verdict::Valid
    );
    assert_eq!(
        analysis.properties[&Property::LostLock].verdict,
        Verdict::Valid
    );
    let witness = &analysis.properties[&Property::LeaseOverrun].witnesses[0];
    assert_eq!(
        witness.interval,
        (Nanos::from_millis(150), Nanos::from_millis(400))
    );
    assert!(witness.certain);
    assert_eq!(witness.holders[0].client, "a");
    assert_eq!(
        witness.claim,
        "a took itself for the holder of \"lock\" after its lease had certainly run out, while b \
         held it, for 0.250 s"
    );
}

#[test]
fn who_leaves_at_the_instant_of_the_next_grant_does_not_overrun_it() {
    assert_eq!(judged(&pause(150)), (Verdict::Valid, 0));
    assert_eq!(judged(&pause(151)), (Verdict::Violated, 1));
}

#[test]
fn working_on_alone_after_the_lease_harms_nobody() {
    let text = "a acquire 0..0 ok lease 100
                b acquire 50..60 refused
                a release 400..410 not-owner
                b acquire 420..430 ok lease 100";
    assert_eq!(judged(text), (Verdict::Valid, 0));
}

/// A client whose connection comes back may have given up its lock long ago.
#[test]
fn a_client_that_turns_to_another_server_is_not_thereby_known_to_act_as_holder() {
    let held = "a acquire 0..0 ok lease 100
                b acquire 150..160 ok lease 1000
                b release 900..910 ok\n";
    let with = |note| judged(&format!("{held}{note}"));
    assert_eq!(with("a alive 400"), (Verdict::Violated, 1));
    assert_eq!(with("a routed 400 n2"), judged(held));
}

#[test]
fn between_floor_and_ceiling_an_overrun_is_uncertain_and_still_a_violation() {
    // Asked for at 0, answered at 50 ms: the floor is 100 ms, the ceiling 150 ms.
    let text = |leaves| {
        format!(
            "a acquire 0..50 ok lease 100
             b acquire 60..110 ok lease 1000
             a release {leaves}..700 info
             b release 800..810 ok"
        )
    };
    let certain = |leaves: u64| {
        let analysis = judge(&text(leaves));
        let judgement = &analysis.properties[&Property::LeaseOverrun];
        assert_eq!((judgement.verdict, judgement.count), (Verdict::Violated, 1));
        judgement.witnesses[0].certain
    };
    assert!(!certain(150));
    assert!(certain(151));
}

#[test]
fn an_indeterminate_renewal_leaves_an_overrun_in_doubt() {
    let witness = |leaves| {
        let analysis = judge(&format!("{}\n a renew 50..80 info", pause(leaves)));
        analysis.properties[&Property::LeaseOverrun].witnesses[0].clone()
    };
    let doubtful = witness(200);
    assert!(!doubtful.certain, "the renewal may have taken effect");
    let ceiling = doubtful.holders[0].lease_ceiling;
    assert_eq!(
        ceiling,
        Some(Nanos::from_millis(200)),
        "of 100 ms, at their end"
    );
    assert!(witness(201).certain);
}

#[test]
fn a_client_that_died_or_was_told_does_not_act_as_holder() {
    let base = "a acquire 0..0 ok lease 100
                b acquire 90..150 ok lease 1000
                b release 900..910 ok";
    assert_eq!(judged(base), (Verdict::Valid, 0), "a was never seen again");
    let alive = format!("{base}\n a alive 200");
    assert_eq!(judged(&alive), (Verdict::Violated, 1));
    let told = format!("{alive}\n a lost 140");
    assert_eq!(judged(&told), (Verdict::Valid, 0));
    let refused = format!("{alive}\n a renew 120..145 not-owner");
    assert_eq!(judged(&refused), (Verdict::Valid, 0));
    let killed = format!("{base}\n a renew 95..300 info");
    assert_eq!(
        judged(&killed),
        (Verdict::Valid, 0),
        "an info proves no life"
    );
}

#[test]
fn two_clients_may_each_overrun_the_other() {
    let text = "a acquire 0..0 ok lease 100
                b acquire 50..150 ok lease 100
                a release 400..410 not-owner
                b release 500..510 not-owner";
    assert_eq!(judged(text), (Verdict::Violated, 2));
}

#[test]
fn stale_readers_do_not_harm_readers() {
    let text = pause(400).replace("lease 100\n", "lease 100 mode read\n");
    assert_eq!(judged(&text), (Verdict::Violated, 1), "b writes");
    let readers = text.replace("lease 1000", "lease 1000 mode read") + "\n c acquire 1..2 refused";
    assert_eq!(judged(&readers), (Verdict::Valid, 0));
}

#[test]
fn without_a_lease_the_property_has_no_matter() {
    let text = "a acquire 0..10 ok\n b acquire 20..30 ok";
    assert!(!judge(text).properties.contains_key(&Property::LeaseOverrun));
    assert_eq!(judged(text).0, Verdict::Unknown);
    let mut semaphore = history(&pause(400));
    semaphore.header = Header {
        permits: Some(2),
        ..Header::new()
    };
    let analysis = check(&semaphore, &exact());
    assert!(!analysis.properties.contains_key(&Property::LeaseOverrun));
}

/// Everybody lets its lease run out, and asks anew when there is work.
const LAPSING: &str = "a acquire 0..2 ok lease 2000
                       b acquire 100..102 refused
                       b acquire 2200..2202 ok lease 2000
                       a acquire 4400..4402 ok lease 2000
                       b acquire 6600..6602 ok lease 2000";

#[test]
fn who_asks_anew_and_sends_no_release_may_have_left_long_before() {
    let analysis = judge(LAPSING);
    let judgement = &analysis.properties[&Property::LeaseOverrun];
    assert_eq!((judgement.verdict, judgement.count), (Verdict::Valid, 0));
    assert_eq!(
        judgement.reason.as_deref(),
        Some(
            "a sent no release of \"lock\" that it held until 2.000 s: how long it went on after \
             its lease is not recorded"
        )
    );
}

#[test]
fn what_a_client_does_as_holder_after_its_lease_accuses_it() {
    for sign in [
        "a renew 2300..2400 info",
        "a alive 2300",
        "a write 2300..2301 ok",
    ] {
        let text = format!("{LAPSING}\n{sign}");
        assert_eq!(judged(&text), (Verdict::Violated, 1), "{sign}");
    }
}

#[test]
fn who_releases_elsewhere_and_not_here_has_not_left() {
    let text = "a acquire 0..2 ok lease 100
                b acquire 50..60 refused
                b acquire 200..202 ok lease 100
                b release 290..292 ok
                a acquire 300..302 ok key other
                a release 310..312 ok key other";
    assert_eq!(judged(text), (Verdict::Violated, 1));
    let lapsing = text.replace("a release 310..312 ok key other", "");
    assert_eq!(judged(&lapsing), (Verdict::Valid, 0));
}
