//! A client: takes the lock, works, renews, gives it back; in doubt it does something sensible.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::mutation::plan::{Lock, MS, Plan, Work, floor};
use crate::mutation::record::Op;
use crate::mutation::service::{Ask, Reply};

/// Next step of a client.
pub(crate) enum Step {
    Send {
        key: usize,
        ask: Ask,
        token: Option<u64>,
    },
    Sleep(u64),
    /// It says that it has lost the lock.
    Lost(usize),
    Stop,
}

/// Hold that a client believes to have.
#[derive(Clone, Debug)]
struct Session {
    key: usize,
    read: bool,
    permits: u32,
    token: Option<u64>,
    depth: u32,
    /// It must have let go by then.
    floor: u64,
    /// Reading that a writer does besides.
    inner: Inner,
    /// The number that it read.
    read_value: Option<u64>,
}

/// Hold of a writer on the side of the readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inner {
    Nothing,
    /// Its acquire had no answer.
    Doubt,
    /// It reads too, and must have let go by then.
    Until(u64),
}

impl Session {
    /// When the first lease of it may end.
    fn first_floor(&self) -> u64 {
        match self.inner {
            Inner::Until(floor) => floor.min(self.floor),
            Inner::Nothing | Inner::Doubt => self.floor,
        }
    }
}

pub(crate) struct Client {
    number: usize,
    /// How often it had to take another name.
    life: u32,
    process: u64,
    session: Option<Session>,
    /// Counts sessions, so that an alarm of an old one is known.
    sessions: u32,
    /// The key that it may hold, for all it knows.
    doubts: Option<(usize, bool, u32)>,
    /// Permits that it asked for last.
    permits: u32,
    /// It asks about what it may hold.
    is_cleaning: bool,
    /// Numbers for the values that it appends.
    appended: u64,
    /// A client of the final phase: its key, and until when it tries.
    last: Option<(usize, u64)>,
    is_done: bool,
}

