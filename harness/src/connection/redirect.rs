//! Redirections of a Cluster, by which a server says that it did not execute a command.

use std::net::SocketAddr;

/// Place where a command belongs that was sent to another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirect {
    /// There, from now on.
    Moved {
        /// The slot of its key.
        slot: u16,
        /// Address of the server that leads it.
        to: SocketAddr,
    },
    /// There, this once: the slot is on the move, and its key has gone ahead or is not there.
    Ask {
        /// Address of the server that the slot goes to.
        to: SocketAddr,
    },
}

impl Redirect {
    /// Reads an error: `MOVED slot ip:port` or `ASK slot ip:port`; `None` for any other.
    pub fn read(error: &str) -> Option<Self> {
        let mut words = error.split_whitespace();
        let word = words.next()?;
        let slot = words.next()?.parse().ok()?;
        let to = words.next()?.parse().ok()?;
        match word {
            "MOVED" => Some(Self::Moved { slot, to }),
            "ASK" => Some(Self::Ask { to }),
            _ => None,
        }
    }

    /// The server that it names.
    pub const fn to(self) -> SocketAddr {
        match self {
            Self::Moved { to, .. } | Self::Ask { to } => to,
        }
    }

    /// The word that the server used.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Moved { .. } => "MOVED",
            Self::Ask { .. } => "ASK",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirections_are_told_from_other_errors() {
        let to = SocketAddr::from(([127, 0, 0, 1], 7000));
        let moved = Redirect::read("MOVED 866 127.0.0.1:7000");
        assert_eq!(moved, Some(Redirect::Moved { slot: 866, to }));
        assert_eq!(
            Redirect::read("ASK 866 127.0.0.1:7000"),
            Some(Redirect::Ask { to })
        );
        for other in [
            "CLUSTERDOWN Hash slot not served",
            "MOVED 866",
            "",
            "MOVED x 127.0.0.1:7000",
        ] {
            assert_eq!(Redirect::read(other), None, "{other}");
        }
    }
}
