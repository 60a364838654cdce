//! Every history of a few owners over a few instants.

use super::events::{Deed, Script, history};
use crate::history::Event;

/// Returns the scripts that one owner may follow: each way to spread some deeds over the instants.
pub(super) fn scripts(deeds: &[&[Deed]], instants: u64) -> Vec<Script> {
    let mut all = vec![Script::new()];
    for deeds in deeds {
        let mut partial = vec![(0, Script::new())];
        for &deed in *deeds {
            partial = partial
                .into_iter()
                .flat_map(|(from, script)| spread(from, &script, deed, instants))
                .collect();
        }
        all.extend(partial.into_iter().map(|(_, script)| script));
    }
    all
}

fn spread(from: u64, script: &Script, deed: Deed, instants: u64) -> Vec<(u64, Script)> {
    let mut longer = Vec::new();
    for sent in from..instants {
        let last = if deed.is_answered() {
            instants
        } else {
            sent + 1
        };
        for answered in sent..last {
            let mut script = script.clone();
            script.push((deed, sent, answered));
            longer.push((answered, script));
        }
    }
    longer
}

/// Calls `visit` with the history of every choice of scripts, the owners in no order.
pub(super) fn every(scripts: &[Script], owners: usize, visit: &mut impl FnMut(&[Event])) {
    let mut chosen = vec![0; owners];
    loop {
        let parts: Vec<&Script> = chosen.iter().map(|&at| &scripts[at]).collect();
        visit(&history(&parts));
        let Some(at) = chosen.iter().rposition(|&at| at + 1 < scripts.len()) else {
            return;
        };
        let next = chosen[at] + 1;
        chosen[at..].fill(next);
    }
}
