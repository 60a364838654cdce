//! The network between the parts of a run, as faults see it.

use lockstorm_scenarios::CutMode;

/// Links between named places (nodes and clients), each direction apart.
pub trait Network: Send + Sync {
    /// Lets nothing pass from `from` to `to` until the guard is dropped.
    fn cut(&self, from: &str, to: &str, mode: CutMode) -> CutGuard;

    /// How many bytes, and how many connections, were held back or reset on `from`→`to` by cuts:
    /// what proves that a cut has had an effect.
    fn held_back(&self, from: &str, to: &str) -> u64;
}

/// A cut in force; dropping it heals the link.
#[must_use = "dropping the guard heals the link"]
pub struct CutGuard {
    heal: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl CutGuard {
    /// A guard that runs `heal` once, when dropped.
    pub fn new(heal: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self {
            heal: Some(Box::new(heal)),
        }
    }
}

impl Drop for CutGuard {
    fn drop(&mut self) {
        if let Some(heal) = self.heal.take() {
            heal();
        }
    }
}