impl Client {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            number,
            life: 0,
            process: number as u64,
            session: None,
            sessions: 0,
            doubts: None,
            permits: 1,
            is_cleaning: false,
            appended: 0,
            last: None,
            is_done: false,
        }
    }

    pub(crate) fn last(number: usize, key: usize, until: u64) -> Self {
        Self {
            last: Some((key, until)),
            ..Self::new(number)
        }
    }

    pub(crate) fn is_last(&self) -> bool {
        self.last.is_some()
    }

    /// Owner and process.
    pub(crate) fn identity(&self) -> (String, u64) {
        let owner = format!("c{}.{}", self.number, self.life);
        (owner, self.process)
    }

    /// Dies, and comes back as somebody else.
    pub(crate) fn crash(&mut self) -> bool {
        if self.is_last() {
            return false;
        }
        self.rename();
        true
    }

    fn rename(&mut self) {
        self.life += 1;
        self.process += 100;
        self.session = None;
        self.doubts = None;
        self.sessions += 1;
    }

    pub(crate) fn step(&mut self, plan: &Plan, now: u64, rng: &mut ChaCha8Rng) -> Step {
        if let Some((key, until)) = self.last {
            return self.last_step(plan, key, until, now);
        }
        match self.session.clone() {
            Some(session) => self.work(plan, &session, now, rng),
            None => self.begin(plan, now, rng),
        }
    }

    /// Tries until it was granted once.
    fn last_step(&mut self, plan: &Plan, key: usize, until: u64, now: u64) -> Step {
        if let Some(session) = &self.session {
            self.is_done = true;
            let ask = Ask::Release {
                read: false,
                permits: session.permits,
            };
            return Step::Send {
                key,
                ask,
                token: None,
            };
        }
        if self.is_done || now > until {
            return Step::Stop;
        }
        let ask = Ask::Acquire {
            read: false,
            permits: 1,
            lease: plan.lease,
        };
        Step::Send {
            key,
            ask,
            token: None,
        }
    }

    fn begin(&mut self, plan: &Plan, now: u64, rng: &mut ChaCha8Rng) -> Step {
        if let Some((key, read, permits)) = self.doubts.take() {
            // What it may hold it gives back, or shows that it has it.
            let ask = match rng.random_range(0..3) {
                0 => Some(Ask::Renew {
                    read,
                    lease: plan.lease,
                }),
                1 => Some(Ask::Release { read, permits }),
                _ => None,
            };
            if let Some(ask) = ask {
                self.is_cleaning = true;
                return Step::Send {
                    key,
                    ask,
                    token: None,
                };
            }
        }
        if now > plan.end {
            return Step::Stop;
        }
        if rng.random_bool(0.2) {
            return Step::Sleep(rng.random_range(0..20 * MS));
        }
        let key = rng.random_range(0..plan.keys);
        let read = plan.lock == Lock::ReadWrite && rng.random_bool(0.6);
        let permits = match plan.lock {
            Lock::Semaphore(_) => rng.random_range(1..=2),
            Lock::Plain | Lock::Reentrant | Lock::ReadWrite | Lock::Fair => 1,
        };
        // Now and then it gives back what it does not have.
        let ask = if rng.random_bool(0.06) {
            Ask::Release { read, permits }
        } else {
            Ask::Acquire {
                read,
                permits,
                lease: plan.lease,
            }
        };
        Step::Send {
            key,
            ask,
            token: None,
        }
    }

    fn work(&mut self, plan: &Plan, session: &Session, now: u64, rng: &mut ChaCha8Rng) -> Step {
        let &Session {
            key,
            read,
            permits,
            token,
            ..
        } = session;
        let send = |ask: Ask, token: Option<u64>| Step::Send { key, ask, token };
        if !plan.sloppy && now >= session.first_floor() {
            self.session = None;
            return Step::Lost(key);
        }
        let over = now > plan.end;
        // Who reads besides leaves either side first, and is not sure that it reads where it had no
        // answer.
        let inner = match session.inner {
            Inner::Nothing => false,
            Inner::Doubt => rng.random_bool(0.3),
            Inner::Until(_) => rng.random_bool(0.5),
        };
        if over || rng.random_bool(0.3) {
            let read = read || inner;
            return send(Ask::Release { read, permits }, None);
        }
        let may_read = plan.lock == Lock::ReadWrite && !read && session.inner == Inner::Nothing;
        if may_read && rng.random_bool(0.4) {
            let lease = plan.lease;
            let ask = Ask::Acquire {
                read: true,
                permits,
                lease,
            };
            return send(ask, None);
        }
        if plan.lock == Lock::Reentrant && session.depth < 3 && rng.random_bool(0.3) {
            return send(
                Ask::Acquire {
                    read,
                    permits,
                    lease: plan.lease,
                },
                None,
            );
        }
        if plan.lease.is_some() && rng.random_bool(0.3) {
            return send(
                Ask::Renew {
                    read: read || inner,
                    lease: plan.lease,
                },
                None,
            );
        }
        match (plan.work, session.read_value) {
            // Only who knows its token may work.
            _ if token.is_none() => Step::Sleep(rng.random_range(0..10 * MS)),
            (Work::Count, None) => send(Ask::Read, token),
            (Work::Count, Some(value)) => {
                if let Some(session) = &mut self.session {
                    session.read_value = None;
                }
                send(Ask::Write(value + 1), token)
            }
            (Work::Append, _) if rng.random_bool(0.5) => send(Ask::List, token),
            (Work::Append, _) => {
                self.appended += 1;
                let unique = self.number as u64 * 1_000_000 + self.appended;
                send(Ask::Append(unique), token)
            }
            (Work::Nothing, _) => Step::Sleep(rng.random_range(0..10 * MS)),
        }
    }

    /// Takes note of a request: a release counts at once, whatever the answer.
    pub(crate) fn sent(&mut self, ask: Ask) {
        if let Ask::Acquire { permits, .. } = ask {
            self.permits = permits;
        }
        if let (Ask::Release { read, .. }, Some(session)) = (ask, &mut self.session) {
            match session.inner {
                Inner::Doubt | Inner::Until(_) if read => {
                    session.inner = Inner::Nothing;
                    return;
                }
                // It goes on to read.
                Inner::Until(floor) => {
                    (session.read, session.floor) = (true, floor);
                    session.inner = Inner::Nothing;
                    return;
                }
                Inner::Nothing | Inner::Doubt => {}
            }
            session.depth -= 1;
            session.read_value = None;
            if session.depth == 0 {
                self.session = None;
            }
        }
    }

    /// The answer to an operation.
    pub(crate) fn learn(&mut self, op: &Op) {
        let floor = floor(op.inv, op.lease());
        match (op.ask, op.answer.as_ref().map(|(_, reply)| reply)) {
            (Ask::Acquire { read, permits, .. }, Some(Reply::Granted { token, .. })) => {
                match &mut self.session {
                    Some(session) if read && !session.read => session.inner = Inner::Until(floor),
                    Some(session) => {
                        session.depth += 1;
                        session.floor = session.floor.max(floor);
                    }
                    None => self.start(op.key, (read, permits), *token, floor),
                }
            }
            (Ask::Renew { read, .. }, Some(Reply::Done { .. })) => match &mut self.session {
                Some(session) if read && !session.read => {
                    let longer = match session.inner {
                        Inner::Until(before) => floor.max(before),
                        Inner::Nothing | Inner::Doubt => floor,
                    };
                    session.inner = Inner::Until(longer);
                }
                Some(session) => session.floor = session.floor.max(floor),
                None => self.start(op.key, (read, self.permits), None, floor),
            },
            (Ask::Renew { read, .. }, Some(Reply::NotOwner)) if self.is_left_with(read) => {}
            (Ask::Read, Some(Reply::Value(value))) => {
                if let Some(session) = &mut self.session {
                    session.read_value = Some(*value);
                }
            }
            (Ask::Renew { .. }, Some(_)) | (_, Some(Reply::Stale)) => self.session = None,
            _ => {}
        }
        if std::mem::take(&mut self.is_cleaning) && self.session.is_none() {
            self.rename();
        }
    }

    /// When its lease may be at its end, if it minds: of two, the first.
    pub(crate) fn lets_go_at(&self, plan: &Plan) -> Option<(u64, u32)> {
        let floor = self.session.as_ref()?.first_floor();
        (!plan.sloppy && floor < u64::MAX).then_some((floor, self.sessions))
    }

    /// Tells whether it still has something when it was told that it does not write, or read.
    fn is_left_with(&mut self, read: bool) -> bool {
        let Some(session) = &mut self.session else {
            return false;
        };
        match session.inner {
            Inner::Doubt | Inner::Until(_) if read && !session.read => {}
            Inner::Until(floor) if !read => (session.read, session.floor) = (true, floor),
            Inner::Nothing | Inner::Doubt | Inner::Until(_) => return false,
        }
        session.inner = Inner::Nothing;
        true
    }

    fn start(&mut self, key: usize, mode: (bool, u32), token: Option<u64>, floor: u64) {
        self.sessions += 1;
        self.session = Some(Session {
            key,
            read: mode.0,
            permits: mode.1,
            token,
            depth: 1,
            floor,
            inner: Inner::Nothing,
            read_value: None,
        });
    }

    /// The lease is at its end: the key that it loses, if it still has the session.
    pub(crate) fn lets_go(&mut self, number: u32, now: u64) -> Option<usize> {
        let over = |session: &mut Session| session.first_floor() <= now;
        let ended = self
            .session
            .take_if(|session| number == self.sessions && over(session))?;
        Some(ended.key)
    }

    /// No answer came. A release that may yet take effect must not meet a later session: its owner
    /// goes on under another name, as a process does.
    pub(crate) fn doubt(&mut self, op: &Op, rng: &mut ChaCha8Rng) {
        self.process += 100;
        match (op.ask, &mut self.session) {
            (Ask::Acquire { read: true, .. }, Some(session)) if !session.read => {
                session.inner = Inner::Doubt;
            }
            (_, _) => {}
        }
        let at_work = self.session.is_some();
        match op.ask {
            _ if at_work => {}
            Ask::Acquire { read, permits, .. } if rng.random_bool(0.7) => {
                self.doubts = Some((op.key, read, permits));
            }
            Ask::Acquire { .. } | Ask::Release { .. } => self.rename(),
            Ask::Renew { .. } if self.is_cleaning => self.rename(),
            Ask::Renew { .. } | Ask::Read | Ask::Write(_) | Ask::List | Ask::Append(_) => {}
        }
        self.is_cleaning = false;
    }
}
