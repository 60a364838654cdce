//! Keeps what a client believes it holds, and when it is to be renewed.

use std::collections::BTreeMap;
use std::time::Duration;

use lockstorm_checker::history::{Mode, Name};
use tokio::time::Instant;

use super::watchdog::Watchdog;
use crate::locks::LockRequest;

/// The holds of one client: keys, each with its mode.
#[derive(Debug)]
pub struct Holds {
    held: BTreeMap<(Name, Mode), Held>,
    watchdog: Watchdog,
    /// `true` if a release leaves the renewals going: a mistake that a mutant makes.
    renews_on: bool,
}

/// A lock that a client believes to hold.
#[derive(Clone, Copy, Debug)]
struct Held {
    ask: LockRequest,
    /// Number of times that it is held.
    times: u32,
}

impl Holds {
    /// None yet; whatever comes is to be renewed this often, if at all.
    pub const fn new(renew_every: Option<Duration>, renews_on: bool) -> Self {
        Self {
            held: BTreeMap::new(),
            watchdog: Watchdog::new(renew_every),
            renews_on,
        }
    }

    /// `key` was granted once more.
    pub fn granted(&mut self, key: &Name, ask: LockRequest) {
        if self.held.is_empty() {
            self.watchdog.arm(Instant::now());
        }
        let held = self.held.entry((key.clone(), ask.mode));
        held.or_insert(Held { ask, times: 0 }).times += 1;
    }

    /// `key` is about to be given back once.
    pub fn releasing(&mut self, key: &Name, mode: Mode) {
        let place = (key.clone(), mode);
        if let Some(held) = self.held.get_mut(&place) {
            held.times = held.times.saturating_sub(1);
            if held.times == 0 && !self.renews_on {
                self.held.remove(&place);
            }
        }
    }

    /// `key` turned out to be held no more.
    pub fn gone(&mut self, key: &Name, mode: Mode) {
        self.held.remove(&(key.clone(), mode));
    }

    /// A round of the watchdog begins: which leases it has to extend.
    pub fn begin_round(&mut self) -> Vec<(Name, LockRequest)> {
        self.watchdog.arm(Instant::now());
        let places = self.held.keys();
        let renewal = |mode: &Mode| LockRequest {
            mode: *mode,
            ..LockRequest::default()
        };
        places
            .map(|(key, mode)| (key.clone(), renewal(mode)))
            .collect()
    }

    /// Returns the time at which the watchdog comes next, if there is anything for it to do.
    pub fn next_round(&self) -> Option<Instant> {
        self.watchdog.next().filter(|_| !self.held.is_empty())
    }

    /// Tells whether the client believes that it holds this key in this mode.
    pub fn has(&self, place: &(Name, Mode)) -> bool {
        self.held.get(place).is_some_and(|held| held.times > 0)
    }

    /// Returns what the client believes it holds, each key and mode once.
    pub fn believed(&self) -> Vec<(Name, LockRequest)> {
        let held = self.held.iter().filter(|(_, held)| held.times > 0);
        held.map(|((key, _), held)| (key.clone(), held.ask))
            .collect()
    }

    /// Returns what the client believes it holds, once for each time that it does.
    pub fn every_time(&self) -> Vec<(Name, LockRequest)> {
        let times = |held: &Held| held.times as usize;
        self.held
            .iter()
            .flat_map(|((key, _), held)| std::iter::repeat_n((key.clone(), held.ask), times(held)))
            .collect()
    }
}
