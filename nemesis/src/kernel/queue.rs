//! The queue in which the kernel keeps packets until it is told what to do with them.
//!
//! For: the little of the netlink protocol of `nfnetlink_queue` that it takes to own a queue,
//! read the heads of its packets and answer each. The layouts are those of the kernel's header
//! `linux/netfilter/nfnetlink_queue.h`. Not for: deciding anything.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{self, AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, sockopt};

use super::header::{HEAD_BYTES_MAX, Header};

/// Packets that may wait for their answer at a time; the kernel drops what comes beyond, as any
/// network does that is full.
const PACKETS_MAX: u32 = 65_536;

/// Bytes of messages of the kernel that we have not read yet; it drops the packets that it cannot
/// tell us of. The system grants less where `net.core.rmem_max` is lower.
const RECEIVE_BYTES: usize = 8 << 20;

/// Room for one message: its own attributes, and the head of a packet.
const MESSAGE_BYTES: usize = 4096;

/// Messages about the queues of the firewall, and those that are of use here.
const SUBSYSTEM: u16 = 3 << 8;
const PACKET: u16 = SUBSYSTEM;
const VERDICT: u16 = SUBSYSTEM | 1;
const CONFIG: u16 = SUBSYSTEM | 2;
const ERROR: u16 = 2;

/// Flags of a request, and of one that wants to be confirmed.
const REQUEST: u16 = 1;
const CONFIRM: u16 = 4;

/// Attributes of a configuration: the command to own the queue, how much of each packet is
/// copied, how many packets there may be.
const CONFIG_COMMAND: u16 = 1;
const CONFIG_COPY: u16 = 2;
const CONFIG_PACKETS_MAX: u16 = 3;
const OWN: u8 = 1;
const COPY_PACKET: u8 = 2;

/// Attributes of a packet: its number, its first bytes.
const PACKET_NUMBER: u16 = 1;
const PACKET_BYTES: u16 = 10;

/// Attributes of an answer.
const ANSWER: u16 = 2;
const ANSWER_MARK: u16 = 3;
const DROP: u32 = 0;
const ACCEPT: u32 = 1;

/// Bytes before the attributes: the header of the message, and that of the subsystem.
const HEADERS_BYTES: usize = 16 + 4;

/// Verdict on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It goes on its way.
    Pass,
    /// It is gone.
    Drop,
    /// It goes on with this mark, by which a later rule knows it.
    Mark(u32),
}

/// A packet that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Its number.
    pub(super) id: u32,
    /// Its head, if it is one of ours.
    pub(super) header: Option<Header>,
}

/// A queue of this process.
pub(super) struct Queue {
    socket: OwnedFd,
    number: u16,
    buffer: Vec<u8>,
}

