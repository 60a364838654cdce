//! The number of threads decides how long an analysis takes, and nothing else.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use lockstorm_checker::{Options, Verdict, check};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::history;

/// What careless clients and a careless lock do on several keys: every property finds something.
fn careless(seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = String::from("fault F1 kill n1 injected 40 gone\nfault F1 kill n1 healed 200\n");
    let mut clocks = [0; 4];
    for _ in 0..150 {
        let client = rng.random_range(0..4);
        let owner = ["a", "b", "c", "d"][client];
        let action = ["acquire", "acquire", "renew", "release"][rng.random_range(0..4)];
        let outcome = match (action, rng.random_range(0..8)) {
            (_, 0) => "info",
            (_, 1) => "pending",
            ("acquire", 2) => "refused",
            ("renew" | "release", 2) => "not-owner",
            (_, _) => "ok",
        };
        let sent = clocks[client] + rng.random_range(1..10);
        let answered = sent + rng.random_range(1..10);
        clocks[client] = answered;
        let (lease, key) = (rng.random_range(5..200), rng.random_range(0..9));
        writeln!(
            text,
            "{owner} {action} {sent}..{answered} {outcome} lease {lease} key k{key}"
        )
        .expect("memory is writable");
    }
    text + "a lost 70\nfinal 500 bound 100\n"
}

#[test]
fn one_thread_two_and_seven_give_the_same_analysis() {
    let mut violated = 0;
    for seed in 0..60 {
        let history = history(&careless(seed));
        let by = |threads| {
            let threads = NonZeroUsize::new(threads);
            check(
                &history,
                &Options {
                    threads,
                    ..Options::default()
                },
            )
        };
        let alone = by(1);
        violated += u32::from(alone.verdict == Verdict::Violated);
        assert_eq!(alone, by(2), "seed {seed}");
        assert_eq!(alone, by(7), "seed {seed}");
    }
    assert!(
        violated > 30,
        "histories with something to find: {violated}"
    );
}
