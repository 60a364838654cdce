//! A server is busy with one thing and answers nobody, as during a slow script. What is sent to
//! it meanwhile is executed afterwards.

use std::time::Duration;

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;
use tokio::time::{Instant, sleep_until, timeout};

use super::table::{Among, Kind};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::probe::{answers, comes_true, live, redis};

impl Kind for scenarios::Sleep {
    const ENDS: Ends = Ends::Healed;
    const AMONG: Among = Among::LiveWithData;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Sleep {
            node: self.node,
            length: self.length.0,
            sent: None,
            slept: None,
        })
    }
}

/// Time for which the run waits for the answer to DEBUG SLEEP: long enough for the command to
/// arrive, and for the silence after it to be no chance.
const SILENCE: Duration = Duration::from_millis(100);

struct Sleep {
    node: String,
    length: Duration,
    /// Time at which it was told to sleep.
    sent: Option<Instant>,
    /// Time for which it slept, if it was awake again before anyone looked.
    slept: Option<Duration>,
}

#[async_trait]
impl Fault for Sleep {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        live(on, &self.node, "put to sleep")?;
        let redis = redis(on, &self.node, "put to sleep")?;
        let seconds = self.length.as_secs_f64().to_string();
        let sent = Instant::now();
        self.sent = Some(sent);
        let told = ["DEBUG", "SLEEP", &seconds];
        // Without an answer it sleeps; an error says that it would not.
        if let Ok(answer) = timeout(SILENCE, redis.command(&told)).await {
            answer?;
            self.slept = Some(sent.elapsed());
        }
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        if let Some(slept) = self.slept {
            return if slept >= self.length {
                Sighting::seen(format!("DEBUG SLEEP was answered after {slept:?}"))
            } else {
                Sighting::Never(format!("DEBUG SLEEP was answered after {slept:?} already"))
            };
        }
        match timeout(SILENCE, answers(on, &self.node)).await {
            Ok(true) => Sighting::NotYet("it answers PING".to_owned()),
            Ok(false) | Err(_) => {
                Sighting::seen("DEBUG SLEEP and a PING after it get no answer".to_owned())
            }
        }
    }

    /// It wakes up by itself; healing is waiting.
    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        let sent = self.sent.expect("healed after it was injected");
        sleep_until(sent + self.length).await;
        if !on.lives(&self.node) {
            return Ok("the sleeping server is dead".into());
        }
        if comes_true(|| answers(on, &self.node)).await {
            Ok("it is awake and answers PING".into())
        } else {
            Err(FaultError::Node {
                action: "wake",
                node: self.node.clone(),
                reason: format!("it does not answer PING long after {:?}", self.length),
            })
        }
    }
}
