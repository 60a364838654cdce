//! SIGKILL of a server, or SIGTERM (see [`stop`](super::stop)). It comes back with what its
//! persistence kept.

use async_trait::async_trait;
use lockstorm_checker::history::DataLoss;
use lockstorm_scenarios::{self as scenarios, Memory};
use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{answers, keeps_nothing, keys, live_pid};
use crate::process::{ProcessState, process_state};

impl Kind for scenarios::Kill {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(End::new(self.node, How::AtOnce))
    }
}

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// SIGKILL: nothing is left to say or to save.
    AtOnce,
    /// SIGTERM: it saves what its persistence is for, tells its replicas and closes.
    InOrder,
}

/// The end of a server.
pub(super) struct End {
    node: String,
    how: How,
    /// Its process before the kill.
    pid: Option<i32>,
    /// True if it took writes: if another node does so when it is healed, it was replaced.
    led: bool,
    /// Number of keys that it had before, if it could tell.
    had: Option<u64>,
}

impl End {
    pub(super) fn new(node: String, how: How) -> Self {
        Self {
            node,
            how,
            pid: None,
            led: false,
            had: None,
        }
    }
}

#[async_trait]
impl Fault for End {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let action = match self.how {
            How::AtOnce => "kill",
            How::InOrder => "stop",
        };
        let pid = live_pid(on, &self.node, action)?;
        self.pid = Some(pid);
        self.had = keys(on, &self.node).await;
        self.led = on.writable().await.contains(&self.node);
        match self.how {
            How::AtOnce => on.kill(&self.node).await,
            How::InOrder => signal::kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(|error| {
                FaultError::Node {
                    action,
                    node: self.node.clone(),
                    reason: format!("SIGTERM of process {pid}: {}", error.desc()),
                }
            }),
        }
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let pid = self.pid.expect("observed after it was injected");
        if process_state(pid) != ProcessState::Gone {
            return Sighting::NotYet(format!("process {pid} is still there"));
        }
        // One that ended by itself waits for its burial.
        if self.how == How::InOrder
            && let Err(error) = on.kill(&self.node).await
        {
            return Sighting::NotYet(error.to_string());
        }
        if answers(on, &self.node).await {
            return Sighting::NotYet("it still answers PING".to_owned());
        }
        Sighting::seen(format!("process {pid} is gone and PING gets no answer"))
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        if let Some(pid) = on.pid(&self.node) {
            return Ok(format!("runs as process {pid}").into());
        }
        // A second primary beside the promoted one would be a fault of its own.
        let leaders = on.writable().await;
        if self.led && !on.rejoins() && !leaders.contains(&self.node) {
            let leaders = leaders.join(", ");
            return Ok(format!("stays dead: {leaders} has taken its place").into());
        }
        on.start(&self.node, Memory::Kept).await?;
        if self.had != Some(0) && keeps_nothing(on, &self.node).await {
            let words = "started, and answers again; its persistence keeps nothing";
            return Ok(Evidence::from(words).with_loss(Some(DataLoss::All)));
        }
        Ok("started, and answers again".into())
    }

    fn overtaken(&self, on: &dyn Deployment) -> Option<Evidence> {
        let pid = on.pid(&self.node)?;
        (self.pid != Some(pid)).then(|| format!("runs again as process {pid}").into())
    }
}
