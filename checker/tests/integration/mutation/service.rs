//! The simulated lock service, one for each key, with the resource that the lock guards.
//!
//! It keeps its promises, but for the one defect that it may be given. Times are in ticks of a
//! tenth of a millisecond.

use std::collections::VecDeque;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::mutation::plan::{Defect, Lock, drift};

/// A request, as it is sent over the network.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Position in the list of operations, where the answer goes.
    pub(crate) op: usize,
    pub(crate) owner: String,
    pub(crate) ask: Ask,
    pub(crate) token: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Acquire {
        read: bool,
        permits: u32,
        lease: Option<u64>,
    },
    Renew {
        read: bool,
        lease: Option<u64>,
    },
    Release {
        read: bool,
        permits: u32,
    },
    /// The number.
    Read,
    Write(u64),
    /// The list.
    List,
    Append(u64),
}

impl Ask {
    /// Tells whether a reader asks it.
    pub(crate) fn reads(self) -> bool {
        match self {
            Self::Acquire { read, .. } | Self::Renew { read, .. } | Self::Release { read, .. } => {
                read
            }
            Self::Read | Self::Write(_) | Self::List | Self::Append(_) => false,
        }
    }

    /// Tells whether it is about the same side of the lock.
    pub(crate) fn is_of(self, other: Self) -> bool {
        self.reads() == other.reads()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Granted {
        token: Option<u64>,
        count: Option<u32>,
    },
    Done {
        count: Option<u32>,
    },
    Refused,
    NotOwner,
    /// The resource has seen a larger token.
    Stale,
    Value(u64),
    List(Vec<u64>),
    /// The place in the queue is taken; the answer follows.
    Queued,
}

#[derive(Clone, Debug)]
struct Grip {
    owner: String,
    read: bool,
    permits: u32,
    count: u32,
    token: Option<u64>,
    expires: u64,
}

/// Values that a client writes and reads while it holds.
#[derive(Debug, Default)]
struct Resource {
    value: u64,
    list: Vec<u64>,
    token_max: u64,
}

pub(crate) struct Service {
    lock: Lock,
    defect: Option<Defect>,
    /// The operation that the defect struck, once it did.
    pub(crate) struck: Option<usize>,
    grips: Vec<Grip>,
    queue: VecDeque<Request>,
    token_last: u64,
    resource: Resource,
    is_stuck: bool,
}

/// Answers to operations, by their positions.
pub(crate) type Answers = Vec<(usize, Reply)>;

impl Service {
    pub(crate) fn new(lock: Lock, defect: Option<Defect>) -> Self {
        Self {
            lock,
            defect,
            struck: None,
            grips: Vec::new(),
            queue: VecDeque::new(),
            token_last: 0,
            resource: Resource::default(),
            is_stuck: false,
        }
    }

    /// Owners of its tokens, and when each token runs out.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = (&str, u64)> {
        self.grips.iter().map(|grip| (&*grip.owner, grip.expires))
    }

    /// When the next lease runs out.
    pub(crate) fn next_expiry(&self) -> Option<u64> {
        let ends = self.grips.iter().map(|grip| grip.expires);
        ends.min().filter(|&end| end < u64::MAX)
    }

    /// Drops what has run out, and serves the queue.
    pub(crate) fn expire(&mut self, now: u64, rng: &mut ChaCha8Rng) -> Answers {
        self.grips.retain(|grip| now < grip.expires);
        self.serve_queue(now, rng)
    }

    pub(crate) fn take(&mut self, request: Request, now: u64, rng: &mut ChaCha8Rng) -> Answers {
        let mut answers = self.expire(now, rng);
        if !self.grips.is_empty() && self.strikes(Defect::EarlyExpiry, request.op, rng) {
            self.grips.remove(0);
            answers.extend(self.serve_queue(now, rng));
        }
        let op = request.op;
        let reply = match request.ask {
            Ask::Acquire { .. } => self.acquire(request, now, rng),
            Ask::Renew { read, lease } => self.renew(&request.owner, read, lease, now, rng),
            Ask::Release { read, permits } => self.release(&request, read, permits, rng),
            Ask::Read | Ask::Write(_) | Ask::List | Ask::Append(_) => self.access(&request, rng),
        };
        answers.push((op, reply));
        answers.extend(self.serve_queue(now, rng));
        answers
    }

