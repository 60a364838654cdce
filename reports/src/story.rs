//! The story of a witness as plain text: one renderer for terminal, JUnit and Markdown's fallback,
//! so that everybody reads the same sentences. HTML marks up the same [`Line`]s.

use std::fmt::Write as _;

use lockstorm_checker::verdict::{Step, Witness};

use crate::inert::visible;
use crate::remedy::{self, Scene};
use crate::words;

/// One step, ready to be shown.
pub(crate) struct Line {
    pub(crate) number: u32,
    pub(crate) time: String,
    /// The sentence; says so when it is inferred.
    pub(crate) text: String,
    /// `held by a → held by a and b`, or empty.
    pub(crate) change: String,
    /// `events 3, 7`, or empty.
    pub(crate) evidence: String,
}

impl Line {
    fn of(step: &Step) -> Self {
        let mut text = visible(&step.text).into_owned();
        if !step.certain {
            text.push_str(" (inferred)");
        }
        Self {
            number: step.n,
            time: words::instant(step.t),
            text,
            change: change(step),
            evidence: words::evidence(&step.evidence),
        }
    }
}

fn change(step: &Step) -> String {
    match (&step.before, &step.after) {
        (Some(before), Some(after)) => {
            format!("{} → {}", visible(before), visible(after))
        }
        (None, Some(after)) => visible(after).into_owned(),
        (_, None) => String::new(),
    }
}

/// The steps of a story.
pub(crate) fn lines(witness: &Witness) -> Vec<Line> {
    witness.story.iter().map(Line::of).collect()
}

/// The faults that the violation is blamed on, and what else was active, in one sentence; nothing
/// where there are none.
pub(crate) fn blame(scene: &Scene) -> Option<String> {
    let witness = scene.witness;
    if witness.blamed.is_empty() {
        return None;
    }
    let is_blamed = |id: &&String| witness.blamed.contains(id);
    let others = witness.faults_active.iter().filter(|id| !is_blamed(id));
    let others: Vec<String> = others.map(|id| named(scene, id)).collect();
    let blamed: Vec<String> = witness.blamed.iter().map(|id| named(scene, id)).collect();
    let blamed = format!("Blamed on {}.", blamed.join(", "));
    Some(if others.is_empty() {
        blamed
    } else {
        format!("{blamed} Also active: {}.", others.join(", "))
    })
}

/// A fault with its kind and target.
fn named(scene: &Scene, id: &str) -> String {
    let fault = scene.faults.iter().find(|fault| fault.id == id);
    let text = match fault {
        Some(fault) => format!("{id} ({} {})", fault.kind, fault.target),
        None => id.to_owned(),
    };
    visible(&text).into_owned()
}

/// How the remedies are announced.
pub(crate) const CURES: &str = "What would have prevented it";

/// The remedies that the run supports, a sentence each, with the events that each rests on.
pub(crate) fn remedies(scene: &Scene) -> Vec<(String, Vec<u64>)> {
    let remedies = remedy::remedies_of(scene).into_iter();
    remedies
        .map(|remedy| (visible(&remedy.sentence).into_owned(), remedy.evidence))
        .collect()
}

/// The claim, its story and what would have prevented it, without colour or markup.
pub(crate) fn plain(scene: &Scene) -> String {
    let witness = scene.witness;
    let mut text = format!("{}\n", visible(&witness.claim));
    for line in lines(witness) {
        let _ = write!(text, "{:>2}. {:>9}  {}", line.number, line.time, line.text);
        if !line.change.is_empty() {
            let _ = write!(text, "; {}", line.change);
        }
        if !line.evidence.is_empty() {
            let _ = write!(text, " [{}]", line.evidence);
        }
        text.push('\n');
    }
    if let Some(sentence) = blame(scene) {
        let _ = writeln!(text, "{sentence}");
    }
    for (sentence, evidence) in remedies(scene) {
        let _ = writeln!(text, "{CURES}: {sentence} [{}]", words::evidence(&evidence));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use lockstorm_checker::Property;

    #[test]
    fn a_story_is_numbered_timed_and_cites_its_evidence() {
        let run = sample::failover_run();
        let witness = &run.analysis.properties[&Property::MutualExclusion].witnesses[0];
        insta::assert_snapshot!(plain(&Scene::of_run(&run, witness)));
    }
}
