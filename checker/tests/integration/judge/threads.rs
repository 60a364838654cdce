//! The number of threads decides how long an analysis takes, and nothing else.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use lockstorm_checker::{Options, Verdict, check};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::history;

/// Writes down careless clients and a careless lock on several keys: every property finds
/// something.
fn careless(seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = String::from("fault F1 kill n1 injected 40 gone\nfault F1 kill n1 healed 200\n");
    // Two clients for each owner, so that an owner does two things at once.
    let mut clocks = [0; 8];
    for _ in 0..150 {
        let client = rng.random_range(0..8);
        let owner = ["a", "b", "c", "d"][client % 4];
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

/// Histories in which an owner does two things at once, each with the grants to others that showed
/// that the holds and the replay of a witness disagreed on how long it held.
const AT_ONCE: [&str; 8] = [
    "b renew 295..306 ok lease 173
     b acquire 303..? pending lease 76
     a acquire 438..442 ok lease 19",
    "a acquire 151..171 ok lease 160
     a acquire 157..161 ok lease 20
     d acquire 265..266 ok lease 59",
    "a acquire 60..65 ok lease 6
     a acquire 168..196 ok lease 78
     a renew 183..187 ok lease 140
     b acquire 278..284 ok lease 70",
    "d acquire 35..45 ok lease 5
     d acquire 39..? pending lease 87
     b acquire 368..380 ok lease 143
     b release 471..478 ok
     d acquire 493..504 ok lease 11",
    "a acquire 131..142 ok lease 108
     a acquire 134..137 ok lease 39
     a acquire 190..212 ok lease 58
     c acquire 407..429 ok lease 158
     c renew 474..484 ok lease 95
     a acquire 499..? pending lease 129",
    "d acquire 146..153 ok lease 7
     b acquire 141..143 ok lease 115
     d renew 168..177 ok lease 151
     d release 169..178 ok",
    "b acquire 7..15 ok lease 26
     b acquire 29..31 info lease 180
     c acquire 27..29 ok lease 78
     b renew 28..37 ok lease 65
     b release 36..42 ok",
    "c acquire 12..15 pending lease 104
     c acquire 17..25 ok lease 14
     c renew 32..34 ok lease 162
     c release 33..34 ok
     b acquire 28..30 ok lease 71
     b release 52..54 ok",
];

#[test]
fn who_does_two_things_at_once_is_accused_only_of_what_its_operations_show_alone() {
    for text in AT_ONCE {
        let analysis = check(&history(text), &Options::default());
        for (property, judgement) in analysis.properties {
            // A witness that its replay rejects is dropped, and the verdict is unknown for it.
            let reason = judgement.reason.unwrap_or_default();
            assert!(!reason.contains("replay"), "{property}: {text}");
            assert_eq!(judgement.count > 0, judgement.verdict == Verdict::Violated);
        }
    }
}
