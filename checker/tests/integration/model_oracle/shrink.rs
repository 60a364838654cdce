//! Makes a history that shows a disagreement smaller, as long as it shows it.

use crate::model_oracle::ops::{End, Op};

/// A history of which no operation can be dropped, or be left without an answer, without losing
/// what `shows` sees.
pub(crate) fn shrunk(ops: &[Op], shows: impl Fn(&[Op]) -> bool) -> Vec<Op> {
    let mut small = ops.to_vec();
    loop {
        let smaller = candidates(&small).find(|candidate| shows(candidate));
        match smaller {
            Some(smaller) => small = smaller,
            None => return small,
        }
    }
}

fn candidates(ops: &[Op]) -> impl Iterator<Item = Vec<Op>> + '_ {
    let dropped = (0..ops.len()).map(|at| {
        let mut fewer = ops.to_vec();
        fewer.remove(at);
        fewer
    });
    let doubted = (0..ops.len())
        .filter(|&at| ops[at].end == End::Ok)
        .map(|at| {
            let mut vaguer = ops.to_vec();
            vaguer[at].end = End::Unknown;
            vaguer
        });
    let shorter = (0..ops.len())
        .filter(|&at| ops[at].res > ops[at].inv)
        .map(|at| {
            let mut quicker = ops.to_vec();
            quicker[at].res -= 1;
            quicker
        });
    dropped.chain(doubted).chain(shorter)
}
