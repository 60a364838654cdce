//! The lock that a scenario names.

use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Mode, Name};
use lockstorm_scenarios::{Lock as Spec, with_every_lock};
use tokio::time::Instant;

use crate::adapter::{Loss, Remote, Told};
use crate::locks::{
    self, BatchRenewal, Grant, Lock, LockContext, LockRequest, Outcome, Provenance, Released,
    WaitEnd, Waiting,
};

macro_rules! any_lock {
    ($(
        $(#[doc = $summary:literal])+
        $word:literal => $Lock:ident($Options:ident) on $topologies:ident,
            sends [$($command:literal),*], has [$($feature:ident),*],
            promises [$($promise:ident),*], eras [$($era:ident),*];
    )*) => {
        /// Any of the locks.
        ///
        /// An enum rather than a trait object: the futures of a boxed lock are allocated for each
        /// call, and that alone cost a tenth of the cycles that the server can do.
        #[expect(clippy::large_enum_variant, reason = "there is one to a client")]
        pub enum AnyLock {
            $(
                $(#[doc = $summary])+
                $Lock(locks::$Lock),
            )*
            /// Any of them, or the lock of a library, in a process of its own: see [`Remote`].
            Remote(Box<Remote>),
        }

        /// Calls the same method on whatever lock it is.
        macro_rules! each {
            ($any:expr, $lock:ident => $call:expr) => {
                match $any {
                    $(AnyLock::$Lock($lock) => $call,)*
                    AnyLock::Remote($lock) => $call,
                }
            };
        }

        impl AnyLock {
            /// One client's side of the lock that `spec` names; `None` where it is a library's,
            /// which only its adapter has.
            pub fn new(spec: &Spec, mut context: LockContext) -> Option<Self> {
                // A mistake made on purpose may be to send something else.
                if spec.mutant().is_none() {
                    context.dialer.commands = spec.kind().commands();
                }
                match spec {
                    $(Spec::$Lock(options) => {
                        Some(Self::$Lock(locks::$Lock::new(options, context)))
                    })*
                    Spec::Adapter(_) => None,
                }
            }
        }
    };
}

with_every_lock!(any_lock);

impl Lock for AnyLock {
    async fn connect(&mut self) {
        each!(self, lock => lock.connect().await);
    }

    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        each!(self, lock => lock.acquire(key, ask).await)
    }

    async fn renew(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        each!(self, lock => lock.renew(key, ask).await)
    }

    async fn release(&mut self, key: &str, ask: LockRequest) -> Outcome<Released> {
        each!(self, lock => lock.release(key, ask).await)
    }
}

impl BatchRenewal for AnyLock {
    fn renewal_batch(&self) -> usize {
        each!(self, lock => lock.renewal_batch())
    }

    async fn renew_batch(&mut self, leases: &[(Name, LockRequest)]) -> Vec<Outcome<Grant>> {
        each!(self, lock => lock.renew_batch(leases).await)
    }
}

impl Waiting for AnyLock {
    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        each!(self, lock => lock.await_turn(key, pause, deadline).await);
    }

    fn has_queue(&self) -> bool {
        each!(self, lock => lock.has_queue())
    }

    fn queued(&mut self, key: &str) -> bool {
        each!(self, lock => lock.queued(key))
    }

    async fn end_wait(&mut self, key: &str, end: WaitEnd) {
        each!(self, lock => lock.end_wait(key, end).await);
    }

    fn doubt(&mut self, key: &str) -> Option<String> {
        each!(self, lock => lock.doubt(key))
    }

    fn waits(&self) -> bool {
        each!(self, lock => lock.waits())
    }
}

impl Provenance for AnyLock {
    fn granted_by(&self) -> Vec<Name> {
        each!(self, lock => lock.granted_by())
    }

    fn marks(&self, key: &str) -> Vec<String> {
        each!(self, lock => lock.marks(key))
    }
}

/// Questions for the process that a client may be. A client that is a task lives where the harness
/// lives: it has nothing else to tell.
impl AnyLock {
    /// Tells whether the client is a process of its own.
    pub const fn is_program(&self) -> bool {
        matches!(self, Self::Remote(_))
    }

    /// The process of the client, if it is one.
    fn remote(&mut self) -> Option<&mut Remote> {
        match self {
            Self::Remote(remote) => Some(remote),
            _ => None,
        }
    }

    /// Asks whether the client is there to change what `key` guards: done if so.
    pub async fn touch(&mut self, key: &str) -> Outcome<()> {
        match self.remote() {
            Some(remote) => remote.touch(key).await,
            None => Outcome::Done(()),
        }
    }

    /// Asks whether the client goes on as the holder of `key`; denied means that it was told
    /// otherwise.
    pub async fn alive(&mut self, key: &str, ask: LockRequest) -> Outcome<()> {
        match self.remote() {
            Some(remote) => remote.alive(key, ask).await,
            None => Outcome::Done(()),
        }
    }

    /// Returns the time at which the last outcome was known, where that was before now; once.
    pub fn answered(&mut self) -> Option<Nanos> {
        self.remote().and_then(Remote::answered)
    }

    /// Returns the locks that the client was told, without asking, that it has lost; each once.
    /// A client that is a task learns of them `now`, when it is asked.
    pub fn lost(&mut self, now: Nanos) -> Vec<Loss> {
        let lost = match self {
            Self::Remote(remote) => return remote.lost(),
            Self::MysqlGetLock(lock) => lock.lost(),
            Self::PostgresAdvisory(lock) => lock.lost(),
            Self::PostgresAdvisoryXact(lock) => lock.lost(),
            _ => Vec::new(),
        };
        let told = lost.into_iter().map(|key| Loss {
            key,
            mode: Mode::Write,
            told: Told::Lost,
            noticed: Some(now),
        });
        told.collect()
    }
}
