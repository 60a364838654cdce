//! SIGKILL of a server, or SIGTERM (see [`stop`](super::stop)). It comes back with what its
//! persistence kept.

use async_trait::async_trait;
use lockstorm_checker::history::DataLoss;
use lockstorm_scenarios::{self as scenarios, Memory};

use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{answers, entries, live_processes};
use crate::process::{Members, ProcessState, Processes};

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
    /// Its processes before the kill, by their first one and all of them.
    processes: Option<(Processes, Members)>,
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
            processes: None,
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
        let processes = live_processes(on, &self.node, action)?;
        self.processes = Some((processes, processes.now()));
        self.had = entries(on, &self.node).await;
        self.led = on.writable().await.contains(&self.node);
        match self.how {
            How::AtOnce => on.kill(&self.node).await,
            How::InOrder => processes.end().map_err(|error| FaultError::Node {
                action,
                node: self.node.clone(),
                reason: format!("SIGTERM of process {}: {}", processes.main(), error.desc()),
            }),
        }
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let (_, members) = (self.processes.as_ref()).expect("observed after it was injected");
        let ended = members.words();
        if members.state() != ProcessState::Gone {
            return Sighting::NotYet(format!("{ended} is still there"));
        }
        // One that ended by itself waits for its burial.
        if self.how == How::InOrder
            && let Err(error) = on.kill(&self.node).await
        {
            return Sighting::NotYet(error.to_string());
        }
        let asked = match on.server(&self.node) {
            Ok(server) => server.greeting(),
            Err(error) => return Sighting::Never(error.to_string()),
        };
        if answers(on, &self.node).await {
            return Sighting::NotYet(format!("it still answers {asked}"));
        }
        Sighting::seen(format!("{ended} is gone and {asked} gets no answer"))
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        if let Some(processes) = on.processes(&self.node) {
            return Ok(format!("runs as process {}", processes.main()).into());
        }
        // A second primary beside the promoted one would be a fault of its own.
        let leaders = on.writable().await;
        if self.led && !on.rejoins() && !leaders.contains(&self.node) {
            let leaders = leaders.join(", ");
            return Ok(format!("stays dead: {leaders} has taken its place").into());
        }
        on.start(&self.node, Memory::Kept).await?;
        if self.had != Some(0) && on.server(&self.node)?.keeps_nothing().await {
            let words = "started, and answers again; its persistence keeps nothing";
            return Ok(Evidence::from(words).with_loss(Some(DataLoss::All)));
        }
        Ok("started, and answers again".into())
    }

    fn overtaken(&self, on: &dyn Deployment) -> Option<Evidence> {
        let now = on.processes(&self.node)?;
        let before = self.processes.as_ref().map(|(before, _)| *before);
        (before != Some(now)).then(|| format!("runs again as process {}", now.main()).into())
    }
}
