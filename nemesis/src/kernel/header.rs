//! Fields of the head of a packet.

use std::net::{Ipv4Addr, SocketAddrV4};

/// So many bytes hold both headers with all their options.
pub(super) const HEAD_BYTES_MAX: u32 = 120;

/// Protocol number of TCP.
const TCP: u8 = 6;

/// The flags of TCP that open or end a connection.
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;

/// Which packets belong together: one direction of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flow {
    pub(super) from: SocketAddrV4,
    pub(super) to: SocketAddrV4,
}

/// The head of one packet of TCP over IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) flow: Flow,
    /// Bytes of the stream that it carries.
    payload: u64,
    flags: u8,
}

impl Header {
    /// Reads the head; `None` for anything that is no TCP over IPv4.
    pub(super) fn read(packet: &[u8]) -> Option<Self> {
        let (&first, &protocol) = (packet.first()?, packet.get(9)?);
        if first >> 4 != 4 || protocol != TCP {
            return None;
        }
        let ip_bytes = usize::from(first & 0x0F) * 4;
        let word = |at: usize| -> Option<[u8; 4]> { packet.get(at..at + 4)?.try_into().ok() };
        let ports = word(ip_bytes)?;
        let port = |high: usize| u16::from_be_bytes([ports[high], ports[high + 1]]);
        let tcp_bytes = usize::from(*packet.get(ip_bytes + 12)? >> 4) * 4;
        let whole = u16::from_be_bytes([*packet.get(2)?, *packet.get(3)?]);
        Some(Self {
            flow: Flow {
                from: SocketAddrV4::new(Ipv4Addr::from(word(12)?), port(0)),
                to: SocketAddrV4::new(Ipv4Addr::from(word(16)?), port(2)),
            },
            payload: usize::from(whole).saturating_sub(ip_bytes + tcp_bytes) as u64,
            flags: *packet.get(ip_bytes + 13)?,
        })
    }

    /// How much it carries: its bytes, or 1 if it opens or ends a connection without any. A mere
    /// acknowledgement carries nothing.
    pub(super) fn load(&self) -> u64 {
        let turns = self.flags & (FIN | SYN | RST) != 0;
        self.payload.max(u64::from(turns))
    }

    /// Bytes of the stream that it carries.
    pub(super) const fn payload(&self) -> u64 {
        self.payload
    }

    /// Tells whether it resets its connection.
    pub(super) const fn is_reset(&self) -> bool {
        self.flags & RST != 0
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A packet from port 4000 of `from` to port 6379 of `to`.
    pub(in super::super) fn packet(from: [u8; 4], to: [u8; 4], flags: u8, bytes: u16) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&(40 + bytes).to_be_bytes());
        packet[9] = TCP;
        packet[12..16].copy_from_slice(&from);
        packet[16..20].copy_from_slice(&to);
        packet[20..22].copy_from_slice(&4000_u16.to_be_bytes());
        packet[22..24].copy_from_slice(&6379_u16.to_be_bytes());
        packet[32] = 0x50;
        packet[33] = flags;
        packet
    }

    #[test]
    fn a_head_says_who_sends_what_to_whom() {
        let head = Header::read(&packet([127, 1, 0, 1], [127, 1, 2, 1], 0x18, 25)).unwrap();
        assert_eq!(head.flow.from, "127.1.0.1:4000".parse().unwrap());
        assert_eq!(head.flow.to, "127.1.2.1:6379".parse().unwrap());
        assert_eq!((head.payload(), head.load()), (25, 25));
        assert!(!head.is_reset());
    }

    #[test]
    fn an_acknowledgement_carries_nothing_and_a_handshake_counts_as_one() {
        let load = |flags| {
            let head = Header::read(&packet([127, 0, 0, 2], [127, 0, 0, 3], flags, 0)).unwrap();
            head.load()
        };
        assert_eq!(
            (load(0x10), load(SYN), load(FIN | 0x10), load(RST)),
            (0, 1, 1, 1)
        );
    }

    #[test]
    fn no_beginning_of_a_packet_and_no_odd_byte_in_it_is_a_panic() {
        let whole = packet([127, 0, 0, 2], [127, 0, 0, 3], 0x18, 7);
        for length in 0..whole.len() {
            let _ = Header::read(&whole[..length]);
        }
        for (at, odd) in (0..whole.len()).flat_map(|at| [(at, 0), (at, 0x4F), (at, 0xFF)]) {
            let mut packet = whole.clone();
            packet[at] = odd;
            let _ = Header::read(&packet);
        }
        assert_eq!(Header::read(&[0x60; 60]), None, "IPv6 is not ours");
    }
}
