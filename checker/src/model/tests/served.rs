//! Longer histories, as a simulated lock serves them; now and then an acquire is answered wrongly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::events::{Deed, Script, history};
use crate::history::{Event, Mode};

/// Parameters of the histories.
#[derive(Clone, Copy)]
pub(super) struct Service {
    /// So many may hold it at a time; one, if it knows readers.
    pub(super) permits: usize,
    pub(super) has_readers: bool,
    pub(super) has_leases: bool,
    /// Probability that a call has no answer.
    pub(super) crashes: f64,
    /// Probability that an acquire is answered wrongly.
    pub(super) lies: f64,
    pub(super) owners: usize,
    pub(super) deeds: usize,
    /// The longest time between two steps of an owner.
    pub(super) pause: u64,
}

#[derive(Clone, Copy)]
struct Held {
    owner: usize,
    mode: Mode,
    until: u64,
}

struct Lock {
    service: Service,
    held: Vec<Held>,
}

impl Lock {
    fn expire(&mut self, now: u64) {
        self.held.retain(|held| held.until > now);
    }

    fn acquire(&mut self, owner: usize, mode: Mode, until: u64) -> bool {
        let writes = self.held.iter().any(|held| held.mode == Mode::Write);
        let is_free = if self.service.has_readers {
            self.held.is_empty() || (mode == Mode::Read && !writes)
        } else {
            self.held.len() < self.service.permits
        };
        if is_free {
            self.held.push(Held { owner, mode, until });
        }
        is_free
    }

    fn release(&mut self, owner: usize) -> bool {
        let before = self.held.len();
        self.held.retain(|held| held.owner != owner);
        self.held.len() < before
    }
}

/// Belief of an owner, and the time at which it sent the call that is to take effect.
#[derive(Clone, Copy)]
struct Client {
    holds: bool,
    /// `true` if it was wrongly told that it holds.
    lied_to: bool,
    sent: u64,
    done: usize,
}

/// A random history.
pub(super) fn served(rng: &mut ChaCha8Rng, service: Service) -> Vec<Event> {
    let mut lock = Lock {
        service,
        held: Vec::new(),
    };
    let mut scripts = vec![Script::new(); service.owners];
    let mut clients = vec![
        Client {
            holds: false,
            lied_to: false,
            sent: 0,
            done: 0
        };
        service.owners
    ];
    // When the call of an owner takes effect.
    let mut queue = BinaryHeap::new();
    for (owner, client) in clients.iter_mut().enumerate() {
        client.sent = rng.random_range(0..=service.pause);
        queue.push(Reverse((
            client.sent + rng.random_range(0..=service.pause),
            owner,
        )));
    }
    while let Some(Reverse((now, owner))) = queue.pop() {
        lock.expire(now);
        let client = &mut clients[owner];
        let mode = if service.has_readers && rng.random_bool(0.6) {
            Mode::Read
        } else {
            Mode::Write
        };
        let length = (service.has_leases && rng.random_bool(0.6)).then(|| rng.random_range(1..9));
        let is_lost = rng.random_bool(service.crashes);
        let takes_effect = !is_lost || rng.random_bool(0.5);
        let is_lie = rng.random_bool(service.lies);
        let deed = if client.holds {
            let gone = takes_effect && lock.release(owner);
            client.holds = false;
            match (is_lost, gone || client.lied_to) {
                (true, _) => Deed::MayBeReleased,
                (false, true) => Deed::Released,
                (false, false) => Deed::NotOwner,
            }
        } else {
            let until = length.map_or(u64::MAX, |length| now + length);
            let granted = takes_effect && lock.acquire(owner, mode, until);
            match (is_lost, granted != is_lie) {
                (true, _) => Deed::AskedFor(mode, length),
                (false, true) => {
                    client.holds = true;
                    client.lied_to = is_lie;
                    Deed::Granted(mode, length)
                }
                (false, false) => Deed::Refused(mode),
            }
        };
        let answered = now + rng.random_range(0..=service.pause);
        scripts[owner].push((deed, client.sent, answered));
        client.done += 1;
        // Who got no answer to an acquire is heard of no more: its hold goes on without it.
        if client.done < service.deeds && !matches!(deed, Deed::AskedFor(..)) {
            let at_once = rng.random_bool(0.002);
            client.sent = answered
                + if at_once {
                    0
                } else {
                    rng.random_range(1..=service.pause)
                };
            queue.push(Reverse((
                client.sent + rng.random_range(0..=service.pause),
                owner,
            )));
        }
    }
    history(&scripts.iter().collect::<Vec<_>>())
}
