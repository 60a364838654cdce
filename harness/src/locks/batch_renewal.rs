//! Renewal of several leases at once.

use lockstorm_checker::history::Name;

use super::lock::{Grant, Lock, LockRequest, Outcome};

/// Renewal of several leases with one command. The default renews one after the other.
pub trait BatchRenewal: Lock {
    /// Number of leases that `renew_batch` takes at most.
    fn renewal_batch(&self) -> usize {
        1
    }

    /// Extends several leases; returns an outcome for each, in order.
    fn renew_batch(
        &mut self,
        leases: &[(Name, LockRequest)],
    ) -> impl Future<Output = Vec<Outcome<Grant>>> + Send {
        async move {
            let mut outcomes = Vec::with_capacity(leases.len());
            for (key, ask) in leases {
                outcomes.push(self.renew(key, *ask).await);
            }
            outcomes
        }
    }
}
