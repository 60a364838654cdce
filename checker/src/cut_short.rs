//! Tells whether a recorded history ends where its run ended.
//!
//! For: runs that were killed, or stopped before everything was healed and asked for once more:
//! what they would have shown after that is not in their history. Not for: histories of others,
//! which say nothing of phases.

use crate::operations::Digest;
use crate::verdict::{Analysis, Verdict};

/// The phase that a recorder writes when a run is over.
pub const END: &str = "end";

/// Histories of this version say by the phase [`END`] that they are whole.
const VERSION_WITH_END: u32 = 2;

/// Returns the reason why a history that Lockstorm recorded is not that of a whole run, if it is
/// not.
pub fn cut_short(digest: &Digest) -> Option<String> {
    if !digest.header.is_recorded() {
        return None;
    }
    let phase = digest.last_phase.as_deref();
    let has_end = phase == Some(END) || digest.header.version < VERSION_WITH_END;
    match (phase, digest.final_phase) {
        (_, Some(_)) if has_end => None,
        (_, Some(_)) => Some(
            "the history was cut short in the final phase: whether every lock could be had again \
             is not known"
                .to_owned(),
        ),
        (Some(END), None) => Some(
            "the run was stopped early: not every fault was healed, and the locks were not asked \
             for once more"
                .to_owned(),
        ),
        (phase, None) => Some(format!(
            "the history was cut short in the phase {:?}: nothing was healed, and what the clients \
             did after that is not in it",
            phase.unwrap_or("main")
        )),
    }
}

impl Analysis {
    /// Weakens the analysis to that of a history that was cut short, for this `reason`: it shows
    /// what was violated, and not that nothing was.
    #[must_use]
    pub fn of_part(mut self, reason: &str) -> Self {
        let judged = self.properties.values_mut();
        for judgement in judged.filter(|judgement| judgement.verdict == Verdict::Valid) {
            judgement.verdict = Verdict::Unknown;
            judgement.reason = Some(reason.to_owned());
        }
        if self.verdict == Verdict::Valid {
            self.verdict = Verdict::Unknown;
        }
        self
    }
}
