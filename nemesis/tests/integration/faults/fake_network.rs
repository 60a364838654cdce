//! The links of the deployment in memory, and the rules that are laid on them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use lockstorm_nemesis::{LinkGuard, Network, Slowness};
use lockstorm_scenarios::CutMode;

use crate::faults::fake::Fake;

#[derive(Default)]
pub(super) struct Links {
    pub(super) cuts: Vec<(String, String)>,
    held_back: BTreeMap<(String, String), u64>,
    slow: Vec<(String, String)>,
    slowed: BTreeMap<(String, String), u64>,
    pub(super) inert: bool,
}

impl Links {
    pub(super) fn send(&mut self, from: &str, to: &str, bytes: u64) -> bool {
        let link = (from.to_owned(), to.to_owned());
        let cut = self.cuts.contains(&link) && !self.inert;
        if cut {
            *self.held_back.entry(link).or_default() += bytes;
        } else if self.slow.contains(&link) && !self.inert {
            *self.slowed.entry(link).or_default() += bytes;
        }
        !cut
    }
}

/// Lays a rule on a link, kept in the list that `rules` finds, until it is dropped.
fn lay(
    links: &Arc<Mutex<Links>>,
    (from, to): (&str, &str),
    rules: fn(&mut Links) -> &mut Vec<(String, String)>,
) -> LinkGuard {
    let link = (from.to_owned(), to.to_owned());
    rules(&mut links.lock().unwrap()).push(link.clone());
    let links = Arc::clone(links);
    LinkGuard::new(move || {
        let mut links = links.lock().unwrap();
        let rules = rules(&mut links);
        let at = rules.iter().position(|rule| *rule == link).unwrap();
        rules.remove(at);
    })
}

impl Network for Fake {
    fn cut(&self, from: &str, to: &str, _mode: CutMode) -> LinkGuard {
        lay(&self.links, (from, to), |links| &mut links.cuts)
    }

    fn slow(&self, from: &str, to: &str, _slowness: Slowness) -> LinkGuard {
        lay(&self.links, (from, to), |links| &mut links.slow)
    }

    fn slowed(&self, from: &str, to: &str) -> u64 {
        let link = (from.to_owned(), to.to_owned());
        let links = self.links.lock().unwrap();
        links.slowed.get(&link).copied().unwrap_or_default()
    }

    fn held_back(&self, from: &str, to: &str) -> u64 {
        let link = (from.to_owned(), to.to_owned());
        let links = self.links.lock().unwrap();
        links.held_back.get(&link).copied().unwrap_or_default()
    }
}
