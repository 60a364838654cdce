//! From the words that a storm may use for a target to names, by lot.
//!
//! `one`, `all`, `minority` and `primary` are drawn among what can be hit at this moment. A word
//! that hits nobody is left as it stands, and the injection says that there is no such target.

use lockstorm_scenarios::{
    Cut, DeleteKey, FaultSpec, Kill, KillClient, Pause, PauseClient, Promote, Restart,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::deployment::{ClientState, Deployment};

/// The faults that `fault` stands for: one for each target that its words mean.
pub(crate) async fn aim(
    fault: &FaultSpec,
    on: &dyn Deployment,
    rng: &mut ChaCha8Rng,
) -> Vec<FaultSpec> {
    let leaders = on.writable().await;
    let live = || filtered(on.nodes(), |node| on.pid(node).is_some());
    match fault.clone() {
        FaultSpec::Kill(Kill { node }) => {
            spread(draw(live(), &node, (on, &leaders), rng), |node| {
                FaultSpec::Kill(Kill { node })
            })
        }
        FaultSpec::Restart(Restart { node, memory }) => {
            spread(draw(on.nodes(), &node, (on, &leaders), rng), |node| {
                FaultSpec::Restart(Restart { node, memory })
            })
        }
        FaultSpec::Pause(Pause { node }) => {
            spread(draw(live(), &node, (on, &leaders), rng), |node| {
                FaultSpec::Pause(Pause { node })
            })
        }
        FaultSpec::Promote(Promote { node }) => {
            let replicas = filtered(live(), |node| !leaders.iter().any(|leader| leader == node));
            spread(draw(replicas, &node, (on, &leaders), rng), |node| {
                FaultSpec::Promote(Promote { node })
            })
        }
        FaultSpec::Cut(cut) => links(&cut, (on, &leaders), rng),
        FaultSpec::DeleteKey(DeleteKey { key, node }) => {
            // Without a node it means every node that takes writes, in one fault.
            let nodes = node.map_or(vec![None], |node| {
                spread(draw(leaders.clone(), &node, (on, &leaders), rng), Some)
            });
            spread(nodes, |node| {
                let key = key.clone();
                FaultSpec::DeleteKey(DeleteKey { key, node })
            })
        }
        FaultSpec::PauseClient(PauseClient { client }) => {
            let client = draw_client(client, on, rng);
            vec![FaultSpec::PauseClient(PauseClient { client })]
        }
        FaultSpec::KillClient(kill) => vec![FaultSpec::KillClient(KillClient {
            client: draw_client(kill.client, on, rng),
            ..kill
        })],
    }
}

fn spread<N, T>(targets: Vec<N>, each: impl FnMut(N) -> T) -> Vec<T> {
    targets.into_iter().map(each).collect()
}

fn filtered(names: Vec<String>, keep: impl Fn(&str) -> bool) -> Vec<String> {
    names.into_iter().filter(|name| keep(name)).collect()
}

/// Every pair of the two ends. Groups stay groups: the cut itself knows them.
fn links(cut: &Cut, ground: (&dyn Deployment, &[String]), rng: &mut ChaCha8Rng) -> Vec<FaultSpec> {
    let (on, _) = ground;
    let sources = draw(on.nodes(), &cut.from, ground, rng);
    let others = filtered(on.nodes(), |node| !sources.iter().any(|from| from == node));
    let sinks = draw(others, &cut.to, ground, rng);
    let mut cuts = Vec::new();
    for from in &sources {
        for to in &sinks {
            cuts.push(FaultSpec::Cut(Cut {
                from: from.clone(),
                to: to.clone(),
                mode: cut.mode,
            }));
        }
    }
    cuts
}

/// The nodes that a word means, drawn among `candidates`; a name means itself. A minority is
/// counted of all nodes, as majorities are.
fn draw(
    candidates: Vec<String>,
    word: &str,
    (on, leaders): (&dyn Deployment, &[String]),
    rng: &mut ChaCha8Rng,
) -> Vec<String> {
    let drawn = match word {
        "all" => candidates,
        "one" => lot(candidates, 1, rng),
        "minority" => lot(candidates, on.nodes().len().saturating_sub(1) / 2, rng),
        "primary" => {
            let is_leader = |node: &str| leaders.iter().any(|leader| leader == node);
            lot(filtered(candidates, is_leader), 1, rng)
        }
        name => vec![name.to_owned()],
    };
    if drawn.is_empty() {
        vec![word.to_owned()]
    } else {
        drawn
    }
}

/// The client that a word means: `one` of those that run, or the name itself.
fn draw_client(word: String, on: &dyn Deployment, rng: &mut ChaCha8Rng) -> String {
    if word != "one" {
        return word;
    }
    let clients = on.clients();
    let running = filtered(clients.names(), |name| {
        clients.state(name) == Some(ClientState::Running)
    });
    lot(running, 1, rng).pop().unwrap_or(word)
}

/// Up to `count` of the names, each set as likely as any other.
fn lot(mut names: Vec<String>, count: usize, rng: &mut ChaCha8Rng) -> Vec<String> {
    let count = count.min(names.len());
    (0..count)
        .map(|_| names.swap_remove(rng.random_range(0..names.len())))
        .collect()
}
