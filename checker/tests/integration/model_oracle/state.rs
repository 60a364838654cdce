//! The models, written anew from the definitions: state, operation → the states after it.
//!
//! An operation that the model does not allow leads nowhere; one that may be read in several ways
//! leads to several states.

use crate::model_oracle::ops::{Call, DRIFT, End, Op, Seen};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    Mutex,
    OwnerAware,
    /// With the most that one owner may enter.
    Reentrant(u32),
    Fenced,
    ReentrantFenced,
    Semaphore(u32),
    ReadWrite,
    Register,
    CasRegister,
    /// A failed compare-and-set tells nothing.
    CasRegisterDropFailed,
    Append,
}

impl Model {
    pub(crate) const ALL: [Self; 12] = [
        Self::Mutex,
        Self::OwnerAware,
        Self::Reentrant(2),
        Self::Reentrant(u32::MAX),
        Self::Fenced,
        Self::ReentrantFenced,
        Self::Semaphore(2),
        Self::ReadWrite,
        Self::Register,
        Self::CasRegister,
        Self::CasRegisterDropFailed,
        Self::Append,
    ];

    /// As on the command line.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Mutex => "mutex".to_owned(),
            Self::OwnerAware => "owner-aware".to_owned(),
            Self::Reentrant(u32::MAX) => "reentrant".to_owned(),
            Self::Reentrant(limit) => format!("reentrant:{limit}"),
            Self::Fenced => "fenced".to_owned(),
            Self::ReentrantFenced => "reentrant-fenced".to_owned(),
            Self::Semaphore(permits) => format!("semaphore:{permits}"),
            Self::ReadWrite => "read-write".to_owned(),
            Self::Register => "register".to_owned(),
            Self::CasRegister => "cas-register".to_owned(),
            Self::CasRegisterDropFailed => "cas-register:drop-failed".to_owned(),
            Self::Append => "append".to_owned(),
        }
    }

    pub(crate) fn is_lock(self) -> bool {
        match self {
            Self::Register | Self::CasRegister | Self::CasRegisterDropFailed | Self::Append => {
                false
            }
            Self::Mutex
            | Self::OwnerAware
            | Self::Reentrant(_)
            | Self::Fenced
            | Self::ReentrantFenced
            | Self::Semaphore(_)
            | Self::ReadWrite => true,
        }
    }

    pub(crate) fn is_fenced(self) -> bool {
        matches!(self, Self::Fenced | Self::ReentrantFenced)
    }

    fn limit(self) -> u32 {
        match self {
            Self::Reentrant(limit) => limit,
            Self::ReentrantFenced => u32::MAX,
            _ => 1,
        }
    }
}

/// One owner's share of the lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Grip {
    pub(crate) owner: u8,
    read: bool,
    permits: u32,
    count: u32,
    token: Option<u64>,
    /// The service may not drop it before.
    pub(crate) floor: u64,
    /// The service has dropped it by then.
    pub(crate) ceiling: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// True if leases are read in favour of the service wherever they may be.
    pub(crate) is_lenient: bool,
    pub(crate) grips: Vec<Grip>,
    pub(crate) token_max: u64,
    pub(crate) value: Option<u8>,
    pub(crate) list: Vec<u8>,
}

impl State {
    /// The states that `op` leads to with its outcome; without one, as if it had succeeded.
    /// `ceiling` is when the lease that it gives has certainly run out.
    pub(crate) fn after(&self, model: Model, op: &Op, ceiling: u64) -> Vec<Self> {
        if op.end != End::Denied {
            return self.done(model, op, ceiling);
        }
        // One lock in two modes may be two for who gives back.
        if let (Model::ReadWrite, Call::Renew { read, .. } | Call::Release { read, .. }) =
            (model, &op.call)
        {
            let holds = self.held_by(model, op.owner, *read) > 0;
            return if holds { vec![] } else { vec![self.clone()] };
        }
        let mut asked = op.clone();
        if let Call::Acquire { token, .. } = &mut asked.call {
            *token = None;
        }
        if self.done(model, &asked, ceiling).is_empty() {
            vec![self.clone()]
        } else {
            vec![]
        }
    }

    fn done(&self, model: Model, op: &Op, ceiling: u64) -> Vec<Self> {
        let mut next = self.clone();
        match &op.call {
            &Call::Acquire { lease, token, .. } => {
                let floor = lease.map_or(u64::MAX, |lease| (op.inv + lease).saturating_sub(DRIFT));
                // What nobody was told is unknown.
                let token = token.filter(|&token| token > 0 && op.end == End::Ok);
                return self.granted(model, op, (floor, ceiling), token);
            }
            &Call::Renew { read, lease } => {
                let read = self.mode(op.owner, read);
                if self.held_by(model, op.owner, read) == 0 {
                    return vec![];
                }
                for grip in &mut next.grips {
                    if let Some(lease) = lease.filter(|_| grip.is_of(model, op.owner, read)) {
                        let floor = (op.inv + lease).saturating_sub(DRIFT);
                        grip.extend(floor, ceiling, self.is_lenient);
                    }
                }
            }
            &Call::Release { read, permits } => {
                return self.released(model, op, self.mode(op.owner, read), permits);
            }
            Call::Read(Seen::Value(seen)) if *seen != self.value => return vec![],
            Call::Read(Seen::List(seen)) if *seen != self.list => return vec![],
            Call::Cas(expected, _) if *expected != self.value => return vec![],
            Call::Read(_) => {}
            Call::Write(value) | Call::Cas(_, value) => next.value = Some(*value),
            Call::Append(value) => next.list.push(*value),
        }
        vec![next]
    }

