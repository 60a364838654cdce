//! Fair locks are granted in the order in which clients passed the doorway.

use std::fmt::Write as _;

use lockstorm_checker::{Property, Verdict};

use crate::support::{judge, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::Fairness, text)
}

/// a waits in the queue from 15 ms on; b asks at 20 ms.
fn race(waits: &str, overtakes: &str) -> String {
    format!("a acquire {waits}\n a queued 15 by 1\n b acquire {overtakes}")
}

#[test]
fn a_grant_to_a_newcomer_before_one_in_the_queue_is_a_violation() {
    let text = race("10..90 ok", "20..30 ok");
    assert_eq!(judged(&text), (Verdict::Violated, 1));
    let witness = &judge(&text).properties[&Property::Fairness].witnesses[0];
    assert_eq!(
        witness.claim,
        "b was granted \"lock\" before a, who had its place in the queue 5.0 ms before the other \
         asked"
    );
    let last = witness.story.last().expect("a story has an end");
    assert!(witness.story.iter().all(|step| step.t <= last.t));
}

#[test]
fn first_come_first_served_is_in_order() {
    assert_eq!(judged(&race("10..40 ok", "20..60 ok")), (Verdict::Valid, 0));
    assert_eq!(judged(&race("10..60 ok", "20..60 ok")).1, 0, "a tie");
    assert_eq!(judged(&race("10..60 ok", "20..59 ok")).1, 1, "near miss");
    assert_eq!(judged(&race("10..60 ok", "15..30 ok")).1, 0, "a tie");
}

#[test]
fn who_gave_up_or_may_be_gone_was_not_overtaken() {
    for waits in [
        "10..90 refused",
        "10..90 info",
        "10..90 failed",
        "10..? pending",
    ] {
        let text = race(waits, "20..30 ok");
        assert_eq!(judged(&text).1, 0, "{waits}");
    }
    let alive = format!("{}\n a alive 50", race("10..? pending", "20..30 ok"));
    assert_eq!(judged(&alive).1, 1, "it still waits");
}

#[test]
fn a_lease_that_may_have_run_out_before_its_answer_arrived_excuses() {
    let text = |lease| race(&format!("10..90 ok lease {lease}"), "20..30 ok");
    assert_eq!(judged(&text(15)).1, 0, "granted at 15 and over at 30");
    assert_eq!(judged(&text(16)).1, 1, "near miss");
    let held = format!("{}\n c acquire 0..5 ok\n c release 25..26 ok", text(15));
    assert_eq!(judged(&held).1, 1, "c held the lock up to 25");
}

#[test]
fn readers_holders_and_earlier_places_overtake_nobody() {
    let readers = race("10..90 ok mode read", "20..30 ok mode read");
    assert_eq!(judged(&readers).1, 0);
    let again = format!("{}\n b acquire 0..5 ok", race("10..90 ok", "20..30 ok"));
    assert_eq!(judged(&again).1, 0, "b held the lock already");
    let queued = format!("{again}\n b queued 22 by 3");
    assert_eq!(judged(&queued).1, 1, "who queues does not hold it");
    let own = race("10..90 ok", "20..30 ok").replace("b ", "a ");
    assert_eq!(
        judged(&format!("{own}\n a queued 22 by 3")).1,
        0,
        "one owner"
    );
    let place = format!(
        "{}\n b acquire 1..9 refused\n b queued 2 by 4",
        race("10..90 ok", "20..30 ok")
    );
    assert_eq!(judged(&place).1, 0, "b stood in the queue before");
}

#[test]
fn without_a_note_the_order_of_the_queue_cannot_be_seen() {
    let text = "a acquire 10..90 ok\n b acquire 20..30 ok";
    assert!(!judge(text).properties.contains_key(&Property::Fairness));
    assert_eq!(judged(text).0, Verdict::Unknown);
    let alone = "a acquire 10..90 ok\n a queued 15 by 1";
    assert_eq!(judged(alone).0, Verdict::Unknown, "nobody asked meanwhile");
}

#[test]
fn random_queues_are_judged_as_a_look_at_every_pair_tells() {
    use rand::{RngExt, SeedableRng};
    let mut violated = 0;
    for seed in 0..1500 {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let asks: Vec<(u64, u64, u64)> = (0..rng.random_range(2..8))
            .map(|_| {
                let sent = rng.random_range(1..20);
                let queued = sent + rng.random_range(0..4);
                (sent, queued, queued + rng.random_range(0..15))
            })
            .collect();
        let mut text = String::new();
        for (owner, (sent, _, answered)) in asks.iter().enumerate() {
            writeln!(text, "o{owner} acquire {sent}..{answered} ok").expect("memory is writable");
        }
        for (owner, (_, queued, _)) in asks.iter().enumerate() {
            writeln!(text, "o{owner} queued {queued} by {}", owner + 1)
                .expect("memory is writable");
        }
        let overtaken = |p: &(u64, u64, u64)| {
            // A note at the instant of the answer comes after it, and belongs to nobody.
            let over = |q: &&(u64, u64, u64)| q.0 > p.1 && q.2 < p.2 && p.1 < p.2;
            asks.iter().filter(over).count() as u64
        };
        let expected: u64 = asks.iter().map(overtaken).sum();
        assert_eq!(judged(&text).1, expected, "seed {seed}:\n{text}");
        violated += u64::from(expected > 0);
    }
    assert!((200..1400).contains(&violated), "{violated}");
}
