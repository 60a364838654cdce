//! All histories of a small scope: two owners, three operations, every order of their events.

use crate::model_oracle::ops::{Call, End, Op, Seen};
use crate::model_oracle::state::Model;

/// Events of three operations fall on four instants.
const INSTANTS: u64 = 4;

/// Instants are so far apart where there are leases: some of these have certainly run out by the
/// last of them, some certainly not, and of some nobody knows.
const APART: u64 = 2;

/// Length of every lease.
const LEASE: u64 = 2;

/// All of them for one model; with leases and renewals, or without.
pub(crate) fn histories(model: Model, leased: bool) -> impl Iterator<Item = Vec<Op>> {
    let shapes = shapes(model, leased.then_some(LEASE));
    let apart = if leased { APART } else { 1 };
    let times = times();
    let count = shapes.len();
    (0..count * count * count * times.len()).map(move |number| {
        let (number, time) = (number / times.len(), &times[number % times.len()]);
        let chosen = [
            number % count,
            number / count % count,
            number / count / count,
        ];
        let mut ops: Vec<Op> = chosen
            .iter()
            .zip([0, 0, 1])
            .zip(time)
            .map(|((&shape, owner), &(inv, res))| {
                let (call, end) = shapes[shape].clone();
                Op {
                    owner,
                    call,
                    inv: inv * apart,
                    res: res * apart,
                    end,
                }
            })
            .collect();
        ops.sort_by_key(|op| op.inv);
        ops
    })
}

/// Sent and answered of two operations of one owner and one of another; those that order all
/// events alike are there once.
fn times() -> Vec<[(u64, u64); 3]> {
    let mut all = Vec::new();
    for number in 0..INSTANTS.pow(6) {
        let time = |place: u32| number / INSTANTS.pow(place) % INSTANTS;
        let times: Vec<u64> = (0..6).map(time).collect();
        let in_order = times[..4].is_sorted() && times[4] <= times[5];
        // Each instant up to the last is used, or the same order is there with smaller ones.
        let last = times.iter().max().copied().unwrap_or(0);
        let dense = (0..=last).all(|instant| times.contains(&instant));
        if in_order && dense {
            all.push([
                (times[0], times[1]),
                (times[2], times[3]),
                (times[4], times[5]),
            ]);
        }
    }
    all
}

/// Lists all calls that one operation can be, with the ends that each can have.
fn shapes(model: Model, lease: Option<u64>) -> Vec<(Call, End)> {
    let mut shapes = Vec::new();
    let ends = |call: Call, ends: &[End], shapes: &mut Vec<(Call, End)>| {
        shapes.extend(ends.iter().map(|&end| (call.clone(), end)));
    };
    let all = [End::Ok, End::Denied, End::Unknown];
    let sure = [End::Ok, End::Unknown];
    let acquire = |read, permits, token| Call::Acquire {
        read,
        permits,
        lease,
        token,
    };
    let release = |read, permits| Call::Release { read, permits };
    if model.is_lock() && lease.is_some() {
        ends(Call::Renew { read: false, lease }, &all, &mut shapes);
    }
    match model {
        Model::Mutex | Model::OwnerAware | Model::Reentrant(_) => {
            ends(acquire(false, 1, None), &all, &mut shapes);
            ends(release(false, 1), &all, &mut shapes);
        }
        Model::Fenced | Model::ReentrantFenced => {
            for token in [None, Some(1), Some(2)] {
                ends(acquire(false, 1, token), &[End::Ok], &mut shapes);
            }
            ends(
                acquire(false, 1, None),
                &[End::Denied, End::Unknown],
                &mut shapes,
            );
            ends(release(false, 1), &[End::Ok], &mut shapes);
        }
        Model::Semaphore(_) => {
            for permits in [1, 2] {
                ends(acquire(false, permits, None), &all, &mut shapes);
                ends(release(false, permits), &[End::Ok], &mut shapes);
            }
        }
        Model::ReadWrite => {
            for read in [false, true] {
                ends(acquire(read, 1, None), &all, &mut shapes);
                ends(release(read, 1), &[End::Ok], &mut shapes);
            }
        }
        Model::Register => {
            ends(Call::Write(1), &sure, &mut shapes);
            ends(Call::Write(2), &[End::Ok], &mut shapes);
            for seen in [None, Some(1), Some(2)] {
                ends(Call::Read(Seen::Value(seen)), &[End::Ok], &mut shapes);
            }
        }
        Model::CasRegister | Model::CasRegisterDropFailed => {
            ends(Call::Write(1), &sure, &mut shapes);
            ends(Call::Cas(Some(1), 2), &all, &mut shapes);
            ends(Call::Read(Seen::Value(Some(2))), &[End::Ok], &mut shapes);
        }
        Model::Append => {
            ends(Call::Append(1), &sure, &mut shapes);
            ends(Call::Append(2), &[End::Ok], &mut shapes);
            for seen in [vec![], vec![1], vec![1, 2], vec![1, 1]] {
                ends(Call::Read(Seen::List(seen)), &[End::Ok], &mut shapes);
            }
        }
    }
    shapes
}
