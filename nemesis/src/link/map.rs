//! Map of addresses, and the links between them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use super::link::Link;
use crate::mutex::lock;

/// Names of addresses, and the links between names.
#[derive(Default)]
pub(crate) struct Map {
    names: Mutex<HashMap<IpAddr, String>>,
    links: Mutex<HashMap<(String, String), Arc<Link>>>,
}

impl Map {
    /// Says whose address `ip` is.
    pub(crate) fn introduce(&self, name: &str, ip: IpAddr) {
        lock(&self.names).insert(ip, name.to_owned());
    }

    /// Returns the name of the one whose address `ip` is; `None` if nobody was introduced with it.
    pub(crate) fn name_of(&self, ip: IpAddr) -> Option<String> {
        lock(&self.names).get(&ip).cloned()
    }

    /// The addresses that a name was introduced with.
    pub(crate) fn addresses_of(&self, name: &str) -> Vec<IpAddr> {
        let names = lock(&self.names);
        let own = names.iter().filter(|(_, known)| *known == name);
        own.map(|(ip, _)| *ip).collect()
    }

    /// The link from one address to another; `None` unless both are somebody's.
    pub(crate) fn link_between(&self, from: IpAddr, to: IpAddr) -> Option<Arc<Link>> {
        Some(self.link(&self.name_of(from)?, &self.name_of(to)?))
    }

    /// The link from one name to another; it comes into being when first asked for.
    pub(crate) fn link(&self, from: &str, to: &str) -> Arc<Link> {
        let mut links = lock(&self.links);
        let ends = (from.to_owned(), to.to_owned());
        Arc::clone(links.entry(ends).or_default())
    }
}