    /// In which mode an owner holds: the named one, or else the one that it has.
    fn mode(&self, owner: u8, named: bool) -> bool {
        let own = || self.grips.iter().filter(|grip| grip.owner == owner);
        let has = own().any(|grip| grip.read == named);
        if has {
            named
        } else {
            own().any(|grip| grip.read)
        }
    }

    /// Permits, or entries, of one owner.
    fn held_by(&self, model: Model, owner: u8, read: bool) -> u32 {
        let own = |grip: &&Grip| grip.is_of(model, owner, read);
        self.grips.iter().filter(own).map(|grip| grip.permits).sum()
    }

    fn granted(
        &self,
        model: Model,
        op: &Op,
        (floor, ceiling): (u64, u64),
        token: Option<u64>,
    ) -> Vec<Self> {
        let Call::Acquire { read, permits, .. } = op.call else {
            return vec![];
        };
        let mut next = self.clone();
        let may_again = |grip: &&mut Grip| match model {
            Model::ReadWrite => read && grip.read,
            _ => grip.count < model.limit(),
        };
        let is_free_to_read = self
            .grips
            .iter()
            .all(|grip| grip.read || grip.owner == op.owner);
        let again = next
            .grips
            .iter_mut()
            .filter(|grip| grip.owner == op.owner)
            .find(may_again);
        if let Some(grip) = again.filter(|_| model != Model::ReadWrite || is_free_to_read) {
            // The same grant once more: the same token.
            let fits = match (token, grip.token) {
                (Some(token), Some(current)) => token == current,
                (Some(token), None) => token > self.token_max,
                (None, _) => true,
            };
            if model.is_fenced() && !fits {
                return vec![];
            }
            grip.count += 1;
            grip.token = grip.token.or(token.filter(|_| model.is_fenced()));
            grip.extend(floor, ceiling, self.is_lenient);
            next.token_max = next.token_max.max(grip.token.unwrap_or(0));
            return vec![next];
        }
        let is_free = match model {
            Model::Semaphore(limit) => {
                self.grips.iter().map(|grip| grip.permits).sum::<u32>() + permits <= limit
            }
            Model::ReadWrite if read => {
                let in_the_way = |grip: &Grip| !grip.read && grip.owner != op.owner;
                !self.grips.iter().any(in_the_way)
            }
            _ => self.grips.is_empty(),
        };
        let token = token.filter(|_| model.is_fenced());
        if !is_free || token.is_some_and(|token| token <= self.token_max) {
            return vec![];
        }
        next.token_max = next.token_max.max(token.unwrap_or(0));
        next.grips.push(Grip {
            owner: op.owner,
            read: read && model == Model::ReadWrite,
            permits,
            count: 1,
            token,
            floor,
            ceiling,
        });
        vec![next]
    }

    fn released(&self, model: Model, op: &Op, read: bool, permits: u32) -> Vec<Self> {
        let mut all = Vec::new();
        for (position, grip) in self.grips.iter().enumerate() {
            if !grip.is_of(model, op.owner, read) {
                continue;
            }
            let mut next = self.clone();
            let grip = &mut next.grips[position];
            match model {
                Model::Semaphore(_) if grip.permits < permits => continue,
                Model::Semaphore(_) => grip.permits -= permits,
                _ => grip.count -= 1,
            }
            if grip.count == 0 || grip.permits == 0 {
                next.grips.remove(position);
            }
            all.push(next);
        }
        // Permits of several grants may be given back at once.
        if let Model::Semaphore(_) = model
            && all.is_empty()
            && permits > 0
            && self.held_by(model, op.owner, read) >= permits
        {
            let mut next = self.clone();
            let mut left = permits;
            for grip in &mut next.grips {
                if grip.owner == op.owner {
                    let part = grip.permits.min(left);
                    grip.permits -= part;
                    left -= part;
                }
            }
            next.grips.retain(|grip| grip.permits > 0);
            all.push(next);
        }
        all
    }
}

impl Grip {
    /// Of two leases the one that ends later counts; which one that is, may be unclear.
    fn extend(&mut self, floor: u64, ceiling: u64, is_lenient: bool) {
        self.ceiling = self.ceiling.max(ceiling);
        self.floor = if is_lenient {
            self.floor.min(floor)
        } else {
            self.floor.max(floor)
        };
    }

    /// Tells whether a renewal or release of `owner` is about it.
    fn is_of(&self, model: Model, owner: u8, read: bool) -> bool {
        match model {
            Model::Mutex => true,
            Model::ReadWrite => self.owner == owner && self.read == read,
            _ => self.owner == owner,
        }
    }
}
