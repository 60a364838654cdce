//! Use of a resource: by which owner, and in which hold.

use std::collections::{BTreeMap, HashMap};

use crate::case::Case;
use crate::history::{Mode, Nanos};
use crate::operations::{Access, Action, KeyId, OpId, Operation, Outcome, OwnerId};

/// All that was done to one resource of one lock, in order of invocation. What certainly never
/// executed is left out.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    pub(crate) uses: Vec<Use>,
}

/// One operation on a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) id: OpId,
    pub(crate) access: Access,
    /// When its answer arrived, if it took effect.
    pub(crate) done: Option<Nanos>,
    /// The position of the hold in which its client sent it, if it held alone.
    pub(crate) hold: Option<usize>,
    /// The acquire of its client that was answered last, or has no answer, of those sent by then.
    pub(crate) acquired: Option<OpId>,
    /// Until when its client may have been granted the lock or a renewal, as far as it had asked.
    pub(crate) renewed: Nanos,
}

impl Use {
    /// Tells whether it changes the resource, as far as it takes effect.
    pub(crate) fn is_write(&self) -> bool {
        match self.access {
            Access::Write | Access::Cas | Access::Append => true,
            Access::Read => false,
        }
    }
}

/// The use of every resource, in a fixed order.
pub(crate) fn usages(case: &Case) -> Vec<Usage> {
    let mut usages: BTreeMap<(KeyId, Option<u32>), Usage> = BTreeMap::new();
    let mut clients: Option<HashMap<(KeyId, OwnerId), Client>> = None;
    let nobody = Client::default();
    for (id, operation) in OpId::each(&case.digest.operations) {
        let Action::Resource(access) = operation.action else {
            continue;
        };
        if matches!(operation.outcome, Outcome::Failed | Outcome::Refused) {
            continue;
        }
        let clients = clients.get_or_insert_with(|| clients_of(case));
        let client = clients.get(&(operation.key, operation.owner));
        let client = client.unwrap_or(&nobody);
        let (acquired, renewed) = client.granted_by(operation.invoked);
        let detail = case.digest.detail(operation);
        let resource = detail.and_then(|detail| detail.resource);
        let usage = usages.entry((operation.key, resource)).or_default();
        usage.uses.push(Use {
            id,
            access,
            done: operation
                .answered()
                .filter(|_| operation.outcome == Outcome::Ok),
            hold: client.hold_at(case, operation),
            acquired,
            renewed,
        });
    }
    drop_shared(&mut usages);
    let mut usages: Vec<Usage> = usages.into_values().collect();
    for usage in &mut usages {
        usage
            .uses
            .sort_by_key(|used| (case.digest.operation(used.id).invoked, used.id));
    }
    usages
}

/// A resource that is used under several locks is guarded by none of them alone.
fn drop_shared(usages: &mut BTreeMap<(KeyId, Option<u32>), Usage>) {
    let mut locks: HashMap<u32, u32> = HashMap::new();
    for resource in usages.keys().filter_map(|&(_, resource)| resource) {
        *locks.entry(resource).or_default() += 1;
    }
    usages.retain(|(_, resource), _| resource.is_none_or(|resource| locks[&resource] == 1));
}

/// When an acquire was answered, or never, and which it was.
type Acquired = (Nanos, OpId);

/// Operations of one owner on one lock.
#[derive(Debug, Default)]
struct Client {
    /// Positions of its holds as a writer, by grant.
    holds: Vec<usize>,
    /// When it asked for the lock or to renew it, the acquire that was under way longest by then,
    /// and how long either may have been.
    asked: Vec<(Nanos, Option<Acquired>, Nanos)>,
}

fn clients_of(case: &Case) -> HashMap<(KeyId, OwnerId), Client> {
    let mut clients: HashMap<(KeyId, OwnerId), Client> = HashMap::new();
    for (at, hold) in case.holds.iter().enumerate() {
        if hold.is_granted() && hold.mode == Mode::Write {
            let client = clients.entry((hold.key, hold.owner)).or_default();
            client.holds.push(at);
        }
    }
    for (id, operation) in OpId::each(&case.digest.operations) {
        let asks = matches!(operation.action, Action::Acquire | Action::Renew);
        if asks && matches!(operation.outcome, Outcome::Ok | Outcome::Unknown) {
            let client = clients.entry((operation.key, operation.owner)).or_default();
            client.ask(id, operation);
        }
    }
    for client in clients.values_mut() {
        client.holds.sort_by_key(|&at| case.holds[at].core.start);
        client.settle();
    }
    clients
}

impl Client {
    fn ask(&mut self, id: OpId, operation: &Operation) {
        let until = operation.answered().unwrap_or(Nanos::MAX);
        let acquired = (operation.action == Action::Acquire).then_some((until, id));
        self.asked.push((operation.invoked, acquired, until));
    }

    fn settle(&mut self) {
        self.asked.sort_unstable();
        let (mut acquired, mut renewed) = (None, Nanos(0));
        for entry in &mut self.asked {
            acquired = acquired.max(entry.1);
            renewed = renewed.max(entry.2);
            (entry.1, entry.2) = (acquired, renewed);
        }
    }

    /// Returns what it may have been granted by `time`, and until when, of what it had asked for.
    fn granted_by(&self, time: Nanos) -> (Option<OpId>, Nanos) {
        let asked = self
            .asked
            .partition_point(|&(invoked, _, _)| invoked <= time);
        let last = self.asked[..asked].last();
        last.map_or((None, Nanos(0)), |&(_, acquired, renewed)| {
            (acquired.map(|(_, id)| id), renewed)
        })
    }

    /// The hold in which it sent an operation, if it held alone.
    fn hold_at(&self, case: &Case, sent: &Operation) -> Option<usize> {
        let time = sent.invoked;
        let begun = self
            .holds
            .partition_point(|&at| case.holds[at].core.start <= time);
        let &at = self.holds[..begun].last()?;
        let hold = &case.holds[at];
        // What it sent then shows that it was alive.
        let left = hold.core.end.min(hold.told_lost);
        // One process releases after what it did before, though it be at the same instant.
        let release = hold.release.map(|id| case.digest.operation(id));
        let before = release.is_some_and(|release| {
            let first = release.process == sent.process && sent.invoke < release.invoke;
            first && time == left
        });
        let inside = time < left || before;
        (inside && case.permits() == 1).then_some(at)
    }
}