    /// Takes a waiting acquire out of the queue; whether it was there.
    pub(crate) fn give_up(&mut self, op: usize) -> bool {
        let before = self.queue.len();
        self.queue.retain(|waiting| waiting.op != op);
        self.queue.len() < before
    }

    /// Tells whether the defect strikes here: once, at one opportunity in three.
    fn strikes(&mut self, defect: Defect, op: usize, rng: &mut ChaCha8Rng) -> bool {
        let strikes = self.defect == Some(defect) && self.struck.is_none() && rng.random_bool(0.33);
        if strikes {
            self.struck = Some(op);
        }
        strikes
    }

    fn acquire(&mut self, request: Request, now: u64, rng: &mut ChaCha8Rng) -> Reply {
        let Ask::Acquire {
            read,
            permits,
            lease,
        } = request.ask
        else {
            return Reply::Refused;
        };
        let expires = expiry(lease, now, rng);
        if self.is_stuck {
            return Reply::Refused;
        }
        if self.lock == Lock::Reentrant
            && let Some(grip) = self
                .grips
                .iter_mut()
                .find(|grip| grip.owner == request.owner)
        {
            grip.count += 1;
            grip.expires = grip.expires.max(expires);
            return Reply::Granted {
                token: grip.token,
                count: Some(grip.count),
            };
        }
        let is_free = match self.lock {
            Lock::Plain | Lock::Reentrant | Lock::Fair => self.grips.is_empty(),
            // A writer may also read.
            Lock::ReadWrite => {
                let own = |grip: &Grip| grip.owner == request.owner;
                let shares = |grip: &Grip| read && (grip.read || own(grip));
                self.grips.iter().all(shares)
            }
            Lock::Semaphore(limit) => {
                self.grips.iter().map(|grip| grip.permits).sum::<u32>() + permits <= limit
            }
        };
        let foreign = self.grips.iter().any(|grip| grip.owner != request.owner);
        let granted = if is_free {
            !self.strikes(Defect::SpuriousRefusal, request.op, rng)
        } else {
            foreign && self.strikes(Defect::DoubleGrant, request.op, rng)
        };
        let queued = self.lock == Lock::Fair && !self.queue.is_empty();
        if granted && !queued {
            return self.grant(&request, expires, rng);
        }
        if self.lock == Lock::Fair && !is_free {
            self.queue.push_back(request);
            return Reply::Queued;
        }
        Reply::Refused
    }

    fn grant(&mut self, request: &Request, expires: u64, rng: &mut ChaCha8Rng) -> Reply {
        let Ask::Acquire { read, permits, .. } = request.ask else {
            return Reply::Refused;
        };
        let repeats = self.token_last > 0 && self.strikes(Defect::DuplicateToken, request.op, rng);
        let falls = self.token_last > 2 && self.strikes(Defect::LowerToken, request.op, rng);
        let token = if repeats {
            self.token_last
        } else if falls {
            self.token_last - 2
        } else {
            self.token_last += 1;
            self.token_last
        };
        let token = self.lock.has_tokens().then_some(token);
        self.grips.push(Grip {
            owner: request.owner.clone(),
            read,
            permits,
            count: 1,
            token,
            expires,
        });
        let count = (self.lock == Lock::Reentrant).then_some(1);
        Reply::Granted { token, count }
    }

    fn serve_queue(&mut self, now: u64, rng: &mut ChaCha8Rng) -> Answers {
        let mut answers = Vec::new();
        while self.grips.is_empty() && !self.is_stuck && !self.queue.is_empty() {
            let second = self.queue.get(1).map(|waiting| waiting.op);
            let overtakes = second.is_some_and(|op| self.strikes(Defect::Overtaking, op, rng));
            let Some(next) = self.queue.remove(usize::from(overtakes)) else {
                break;
            };
            let Ask::Acquire { lease, .. } = next.ask else {
                break;
            };
            let expires = expiry(lease, now, rng);
            answers.push((next.op, self.grant(&next, expires, rng)));
        }
        answers
    }

