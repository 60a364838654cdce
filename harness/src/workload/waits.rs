//! Conditions that a script waits for: a key to be there or gone, a failover, the answer to a
//! request under way, a message that is held.

use std::collections::BTreeMap;
use std::time::Duration;

use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{Await, Step, TopologyKind};
use tokio::time::{sleep, timeout};

use super::litmus::Expectation;
use super::stage::{Stage, Stopped};
use crate::client::Pending;
use crate::locks::braced;

/// Pause between two looks at an awaited condition.
const POLL: Duration = Duration::from_millis(5);

/// State that a script remembers for its waits.
pub struct Waits {
    /// Nodes that took the writes of a key at the last look, of keys whose failover is awaited.
    led: BTreeMap<String, Vec<String>>,
    /// Answers that are still to come, by client, each with what it is to be.
    coming: BTreeMap<String, (Pending, Expectation)>,
}

impl Waits {
    /// At the beginning of the script.
    pub async fn new(stage: &Stage, steps: &[Step]) -> Self {
        let mut led = BTreeMap::new();
        for step in steps {
            if let Step::Await(Await {
                failover_of: Some(key),
                ..
            }) = step
            {
                let at = stage.servers.server_key(key);
                led.insert(key.clone(), stage.servers.keepers(&at).await);
            }
        }
        Self {
            led,
            coming: BTreeMap::new(),
        }
    }

    /// Remembers that `client` will have an answer.
    pub fn answer_comes(&mut self, client: &str, pending: Pending, expected: Expectation) {
        self.coming.insert(client.to_owned(), (pending, expected));
    }

    /// Waits until the condition holds; the error says in words that it does not.
    pub async fn until(&mut self, stage: &Stage, condition: &Await) -> Result<(), Stopped> {
        let within = condition.within;
        let node = condition.node.as_ref();
        let (holds, otherwise) = if let Some(key) = &condition.key_gone {
            let gone = timeout(within.0, key_is(false, key, node, stage)).await;
            (gone.is_ok(), format!("'{key}' was still there"))
        } else if let Some(key) = &condition.key_there {
            let there = timeout(within.0, key_is(true, key, node, stage)).await;
            (there.is_ok(), format!("'{key}' was not there"))
        } else if let Some(key) = &condition.failover_of {
            let led = self.led.entry(key.clone()).or_default();
            let failed_over = timeout(within.0, failover(stage, key, led)).await;
            let otherwise = format!("no other server took the writes of '{key}'");
            (failed_over.is_ok(), otherwise)
        } else if let Some(client) = &condition.answer_to {
            return self.answer(client, within.0).await;
        } else if let Some(client) = &condition.held {
            let held = timeout(within.0, message_is_held(client, stage)).await;
            let otherwise = format!("no message of '{client}' was held");
            (held.is_ok(), otherwise)
        } else {
            return Err(Stopped::new("it does not say what it waits for".to_owned()));
        };
        if holds {
            Ok(())
        } else {
            Err(Stopped::new(format!("{otherwise} after {within}")))
        }
    }

    async fn answer(&mut self, client: &str, within: Duration) -> Result<(), Stopped> {
        let Some((pending, expected)) = self.coming.remove(client) else {
            let why = format!("'{client}' has nothing under way");
            return Err(Stopped::new(why));
        };
        let Ok(heard) = timeout(within, pending.answer()).await else {
            let why = format!("'{client}' had no answer after {within:?}");
            return Err(Stopped::new(why));
        };
        expected.meet(&heard)
    }
}

/// Waits until the key is there or gone on enough servers to decide about the lock: on all that
/// take its writes, of independent masters on a majority; or on the one `node`.
async fn key_is(is_there: bool, key: &str, node: Option<&String>, stage: &Stage) {
    let key = stage.servers.server_key(key);
    loop {
        let nodes = match node {
            Some(node) => vec![node.clone()],
            None => stage.servers.keepers(&key).await,
        };
        let needed = match stage.case.topology.alike() {
            TopologyKind::Single
            | TopologyKind::Replicated
            | TopologyKind::Sentinel
            | TopologyKind::Cluster
            | TopologyKind::Etcd
            | TopologyKind::Zookeeper
            | TopologyKind::Mariadb
            | TopologyKind::Postgres
            | TopologyKind::Custom
            | TopologyKind::External => nodes.len(),
            TopologyKind::Independent => nodes.len() / 2 + 1,
        };
        let mut found = 0;
        for node in &nodes {
            if let Ok(server) = stage.servers.server(node) {
                let has = server.has(&key).await;
                found += usize::from(has.is_ok_and(|has| has == is_there));
            }
        }
        if found >= needed {
            return;
        }
        sleep(POLL).await;
    }
}

/// Waits until a message of this client is held.
async fn message_is_held(client: &str, stage: &Stage) {
    let messages = stage.servers.messages();
    while !messages.is_some_and(|messages| messages.holds_one_of(client)) {
        sleep(POLL).await;
    }
}

/// Waits until others than `led` take the writes of the key, have taken one, and are known to
/// whoever a client may ask; they are `led` from then on.
async fn failover(stage: &Stage, key: &str, led: &mut Vec<String>) {
    let key = &*stage.servers.server_key(key);
    let probe = format!("lockstorm-takes-writes:{}", braced(key));
    loop {
        let leaders = stage.servers.keepers(key).await;
        if leaders != *led {
            let mut taken = 0;
            for leader in &leaders {
                if let Ok(server) = stage.servers.server(leader) {
                    taken += usize::from(server.write_nothing(&probe).await.is_ok());
                }
            }
            if taken == leaders.len() && stage.servers.agree_on(key).await {
                *led = leaders;
                return;
            }
        }
        sleep(POLL).await;
    }
}
