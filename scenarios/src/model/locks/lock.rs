//! Lock that a scenario tests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adapter::Adapter;
use super::etcd_lock::EtcdLock;
use super::etcd_mutex::EtcdMutex;
use super::fair::Fair;
use super::kind::LockKind;
use super::mysql_get_lock::MysqlGetLock;
use super::mysql_unique_index::MysqlUniqueIndex;
use super::no_lock::NoLock;
use super::options::{LockOptions, OptionMistake};
use super::permits::Permits;
use super::plain_del::PlainDel;
use super::postgres_advisory::PostgresAdvisory;
use super::postgres_advisory_xact::PostgresAdvisoryXact;
use super::postgres_row_lease::PostgresRowLease;
use super::redisson::Redisson;
use super::redlock::Redlock;
use super::semaphore::Semaphore;
use super::setnx::Setnx;
use super::token::Token;
use super::token_wait::TokenWait;
use super::zookeeper_mutex::ZookeeperMutex;
use crate::model::duration::{DurationRange, DurationSpec};
use crate::model::era::Era;
use crate::model::mutant::Mutant;
use crate::model::promise::Promise;
use crate::model::sync::Sync;
use crate::with_every_lock;

macro_rules! lock {
    ($(
        $(#[doc = $summary:literal])+
        $word:literal => $Lock:ident($Options:ident) on $topologies:ident,
            sends [$($command:literal),*], has [$($feature:ident),*],
            promises [$($promise:ident),*], eras [$($era:ident),*];
    )*) => {
        /// The lock under test, as `lock.<kind> = { ... }`.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Lock {
            $(
                $(#[doc = $summary])+
                #[serde(rename = $word)]
                $Lock($Options),
            )*
            /// The lock of a library, driven by a program that speaks the adapter protocol.
            #[serde(rename = "adapter")]
            Adapter(Adapter),
        }

        impl Lock {
            /// Without options.
            pub const fn kind(&self) -> LockKind {
                match self {
                    $(Self::$Lock(_) => LockKind::$Lock,)*
                    Self::Adapter(_) => LockKind::Adapter,
                }
            }

            fn options(&self) -> &dyn LockOptions {
                match self {
                    $(Self::$Lock(options) => options,)*
                    Self::Adapter(options) => options,
                }
            }

            fn options_mut(&mut self) -> &mut dyn LockOptions {
                match self {
                    $(Self::$Lock(options) => options,)*
                    Self::Adapter(options) => options,
                }
            }
        }
    };
}

with_every_lock!(lock);

/// Time that an answer may take where dead masters are tried again, one after the other.
const DEAD_MASTERS_TAKE: DurationSpec = DurationSpec::from_secs(60);

impl Lock {
    /// See [`LockOptions::lease`].
    pub fn lease(&self) -> Option<DurationSpec> {
        self.options().lease()
    }

    /// Promises that it makes beyond those of every lock, in the order of reports.
    pub fn extra_promises(&self) -> Vec<Promise> {
        let (of_kind, of_options) = (self.kind().promises(), self.options().promises());
        let is_made = |promise: &Promise| of_kind.contains(promise) || of_options.contains(promise);
        Promise::ALL.into_iter().filter(is_made).collect()
    }

    /// Tells whether it has permits, of which several may be held. A library says so by its
    /// promise, or by their number.
    pub fn is_semaphore(&self) -> bool {
        self.extra_promises().contains(&Promise::Permits) || self.permits() != 1
    }

    /// Tells whether readers may share it. A library says so by its promise.
    pub fn knows_readers(&self) -> bool {
        self.extra_promises().contains(&Promise::SharedReaders)
    }

    /// Everything that it promises, in the order of reports. A semaphore promises `permits` where
    /// other locks promise `exclusive`.
    pub fn promises(&self) -> Vec<Promise> {
        let extra = self.extra_promises();
        let denied = self.options().denies();
        let of_every_lock = |promise: &Promise| {
            let counts = *promise == Promise::Exclusive && self.is_semaphore();
            Promise::OF_EVERY_LOCK.contains(promise) && !counts && !denied.contains(promise)
        };
        let is_made = |promise: &Promise| of_every_lock(promise) || extra.contains(promise);
        Promise::ALL.into_iter().filter(is_made).collect()
    }

    /// Takes the lease that a situation asks for.
    ///
    /// # Errors
    /// In words, why the lock has no such lease.
    pub fn take_lease(&mut self, lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        self.options_mut().take_lease(lease, renewed)
    }

    /// See [`LockOptions::take_threads`].
    ///
    /// # Errors
    /// In words, why they cannot.
    pub fn take_threads(&mut self, threads: u32) -> Result<(), &'static str> {
        self.options_mut().take_threads(threads)
    }

    /// See [`LockOptions::limit_sync_timeout`].
    pub fn limit_sync_timeout(&mut self, most: DurationSpec) {
        self.options_mut().limit_sync_timeout(most);
    }

    /// See [`LockOptions::take_node_timeout`].
    pub fn take_node_timeout(&mut self, timeout: DurationSpec) {
        self.options_mut().take_node_timeout(timeout);
    }

    /// See [`LockOptions::take_permits`].
    pub fn take_permits(&mut self, permits: u32) {
        self.options_mut().take_permits(permits);
    }

    /// See [`LockOptions::renew_every`].
    pub fn renew_every(&self) -> Option<DurationSpec> {
        self.options().renew_every()
    }

    /// See [`LockOptions::answers_within`].
    pub fn answers_within(&self) -> Option<DurationSpec> {
        match self {
            Self::RedissonMulti(_) | Self::RedissonRed(_) => Some(DEAD_MASTERS_TAKE),
            other => other.options().answers_within(),
        }
    }

    /// See [`LockOptions::node_timeout`].
    pub fn node_timeout(&self) -> Option<DurationSpec> {
        self.options().node_timeout()
    }

    /// See [`LockOptions::retry_delay`].
    pub fn retry_delay(&self) -> Option<DurationRange> {
        self.options().retry_delay()
    }

    /// See [`LockOptions::sync`].
    pub fn sync(&self) -> Option<Sync> {
        self.options().sync()
    }

    /// See [`LockOptions::era`].
    pub fn era(&self) -> Option<Era> {
        self.options().era()
    }

    /// See [`LockOptions::threads`].
    pub fn threads(&self) -> u32 {
        self.options().threads()
    }

    /// See [`LockOptions::permits`].
    pub fn permits(&self) -> u32 {
        self.options().permits()
    }

    /// See [`LockOptions::mistakes`].
    pub fn mistakes(&self) -> Vec<OptionMistake> {
        self.options().mistakes()
    }

    /// See [`LockOptions::mutant`].
    pub fn mutant(&self) -> Option<Mutant> {
        self.options().mutant()
    }

    /// Returns this lock with this mistake, where it can have one.
    #[must_use]
    pub fn with_mutant(mut self, mutant: Mutant) -> Self {
        if let Some(place) = self.options_mut().mutant_mut() {
            *place = Some(mutant);
        }
        self
    }

    /// Tells whether it lives in a program of its own, so that its clients are always processes.
    pub const fn is_foreign(&self) -> bool {
        matches!(self, Self::Adapter(_))
    }

    /// Name in reports: the kind (for an adapter, the name of the library), with its era if it
    /// is not the newest, how many threads share an instance if they do, ` + renewal` where the
    /// lease is extended, and the mistake that it makes.
    pub fn label(&self) -> String {
        self.labelled(self.renew_every().is_some())
    }

    /// Name in reports that says nothing of renewal: for a lock that is put into situations with
    /// it and without.
    pub fn bare_label(&self) -> String {
        self.labelled(false)
    }

    fn labelled(&self, renewal: bool) -> String {
        let mut label = match self {
            Self::Adapter(adapter) => adapter.name.clone(),
            own => own.kind().name().to_owned(),
        };
        if let Some(era) = self.era().filter(|&era| era != Era::default()) {
            label = format!("{label} {}", era.name());
        }
        if self.threads() > 1 {
            label = format!("{label} x {} threads", self.threads());
        }
        if renewal {
            label.push_str(" + renewal");
        }
        if let Some(mutant) = self.mutant() {
            label.push_str(" + mutant ");
            label.push_str(mutant.name());
        }
        label
    }
}
