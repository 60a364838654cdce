//! From the words that a scenario may use for a target to names.
//!
//! `one`, `minority`, `majority` and `primary` are drawn at random among what the fault can hit at
//! this moment. In a script a node that is called `primary` is always that node, whoever leads. A
//! word that hits nobody is left as it stands, and the injection says that there is no such target.

use std::collections::BTreeSet;

use lockstorm_scenarios::{FaultSpec, Named, NodeWord, Partition, Role};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::deployment::{ClientState, Deployment};
use crate::faults::{Among, among_of};
use crate::sides::{Parts, sides};

/// Script or storm that takes aim, with the generator of its random choices.
pub(crate) enum Aim<'r> {
    /// A step of a script.
    Script(&'r mut ChaCha8Rng),
    /// The nemesis of a storm, and the nodes and clients that it has in its grip already.
    Storm(&'r mut ChaCha8Rng, &'r BTreeSet<String>),
}

impl Aim<'_> {
    /// The faults that `fault` stands for: one for each target that its words mean.
    pub(crate) async fn at(&mut self, fault: &FaultSpec, on: &dyn Deployment) -> Vec<FaultSpec> {
        let leaders = on.writable().await;
        let among = filtered(candidates(among_of(fault), &leaders, on), |node| {
            !self.has(node)
        });
        let deployed = (on, leaders.as_slice());
        if let FaultSpec::Partition(partition) = fault {
            let parted = self.parted(partition.clone(), leaders, on);
            return vec![FaultSpec::Partition(parted)];
        }
        let mut aimed = vec![fault.clone()];
        let mut places = Vec::new();
        for (n, named) in fault.names().iter().enumerate() {
            let meant = match named.role {
                Role::Node => self.nodes(among.clone(), named.name, deployed).await,
                Role::Place => {
                    // Groups stay groups, which the fault itself knows; no link leads back.
                    let others = filtered(on.nodes(), |node| !places.iter().any(|p| p == node));
                    let meant = self.place(others, named.name, deployed).await;
                    places.extend(meant.iter().cloned());
                    meant
                }
                Role::Client => vec![self.client(named.name, on)],
                Role::Key => vec![named.name.to_owned()],
            };
            aimed = spread(&aimed, n, &meant);
        }
        aimed
    }

    /// `true` if a storm has this node or client in its grip.
    fn has(&self, name: &str) -> bool {
        match self {
            Self::Script(_) => false,
            Self::Storm(_, had) => had.contains(name),
        }
    }

    /// Tells whether a fault has to be left out: since other faults have what it would hit, the one
    /// that it names or all that its word could mean; or since nobody leads until an election is
    /// over.
    pub(crate) fn spares(&self, fault: &FaultSpec, on: &dyn Deployment) -> bool {
        let Self::Storm(_, had) = self else {
            return false;
        };
        let is_had = |named: &Named<&str>| match named.role {
            Role::Node | Role::Client => {
                let is_word = named.name == "one" || NodeWord::read(named.name).is_some();
                let elects = on.rejoins() && NodeWord::read(named.name) == Some(NodeWord::Primary);
                had.contains(named.name) || is_word && !had.is_empty() || elects
            }
            Role::Place | Role::Key => false,
        };
        fault.names().iter().any(is_had)
    }

    /// A storm places at random whom the form of a partition leaves open.
    fn parted(
        &mut self,
        partition: Partition,
        leaders: Vec<String>,
        on: &dyn Deployment,
    ) -> Partition {
        let (Some(form), Aim::Storm(rng, _)) = (partition.form, self) else {
            return partition;
        };
        let mut shuffled = |names: Vec<String>| lot(names.clone(), names.len(), rng);
        let parts = Parts {
            nodes: shuffled(on.nodes()),
            leaders: shuffled(leaders),
            clients: shuffled(on.clients().names()),
        };
        Partition {
            sides: sides(form, partition.clients, &parts),
            form: None,
            ..partition
        }
    }

    async fn place(
        &mut self,
        among: Vec<String>,
        end: &str,
        deployed: (&dyn Deployment, &[String]),
    ) -> Vec<String> {
        if ["replicas", "sentinels"].contains(&end) {
            return vec![end.to_owned()];
        }
        self.nodes(among, end, deployed).await
    }

    /// The nodes that a word means, of those in `among`; a name means itself. Parts are counted
    /// of all nodes, as majorities are.
    async fn nodes(
        &mut self,
        among: Vec<String>,
        target: &str,
        (on, leaders): (&dyn Deployment, &[String]),
    ) -> Vec<String> {
        let itself = vec![target.to_owned()];
        let Some(word) = NodeWord::read(target) else {
            return itself;
        };
        let all = on.nodes();
        if matches!(self, Self::Script(_)) && all.contains(&itself[0]) {
            return itself;
        }
        let leads = |node: &str| leaders.iter().any(|leader| leader == node);
        let sentinels = on.without_data();
        let watches = |node: &str| sentinels.iter().any(|sentinel| sentinel == node);
        let (Self::Script(rng) | Self::Storm(rng, _)) = self;
        let meant = match word {
            NodeWord::All => among,
            NodeWord::Replicas => filtered(among, |node| !leads(node) && !watches(node)),
            NodeWord::Sentinels => filtered(among, watches),
            NodeWord::HolderOf(key) => {
                let holders = holders_of(key, leaders, on).await;
                filtered(among, |node| holders.iter().any(|holder| holder == node))
            }
            NodeWord::Primary => lot(filtered(among, leads), 1, rng),
            NodeWord::One => lot(among, 1, rng),
            NodeWord::Minority => lot(among, all.len().saturating_sub(1) / 2, rng),
            NodeWord::Majority => lot(among, all.len() / 2 + 1, rng),
        };
        if meant.is_empty() { itself } else { meant }
    }

    /// The client that a word means: `one` of those that run, or the name itself.
    fn client(&mut self, word: &str, on: &dyn Deployment) -> String {
        let itself = word.to_owned();
        let Aim::Storm(rng, had) = self else {
            return itself;
        };
        if word != "one" {
            return itself;
        }
        let clients = on.clients();
        let running = filtered(clients.names(), |name| {
            clients.state(name) == Some(ClientState::Running) && !had.contains(name)
        });
        lot(running, 1, rng).pop().unwrap_or(itself)
    }
}

