//! Options that locks have in common, and what follows from the options of any lock.

use crate::model::duration::{DurationRange, DurationSpec};
use crate::model::era::Era;
use crate::model::mutant::Mutant;
use crate::model::promise::Promise;
use crate::model::sync::Sync;

const SECOND_MS: u64 = 1000;

/// The options of one lock. The defaults are those of a lock that has no such option.
pub trait LockOptions {
    /// Time to live of a grant; `None` for a lock that never expires.
    fn lease(&self) -> Option<DurationSpec> {
        None
    }

    /// How often a held lease is extended, if at all.
    fn renew_every(&self) -> Option<DurationSpec> {
        None
    }

    /// Promises beyond what every lock promises, as far as these options say some.
    fn promises(&self) -> &[Promise] {
        &[]
    }

    /// Takes the lease that a situation asks for, renewed by the lock's own watchdog or its
    /// client's before it ends.
    ///
    /// # Errors
    /// In words, why the lock has no such lease.
    fn take_lease(&mut self, _lease: DurationSpec, renewed: bool) -> Result<(), &'static str> {
        // It stays until it is given back, whatever the lease.
        if renewed {
            return Err("it has no lease that could be renewed");
        }
        Ok(())
    }

    /// Lets so many clients share an instance, as a situation asks for.
    ///
    /// # Errors
    /// In words, why they cannot.
    fn take_threads(&mut self, _threads: u32) -> Result<(), &'static str> {
        Err("its clients are alone: none of them are threads that share one instance")
    }

    /// Takes the patience with one of several servers that a situation asks for, where the lock
    /// can be told one.
    fn take_node_timeout(&mut self, _timeout: DurationSpec) {}

    /// Waits no longer than this for replicas to acknowledge, where the lock waits for any.
    fn limit_sync_timeout(&mut self, _most: DurationSpec) {}

    /// Takes the number of permits that a situation asks for, where the lock is a semaphore.
    fn take_permits(&mut self, _permits: u32) {}

    /// Promises of every lock that these options deny.
    fn denies(&self) -> &[Promise] {
        &[]
    }

    /// Time that an answer of its program may take, beside the time that the request itself says,
    /// where the options say it.
    fn answers_within(&self) -> Option<DurationSpec> {
        None
    }

    /// Patience with one of several servers that are asked for one lock, where the options say it.
    fn node_timeout(&self) -> Option<DurationSpec> {
        None
    }

    /// Pause between two tries of a waiting acquire, where the algorithm prescribes one; else it
    /// is for the clients to choose.
    fn retry_delay(&self) -> Option<DurationRange> {
        None
    }

    /// Replicas that it asks to acknowledge a grant, where it can be asked to.
    fn sync(&self) -> Option<Sync> {
        None
    }

    /// The Redisson that it behaves like; `None` for a lock that knows no eras.
    fn era(&self) -> Option<Era> {
        None
    }

    /// Number of clients that share one Redisson instance; one for any other lock.
    fn threads(&self) -> u32 {
        1
    }

    /// Number of permits that it has in all; one for a mutex.
    fn permits(&self) -> u32 {
        1
    }

    /// Mistakes in the options of this lock alone.
    fn mistakes(&self) -> Vec<OptionMistake> {
        Vec::new()
    }

    /// The mistake that it makes on purpose, if any.
    fn mutant(&self) -> Option<Mutant> {
        None
    }

    /// The place of that mistake; `None` where nothing of ours can be done wrongly.
    fn mutant_mut(&mut self) -> Option<&mut Option<Mutant>> {
        None
    }
}

/// An option with a value that cannot be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionMistake {
    /// The option, as written in scenario files.
    pub option: &'static str,
    /// Requirement on the value, or the reason why it cannot be so.
    pub message: String,
    /// A value that can.
    pub help: &'static str,
}

/// How often a watchdog comes that keeps leases of `watchdog`; never where there is a lease.
pub(super) fn watch(lease: Option<DurationSpec>, watchdog: DurationSpec) -> Option<DurationSpec> {
    lease.is_none().then(|| third(watchdog))
}

/// How often a lease is renewed: so that one renewal may fail, and the next still comes in time.
pub(super) fn third(lease: DurationSpec) -> DurationSpec {
    DurationSpec::from_millis(lease.as_millis() / 3)
}

/// Takes a lease of a system that counts them in whole seconds.
pub(super) fn takes_whole_seconds(lease: DurationSpec) -> Result<(), &'static str> {
    let ms = lease.as_millis();
    if ms > 0 && ms.is_multiple_of(SECOND_MS) {
        Ok(())
    } else {
        Err("etcd counts leases in whole seconds")
    }
}

/// The mistake of a lease that is not of whole seconds.
pub(super) fn judge_whole_seconds(lease: DurationSpec) -> Option<OptionMistake> {
    let why = takes_whole_seconds(lease).err()?;
    Some(OptionMistake {
        option: "lease",
        message: format!("{why}, and not {lease}"),
        help: "take whole seconds, such as \"3s\"",
    })
}

pub(super) const fn default_lease() -> DurationSpec {
    DurationSpec::from_secs(2)
}

pub(super) const fn default_permits() -> u32 {
    2
}

pub(super) const fn default_sync_timeout() -> DurationSpec {
    DurationSpec::from_secs(1)
}

/// A client that dies takes only itself along.
pub(super) const fn default_threads() -> u32 {
    1
}

pub(super) const fn default_watchdog() -> DurationSpec {
    DurationSpec::from_secs(30)
}
