//! Meaning of a shape, from which its colour follows.
//!
//! The palette is that of Okabe and Ito, which people with any colour vision can tell apart. No
//! meaning rests on colour alone: beside it stand a hatch, an outline, a mark or a word.

use lockstorm_checker::history::FaultClass;

/// The meaning of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// The ground.
    Paper,
    /// Words.
    Text,
    /// Words of less weight, axes.
    Muted,
    /// Grid lines and frames.
    Grid,
    /// A certain hold, a grant.
    Hold,
    /// Words on [`Ink::Hold`].
    OnHold,
    /// A request in flight, a refusal.
    Wait,
    /// A lease.
    Lease,
    /// A violation.
    Violation,
    /// An indeterminate outcome.
    Unknown,
    /// No violation.
    Valid,
    /// A fault of no other kind: what servers are told to do, or to forget.
    Fault,
    /// A death of a server or a client.
    FaultDeath,
    /// A standstill of a server or a client.
    FaultStall,
    /// A link that is cut.
    FaultCut,
    /// A link that is slow or loses packets.
    FaultPacket,
    /// A clock that is wrong.
    FaultClock,
}

impl Ink {
    /// Colour of a fault: one for each way to do harm, for nobody can tell thirty apart.
    pub(crate) const fn of_fault(class: FaultClass) -> Self {
        match class {
            FaultClass::Death => Self::FaultDeath,
            FaultClass::Stall => Self::FaultStall,
            FaultClass::Cut => Self::FaultCut,
            FaultClass::Packet => Self::FaultPacket,
            FaultClass::Clock => Self::FaultClock,
            FaultClass::Data
            | FaultClass::Scripts
            | FaultClass::Promotion
            | FaultClass::Migration
            | FaultClass::Other => Self::Fault,
        }
    }

    /// Colour on white paper.
    pub(crate) const fn rgb(self) -> (u8, u8, u8) {
        match self {
            Self::Paper | Self::OnHold => (0xff, 0xff, 0xff),
            Self::Text => (0x1c, 0x23, 0x2b),
            Self::Muted => (0x5a, 0x66, 0x72),
            Self::Grid => (0xd8, 0xdd, 0xe3),
            Self::Hold => (0x00, 0x72, 0xb2),
            Self::Wait => (0x56, 0xb4, 0xe9),
            Self::Lease => (0x3c, 0x46, 0x50),
            Self::Violation => (0xd5, 0x5e, 0x00),
            Self::Unknown => (0xe6, 0x9f, 0x00),
            Self::Valid => (0x00, 0x9e, 0x73),
            Self::Fault => (0xcc, 0x79, 0xa7),
            Self::FaultDeath => (0x9a, 0x6b, 0x4f),
            Self::FaultStall => (0x6f, 0x7f, 0xc8),
            Self::FaultCut => (0xb0, 0x8d, 0x00),
            Self::FaultPacket => (0x6f, 0x9a, 0x1d),
            Self::FaultClock => (0x1f, 0x9e, 0x93),
        }
    }

    /// Name of the CSS variable that holds its colour in a page.
    pub(crate) const fn variable(self) -> &'static str {
        match self {
            Self::Paper => "--paper",
            Self::Text => "--text",
            Self::Muted => "--muted",
            Self::Grid => "--grid",
            Self::Hold => "--hold",
            Self::OnHold => "--on-hold",
            Self::Wait => "--wait",
            Self::Lease => "--lease",
            Self::Violation => "--violation",
            Self::Unknown => "--unknown",
            Self::Valid => "--valid",
            Self::Fault => "--fault",
            Self::FaultDeath => "--fault-death",
            Self::FaultStall => "--fault-stall",
            Self::FaultCut => "--fault-cut",
            Self::FaultPacket => "--fault-packet",
            Self::FaultClock => "--fault-clock",
        }
    }
}
