//! Random operations of a few owners on one lock, with no regard for what a lock would answer.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::oracle::ops::{Act, End, Op};

/// Anything: renewals, readers, notices, reentry, leases, every outcome.
pub(crate) fn ops(seed: u64) -> Vec<Op> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let leased = rng.random_bool(0.7);
    let counts = rng.random_bool(0.3);
    let reads = if rng.random_bool(0.5) { 0.4 } else { 0.1 };
    let mut ops = Vec::new();
    for owner in 0..rng.random_range(2..=4) {
        let mut now = rng.random_range(0..6);
        for _ in 0..rng.random_range(1..=7) {
            let act = pick(
                &mut rng,
                &[
                    (5, Act::Acquire),
                    (3, Act::Renew),
                    (4, Act::Release),
                    (1, Act::Lost),
                ],
            );
            let inv = now + rng.random_range(0..4);
            let res = inv
                + if act == Act::Lost {
                    0
                } else {
                    rng.random_range(0..4)
                };
            let refusal = if act == Act::Acquire {
                End::Refused
            } else {
                End::NotOwner
            };
            let end = pick(
                &mut rng,
                &[
                    (8, End::Ok),
                    (2, refusal),
                    (1, End::Failed),
                    (2, End::Unknown),
                ],
            );
            ops.push(Op {
                lease: (leased && act != Act::Release).then(|| rng.random_range(1..10)),
                read: act != Act::Lost && rng.random_bool(reads),
                count: (counts && end == End::Ok).then(|| rng.random_range(0..4)),
                ..Op::new(
                    owner,
                    act,
                    inv,
                    res,
                    if act == Act::Lost { End::Ok } else { end },
                )
            });
            now = res;
        }
    }
    ops
}

/// Acquires and releases in turn, without leases. Between two operations of one owner a
/// millisecond passes: a core without length would conflict with none, but fit into no order.
pub(crate) fn sessions(seed: u64) -> Vec<Op> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut ops = Vec::new();
    // The owners take turns, roughly, or nearly every history would be violated.
    let mut turn = 0;
    for owner in 0..rng.random_range(2..=4) {
        let mut now = turn;
        for _ in 0..rng.random_range(1..=2) {
            for act in [Act::Acquire, Act::Release] {
                let inv = now + rng.random_range(0..3);
                let res = inv + rng.random_range(0..6);
                let unknown = rng.random_bool(0.1);
                let end = if unknown { End::Unknown } else { End::Ok };
                ops.push(Op::new(owner, act, inv, res, end));
                now = res + 1;
                // An owner that does not know whether it holds goes away.
                if unknown {
                    break;
                }
            }
            if ops.last().is_some_and(|op| op.end == End::Unknown) {
                break;
            }
        }
        turn = now.saturating_sub(rng.random_range(0..6));
    }
    ops
}

fn pick<T: Copy>(rng: &mut impl Rng, choices: &[(u32, T)]) -> T {
    let sum = choices.iter().map(|(weight, _)| weight).sum();
    let mut at = rng.random_range(0..sum);
    for &(weight, choice) in choices {
        if at < weight {
            return choice;
        }
        at -= weight;
    }
    unreachable!("the weights sum up")
}
