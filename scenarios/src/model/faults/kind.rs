//! The kinds of faults without their parameters, and what is true of every fault of a kind.
//!
//! For: decisions by the word of a fault in a history. The answers stand in the table of faults and
//! beside the parameters of each. Not for: what a fault does, which the nemesis knows.

use std::fmt;

use lockstorm_checker::history::FaultClass;

use super::parameters::FaultParameters;
use crate::with_every_fault;

macro_rules! fault_kind {
    ($(
        #[doc = $about:literal]
        $word:literal => $Fault:ident { $($parameter:ident: $Role:ident),* } as $Class:ident,
    )*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultKind {
            $(
                #[doc = $about]
                $Fault,
            )*
        }

        impl FaultKind {
            /// All of them, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$Fault),*];

            /// The words of all of them, in that order.
            pub const NAMES: &[&str] = &[$($word),*];

            /// The word used in scenario files and histories.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Fault => $word,)*
                }
            }

            /// The way in which it does harm.
            pub const fn class(self) -> FaultClass {
                match self {
                    $(Self::$Fault => FaultClass::$Class,)*
                }
            }

            /// How a server that it hits is away, if it is.
            pub const fn absence(self) -> Option<Absence> {
                match self {
                    $(Self::$Fault => <super::$Fault as FaultParameters>::ABSENCE,)*
                }
            }
        }
    };
}

with_every_fault!(fault_kind);

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Time that a server with a fault is away: it answers nobody, or takes no commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// Until the fault is healed, as what this word says: `dead`, `paused`, ...
    UntilHealed(&'static str),
    /// Until its effect is observed: by then it is back.
    UntilObserved(&'static str),
}

impl Absence {
    /// As what it is away.
    pub const fn word(self) -> &'static str {
        match self {
            Self::UntilHealed(word) | Self::UntilObserved(word) => word,
        }
    }
}

impl FaultKind {
    /// The kind with this word; `None` of one that this version does not have.
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_by_its_word_and_has_a_class() {
        for &kind in FaultKind::ALL {
            assert_eq!(FaultKind::read(kind.name()), Some(kind));
            assert_ne!(kind.class(), FaultClass::Other, "{}", kind.name());
        }
        assert_eq!(FaultKind::read("meteor"), None);
    }
}
