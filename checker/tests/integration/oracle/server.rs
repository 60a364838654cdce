//! A simulated lock service on a network that delays, and loses answers.
//!
//! The server keeps one entry: the token of a session and when it expires. Each request takes
//! effect at some time after it was sent; the client has the answer later, or gives up, and then
//! the request may still take effect much later. Leases run on the server from the moment of the
//! effect, and no clock drifts.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::oracle::ops::{Act, End, Op};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    None,
    /// The server loses its entry once, as after a restart without persistence.
    Forgets,
}

/// A request on its way.
#[derive(Clone, Copy)]
struct Request {
    effect: u64,
    client: usize,
    /// Position in the list of operations, where the answer goes.
    op: usize,
    session: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Belief {
    Idle,
    Holds,
    /// The last acquire had no answer.
    Doubts,
}

struct Client {
    /// Time at which it does its next step.
    next: u64,
    steps: u32,
    session: u32,
    belief: Belief,
}

/// The lock: whose session, and until when.
type Entry = Option<(u32, u64)>;

const CLIENTS: u8 = 3;
const LAST: u64 = 60;

/// The operations of a run, those of one client in its order.
pub(crate) fn run(seed: u64, defect: Defect) -> Vec<Op> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let lease = rng.random_bool(0.7).then(|| rng.random_range(4..20));
    let forgets_at = rng.random_range(5..30);
    let mut clients: Vec<Client> = (0..CLIENTS)
        .map(|_| Client {
            next: rng.random_range(0..5),
            steps: rng.random_range(2..7),
            session: 0,
            belief: Belief::Idle,
        })
        .collect();
    let mut sessions = 0;
    let mut ops: Vec<Op> = Vec::new();
    let mut flying: Vec<Request> = Vec::new();
    let mut entry: Entry = None;
    for now in 0..=LAST {
        for (number, client) in clients.iter_mut().enumerate() {
            if client.next == now && client.steps > 0 {
                let op = send(&mut rng, client, number, lease, &mut sessions);
                let late = op.end == End::Unknown && rng.random_bool(0.5);
                let effect = rng.random_range(now..=op.res + if late { 20 } else { 0 });
                flying.push(Request {
                    effect,
                    client: number,
                    op: ops.len(),
                    session: client.session,
                });
                ops.push(op);
            }
        }
        if defect == Defect::Forgets && now == forgets_at {
            entry = None;
        }
        // Requests that take effect in one instant do so in any order.
        flying.shuffle(&mut rng);
        let (due, later) = flying
            .into_iter()
            .partition(|request| request.effect == now);
        flying = later;
        let due: Vec<Request> = due;
        for request in due {
            let op = &mut ops[request.op];
            let end = serve(&mut entry, request.session, op, now);
            if op.end != End::Unknown {
                op.end = end;
                learn(&mut clients[request.client], op.act, end);
            }
        }
    }
    // What was never served was never answered.
    for request in flying {
        ops[request.op].end = End::Unknown;
    }
    ops.sort_by_key(|op| op.owner);
    ops
}

/// The next step of a client; its outcome is filled in when it takes effect.
fn send(
    rng: &mut impl Rng,
    client: &mut Client,
    number: usize,
    lease: Option<u64>,
    sessions: &mut u32,
) -> Op {
    let act = match client.belief {
        Belief::Idle => Act::Acquire,
        Belief::Holds if rng.random_bool(0.4) => Act::Renew,
        Belief::Doubts if rng.random_bool(0.3) => Act::Acquire,
        Belief::Doubts if rng.random_bool(0.5) => Act::Renew,
        Belief::Holds | Belief::Doubts => Act::Release,
    };
    if act == Act::Acquire {
        *sessions += 1;
        client.session = *sessions;
    }
    let (inv, res) = (client.next, client.next + rng.random_range(0..5));
    let lost = rng.random_bool(0.15);
    if lost {
        client.belief = match act {
            Act::Acquire => Belief::Doubts,
            Act::Release => Belief::Idle,
            Act::Renew | Act::Lost => client.belief,
        };
    }
    client.next = res + 1 + rng.random_range(0..6);
    client.steps -= 1;
    let owner = u8::try_from(number).expect("there are few clients");
    let end = if lost { End::Unknown } else { End::Failed };
    Op {
        lease: lease.filter(|_| act != Act::Release),
        ..Op::new(owner, act, inv, res, end)
    }
}

/// Serves a request at `now`, and returns how it ends.
fn serve(entry: &mut Entry, session: u32, op: &Op, now: u64) -> End {
    *entry = entry.filter(|&(_, expires)| now < expires);
    let expires = op.lease.map_or(u64::MAX, |lease| now + lease);
    match (op.act, *entry) {
        (Act::Acquire, None) => {
            *entry = Some((session, expires));
            End::Ok
        }
        (Act::Acquire, Some(_)) => End::Refused,
        (Act::Renew, Some((holder, _))) if holder == session => {
            *entry = Some((session, expires));
            End::Ok
        }
        (Act::Release, Some((holder, _))) if holder == session => {
            *entry = None;
            End::Ok
        }
        (Act::Renew | Act::Release | Act::Lost, _) => End::NotOwner,
    }
}

/// Corrects a client's belief by an answer.
fn learn(client: &mut Client, act: Act, end: End) {
    client.belief = match (act, end) {
        (Act::Acquire | Act::Renew, End::Ok) => Belief::Holds,
        (Act::Acquire | Act::Renew | Act::Release | Act::Lost, _) => Belief::Idle,
    };
}