    /// The latest grip of an owner: an earlier one waits for the end of its lease.
    fn held(&self, owner: &str, read: bool) -> Option<usize> {
        let own = |grip: &Grip| grip.owner == owner && grip.read == read;
        self.grips.iter().rposition(own)
    }

    fn renew(
        &mut self,
        owner: &str,
        read: bool,
        lease: Option<u64>,
        now: u64,
        rng: &mut ChaCha8Rng,
    ) -> Reply {
        let Some(position) = self.held(owner, read) else {
            return Reply::NotOwner;
        };
        let grip = &mut self.grips[position];
        grip.expires = grip.expires.max(expiry(lease, now, rng));
        Reply::Done { count: None }
    }

    fn release(
        &mut self,
        request: &Request,
        read: bool,
        permits: u32,
        rng: &mut ChaCha8Rng,
    ) -> Reply {
        let own = |grip: &Grip| {
            grip.owner == request.owner && grip.read == read && grip.permits >= permits
        };
        let Some(position) = self.grips.iter().rposition(own) else {
            if !self.grips.is_empty() && self.strikes(Defect::ForeignRelease, request.op, rng) {
                self.grips.remove(0);
                return Reply::Done { count: None };
            }
            return Reply::NotOwner;
        };
        let writes = self.held(&request.owner, false).filter(|_| read);
        if let Some(writer) = writes
            && self.strikes(Defect::ReadReleaseFreesWriter, request.op, rng)
        {
            self.grips[writer].expires = 0;
        }
        let grip = &mut self.grips[position];
        grip.count -= 1;
        let left = grip.count;
        let count = (self.lock == Lock::Reentrant).then_some(left);
        let frees = left > 0 && self.strikes(Defect::PartialReleaseFrees, request.op, rng);
        let grip = &mut self.grips[position];
        if left == 0 && grip.permits == permits && self.strikes(Defect::Leftover, request.op, rng) {
            self.grips[position].expires = u64::MAX;
            self.grips[position].count = 1;
            return Reply::Done { count };
        }
        let grip = &mut self.grips[position];
        grip.permits -= if left == 0 { permits } else { 0 };
        if frees || grip.permits == 0 {
            self.grips.remove(position);
        } else if left == 0 {
            grip.count = 1;
        }
        self.grips.retain(|grip| grip.expires > 0);
        if left == 0 && self.strikes(Defect::Stuck, request.op, rng) {
            self.is_stuck = true;
        }
        Reply::Done { count }
    }

    /// The resource refuses a token smaller than one that it has seen, in a read as in a write.
    fn access(&mut self, request: &Request, rng: &mut ChaCha8Rng) -> Reply {
        let token = request.token.unwrap_or(0);
        let stale = token < self.resource.token_max;
        let writes = matches!(request.ask, Ask::Write(_) | Ask::Append(_));
        if stale && !(writes && self.strikes(Defect::StaleWrite, request.op, rng)) {
            return Reply::Stale;
        }
        self.resource.token_max = self.resource.token_max.max(token);
        match request.ask {
            Ask::Write(value) => {
                if !self.strikes(Defect::LostUpdate, request.op, rng) {
                    self.resource.value = value;
                }
                Reply::Done { count: None }
            }
            Ask::Append(value) => {
                if !self.strikes(Defect::LostUpdate, request.op, rng) {
                    self.resource.list.push(value);
                }
                if self.strikes(Defect::DoubleEffect, request.op, rng) {
                    self.resource.list.push(value);
                }
                Reply::Done { count: None }
            }
            Ask::List => Reply::List(self.resource.list.clone()),
            Ask::Read | Ask::Acquire { .. } | Ask::Renew { .. } | Ask::Release { .. } => {
                Reply::Value(self.resource.value)
            }
        }
    }
}

/// When a lease that begins now runs out, by a clock that goes wrong within the drift.
fn expiry(lease: Option<u64>, now: u64, rng: &mut ChaCha8Rng) -> u64 {
    let Some(lease) = lease else {
        return u64::MAX;
    };
    let drift = drift(lease);
    now + lease - drift + rng.random_range(0..=2 * drift)
}
