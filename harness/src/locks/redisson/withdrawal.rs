//! Requests for a lock of which too few replicas know: withdrawn, and sent once more.
//!
//! A newer Redisson takes back whatever the request has done, also where it was a refusal, pauses,
//! and asks again; an older one leaves it as it is, and says that it failed.
//! Source: `ServiceManager.execute` and `CommandAsyncService.handleNoSync` of 4.7.0,
//! `RedissonBaseLock.evalWriteAsync` of 3.17.0.

use redis::{Cmd, Value};

use super::instance::{Instance, too_few_replicas};
use crate::connection::CallError;
use crate::locks::lock::LockRequest;

/// Measures of a newer Redisson against a request of which too few replicas know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// None: its caller is told that it failed.
    LeavesIt,
    /// It takes back what the request has done.
    Withdraws,
    /// It takes that back, and asks again.
    AsksAgain,
}

/// Lock that withdraws what too few replicas know of.
pub trait Withdraws {
    /// The thread of Redisson that asks.
    fn instance(&mut self) -> &mut Instance;

    /// Takes back what a request for `key` may have done.
    ///
    /// # Errors
    ///
    /// As for any command; a withdrawal that failed is not tried again.
    async fn withdraw(&mut self, key: &str, ask: LockRequest) -> Result<(), CallError>;

    /// Measure that it takes in an era that withdraws anything.
    fn remedy(&self) -> Remedy {
        Remedy::AsksAgain
    }

    /// Asks for `key` by `command`, until as many replicas as must know of the reply.
    ///
    /// # Errors
    ///
    /// [`CallError::Unknown`] where too few replicas have acknowledged the last reply.
    async fn ask(
        &mut self,
        command: &Cmd,
        key: &str,
        ask: LockRequest,
    ) -> Result<Value, CallError> {
        let mut already = 0;
        loop {
            let synced = self.instance().call_synced(command).await?;
            if synced.enough {
                return Ok(synced.reply);
            }
            let era = self.instance().era();
            let remedy = self.remedy();
            if !era.withdraws() || remedy == Remedy::LeavesIt {
                return Err(too_few_replicas("left as it is"));
            }
            if let Err(CallError::Killed) = self.withdraw(key, ask).await {
                return Err(CallError::Killed);
            }
            if already == era.retry_attempts() || remedy == Remedy::Withdraws {
                return Err(too_few_replicas("withdrawn"));
            }
            already += 1;
            self.instance().pause_before_retry(already).await;
        }
    }
}
