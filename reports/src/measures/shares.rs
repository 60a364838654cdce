//! Shares of the clients in the locks: how often, for how long, and after what wait.

use std::collections::BTreeMap;

use crate::trace::{Answer, Trace};

/// Clients that a report tells of; further ones are counted.
const CLIENTS_MAX: usize = 50;

/// Share of one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) client: String,
    pub(crate) acquires: u64,
    pub(crate) grants: u64,
    /// The longest time from the sending of an acquire to its end, in nanoseconds, whatever the
    /// answer was.
    pub(crate) longest_wait: u64,
    /// For how long it acted as a holder, in nanoseconds.
    pub(crate) held: u64,
}

/// The shares of all clients.
pub(crate) struct Shares {
    /// By name; numbers at the end of a name count as numbers.
    pub(crate) told: Vec<Share>,
    /// Number of clients in all.
    pub(crate) clients: usize,
    pub(crate) grants: u64,
    /// The longest wait of all, in nanoseconds.
    pub(crate) longest_wait: u64,
}

impl Shares {
    /// `None` for a run in which nobody asked for a lock.
    pub(crate) fn of(trace: &Trace) -> Option<Self> {
        let mut of_client: BTreeMap<(usize, &str), Share> = BTreeMap::new();
        for request in &trace.requests {
            let name = &*request.client;
            let share = of_client.entry((name.len(), name)).or_default();
            share.acquires += 1;
            share.grants += u64::from(request.answer == Answer::Granted);
            let waited = (request.ended - request.invoked).0;
            share.longest_wait = share.longest_wait.max(waited);
        }
        for hold in &trace.holds {
            let name = &*hold.client;
            let share = of_client.entry((name.len(), name)).or_default();
            share.held += (hold.believed_to.min(trace.end) - hold.granted).0;
        }
        let clients = of_client.len();
        let grants = of_client.values().map(|share| share.grants).sum();
        let longest_wait = of_client.values().map(|share| share.longest_wait).max()?;
        let named = of_client.into_iter().map(|((_, name), share)| Share {
            client: name.to_owned(),
            ..share
        });
        Some(Self {
            told: named.take(CLIENTS_MAX).collect(),
            clients,
            grants,
            longest_wait,
        })
    }

    /// Says so where clients are left out.
    pub(crate) fn note(&self) -> Option<String> {
        let (told, clients) = (self.told.len(), self.clients);
        (told < clients).then(|| format!("Showing only the first {told} of {clients} clients."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_client_has_its_grants_its_longest_wait_and_its_time() {
        let trace = sample::failover_trace();
        let shares = Shares::of(&trace).unwrap();
        let of: Vec<(&str, u64, u64)> = shares
            .told
            .iter()
            .map(|share| (share.client.as_str(), share.acquires, share.grants))
            .collect();
        assert_eq!(of, [("a", 1, 1), ("b", 1, 1), ("c", 3, 1)]);
        let of_c = trace.requests.iter().filter(|r| *r.client == *"c");
        let longest = of_c.map(|r| (r.ended - r.invoked).0).max();
        assert_eq!(Some(shares.told[2].longest_wait), longest);
        assert!(shares.told[0].held > 0);
        assert_eq!((shares.grants, shares.note()), (3, None));
    }

    #[test]
    fn clients_beyond_the_limit_are_counted_and_names_go_by_number() {
        let mut trace = sample::failover_trace();
        let request = trace.requests[0].clone();
        trace.requests = (0..60)
            .rev()
            .map(|n| crate::trace::Request {
                client: format!("c{n}").into(),
                ..request.clone()
            })
            .collect();
        trace.holds.clear();
        let shares = Shares::of(&trace).unwrap();
        assert_eq!(shares.told[10].client, "c10");
        let note = shares.note().unwrap();
        assert_eq!(note, "Showing only the first 50 of 60 clients.");
    }
}
