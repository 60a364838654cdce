//! Random histories: legal ones from a run of the model, and near-legal ones with one thing
//! changed.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::model_oracle::ops::{Call, DRIFT, End, Op, Seen};
use crate::model_oracle::state::{Model, State};

/// Generates operations that a run of the model may have recorded.
pub(crate) fn legal(seed: u64, model: Model) -> Vec<Op> {
    run(&mut ChaCha8Rng::seed_from_u64(seed), model)
}

/// Generates such operations, and changes a few things after the fact.
pub(crate) fn changed(seed: u64, model: Model) -> Vec<Op> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut ops = run(&mut rng, model);
    let most = if model.is_lock() { 3 } else { 6 };
    for _ in 0..rng.random_range(1..=most) {
        change(&mut rng, &mut ops);
    }
    for op in &mut ops {
        if op.end == End::Denied && !is_deniable(&op.call) {
            op.end = End::Failed;
        }
    }
    ops.sort_by_key(|op| op.inv);
    ops
}

fn run(rng: &mut ChaCha8Rng, model: Model) -> Vec<Op> {
    let leased = model.is_lock() && rng.random_bool(0.5);
    let mut ops = Run::new(rng, model, leased).ops();
    ops.sort_by_key(|op| op.inv);
    ops
}

/// A run of the model itself, in order of effect.
struct Run<'a> {
    rng: &'a mut ChaCha8Rng,
    model: Model,
    leased: bool,
    owners: u8,
    now: u64,
    state: State,
    token: u64,
    /// Time at which the last operation of each owner was answered.
    busy: [u64; 4],
    /// Unanswered, and not yet in effect.
    in_doubt: Vec<Op>,
}

impl<'a> Run<'a> {
    fn new(rng: &'a mut ChaCha8Rng, model: Model, leased: bool) -> Self {
        let owners = rng.random_range(2..=4);
        Self {
            rng,
            model,
            leased,
            owners,
            now: 4,
            state: State::default(),
            token: 0,
            busy: [0; 4],
            in_doubt: Vec::new(),
        }
    }

    fn ops(mut self) -> Vec<Op> {
        let mut ops = Vec::new();
        for _ in 0..self.rng.random_range(3..=9) {
            self.now += *pick(self.rng, &[0, 1, 1, 2, 3]);
            self.expire();
            if self.rng.random_bool(0.3) && !self.in_doubt.is_empty() {
                let late = self.rng.random_range(0..self.in_doubt.len());
                let late = self.in_doubt.swap_remove(late);
                self.take(&late);
            }
            let idle: Vec<u8> = (0..self.owners)
                .filter(|&owner| self.busy[usize::from(owner)] <= self.now)
                .collect();
            if !idle.is_empty() {
                let owner = *pick(self.rng, &idle);
                ops.push(self.op(owner));
            }
        }
        ops
    }

    /// Drops what has run out; the clock of the service is exact.
    fn expire(&mut self) {
        let now = self.now;
        self.state.grips.retain(|grip| grip.ceiling > now);
    }

    /// Lets an operation take effect, if the model has it.
    fn take(&mut self, op: &Op) -> bool {
        let lease = match op.call {
            Call::Acquire { lease, .. } | Call::Renew { lease, .. } => lease,
            _ => None,
        };
        let end = lease.map_or(u64::MAX, |lease| self.now + lease);
        let next = self.state.after(self.model, op, end);
        let taken = next.into_iter().next();
        let is_taken = taken.is_some();
        self.state = taken.unwrap_or_else(|| self.state.clone());
        is_taken
    }

    fn op(&mut self, owner: u8) -> Op {
        let slack = |rng: &mut ChaCha8Rng| *pick(rng, &[0, 0, 1, 2, 4]);
        let free = self.busy[usize::from(owner)];
        let inv = free.max(self.now - slack(self.rng));
        let res = self.now + slack(self.rng);
        let mut op = Op {
            owner,
            call: self.call(owner),
            inv,
            res,
            end: End::Ok,
        };
        let unknown = self.rng.random_bool(0.12);
        if unknown {
            op.end = End::Unknown;
            op.res = op.inv + slack(self.rng);
            if self.rng.random_bool(0.5) {
                self.take(&op);
            } else {
                self.in_doubt.push(op.clone());
            }
        } else if !self.take(&op) {
            // With a token that does not fit it would not be refused.
            if let Call::Acquire { token, .. } = &mut op.call {
                *token = None;
            }
            if !self.take(&op) {
                op.end = End::Denied;
            }
        }
        self.busy[usize::from(owner)] = op.res;
        op
    }

