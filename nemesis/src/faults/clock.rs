//! The wall clock of a server jumps, drifts or stands still; that of a client is beside this file.
//!
//! A server's TIME before the fault, and the time that has passed on our clock since, say what it
//! would tell without the fault and what with it. Each question takes a while, so both are spans;
//! the effect is proved when TIME lies in the one and not in the other.

use std::ops::RangeInclusive;
use std::time::Duration;

use async_trait::async_trait;
use lockstorm_scenarios as scenarios;
use tokio::time::{Instant, timeout};

use super::client_clock::ClientClock;
use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::machines::{self, Machines};
use crate::probe::{comes_true, live_processes};

impl Kind for scenarios::Clock {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        let nanos = |span: Option<scenarios::DurationSpec>| {
            let nanos = span.unwrap_or_default().0.as_nanos();
            i64::try_from(nanos).unwrap_or(i64::MAX)
        };
        let wrong = machines::Clock {
            jump_ns: nanos(self.forward) - nanos(self.back),
            speed_percent: self.speed.unwrap_or(100),
        };
        if let Some(client) = self.client {
            return Box::new(ClientClock::new(client, wrong));
        }
        Box::new(Clock {
            wrong,
            // Without either there is no node of this name either, and the injection says so.
            node: self.node.unwrap_or_default(),
            before: None,
            set: None,
        })
    }
}

/// Error that a server may round off, and by which our clock and the system's may differ.
const SLACK_MICROS: i64 = 5_000;

/// Time for which the nemesis waits for a server that is asked for the time before its clock is set
/// right.
const LAST_WITHIN: Duration = Duration::from_millis(100);

struct Clock {
    node: String,
    wrong: machines::Clock,
    /// Answer of the server before.
    before: Option<Sample>,
    /// When the clock was set, between these two times.
    set: Option<(Instant, Instant)>,
}

/// A server's TIME, asked and answered between two times of ours.
#[derive(Clone, Copy)]
struct Sample {
    asked: Instant,
    answered: Instant,
    micros: i64,
}

impl Sample {
    async fn take(on: &dyn Deployment, node: &str) -> Result<Self, FaultError> {
        let asked = Instant::now();
        let micros = on.server(node)?.clock_us().await?;
        Ok(Self {
            asked,
            answered: Instant::now(),
            micros,
        })
    }
}

/// Microseconds from `start` to `end`, which are monotonic.
fn micros(start: Instant, end: Instant) -> i64 {
    i64::try_from(end.saturating_duration_since(start).as_micros()).unwrap_or(i64::MAX)
}

impl Clock {
    fn machines<'d>(&self, on: &'d dyn Deployment) -> Result<&'d dyn Machines, FaultError> {
        on.machines().ok_or_else(|| FaultError::NoShim {
            action: "set the clock of",
            node: self.node.clone(),
        })
    }

    /// Asks the server shortly before its clock is set right. One that is dead or stands still says
    /// nothing, and its clock is set right all the same.
    async fn last_sample(&self, on: &dyn Deployment) -> Option<Sample> {
        let sample = Sample::take(on, &self.node);
        timeout(LAST_WITHIN, sample).await.ok()?.ok()
    }

    /// Returns the answers to TIME of a clock that is right.
    fn right(&self, now: Sample) -> RangeInclusive<i64> {
        let before = self.before.expect("asked after it was injected");
        let least = before.micros + micros(before.answered, now.asked);
        let most = before.micros + micros(before.asked, now.answered);
        least - SLACK_MICROS..=most + SLACK_MICROS
    }

    /// Returns the answers to TIME of a clock that is wrong as it should be.
    fn wrong(&self, now: Sample) -> RangeInclusive<i64> {
        let before = self.before.expect("asked after it was injected");
        let (set_from, set_to) = self.set.expect("asked after it was injected");
        let speed = i64::from(self.wrong.speed_percent);
        let jump = self.wrong.jump_ns / 1000;
        let gone = |micros: i64| micros * speed / 100;
        let least = micros(before.answered, set_from) + gone(micros(set_to, now.asked));
        let most = micros(before.asked, set_to) + gone(micros(set_from, now.answered));
        let start = before.micros + jump;
        start + least - SLACK_MICROS..=start + most + SLACK_MICROS
    }
}

/// How far TIME is from the true time, in microseconds.
fn deviation(now: Sample, right: &RangeInclusive<i64>) -> i64 {
    now.micros - i64::midpoint(*right.start(), *right.end())
}

/// Says a deviation in words.
fn told(deviation: i64) -> String {
    match deviation / 1000 {
        0 => "TIME is right".to_owned(),
        ahead @ 1.. => format!("TIME is {ahead} ms ahead"),
        behind => format!("TIME is {} ms behind", -behind),
    }
}

#[async_trait]
impl Fault for Clock {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let machines = self.machines(on)?;
        live_processes(on, &self.node, "set the clock of")?;
        if !machines.clock_is_right(&self.node)? {
            return Err(FaultError::Node {
                action: "set the clock of",
                node: self.node.clone(),
                reason: "it is wrong already; end that first".to_owned(),
            });
        }
        self.before = Some(Sample::take(on, &self.node).await?);
        let from = Instant::now();
        machines.set_clock(&self.node, Some(self.wrong))?;
        self.set = Some((from, Instant::now()));
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        let now = match Sample::take(on, &self.node).await {
            Ok(now) => now,
            Err(error) => return Sighting::NotYet(error.to_string()),
        };
        let (right, wrong) = (self.right(now), self.wrong(now));
        let off = deviation(now, &right);
        let says = told(off);
        if wrong.contains(&now.micros) && !right.contains(&now.micros) {
            let speed = self.wrong.speed_percent;
            let words = format!("{says}, set to go at {speed} % of the true speed");
            Sighting::Seen(Evidence::from(words).with_offset(off.saturating_mul(1000)))
        } else {
            Sighting::NotYet(says)
        }
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        let last = self.last_sample(on).await;
        self.machines(on)?.set_clock(&self.node, None)?;
        if !on.lives(&self.node) {
            return Ok("set right; its server is dead".into());
        }
        let this = &*self;
        let is_right = || async {
            let now = Sample::take(on, &this.node).await;
            now.is_ok_and(|now| this.right(now).contains(&now.micros))
        };
        if comes_true(is_right).await {
            let evidence = Evidence::from("TIME is right again");
            Ok(match last {
                Some(last) => {
                    let off = deviation(last, &self.right(last));
                    evidence.with_offset(off.saturating_mul(1000))
                }
                None => evidence,
            })
        } else {
            Err(FaultError::Node {
                action: "set right the clock of",
                node: self.node.clone(),
                reason: "TIME is still wrong, or gets no answer".to_owned(),
            })
        }
    }
}
