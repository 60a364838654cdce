//! A request that counts once, however often it is sent.
//!
//! Speaks where a client was refused a lock that was free, and the last that it sent in that try,
//! to its one server, was the same command twice, with the same value, and a fault took effect in
//! between: the first, whose reply was lost, had taken the lock, and the second was refused for it.
//! Only where nothing went wrong but on the way between the client and the servers: else a server
//! may have refused the command for a reason of its own.

use lockstorm_checker::Property;
use lockstorm_checker::history::{FaultClass, FaultTarget};
use lockstorm_checker::verdict::{FaultSummary, Step, StepKind};

use super::scene::{Remedy, Scene};

const SPEAKS_OF: &[Property] = &[Property::SpuriousRefusal];

pub(super) fn remedy(scene: &Scene) -> Option<Remedy> {
    if !scene.tells_of(SPEAKS_OF) {
        return None;
    }
    let story = &scene.witness.story;
    let at = story
        .iter()
        .rposition(|step| step.kind == StepKind::Refuse)?;
    let client = &story[at].actor;
    if !scene.blamed().all(|fault| is_on_the_way_of(fault, client)) {
        return None;
    }
    let sent = story[..at]
        .iter()
        .filter_map(|step| Sent::read(step, client));
    let sent: Vec<Sent> = sent.collect();
    let [.., first, again] = sent.as_slice() else {
        return None;
    };
    let to_one = sent.iter().all(|one| one.step.actor == again.step.actor);
    let is_same = again.is_again && first.command == again.command;
    // Else the first may have been answered, and not carried out: of a script that is not there.
    let is_lost = |step: &Step| {
        let is_between = first.step.n < step.n && step.n < again.step.n;
        is_between && step.kind == StepKind::Fault && is_blamed(scene, &step.actor)
    };
    (to_one && is_same && story.iter().any(is_lost)).then(|| Remedy {
        sentence: format!(
            "A request that counts once, however often it is sent: step {} sent the command of \
             step {} again, and was refused for what that one had done.",
            again.step.n, first.step.n
        ),
        evidence: [first, again]
            .iter()
            .flat_map(|one| one.step.evidence.clone())
            .collect(),
    })
}

/// Command that a server was sent by the client.
struct Sent<'a> {
    step: &'a Step,
    command: &'a str,
    /// True if the same had been sent before.
    is_again: bool,
}

impl<'a> Sent<'a> {
    fn read(step: &'a Step, client: &str) -> Option<Self> {
        let sent = step.text.strip_prefix(client)?.strip_prefix(" sent ")?;
        let (way, command) = sent.split_once(": ")?;
        (step.kind == StepKind::Trace).then_some(Self {
            step,
            command,
            is_again: way.ends_with(" again"),
        })
    }
}

/// Tells whether the violation is blamed on the fault of this name.
fn is_blamed(scene: &Scene, id: &str) -> bool {
    scene.blamed().any(|fault| fault.id == id)
}

/// Tells whether a fault touches nothing but what a client and its servers send each other.
fn is_on_the_way_of(fault: &FaultSummary, client: &str) -> bool {
    let is_of_network = matches!(fault.class, FaultClass::Packet | FaultClass::Cut);
    let is_own = match &fault.target {
        FaultTarget::Client(name) => **name == *client,
        FaultTarget::Link { from, to } => {
            let mut ends = from.iter().chain(to);
            ends.any(|end| **end == *client)
        }
        FaultTarget::Node(_)
        | FaultTarget::Key { .. }
        | FaultTarget::Sides(_)
        | FaultTarget::Connections { .. }
        | FaultTarget::Words(_) => false,
    };
    is_of_network && is_own
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::history::read_jsonl;
    use lockstorm_checker::{Analysis, Options, check};

    use super::*;

    /// A reply is lost, and what the client has sent it sends again.
    const HISTORY: &str = include_str!("../../tests/remedies/reply-lost.jsonl");

    fn analysis(text: &str) -> Analysis {
        let history = read_jsonl(text.as_bytes(), "reply-lost.jsonl").expect("it is a history");
        check(&history, &Options::default())
    }

    fn said(text: &str) -> Option<Remedy> {
        let analysis = analysis(text);
        let judgement = &analysis.properties[&Property::SpuriousRefusal];
        let witness = judgement.witnesses.first().expect("it is violated");
        remedy(&Scene::of_history(&analysis, witness))
    }

    #[test]
    fn a_client_that_met_its_own_grant_should_have_known_it() {
        let remedy = said(HISTORY).expect("it is told");
        insta::assert_snapshot!(remedy.sentence);
        assert_eq!(remedy.evidence.len(), 2);
    }

    #[test]
    fn another_command_may_be_refused_for_another_reason() {
        let other = HISTORY.replacen("SET lock f00d NX", "SET lock cafe NX", 1);
        assert_ne!(other, HISTORY);
        assert_eq!(said(&other), None);
    }

    #[test]
    fn a_command_that_is_repeated_before_its_reply_is_lost_was_refused_for_something_else() {
        let early = HISTORY.replace("\"time\":141000000", "\"time\":131500000");
        let (head, rest) = early.split_once("{\"index\":8").expect("it has the fault");
        let (fault, rest) = rest.split_once("{\"index\":9").expect("and the command");
        let (command, rest) = rest.split_once("{\"index\":10").expect("and the answer");
        let text = format!("{head}{{\"index\":8{command}{{\"index\":9{fault}{{\"index\":10{rest}");
        assert_eq!(said(&text), None);
    }

    #[test]
    fn a_server_that_something_was_done_to_may_refuse_what_it_likes() {
        let paused = HISTORY
            .replace("lose-message", "pause")
            .replace("\"class\":\"packet\"", "\"class\":\"stall\"")
            .replace("{\"client\":\"a\"}", "{\"node\":\"n1\"}");
        assert_ne!(paused, HISTORY);
        assert_eq!(said(&paused), None);
    }
}
