//! From a fault as the scenario names it to the fault that does it.

use lockstorm_scenarios::FaultSpec;

use super::cut::{self, Cut, link_name};
use super::delete_key::{self, DeleteKey};
use super::kill::{self, Kill};
use super::kill_client::{self, KillClient};
use super::pause::{self, Pause};
use super::pause_client::{self, PauseClient};
use super::promote::{self, Promote};
use super::restart::{self, Restart};
use crate::fault::{Fault, FaultKind};

/// All kinds of faults, in the order of reports.
pub const fn fault_kinds() -> [FaultKind; 8] {
    [
        kill::KIND,
        restart::KIND,
        pause::KIND,
        cut::KIND,
        promote::KIND,
        pause_client::KIND,
        kill_client::KIND,
        delete_key::KIND,
    ]
}

/// The kind of a fault.
pub(crate) const fn kind_of(spec: &FaultSpec) -> FaultKind {
    match spec {
        FaultSpec::Kill(_) => kill::KIND,
        FaultSpec::Restart(_) => restart::KIND,
        FaultSpec::Pause(_) => pause::KIND,
        FaultSpec::Cut(_) => cut::KIND,
        FaultSpec::Promote(_) => promote::KIND,
        FaultSpec::PauseClient(_) => pause_client::KIND,
        FaultSpec::KillClient(_) => kill_client::KIND,
        FaultSpec::DeleteKey(_) => delete_key::KIND,
    }
}

/// What a fault hits, as its notes name it: a node, a link, a client, a key.
pub(crate) fn target_of(spec: &FaultSpec) -> String {
    match spec {
        FaultSpec::Kill(kill) => kill.node.clone(),
        FaultSpec::Restart(restart) => restart.node.clone(),
        FaultSpec::Pause(pause) => pause.node.clone(),
        FaultSpec::Cut(cut) => link_name(&cut.from, &cut.to),
        FaultSpec::Promote(promote) => promote.node.clone(),
        FaultSpec::PauseClient(pause) => pause.client.clone(),
        FaultSpec::KillClient(kill) => kill.client.clone(),
        FaultSpec::DeleteKey(delete) => match &delete.node {
            Some(node) => format!("{} on {node}", delete.key),
            None => delete.key.clone(),
        },
    }
}

/// The fault that does what `spec` says, not yet injected.
pub(crate) fn fault_of(spec: &FaultSpec) -> Box<dyn Fault> {
    match spec.clone() {
        FaultSpec::Kill(spec) => Box::new(Kill::new(spec)),
        FaultSpec::Restart(spec) => Box::new(Restart::new(spec)),
        FaultSpec::Pause(spec) => Box::new(Pause::new(spec)),
        FaultSpec::Cut(spec) => Box::new(Cut::new(spec)),
        FaultSpec::Promote(spec) => Box::new(Promote::new(spec)),
        FaultSpec::PauseClient(spec) => Box::new(PauseClient::new(spec)),
        FaultSpec::KillClient(spec) => Box::new(KillClient::new(spec)),
        FaultSpec::DeleteKey(spec) => Box::new(DeleteKey::new(spec)),
    }
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios as scenarios;

    use super::*;

    #[test]
    fn the_table_and_the_scenario_model_use_the_same_words() {
        let node = || "n1".to_owned();
        let specs = [
            FaultSpec::Kill(scenarios::Kill { node: node() }),
            FaultSpec::Restart(scenarios::Restart {
                node: node(),
                memory: scenarios::Memory::Lost,
            }),
            FaultSpec::Pause(scenarios::Pause { node: node() }),
            FaultSpec::Cut(scenarios::Cut {
                from: node(),
                to: node(),
                mode: scenarios::CutMode::Stall,
            }),
            FaultSpec::Promote(scenarios::Promote { node: node() }),
            FaultSpec::PauseClient(scenarios::PauseClient { client: node() }),
            FaultSpec::KillClient(scenarios::KillClient {
                client: node(),
                after_commands: None,
            }),
            FaultSpec::DeleteKey(scenarios::DeleteKey {
                key: node(),
                node: None,
            }),
        ];
        let kinds = specs.each_ref().map(kind_of);
        assert_eq!(kinds, fault_kinds());
        assert_eq!(
            kinds.map(|kind| kind.name),
            specs.each_ref().map(FaultSpec::kind)
        );
    }
}