impl Queue {
    /// Owns the queue with this number, in the network that the calling thread is in.
    ///
    /// # Errors
    /// When the kernel has no such queues, or somebody else owns this one.
    pub(super) fn open(number: u16) -> io::Result<Self> {
        let socket = socket::socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkNetFilter,
        )?;
        // A smaller buffer than wanted is no failure.
        let _ = socket::setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BYTES);
        let mut queue = Self {
            socket,
            number,
            buffer: vec![0; MESSAGE_BYTES],
        };
        let mut copy = HEAD_BYTES_MAX.to_be_bytes().to_vec();
        copy.push(COPY_PACKET);
        let request = Message::new(CONFIG, CONFIRM, number)
            .with(CONFIG_COMMAND, &[OWN, 0, 0, 0])
            .with(CONFIG_COPY, &copy)
            .with(CONFIG_PACKETS_MAX, &PACKETS_MAX.to_be_bytes());
        queue.send(request)?;
        queue.confirmed()?;
        Ok(queue)
    }

    /// Waits for the answer to the one request that wants one.
    fn confirmed(&mut self) -> io::Result<()> {
        loop {
            let length = self.read(MsgFlags::empty())?;
            let message = &self.buffer[..length];
            if field(message, 4).map(u16::from_ne_bytes) == Some(ERROR) {
                let code = field(message, 16).map_or(0, i32::from_ne_bytes);
                return match code {
                    0 => Ok(()),
                    code => Err(io::Error::from_raw_os_error(-code)),
                };
            }
            // A packet that was quicker than the confirmation.
            if let Some(early) = arrival(message) {
                self.answer(early.id, Verdict::Pass);
            }
        }
    }

    /// The next packet; `None` if none waits to be read.
    ///
    /// # Errors
    /// When the queue is of no use any more.
    pub(super) fn next(&mut self) -> io::Result<Option<Arrival>> {
        loop {
            match self.read(MsgFlags::MSG_DONTWAIT) {
                Ok(length) => {
                    if let Some(arrival) = arrival(&self.buffer[..length]) {
                        return Ok(Some(arrival));
                    }
                }
                Err(Errno::EAGAIN) => return Ok(None),
                // There were more packets than room: those are dropped, and sent again.
                Err(Errno::ENOBUFS | Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Says what becomes of a packet. One that is gone by now needs no answer.
    pub(super) fn answer(&self, id: u32, verdict: Verdict) {
        let (code, mark) = match verdict {
            Verdict::Pass => (ACCEPT, None),
            Verdict::Drop => (DROP, None),
            Verdict::Mark(mark) => (ACCEPT, Some(mark)),
        };
        let answer = [code.to_be_bytes(), id.to_be_bytes()].concat();
        let mut message = Message::new(VERDICT, 0, self.number).with(ANSWER, &answer);
        if let Some(mark) = mark {
            message = message.with(ANSWER_MARK, &mark.to_be_bytes());
        }
        let _ = self.send(message);
    }

    fn send(&self, message: Message) -> io::Result<()> {
        let bytes = message.finish();
        socket::send(self.socket.as_raw_fd(), &bytes, MsgFlags::empty())?;
        Ok(())
    }

    fn read(&mut self, flags: MsgFlags) -> Result<usize, Errno> {
        socket::recv(self.socket.as_raw_fd(), &mut self.buffer, flags)
    }
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A message to the kernel.
struct Message(Vec<u8>);

impl Message {
    fn new(kind: u16, flags: u16, queue: u16) -> Self {
        let mut bytes = vec![0; HEADERS_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(REQUEST | flags).to_ne_bytes());
        bytes[18..20].copy_from_slice(&queue.to_be_bytes());
        Self(bytes)
    }

    /// With one more attribute. Each begins at a multiple of four bytes.
    fn with(mut self, kind: u16, value: &[u8]) -> Self {
        let length = 4 + value.len() as u16;
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    fn finish(mut self) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0
    }
}

/// The packet that a message tells of.
fn arrival(message: &[u8]) -> Option<Arrival> {
    if u16::from_ne_bytes(field(message, 4)?) != PACKET {
        return None;
    }
    let mut attributes = message.get(HEADERS_BYTES..)?;
    let (mut id, mut header) = (None, None);
    while let (Some(length), Some(kind)) = (field(attributes, 0), field(attributes, 2)) {
        let length = usize::from(u16::from_ne_bytes(length));
        let Some(value) = attributes.get(4..length) else {
            break;
        };
        match u16::from_ne_bytes(kind) {
            PACKET_NUMBER => id = field(value, 0).map(u32::from_be_bytes),
            PACKET_BYTES => header = Header::read(value),
            _ => {}
        }
        let next = length.next_multiple_of(4).min(attributes.len());
        attributes = &attributes[next..];
    }
    Some(Arrival { id: id?, header })
}

/// Some bytes of a message.
fn field<const N: usize>(message: &[u8], at: usize) -> Option<[u8; N]> {
    message.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::packet;
    use super::*;

    /// A message of the kernel about packet 7.
    fn told() -> Vec<u8> {
        let bytes = packet([127, 0, 0, 2], [127, 0, 0, 3], 0x18, 9);
        Message::new(PACKET, 0, 0)
            .with(PACKET_NUMBER, &[0, 0, 0, 7, 8, 0, 1])
            .with(6, &1_u32.to_be_bytes())
            .with(PACKET_BYTES, &bytes)
            .finish()
    }

    #[test]
    fn a_message_of_the_kernel_gives_the_number_and_the_head_of_a_packet() {
        let arrival = arrival(&told()).unwrap();
        assert_eq!(arrival.id, 7);
        assert_eq!(arrival.header.unwrap().payload(), 9);
    }

    #[test]
    fn a_message_that_is_cut_off_or_wrong_is_no_panic() {
        let whole = told();
        for length in 0..whole.len() {
            let _ = arrival(&whole[..length]);
        }
        for at in 0..whole.len() {
            let mut odd = whole.clone();
            odd[at] = 0xFF;
            let _ = arrival(&odd);
        }
    }
}
