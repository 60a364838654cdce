//! Holders of a lock while a script runs: as long as one has it who will not let go of it by
//! itself, whoever is refused was refused rightly.

use std::time::Duration;

use lockstorm_scenarios::{Promise, Step};
use tokio::time::timeout;

use super::litmus::Clients;
use super::stage::{Stage, Stopped};
use crate::client::{Order, Reply};

/// Time for a client to say what it has. One that does nothing says so at once; one that stands
/// still, or is at something, has nothing that it could be asked to keep.
const SAYS_WITHIN: Duration = Duration::from_secs(1);

/// Takes it back that an answer breaks the promise of a free lock, if the lock need not be free.
pub(super) async fn excuse(
    stage: &Stage,
    clients: &Clients,
    step: &Step,
    stopped: Stopped,
) -> Stopped {
    let is_of_free_lock = matches!(
        stopped.breaks,
        Some(Promise::Obtainable | Promise::LeavesNothing)
    );
    // Who has one of several permits keeps nobody from the next.
    let is_for_one = stage.case.lock.permits() == 1;
    if !(is_of_free_lock && is_for_one) {
        return stopped;
    }
    let Some(reason) = taken(stage, clients, step).await else {
        return stopped;
    };
    Stopped {
        why: format!("{}, and {reason}", stopped.why),
        breaks: None,
        ..stopped
    }
}

/// Says why what a step asks for may be taken for as long as another client lives: the one that was
/// granted a lock last. Whoever believes in an earlier grant may keep alive what is not its own.
async fn taken(stage: &Stage, clients: &Clients, step: &Step) -> Option<String> {
    let (asks, wanted) = match step {
        Step::Acquire(acquire) => {
            let wanted = (acquire.key.as_str().into(), acquire.mode);
            (&acquire.client, Some(wanted))
        }
        Step::Await(condition) => (condition.answer_to.as_ref()?, None),
        _ => return None,
    };
    let (name, client) = clients
        .iter()
        .max_by_key(|(_, client)| client.last_grant())?;
    if name == asks {
        return None;
    }
    let messages = stage.servers.messages();
    if client.is_kept_alive() && messages.is_some_and(|messages| messages.holds_one_of(name)) {
        return Some(format!("a message of '{name}' is held"));
    }
    let says = client.order(Order::Keep(wanted));
    let keeps = timeout(SAYS_WITHIN, says).await == Ok(Reply::Done);
    keeps.then(|| format!("'{name}' has it"))
}
