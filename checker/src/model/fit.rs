//! Reasons why a model cannot judge a history.

use crate::history::Mode;
use crate::operations::{Action, Digest, Operation};
use lockstorm_linearizability::ModelName;

/// Part of a history that the model cannot judge, with the remedy where there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("the model knows no {0}; choose the model {1}")]
    Access(&'static str, &'static str),
    #[error("the compare-and-set of event {0} is not of the form [expected, new]")]
    Cas(u64),
    #[error("acquires ask for several permits; choose the model semaphore:PERMITS")]
    Permits,
    #[error("acquires ask to read; choose the model read-write")]
    Readers,
    #[error(
        "{0} may hold leased permits or read locks several times at once: which of them a release \
         ends, and which a lease, is not said"
    )]
    Leases(String),
    #[error("how many permits the lock has is not said; write semaphore:PERMITS")]
    NoPermits,
}

/// Checks that the lock operations of a history are of a kind that the model knows.
///
/// # Errors
/// When they are not.
pub(crate) fn fits(digest: &Digest, model: ModelName) -> Result<(), Unfit> {
    let asks = |what: fn(&Operation) -> bool| {
        let mut operations = digest.operations.iter();
        operations.any(|operation| operation.action == Action::Acquire && what(operation))
    };
    let several = asks(|operation| operation.permits != 1);
    let readers = asks(|operation| operation.mode == Mode::Read);
    let counts_permits = matches!(model, ModelName::Semaphore { .. });
    let knows_readers = model == ModelName::ReadWrite;
    let is_said = digest.header.permits.is_some();
    if model == (ModelName::Semaphore { permits: None }) && !is_said {
        Err(Unfit::NoPermits)
    } else if !model.is_lock() {
        Ok(())
    } else if several && !counts_permits {
        Err(Unfit::Permits)
    } else if readers && !knows_readers {
        Err(Unfit::Readers)
    } else {
        Ok(())
    }
}