/// Each fault once for each name, put in the place of its name number `n`.
fn spread(faults: &[FaultSpec], n: usize, names: &[String]) -> Vec<FaultSpec> {
    let mut all = Vec::new();
    for fault in faults {
        for name in names {
            let mut aimed = fault.clone();
            aimed.names_mut()[n].clone_from(name);
            all.push(aimed);
        }
    }
    all
}

/// The nodes that a fault can hit as they stand.
fn candidates(among: Among, leaders: &[String], on: &dyn Deployment) -> Vec<String> {
    let leads = |node: &str| leaders.iter().any(|leader| leader == node);
    let sentinels = on.without_data();
    let watches = |node: &str| sentinels.iter().any(|sentinel| sentinel == node);
    match among {
        Among::All => on.nodes(),
        Among::Live => filtered(on.nodes(), |node| on.lives(node)),
        Among::Writable => leaders.to_vec(),
        Among::LiveWithData => filtered(on.nodes(), |node| on.lives(node) && !watches(node)),
        Among::LiveReplicas => filtered(on.nodes(), |node| {
            on.lives(node) && !leads(node) && !watches(node)
        }),
    }
}

/// The nodes that take writes and have this key. One that cannot answer is none.
async fn holders_of(key: &str, leaders: &[String], on: &dyn Deployment) -> Vec<String> {
    let mut holders = Vec::new();
    for node in leaders {
        let Ok(server) = on.server(node) else {
            continue;
        };
        if server.has(key).await.is_ok_and(|has| has) {
            holders.push(node.clone());
        }
    }
    holders
}

fn filtered(names: Vec<String>, keep: impl Fn(&str) -> bool) -> Vec<String> {
    names.into_iter().filter(|name| keep(name)).collect()
}

/// Up to `count` of the names, each set as likely as any other.
fn lot(mut names: Vec<String>, count: usize, rng: &mut ChaCha8Rng) -> Vec<String> {
    let count = count.min(names.len());
    (0..count)
        .map(|_| names.swap_remove(rng.random_range(0..names.len())))
        .collect()
}
