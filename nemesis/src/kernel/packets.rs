//! The network of real packets, as faults see it.

use std::io;
use std::net::IpAddr;
use std::process::Stdio;
use std::sync::Arc;

use lockstorm_scenarios::CutMode;

use super::namespace::{Namespace, NamespaceError, QUEUE, command};
use super::post::Post;
use super::queue::Queue;
use crate::link::Map;
use crate::network::{LinkGuard, Loss, Network, Packets, Reordering, Slowness};

/// The links of a run, in the namespace of this process; the module docs tell how it works.
/// Dropping it leaves every link as it is without it.
pub struct Kernel {
    map: Arc<Map>,
    _post: Post,
}

impl Kernel {
    /// Takes charge of all packets in the namespace. There is one at a time.
    ///
    /// # Errors
    /// When this kernel hands no packets over.
    pub fn open(_inside: Namespace) -> Result<Self, NamespaceError> {
        let map = Arc::new(Map::default());
        let post = Queue::open(QUEUE).and_then(|queue| Post::start(queue, Arc::clone(&map)));
        Ok(Self {
            map,
            _post: post.map_err(NamespaceError::Queue)?,
        })
    }

    /// Says whose address `ip` is: packets from there are `name`'s from now on. Those of who was
    /// not introduced are left alone.
    pub fn introduce(&self, name: &str, ip: IpAddr) {
        self.map.introduce(name, ip);
    }

    /// Resets the connections that are there already, whoever opened them: the firewall only meets
    /// those that speak.
    fn reset(&self, from: &str, to: &str) -> io::Result<u64> {
        let mut count = 0;
        for from in self.map.addresses_of(from) {
            for to in self.map.addresses_of(to) {
                let mut sockets = command("ss");
                sockets.args(["--kill", "--tcp", "--numeric", "--no-header"]);
                sockets.args(["src", &from.to_string(), "dst", &to.to_string()]);
                let output = sockets.stdin(Stdio::null()).output()?;
                let lines = output.stdout.split(|&byte| byte == b'\n');
                count += lines.filter(|line| !line.is_empty()).count() as u64;
            }
        }
        Ok(count)
    }
}

impl Network for Kernel {
    fn cut(&self, from: &str, to: &str, mode: CutMode) -> LinkGuard {
        let link = self.map.link(from, to);
        let guard = link.cut(mode);
        if mode == CutMode::Reset {
            // Where that fails, connections are reset when they speak, and counted then.
            link.held_back.add(self.reset(from, to).unwrap_or(0));
        }
        guard
    }

    fn slow(&self, from: &str, to: &str, slowness: Slowness) -> LinkGuard {
        self.map.link(from, to).slow(slowness)
    }

    fn slowed(&self, from: &str, to: &str) -> u64 {
        self.map.link(from, to).slowed.get()
    }

    fn held_back(&self, from: &str, to: &str) -> u64 {
        self.map.link(from, to).held_back.get()
    }

    fn packets(&self) -> Option<&dyn Packets> {
        Some(self)
    }
}

impl Packets for Kernel {
    fn lose(&self, from: &str, to: &str, loss: Loss) -> LinkGuard {
        self.map.link(from, to).lose(loss)
    }

    fn lost(&self, from: &str, to: &str) -> u64 {
        self.map.link(from, to).lost.get()
    }

    fn reorder(&self, from: &str, to: &str, reordering: Reordering) -> LinkGuard {
        self.map.link(from, to).reorder(reordering)
    }

    fn overtaken(&self, from: &str, to: &str) -> u64 {
        self.map.link(from, to).overtaken.get()
    }
}
