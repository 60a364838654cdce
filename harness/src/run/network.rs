//! Choice of the network that the links of a run go through.
//!
//! For: the choice of the user and what a case needs, made into one answer for each case, and the
//! way into a namespace of our own. Not for: the networks themselves.

use anyhow::Error;
use lockstorm_nemesis::Namespace;
use lockstorm_scenarios::{Case, FaultSpec, Named, Role, Workload};

use crate::environment_error::EnvironmentError;
use crate::server::Wiring;
use crate::usage_error::UsageError;

/// Network that carries links that are faulted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum NetworkChoice {
    /// `kernel` where a scenario loses or reorders packets, `fabric` elsewhere.
    #[default]
    Auto,
    /// A switch inside this process, which carries streams and needs no privilege.
    Fabric,
    /// Real packets, in a network namespace of the run's own.
    Kernel,
}

impl NetworkChoice {
    /// The flag that makes this choice; `None` if it is made without one.
    pub const fn flag(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Fabric => Some("--network fabric"),
            Self::Kernel => Some("--network kernel"),
        }
    }
}

/// The networks that the runs of this process may have.
#[derive(Clone, Copy, Debug)]
pub struct Networks {
    /// Choice of the user.
    pub choice: NetworkChoice,
    namespace: Option<Namespace>,
}

impl Networks {
    /// Makes them ready for `cases`. If one of them needs it or the user wants it, this process
    /// moves into a network of its own, so it must not have a second thread yet.
    ///
    /// # Errors
    /// When packets are to be faulted on the fabric, or the system allows no network of our own.
    pub fn make_ready<'a>(
        choice: NetworkChoice,
        cases: impl IntoIterator<Item = &'a Case>,
    ) -> Result<Self, Error> {
        let cases: Vec<&Case> = cases.into_iter().collect();
        let elsewhere = |case: &&&Case| case.topology.external().is_some();
        let elsewhere = cases.iter().find(elsewhere).copied();
        let torn = |case: &&&Case| {
            let packets = choice == NetworkChoice::Kernel || needs_packets(case);
            packets && picks_messages(case)
        };
        if let Some(case) = cases.iter().find(torn) {
            return Err(no_messages(case).into());
        }
        let needed = cases.into_iter().find(|case| needs_packets(case));
        let own = match (choice, needed) {
            (NetworkChoice::Fabric, Some(case)) => return Err(no_packets(case).into()),
            (NetworkChoice::Auto, needed) => needed.is_some(),
            (NetworkChoice::Fabric, None) => false,
            (NetworkChoice::Kernel, _) => true,
        };
        if let Some(case) = elsewhere.filter(|_| own) {
            return Err(out_of_reach(case).into());
        }
        let namespace = if own {
            Some(Namespace::enter().map_err(EnvironmentError::from)?)
        } else {
            None
        };
        Ok(Self { choice, namespace })
    }

    /// Wiring to put in the path of the links of `case`. The fabric, or the kernel's rules, are
    /// there only where links are faulted, or where the ports of the fabric have to tell whose
    /// connection is whose.
    pub fn wiring(self, case: &Case) -> Wiring {
        if !faults_links(case) && !knows_clients_by_port(case) {
            return Wiring::Direct;
        }
        let wanted = self.choice == NetworkChoice::Kernel || needs_packets(case);
        match self.namespace {
            Some(namespace) if wanted => Wiring::Kernel(namespace),
            Some(_) | None => Wiring::Fabric {
                reads_messages: picks_messages(case),
            },
        }
    }
}

/// Tells whether a case faults links.
fn faults_links(case: &Case) -> bool {
    let faults = case.workload.faults();
    let breaks_links = |fault: &FaultSpec| {
        let places = |named: &Named<&str>| named.role == Role::Place;
        matches!(fault, FaultSpec::Partition(_)) || fault.names().iter().any(places)
    };
    faults.into_iter().any(breaks_links) || picks_messages(case)
}

/// Tells whether the clients of a case are known by the ports on which they come: the programs of
/// others, where a trace or a fault asks whose a connection is. A storm without such a fault is
/// also a measure of what a lock costs, and nothing stands in its path.
fn knows_clients_by_port(case: &Case) -> bool {
    let is_script = matches!(case.workload, Workload::Litmus(_));
    let faults = case.workload.faults();
    let of_a_client = |fault: &&FaultSpec| match fault {
        FaultSpec::KillConnections(kill) => kill.client.is_some(),
        _ => false,
    };
    let asks = is_script || faults.iter().any(of_a_client);
    case.lock.is_foreign() && case.topology.external().is_none() && asks
}

/// Tells whether a case faults single messages.
fn picks_messages(case: &Case) -> bool {
    let faults = case.workload.faults();
    faults.iter().any(|fault| fault.message().is_some())
}

fn needs_packets(case: &Case) -> bool {
    let faults = case.workload.faults();
    faults.iter().any(|fault| fault.needs_packets())
}

fn out_of_reach(case: &Case) -> UsageError {
    UsageError(format!(
        "scenario '{}' is about external servers, which nobody reaches from a network of the run's \
         own: leave out --network kernel, and run scenarios that lose or reorder packets by \
         themselves",
        case.name
    ))
}

fn no_messages(case: &Case) -> UsageError {
    UsageError(format!(
        "scenario '{}' has a fault of a single message, and a network of packets does not tell one \
         message from the next: leave out --network kernel, and faults of packets",
        case.name
    ))
}

fn no_packets(case: &Case) -> UsageError {
    let faults = case.workload.faults();
    let kind = faults.iter().find(|fault| fault.needs_packets());
    UsageError(format!(
        "scenario '{}' has the fault '{}', and the fabric carries streams, which have no packets: \
         leave out --network fabric",
        case.name,
        kind.map_or("", |fault| fault.kind().name()),
    ))
}
