//! Loopback addresses of a run, chosen so that two runs on one machine never meet.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixListener};

use rand::RngExt as _;

use crate::environment_error::EnvironmentError;

/// Port of every server, unless another is asked for. Not Redis's own, so that a server that
/// somebody runs on all addresses is not in the way; low enough for a cluster bus above it.
pub const DEFAULT_PORT: u16 = 26_279;
/// The system takes ports from here on for connections that ask for none.
const EPHEMERAL_PORTS: u16 = 32_768;
/// The slots of a Cluster have lower numbers, which are not to be taken for the port.
const SLOTS: u16 = 16_384;
/// Nodes at whose addresses nothing may listen in a block that is claimed.
const NODES_LOOKED_AT: usize = 16;
/// Blocks tried before giving up: each try picks one of 254 at random.
const TRIES_MAX: u32 = 32;

/// A block `127.x.0.0/16` that belongs to this run as long as this value lives.
#[derive(Debug)]
pub struct AddressBlock {
    block: u8,
    port: u16,
    /// Bound for the life of the run: whoever picks the same block cannot bind it, whatever port
    /// it uses.
    _claim: UnixListener,
}

impl AddressBlock {
    /// Claims a block that nobody uses.
    ///
    /// The choice is not the seed's: the same seed may run twice at the same time.
    ///
    /// # Errors
    /// [`EnvironmentError::PortTaken`] when no block can be had.
    pub fn claim(port: u16) -> Result<Self, EnvironmentError> {
        let mut last = io::Error::from(io::ErrorKind::AddrInUse);
        for _ in 0..TRIES_MAX {
            let block = rand::rng().random_range(1..=254);
            let claimed = claim(block).map(|claim| Self {
                block,
                port,
                _claim: claim,
            });
            match claimed.and_then(Self::if_free) {
                Ok(claimed) => return Ok(claimed),
                Err(error) => last = error,
            }
        }
        Err(EnvironmentError::PortTaken { port, last })
    }

    /// The block, unless something still listens there: on all addresses of the machine, or on
    /// those of a run before, whose servers may be gone a moment later than its claim.
    fn if_free(self) -> io::Result<Self> {
        let of_nobody = self.address(u8::MAX, usize::from(u8::MAX) - 2);
        TcpListener::bind(of_nobody)?;
        for n in 0..NODES_LOOKED_AT {
            TcpListener::bind(self.public(n))?;
            TcpListener::bind(self.private(n))?;
        }
        Ok(self)
    }

    /// Address where everybody finds node number `n` (from 0).
    pub fn public(&self, n: usize) -> SocketAddr {
        self.address(0, n)
    }

    /// Address where the server of node `n` listens when the fabric owns the public address.
    pub fn private(&self, n: usize) -> SocketAddr {
        self.address(1, n)
    }

    /// Source address of client number `n`: by it the fabric knows who calls.
    pub fn client(&self, n: usize) -> IpAddr {
        self.address(2 + (n / 250) as u8, n % 250).ip()
    }

    /// Port on which client number `n` finds every server, if it is to have one of its own: of as
    /// many digits as the port that all use, so that replies that name it keep their length.
    pub fn own_port(&self, n: usize) -> Option<u16> {
        let port = u16::try_from(n)
            .ok()?
            .checked_add(1)?
            .checked_add(self.port)?;
        let alike = self.port.ilog10() == port.ilog10();
        (alike && self.port > SLOTS && port < EPHEMERAL_PORTS).then_some(port)
    }

    fn address(&self, subnet: u8, n: usize) -> SocketAddr {
        let host = u8::try_from(n + 1).unwrap_or(u8::MAX);
        (Ipv4Addr::new(127, self.block, subnet, host), self.port).into()
    }
}

/// Binds the name that stands for a block, which no other run can bind then. It is in no folder,
/// and gone with this process.
fn claim(block: u8) -> io::Result<UnixListener> {
    let name = format!("lockstorm-127.{block}");
    UnixListener::bind_addr(&UnixAddress::from_abstract_name(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_claimed_once_whatever_the_port() {
        let first = AddressBlock::claim(DEFAULT_PORT).expect("a loopback block is free");
        let taken = claim(first.block).map_err(|error| error.kind());
        assert_eq!(taken.err(), Some(io::ErrorKind::AddrInUse));
        let block = first.block;
        drop(first);
        claim(block).expect("it is free again");
    }

    #[test]
    fn a_block_where_a_server_still_listens_is_not_free() {
        let block = AddressBlock::claim(DEFAULT_PORT).expect("a loopback block is free");
        let server = TcpListener::bind(block.private(2)).expect("the block is free");
        let taken = block.if_free().map_err(|error| error.kind());
        assert_eq!(taken.err(), Some(io::ErrorKind::AddrInUse));
        drop(server);
    }

    #[test]
    fn two_blocks_claimed_at_once_differ() {
        let first = AddressBlock::claim(DEFAULT_PORT).expect("a loopback block is free");
        let second = AddressBlock::claim(DEFAULT_PORT).expect("another one is free");
        assert_ne!(first.public(0), second.public(0));
    }

    #[test]
    fn a_port_of_a_client_has_as_many_digits_as_that_of_all() {
        let block = AddressBlock::claim(DEFAULT_PORT).expect("a loopback block is free");
        assert_eq!(block.own_port(0), Some(DEFAULT_PORT + 1));
        assert_eq!(block.own_port(5_000), Some(DEFAULT_PORT + 5_001));
        assert_eq!(block.own_port(10_000), None);
        assert_eq!(block.own_port(usize::MAX), None);
        let low = AddressBlock::claim(9_999).expect("a loopback block is free");
        assert_eq!(low.own_port(0), None);
    }

    #[test]
    fn nodes_and_clients_of_a_run_have_addresses_of_their_own() {
        let block = AddressBlock::claim(DEFAULT_PORT).expect("a loopback block is free");
        let mut all: Vec<_> = (0..20).map(|n| block.public(n).ip()).collect();
        all.extend((0..20).map(|n| block.private(n).ip()));
        all.extend((0..1000).map(|n| block.client(n)));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
