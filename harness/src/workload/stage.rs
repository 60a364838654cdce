//! What a workload needs: the case, the servers, the recorder, and the way to make clients.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use lockstorm_checker::history::Name;
use lockstorm_scenarios::{Case, DurationRange, Mutant, Step, Workload};
use tokio_util::sync::CancellationToken;

use crate::client::{Dialer, Job, Session, SessionParts};
use crate::locks::{AnyLock, Instances, LockContext, SharedInstance};
use crate::orders::OrderDatabase;
use crate::progress::Progress;
use crate::recorder::EventSink;
use crate::seed::Seed;
use crate::server::Servers;

/// Probes of the final phase at most; where there are more keys, each probe asks for several, one
/// after the other. Each has a connection of its own.
const PROBES_MAX: usize = 64;

/// The stage of one run.
pub struct Stage {
    /// What is run.
    pub case: Case,
    /// Where.
    pub servers: Arc<Servers>,
    /// The Redisson instances of the clients.
    pub instances: Instances,
    /// What the lock protects.
    pub orders: Option<OrderDatabase>,
    /// What happens goes here.
    pub sink: EventSink,
    /// All choices follow from it.
    pub seed: Seed,
    /// Cancelled when the user wants an end.
    pub interrupt: CancellationToken,
    /// Tells the user how far it is.
    pub progress: Arc<dyn Progress>,
}

/// Why a workload stopped before its end, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped(pub String);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Stage {
    /// Names of the clients that the workload has, in the order of their process ids.
    pub fn client_names(&self) -> Vec<String> {
        match &self.case.workload {
            Workload::Litmus(steps) => {
                let mut names: Vec<String> = Vec::new();
                for step in steps {
                    if let Step::Acquire(acquire) = step
                        && !names.contains(&acquire.client)
                    {
                        names.push(acquire.client.clone());
                    }
                }
                names
            }
            Workload::Storm(..) => (0..self.case.clients.count)
                .map(|n| format!("c{n}"))
                .collect(),
        }
    }

    /// The lock keys that the workload is about.
    pub fn keys(&self) -> Vec<Name> {
        match &self.case.workload {
            Workload::Litmus(steps) => {
                let keys: BTreeSet<&str> = steps
                    .iter()
                    .filter_map(|step| match step {
                        Step::Acquire(acquire) => Some(acquire.key.as_str()),
                        _ => None,
                    })
                    .collect();
                keys.into_iter().map(Name::from).collect()
            }
            Workload::Storm(..) => (0..self.case.clients.keys)
                .map(|n| format!("lock-{n}").into())
                .collect(),
        }
    }

    /// Pauses between the tries of a waiting acquire: the lock's own where it has an opinion.
    pub fn retry(&self) -> DurationRange {
        self.case
            .lock
            .retry_delay()
            .unwrap_or(self.case.clients.retry)
    }

    /// How many clients ask for the keys in the final phase.
    pub fn probes(&self) -> usize {
        self.keys().len().min(PROBES_MAX)
    }

    /// How many clients the run has, the probes of the final phase included.
    fn clients_in_all(&self) -> usize {
        self.client_names().len() + self.probes()
    }

    /// The Redisson instance of client number `n`: a fresh client, which proves that a lock can be
    /// had again, shares none with those before it.
    fn instance(&self, n: usize) -> SharedInstance {
        if n < self.client_names().len() {
            self.instances.of(n)
        } else {
            SharedInstance::default()
        }
    }

    /// Client number `n` of the run, called `name`.
    pub fn session(&self, name: &str, n: usize) -> Session {
        let spec = &self.case.lock;
        let gate = self.servers.roster().enrol(name);
        let dialer = Dialer {
            source: self.servers.introduce_client(name, n),
            gate: gate.clone(),
            reply_timeout: self.case.clients.reply_timeout.0,
        };
        let context = LockContext {
            client: name.to_owned(),
            dialer,
            route: self.servers.route(),
            instance: self.instance(n),
            rng: self.seed.stream(&format!("lock/{name}")),
        };
        Session::new(SessionParts {
            name: name.into(),
            process: n as u64,
            clients: self.clients_in_all() as u64,
            lock: AnyLock::new(spec, context),
            gate,
            lease: spec.lease().map(|lease| lease.0),
            renew_every: spec.renew_every().map(|every| every.0),
            renews_on: spec.mutant() == Some(Mutant::WatchdogNotStopped),
            sink: self.sink.clone(),
            rng: self.seed.stream(&format!("client/{name}")),
            job: self.orders.clone().map(Job::new),
        })
    }
}
