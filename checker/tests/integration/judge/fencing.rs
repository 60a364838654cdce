//! Fencing tokens grow with each grant, and the resource takes none after a larger one.

use lockstorm_checker::{Property, Verdict};

use crate::support::{judge, reason, verdict};

fn judged(text: &str) -> (Verdict, u64) {
    verdict(Property::Fencing, text)
}

fn signatures(text: &str) -> Vec<String> {
    let judgement = &judge(text).properties[&Property::Fencing];
    let witnesses = judgement.witnesses.iter();
    witnesses.map(|witness| witness.signature.clone()).collect()
}

#[test]
fn a_grant_with_a_smaller_token_than_one_before_is_a_violation_of_the_service() {
    let text = "a acquire 0..10 ok token 7
                a release 20..30 ok
                b acquire 40..50 ok token 6";
    assert_eq!(judged(text), (Verdict::Violated, 1));
    let witness = judge(text).properties[&Property::Fencing].witnesses[0].clone();
    assert_eq!(
        witness.claim,
        "b was granted \"lock\" with token 6, after a had been granted it with token 7: the lock \
         gave out a token that is not new"
    );
    assert_eq!(witness.signature, "fencing (order), no fault, certain");
    assert_eq!(witness.holders.len(), 2);
}

#[test]
fn tokens_that_grow_are_in_order() {
    let text = "a acquire 0..10 ok token 7
                a release 20..30 ok
                b acquire 40..50 ok token 9";
    assert_eq!(judged(text), (Verdict::Valid, 0));
}

#[test]
fn grants_that_overlap_or_tie_may_have_been_made_in_either_order() {
    let text = |sent| {
        format!(
            "a acquire 0..10 ok token 7
             b acquire {sent}..50 ok token 6"
        )
    };
    assert_eq!(judged(&text(10)).1, 0, "a tie");
    assert_eq!(judged(&text(11)), (Verdict::Violated, 1), "near miss");
}

#[test]
fn a_token_that_is_absent_or_zero_is_compared_with_nothing() {
    let text = "a acquire 0..10 ok token 7
                b acquire 20..30 ok token 0
                c acquire 40..50 ok
                d acquire 60..70 ok token 8";
    assert_eq!(judged(text), (Verdict::Valid, 0));
    let alone = "a acquire 0..10 ok token 7\n b acquire 20..30 ok";
    assert!(reason(Property::Fencing, alone).contains("no two fencing tokens"));
}

#[test]
fn without_an_answer_a_grant_has_no_token() {
    let text = "a acquire 0..10 ok token 7
                b acquire 20..30 info token 6
                c acquire 40..50 ok token 8";
    assert_eq!(judged(text), (Verdict::Valid, 0));
}

#[test]
fn one_token_for_two_owners_is_a_violation_even_if_they_were_granted_at_one_time() {
    for sent in [5, 40] {
        let text = format!("a acquire 0..10 ok token 7\n b acquire {sent}..50 ok token 7");
        assert_eq!(judged(&text), (Verdict::Violated, 1));
        assert_eq!(
            signatures(&text),
            ["fencing (duplicate), no fault, certain"]
        );
    }
}

#[test]
fn readers_may_share_a_token_and_a_writer_may_not() {
    let text = |mode| {
        format!(
            "a acquire 0..10 ok token 7 mode read
             b acquire 20..30 ok token 7 {mode}"
        )
    };
    assert_eq!(judged(&text("mode read")), (Verdict::Valid, 0));
    assert_eq!(judged(&text("")), (Verdict::Violated, 1));
}

#[test]
fn a_reentrant_grant_may_repeat_its_token() {
    let again = |between: &str| {
        format!("a acquire 0..10 ok lease 100 token 7\n {between}\n a acquire 60..70 ok token 7")
    };
    for between in [
        "",
        "a release 20..30 info",
        "a renew 50..60 ok lease 1000",
        "a acquire 12..14 info",
    ] {
        assert_eq!(judged(&again(between)), (Verdict::Valid, 0), "{between}");
    }
    assert_eq!(
        judged(&again("a release 20..30 ok")),
        (Verdict::Violated, 1),
        "the first grant is over"
    );
    let expired = again("").replace("60..70", "111..120");
    assert_eq!(judged(&expired), (Verdict::Violated, 1), "so it is here");
    let expiring = again("").replace("60..70", "110..120");
    assert_eq!(judged(&expiring), (Verdict::Valid, 0), "near miss");
}

#[test]
fn a_reader_may_be_told_its_own_token_again_after_others_got_larger_ones() {
    let text = |mode: &str| {
        format!(
            "a acquire 0..10 ok token 7 {mode}
             b acquire 20..30 ok token 8 {mode}
             a acquire 40..50 ok token 7 {mode}"
        )
    };
    assert_eq!(judged(&text("mode read")), (Verdict::Valid, 0));
    assert_eq!(judged(&text("")), (Verdict::Violated, 1));
}