    fn call(&mut self, owner: u8) -> Call {
        if !self.model.is_lock() {
            return self.access();
        }
        let holds = self.state.grips.iter().any(|grip| grip.owner == owner);
        let read = self.model == Model::ReadWrite && self.rng.random_bool(0.5);
        let permits = match self.model {
            Model::Semaphore(_) => self.rng.random_range(1..=2),
            _ => 1,
        };
        let lease = self.leased.then(|| self.rng.random_range(2..8));
        let again = matches!(self.model, Model::Reentrant(_) | Model::ReentrantFenced);
        let acquires = if holds && !again {
            0.1
        } else if holds {
            0.4
        } else {
            0.8
        };
        if self.rng.random_bool(acquires) {
            let token = self.token(holds);
            return Call::Acquire {
                read,
                permits,
                lease,
                token,
            };
        }
        // Whose permits a lease is extended for, nobody says.
        let renews = !matches!(self.model, Model::Semaphore(_));
        if renews && self.rng.random_bool(0.3) {
            return Call::Renew { read, lease };
        }
        Call::Release { read, permits }
    }

    fn token(&mut self, again: bool) -> Option<u64> {
        if !self.model.is_fenced() || self.rng.random_bool(0.1) {
            return None;
        }
        if !(again && self.model == Model::ReentrantFenced) {
            self.token += self.rng.random_range(1..3);
        }
        Some(self.token)
    }

    fn access(&mut self) -> Call {
        let value = self.rng.random_range(0..3);
        match self.model {
            Model::Append if self.rng.random_bool(0.5) => Call::Append(value),
            Model::Append => Call::Read(Seen::List(self.state.list.clone())),
            Model::CasRegister | Model::CasRegisterDropFailed if self.rng.random_bool(0.5) => {
                let wrong = Some(self.rng.random_range(0..3));
                let expected = *pick(self.rng, &[self.state.value, wrong]);
                Call::Cas(expected, value)
            }
            _ if self.rng.random_bool(0.5) => Call::Write(value),
            _ => Call::Read(Seen::Value(self.state.value)),
        }
    }
}

/// Changes one reply, time, name or number.
fn change(rng: &mut ChaCha8Rng, ops: &mut [Op]) {
    if ops.is_empty() {
        return;
    }
    let at = rng.random_range(0..ops.len());
    let other = ops[rng.random_range(0..ops.len())].clone();
    let op = &mut ops[at];
    match rng.random_range(0..6) {
        0 | 1 => op.end = denied_or(rng, op),
        2 => {
            let length = op.res - op.inv;
            op.inv = (op.inv + rng.random_range(0..7)).saturating_sub(3);
            op.res = op.inv + length;
        }
        3 => op.res = op.inv + rng.random_range(0..5),
        4 => alter(rng, &mut op.call),
        _ => op.call = other.call,
    }
}

fn denied_or(rng: &mut ChaCha8Rng, op: &Op) -> End {
    match op.end {
        End::Ok if is_deniable(&op.call) && rng.random_bool(0.8) => End::Denied,
        End::Ok => *pick(rng, &[End::Unknown, End::Failed]),
        End::Denied | End::Failed | End::Unknown => End::Ok,
    }
}

/// Tells whether there is an answer that says no.
fn is_deniable(call: &Call) -> bool {
    !matches!(call, Call::Read(_) | Call::Write(_) | Call::Append(_))
}

fn alter(rng: &mut ChaCha8Rng, call: &mut Call) {
    match call {
        Call::Acquire {
            read,
            permits,
            lease,
            token,
        } => {
            *read = *read && rng.random_bool(0.5);
            *permits = 1;
            *lease = lease.map(|lease| lease + rng.random_range(0..2) * 2 * DRIFT);
            *token = token.map(|token| (token + rng.random_range(0..3)).saturating_sub(1));
        }
        Call::Renew { lease, .. } => *lease = lease.map(|lease| lease + 2),
        Call::Release { read, .. } => *read = *read && rng.random_bool(0.5),
        Call::Read(Seen::Value(value)) => *value = Some(rng.random_range(0..3)),
        Call::Read(Seen::List(list)) => {
            if rng.random_bool(0.5) {
                list.pop();
            } else if !list.is_empty() {
                list.rotate_left(1);
            }
        }
        Call::Cas(_, value) | Call::Write(value) | Call::Append(value) => {
            *value = rng.random_range(0..3);
        }
    }
}

fn pick<'a, T>(rng: &mut impl Rng, choices: &'a [T]) -> &'a T {
    &choices[rng.random_range(0..choices.len())]
}
