//! From a fault as the scenario names it to the fault that does it.
//!
//! The list of the faults stands in `with_every_fault` of the scenarios; a fault without an
//! implementation of [`Kind`] does not compile.

use lockstorm_scenarios::{self as scenarios, FaultKind, FaultSpec, with_every_fault};

use crate::fault::{Ends, Fault, FaultInfo};

/// Knowledge of the nemesis about a fault: implemented for its parameters, in the file of the
/// fault.
pub(crate) trait Kind {
    /// End of the fault.
    const ENDS: Ends;

    /// Which nodes a word such as `one` or `all` means.
    const AMONG: Among = Among::Live;

    /// The fault that does it, not yet injected.
    fn fault(self) -> Box<dyn Fault>;
}

/// The nodes among which a fault finds its targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// All, dead or alive.
    All,
    /// Those whose server lives.
    Live,
    /// Those that live and keep data.
    LiveWithData,
    /// Those that take writes.
    Writable,
    /// Those that live and take no writes.
    LiveReplicas,
}

macro_rules! table {
    ($(
        #[doc = $about:literal]
        $word:literal => $Fault:ident { $($parameter:ident: $Role:ident),* } as $Class:ident,
    )*) => {
        /// All kinds of faults, in the order of reports.
        pub fn fault_list() -> Vec<FaultInfo> {
            vec![$(FaultInfo {
                kind: FaultKind::$Fault,
                about: sentence($about),
                ends: <scenarios::$Fault as Kind>::ENDS,
            }),*]
        }

        /// How a fault ends.
        pub(crate) const fn ends_of(spec: &FaultSpec) -> Ends {
            match spec {
                $(FaultSpec::$Fault(_) => <scenarios::$Fault as Kind>::ENDS,)*
            }
        }

        /// The nodes among which it finds its targets.
        pub(crate) const fn among_of(spec: &FaultSpec) -> Among {
            match spec {
                $(FaultSpec::$Fault(_) => <scenarios::$Fault as Kind>::AMONG,)*
            }
        }

        /// The fault that does what `spec` says, not yet injected.
        pub(crate) fn fault_of(spec: &FaultSpec) -> Box<dyn Fault> {
            match spec.clone() {
                $(FaultSpec::$Fault(parameters) => parameters.fault(),)*
            }
        }
    };
}

with_every_fault!(table);

/// A line of the table as lists show it: without the blank that a doc comment begins with, and
/// without its full stop.
fn sentence(about: &'static str) -> &'static str {
    about.trim().trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_listed_with_a_word_of_its_own_and_a_line() {
        let listed: Vec<FaultKind> = fault_list().iter().map(|fault| fault.kind).collect();
        assert_eq!(listed, FaultKind::ALL);
        for fault in fault_list() {
            assert!(fault.about.len() > 20, "{} says too little", fault.kind);
        }
    }
}
