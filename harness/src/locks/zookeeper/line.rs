//! The queue for a lock on ZooKeeper: ephemeral nodes in a line below the lock's own.
//!
//! Source: "Locks" in ZooKeeper's Recipes and Solutions, with the name of each node made out for
//! its client ("Recoverable Errors and the GUID"), as Curator's `InterProcessMutex` does.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;

use crate::connection::{
    CallError, Reply, Request, ZookeeperClient, change_of, children_of, name_of, node_of, number_of,
};
use crate::locks::context::random_value;

/// One client's side of the queues.
pub struct Line {
    pub client: ZookeeperClient,
    rng: ChaCha8Rng,
}

/// A place in the queue: a node of the client's own, which goes with its session.
#[derive(Clone, Debug)]
pub struct Place {
    /// Name that no other client's node begins with.
    mark: String,
    /// Path of the node; `None` of a place of which nobody knows whether it is there.
    path: Option<String>,
    /// Number of the change that created the node.
    pub change: u64,
    /// Number of the session.
    session: i64,
}

/// State of a place in the queue.
#[derive(Clone, Debug)]
pub enum Turn {
    Mine,
    /// The node of this path is before it.
    After(String),
    /// The place is no more.
    Gone,
}

/// A try that has no place to show.
pub struct Refused {
    pub error: CallError,
    /// The place that may be there all the same.
    pub perhaps: Option<Place>,
}

impl From<CallError> for Refused {
    fn from(error: CallError) -> Self {
        Self {
            error,
            perhaps: None,
        }
    }
}

impl Line {
    pub const fn new(client: ZookeeperClient, rng: ChaCha8Rng) -> Self {
        Self { client, rng }
    }

    /// Time for which a holder may rely on its session from a request on: after so long without an
    /// answer ZooKeeper's own client takes its connection for lost. A member that is cut off from
    /// the leader answers for less than the rest.
    pub fn relies_on(&self) -> Duration {
        self.client.lives() * 2 / 3
    }

    /// Tells whether the session of a place has been replaced by another.
    pub fn has_outlived(&self, place: &Place) -> bool {
        self.client.session() != Some(place.session)
    }

    /// Creates a node at the end of the queue for `lock`.
    pub async fn queue_up(&mut self, lock: &str) -> Result<Place, Refused> {
        let parent = node_of(lock);
        let mark = format!("_c_{}-lock-", random_value(&mut self.rng));
        let name = format!("{parent}/{mark}");
        // The first try may find that the session is over, the second that nobody has asked for
        // this lock before.
        for _ in 0..3 {
            let created = self.client.ask(Request::CreateInLine(&name)).await;
            let session = self.client.session().unwrap_or_default();
            let place = |path, change| Place {
                mark: mark.clone(),
                path,
                change,
                session,
            };
            match created {
                Ok(Reply::Done(created)) => {
                    let (Some(path), Some(change)) = (name_of(&created), change_of(&created))
                    else {
                        return Err(odd(&Reply::Done(created)).into());
                    };
                    return Ok(place(Some(path), change));
                }
                Ok(Reply::NoNode) => self.create_parent(&parent).await?,
                Ok(Reply::Ended) => {}
                Ok(other) => return Err(odd(&other).into()),
                Err(error) => {
                    let is_open = matches!(error, CallError::Unknown(_));
                    let perhaps = is_open.then(|| place(None, 0));
                    return Err(Refused { error, perhaps });
                }
            }
        }
        let why = format!("{parent} could not be created, and is not there");
        Err(CallError::Failed(why).into())
    }

    async fn create_parent(&mut self, parent: &str) -> Result<(), CallError> {
        match self.client.ask(Request::Create(parent)).await {
            // A session that is over shows at the next request too.
            Ok(Reply::Done(_) | Reply::NodeExists | Reply::Ended) => Ok(()),
            Ok(other) => Err(odd(&other)),
            // The node that matters was not asked for yet.
            Err(CallError::Unknown(why)) => Err(CallError::Failed(why)),
            Err(error) => Err(error),
        }
    }

    /// Says whose turn it is in the queue for `lock`.
    pub async fn look(&mut self, lock: &str, place: &Place) -> Result<Turn, CallError> {
        if self.has_outlived(place) {
            return Ok(Turn::Gone);
        }
        let parent = node_of(lock);
        let mut names = match self.client.ask(Request::Children(&parent)).await? {
            Reply::Done(found) => {
                children_of(&found).ok_or_else(|| odd(&Reply::Done(found.clone())))?
            }
            Reply::NoNode | Reply::Ended => return Ok(Turn::Gone),
            other => return Err(odd(&other)),
        };
        names.sort_by(|a, b| number_of(a).cmp(number_of(b)));
        let own = names.iter().position(|name| name.starts_with(&place.mark));
        Ok(match own {
            None => Turn::Gone,
            Some(0) => Turn::Mine,
            Some(own) => Turn::After(format!("{parent}/{}", names[own - 1])),
        })
    }

    /// Keeps the session alive; whether it still is the place's.
    pub async fn keep_alive(&mut self, place: &Place) -> Result<bool, CallError> {
        if self.has_outlived(place) {
            return Ok(false);
        }
        self.client.keep_alive().await
    }

    /// Waits until the node of a path is gone.
    pub async fn gone(&mut self, path: &str) -> Result<(), CallError> {
        match self.client.ask(Request::Watch(path)).await? {
            Reply::Done(_) => self.client.told(path).await,
            Reply::NoNode | Reply::Ended => Ok(()),
            other => Err(odd(&other)),
        }
    }

    /// Deletes the node of a place; whether it was there.
    pub async fn leave(&mut self, lock: &str, place: &Place) -> Result<bool, CallError> {
        if self.has_outlived(place) {
            return Ok(false);
        }
        let Some(path) = self.find(lock, place).await? else {
            return Ok(false);
        };
        match self.client.ask(Request::Delete(&path)).await? {
            Reply::Done(_) => Ok(true),
            Reply::NoNode | Reply::Ended => Ok(false),
            other => Err(odd(&other)),
        }
    }

    /// Path of a place: looked for where the answer to its creation is missing.
    async fn find(&mut self, lock: &str, place: &Place) -> Result<Option<String>, CallError> {
        if let Some(path) = &place.path {
            return Ok(Some(path.clone()));
        }
        let parent = node_of(lock);
        // A member may be behind the one that created it.
        self.client.ask(Request::Sync(&parent)).await?;
        let names = match self.client.ask(Request::Children(&parent)).await? {
            Reply::Done(found) => children_of(&found).unwrap_or_default(),
            Reply::NoNode | Reply::Ended => return Ok(None),
            other => return Err(odd(&other)),
        };
        let own = names.iter().find(|name| name.starts_with(&place.mark));
        Ok(own.map(|name| format!("{parent}/{name}")))
    }
}

impl Place {
    /// Name by which members know the node.
    pub fn mark(&self) -> String {
        let path = self.path.as_deref().unwrap_or(&self.mark);
        path.rsplit('/').next().unwrap_or(path).to_owned()
    }
}

/// Errors beside those that have a meaning here leave open what was done.
fn odd(reply: &Reply) -> CallError {
    CallError::Unknown(format!("an answer that makes no sense here: {reply:?}"))
}
