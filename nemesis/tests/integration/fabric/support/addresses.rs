//! A block of loopback addresses that no other test uses at the same time.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// Port whose listener owns the block; the kernel gives it back when the process ends.
const CLAIM_PORT: u16 = 47_101;

/// Port of the servers, one for every address, as deployments have it.
pub(crate) const PORT: u16 = 6379;

/// One block `127.x.y.*`.
pub(crate) struct Addresses {
    net: [u8; 2],
    _claim: TcpListener,
}

impl Addresses {
    /// A block of this test's own.
    pub(crate) fn claim() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        for _ in 0..10_000 {
            let spread = std::process::id()
                .wrapping_mul(31)
                .wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed))
                .wrapping_mul(0x9E37_79B1);
            let net = [(spread >> 24) as u8 % 200 + 1, (spread >> 16) as u8];
            let ip = Ipv4Addr::new(127, net[0], net[1], 254);
            if let Ok(claim) = TcpListener::bind((ip, CLAIM_PORT)) {
                return Self { net, _claim: claim };
            }
        }
        panic!("every block of loopback addresses is taken");
    }

    fn ip(&self, last: u8) -> Ipv4Addr {
        Ipv4Addr::new(127, self.net[0], self.net[1], last)
    }

    /// Where everybody finds node `n`.
    pub(crate) fn public(&self, n: u8) -> Ipv4Addr {
        self.ip(10 + n)
    }

    /// Where the server of node `n` really is.
    pub(crate) fn private(&self, n: u8) -> Ipv4Addr {
        self.ip(110 + n)
    }

    /// The address of client `n`.
    pub(crate) fn client(&self, n: u8) -> IpAddr {
        self.ip(210 + n).into()
    }

    /// Public address of node `n` with the common port.
    pub(crate) fn door(&self, n: u8) -> SocketAddr {
        (self.public(n), PORT).into()
    }

    /// Private address of node `n` with the common port.
    pub(crate) fn behind(&self, n: u8) -> SocketAddr {
        (self.private(n), PORT).into()
    }
}
