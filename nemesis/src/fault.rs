//! Definition of a fault: inject, observe the effect, heal.

use std::fmt;

use async_trait::async_trait;
use lockstorm_checker::history::{DataLoss, FaultTarget, Name};

use lockstorm_scenarios::FaultKind;

use crate::deployment::Deployment;
use crate::error::FaultError;

/// One fault on its way through inject → observe → heal. An instance is used once.
#[async_trait]
pub trait Fault: Send + Sync {
    /// Breaks it. What it needs later to prove or to undo the effect it keeps in itself.
    ///
    /// # Errors
    /// When the target does not exist, or is not in a state that can be broken this way. A fault
    /// that returns an error leaves nothing behind.
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError>;

    /// Looks once whether the effect shows; called again and again until it does.
    async fn observe(&mut self, on: &dyn Deployment) -> Sighting;

    /// Undoes it, and says what was seen of that. Does no harm when there is nothing to undo.
    ///
    /// # Errors
    /// When it could not be undone; it may be tried again.
    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError>;

    /// Tells whether something else has ended it, such as a restart of a killed node, and what.
    fn overtaken(&self, _on: &dyn Deployment) -> Option<Evidence> {
        None
    }

    /// The servers, clients and links that it hits, where the scenario has only a word or a form
    /// for them; known once it was injected.
    fn target(&self) -> Option<FaultTarget> {
        None
    }
}

/// Result of one look at a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// The effect is there.
    Seen(Evidence),
    /// The effect is not there yet, but has to be soon. What was there instead.
    NotYet(String),
    /// The effect shows only once something else happens, such as traffic on a cut link: it is
    /// not worth waiting for here and now. What was there instead.
    Later(String),
    /// There is no effect and there will be none. What was there instead.
    Never(String),
}

impl Sighting {
    /// An effect that is there, in words.
    pub fn seen(evidence: impl Into<Evidence>) -> Self {
        Self::Seen(evidence.into())
    }
}

/// Evidence of what was seen: the proof of an effect or of its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// In words.
    pub words: Name,
    /// Of a clock: how far it was off, ahead or (negative) behind, in nanoseconds.
    pub offset_ns: Option<i64>,
    /// Of a server that came back: what it had lost, where that is known.
    pub lost: Option<DataLoss>,
}

impl Evidence {
    /// Returns this evidence with a clock that was so far off, in nanoseconds.
    #[must_use]
    pub fn with_offset(self, offset_ns: i64) -> Self {
        Self {
            offset_ns: Some(offset_ns),
            ..self
        }
    }

    /// Returns this evidence with a server that came back without some of its data.
    #[must_use]
    pub fn with_loss(self, lost: Option<DataLoss>) -> Self {
        Self { lost, ..self }
    }
}

impl<T: Into<Name>> From<T> for Evidence {
    fn from(words: T) -> Self {
        Self {
            words: words.into(),
            offset_ns: None,
            lost: None,
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// A row of `lockstorm list faults`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultInfo {
    /// Which.
    pub kind: FaultKind,
    /// Effect of the fault, in one line.
    pub about: &'static str,
    /// End of the fault.
    pub ends: Ends,
}

/// End of a fault of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Time at which the nemesis heals it.
    Healed,
    /// By itself, as soon as its effect was observed.
    ByItself,
    /// Not at all: it changes the deployment for good.
    Never,
}
