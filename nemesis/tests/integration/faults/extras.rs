//! Parts of a fake node beside its keys: scripts, connections, attention, clock and disk.

use std::collections::BTreeSet;
use std::time::Duration;

use lockstorm_nemesis::{Clock, FaultError, Machines, Readings};
use tokio::time::Instant;

use crate::faults::fake::{Fake, World, refusal};

pub(crate) struct Extras {
    pub(crate) scripts: u32,
    pub(crate) connections: BTreeSet<u32>,
    /// Those of the run, where others use the server as well.
    pub(crate) ours: Option<BTreeSet<u32>>,
    started: Instant,
    clock: Option<Clock>,
    readings: Readings,
    asleep_until: Option<Instant>,
    busy: bool,
    writes_wait_until: Option<Instant>,
    slow: bool,
    syncs_slowed: u64,
}

impl Default for Extras {
    fn default() -> Self {
        Self {
            scripts: 0,
            connections: BTreeSet::new(),
            ours: None,
            started: Instant::now(),
            clock: None,
            readings: Readings::default(),
            asleep_until: None,
            busy: false,
            writes_wait_until: None,
            slow: false,
            syncs_slowed: 0,
        }
    }
}

impl Extras {
    pub(crate) fn is_asleep(&self) -> bool {
        self.asleep_until
            .is_some_and(|until| Instant::now() < until)
    }

    /// Tells whether a script runs that does not end.
    pub(crate) const fn is_busy(&self) -> bool {
        self.busy
    }

    /// A client looks at its clock.
    pub(crate) fn look_at_the_clock(&mut self) {
        if let Some(clock) = self.clock {
            self.readings.count += 1;
            self.readings.ahead_ns = clock.jump_ns;
        }
    }

    pub(crate) fn puts_off_writes(&self) -> bool {
        self.writes_wait_until
            .is_some_and(|until| Instant::now() < until)
    }

    /// A file is synchronised.
    pub(crate) fn sync(&mut self) {
        self.syncs_slowed += u64::from(self.slow);
    }

    fn time(&self) -> String {
        let jump = self.clock.map_or(0, |clock| clock.jump_ns / 1000);
        let gone = i64::try_from(self.started.elapsed().as_micros()).unwrap();
        let micros = 1_000_000_000_000_000 + gone + jump;
        format!("{}\n{}", micros / 1_000_000, micros % 1_000_000)
    }

    fn connections(&self) -> String {
        let line = |id: &u32| format!("id={id} addr=127.0.0.1:{id} cmd=get\n");
        self.connections.iter().map(line).collect()
    }
}

impl World {
    /// The reply to a command on what a node has beside its keys; `None` if it is on something
    /// else, or the node sleeps.
    pub(crate) fn extra_reply(&self, node: &str, args: &[&str]) -> Option<String> {
        self.pid(node)?;
        let effective = |call: &str| !self.is_inert(call);
        let (sleep, flush, kill) = (effective("sleep"), effective("flush"), effective("close"));
        let busy = effective("busy");
        let pause = effective("pause-commands");
        self.extras(node, |extras| {
            match args {
                _ if extras.is_asleep() => return None,
                ["SCRIPT", "KILL"] => extras.busy = false,
                _ if extras.busy => return None,
                ["CONFIG", "GET", name] => return Some(format!("{name}\n5000")),
                ["EVAL", ..] if busy => {
                    extras.busy = true;
                    return None;
                }
                ["TIME"] => return Some(extras.time()),
                ["CLIENT", "LIST", ..] => return Some(extras.connections()),
                ["SCRIPT", "EXISTS", _] => return Some(u8::from(extras.scripts > 0).to_string()),
                ["DEBUG", "SLEEP", seconds] if sleep => {
                    let length = Duration::from_secs_f64(seconds.parse().unwrap());
                    extras.asleep_until = Some(Instant::now() + length);
                    // The reply comes only afterwards.
                    return None;
                }
                ["CLIENT", "PAUSE", length_ms, mode] if pause => {
                    let until = Instant::now() + Duration::from_millis(length_ms.parse().unwrap());
                    match *mode {
                        "ALL" => extras.asleep_until = Some(until),
                        _ => extras.writes_wait_until = Some(until),
                    }
                }
                ["CLIENT", "UNPAUSE"] => extras.writes_wait_until = None,
                ["SCRIPT", "LOAD", _] => extras.scripts += 1,
                ["SCRIPT", "FLUSH", "SYNC"] if flush => extras.scripts = 0,
                ["CLIENT", "KILL", "ID", id] if kill => {
                    extras.connections.remove(&id.parse().unwrap());
                }
                ["SCRIPT" | "CLIENT" | "DEBUG" | "CONFIG" | "EVAL", ..] => {}
                _ => return None,
            }
            Some("OK".to_owned())
        })
    }
}

impl Machines for Fake {
    fn set_clock(&self, node: &str, clock: Option<Clock>) -> Result<(), FaultError> {
        if !self.is_inert("clock") {
            self.extras(node, |extras| extras.clock = clock);
        }
        Ok(())
    }

    fn wrong_readings(&self, name: &str) -> Result<Readings, FaultError> {
        Ok(self.extras(name, |extras| extras.readings))
    }

    fn clock_is_right(&self, node: &str) -> Result<bool, FaultError> {
        Ok(self.extras(node, |extras| extras.clock.is_none()))
    }

    fn slow_syncs(&self, node: &str, by: Duration) -> Result<(), FaultError> {
        if !self.is_inert("slow") {
            self.extras(node, |extras| extras.slow = !by.is_zero());
        }
        Ok(())
    }

    fn syncs_slowed(&self, node: &str) -> Result<u64, FaultError> {
        Ok(self.extras(node, |extras| extras.syncs_slowed))
    }

    fn lose_unsynced(&self, node: &str) -> Result<u64, FaultError> {
        if self.is_inert("lose") {
            return Err(refusal("cut the files of", node, "its disk is gone"));
        }
        Ok(self.lose_keys(node) as u64)
    }
}