/// Nobody was told the token of the first acquire: the second may repeat it.
#[test]
fn a_reader_may_be_told_the_token_of_its_acquire_without_an_answer() {
    let text = |mode: &str| {
        format!(
            "a acquire 0..10 info lease 50 {mode}
             b acquire 20..30 ok token 8 lease 50 {mode}
             a acquire 40..45 ok token 7 {mode}"
        )
    };
    assert_eq!(judged(&text("mode read")), (Verdict::Valid, 0));
    assert_eq!(judged(&text("")), (Verdict::Violated, 1));
    let others = text("mode read").replace("a acquire 40", "c acquire 40");
    assert_eq!(judged(&others), (Verdict::Violated, 1), "it is another's");
}

#[test]
fn the_tokens_of_two_locks_have_nothing_to_do_with_each_other() {
    let text = "a acquire 0..10 ok token 7 key one
                b acquire 20..30 ok token 6 key other
                a acquire 40..50 ok token 8 key one
                b acquire 60..70 ok token 8 key other";
    assert_eq!(judged(text).1, 0);
}

#[test]
fn a_resource_that_takes_a_token_after_a_larger_one_is_at_fault() {
    let text = |late| {
        format!(
            "a acquire 0..10 ok token 6 lease 20
             b acquire 60..70 ok token 7
             b write 80..90 ok token 7
             a {late}"
        )
    };
    for late in ["write 91..99 ok token 6", "append 91..99 ok token 6"] {
        assert_eq!(judged(&text(late)), (Verdict::Violated, 1), "{late}");
        assert_eq!(
            signatures(&text(late)),
            ["fencing (acceptance), no fault, certain"]
        );
    }
    for late in [
        "write 90..99 ok token 6",
        "write 91..99 failed token 6",
        "write 91..99 info token 6",
        "write 91..99 ok token 0",
        "write 91..99 ok",
        "read 91..99 ok token 6",
        "write 91..99 ok token 7",
    ] {
        assert_eq!(judged(&text(late)), (Verdict::Valid, 0), "{late}");
    }
    let witness =
        judge(&text("write 91..99 ok token 6")).properties[&Property::Fencing].witnesses[0].clone();
    assert_eq!(
        witness.claim,
        "the resource of \"lock\" accepted token 6 of a, after token 7 of b: it let a stale \
         holder through"
    );
    let story: Vec<&str> = witness.story.iter().map(|step| &*step.text).collect();
    assert!(
        story.iter().any(|step| step.starts_with("a was granted")),
        "{story:?}"
    );
}

#[test]
fn every_grant_and_every_effect_counts_once() {
    let text = "a acquire 0..10 ok token 9
                b acquire 20..30 ok token 7
                c acquire 40..50 ok token 7
                d acquire 60..70 ok token 9
                e acquire 80..90 ok token 10
                e write 91..92 ok token 10
                a write 93..94 ok token 9
                b write 95..96 ok token 7";
    assert_eq!(judged(text), (Verdict::Violated, 5));
}

#[test]
fn random_tokens_are_judged_as_a_comparison_of_every_pair_tells() {
    use rand::{RngExt, SeedableRng};
    let mut violated = 0;
    for seed in 0..2000 {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let grants: Vec<(u64, u64, u64)> = (0..rng.random_range(2..7))
            .map(|_| {
                let sent = rng.random_range(0..20);
                (sent, sent + rng.random_range(0..8), rng.random_range(0..9))
            })
            .collect();
        let text: Vec<String> = grants
            .iter()
            .enumerate()
            .map(|(owner, (sent, answered, token))| {
                format!("o{owner} acquire {sent}..{answered} ok token {token}")
            })
            .collect();
        let bad = |at: usize| {
            let (sent, answered, token) = grants[at];
            let accuses = |(other, &(_, before, larger)): (usize, &(u64, u64, u64))| {
                let after = before < sent && larger > token;
                let later = (answered, at) > (before, other);
                let place = (answered, sent, at) > (before, grants[other].0, other);
                other != at && larger > 0 && (after || larger == token && later && place)
            };
            token > 0 && grants.iter().enumerate().any(accuses)
        };
        let expected = (0..grants.len()).filter(|&at| bad(at)).count() as u64;
        let found = judged(&text.join("\n")).1;
        let ties = grants.iter().map(|grant| (grant.1, grant.2));
        let distinct: std::collections::HashSet<_> = ties.clone().collect();
        // Which of two answers at one instant came second does not change how many are too many.
        if distinct.len() == grants.len() {
            assert_eq!(found, expected, "seed {seed}: {text:?}");
        }
        violated += u64::from(found > 0);
    }
    assert!((400..1900).contains(&violated), "{violated}");
}
