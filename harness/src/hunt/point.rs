//! Points: the single messages at which something can go wrong.

use std::collections::BTreeMap;
use std::fmt;

use lockstorm_nemesis::messages::Passed;
use lockstorm_scenarios::{LockOperation, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::script::Operations;

/// Messages of one operation with one server that become points: who waits asks over and over, and
/// the tenth time is like the third.
const NTH_MAX: u32 = 3;

/// One message of one client, as a script can name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Point {
    /// Client that asks.
    pub client: String,
    /// Operation that it has under way.
    pub operation: LockOperation,
    /// Which of its operations of this kind it is, from 1.
    pub ordinal: u32,
    /// How many such messages with this server there are in the operation until it is this one.
    pub nth: u32,
    /// The request, or the reply to it.
    pub message: Message,
    /// Command of the request, for readers: which message it is follows from the others.
    pub command: String,
    /// Server that is asked; none where any will do, so that nobody knows before which it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

/// The word of scenarios for the server that leads.
const LEADER: &str = "primary";

impl Point {
    /// The server that something happens to here: where any may be asked, the one that leads.
    pub fn server(&self) -> &str {
        self.node.as_deref().unwrap_or(LEADER)
    }

    /// The message without its server: placements that differ only in equal servers are one.
    pub fn label(&self) -> String {
        let nth = match self.nth {
            1 => String::new(),
            nth => format!(" ({nth})"),
        };
        format!("{}{nth}", self.kind())
    }

    /// The message, whichever of many it is and whichever server it is for: `request SET of a's
    /// acquire`.
    pub fn kind(&self) -> String {
        let message = match self.message {
            Message::Request => "request",
            Message::Reply => "reply to",
        };
        let which = match self.ordinal {
            1 => "",
            2 => "second ",
            _ => "later ",
        };
        let (command, client) = (&self.command, &self.client);
        let operation = word(self.operation);
        format!("{message} {command} of {client}'s {which}{operation}")
    }

    /// The parameters by which a scenario names it.
    pub fn parameters(&self) -> Value {
        let mut parameters = json!({
            "client": self.client,
            "operation": word(self.operation),
            "message": self.message,
            "nth": self.nth,
        });
        if let Some(node) = &self.node {
            parameters["node"] = json!(node);
        }
        parameters
    }
}

impl fmt::Display for Point {
    /// `reply to SET of a's acquire, from n1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match self.message {
            Message::Request => "to",
            Message::Reply => "from",
        };
        let server = self.node.as_deref().unwrap_or("any server");
        write!(f, "{}, {way} {server}", self.label())
    }
}

/// The word of an operation in scenario files.
pub const fn word(operation: LockOperation) -> &'static str {
    match operation {
        LockOperation::Acquire => "acquire",
        LockOperation::Renew => "renew",
        LockOperation::Release => "release",
    }
}

/// Findings of one run without a fault: its points, and whether its servers are alike.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Survey {
    /// The points, in the order in which the run came through them.
    pub points: Vec<Point>,
    /// True if a client asks several servers at once, so that it makes no difference which of them
    /// something happens to.
    pub is_symmetric: bool,
}

impl Survey {
    /// Reads it off the messages of these clients, in the order in which they passed. Who waits for
    /// a lock tries it again and again, and all tries are one operation of the script.
    /// `any_will_do` says that a client asks whichever server it likes.
    pub fn of(passed: &[Passed], clients: &[&str], script: &Operations, any_will_do: bool) -> Self {
        let mut seen: BTreeMap<(String, LockOperation, u32, Message, Option<String>), u32> =
            BTreeMap::new();
        let mut operations: BTreeMap<(String, LockOperation), Vec<u64>> = BTreeMap::new();
        let mut points = Vec::new();
        for one in passed {
            if !clients.contains(&one.client.as_str()) {
                continue;
            }
            let of_kind = operations.entry((one.client.clone(), one.operation));
            let of_kind = of_kind.or_default();
            if !of_kind.contains(&one.serial) {
                of_kind.push(one.serial);
            }
            let before = of_kind.iter().take_while(|serial| **serial != one.serial);
            let like = (one.client.clone(), one.operation);
            let last = script.get(&like).copied().unwrap_or(1);
            let ordinal = (before.count() as u32 + 1).min(last);
            let node = (!any_will_do).then(|| one.node.clone());
            let like = (
                one.client.clone(),
                one.operation,
                ordinal,
                one.message,
                node.clone(),
            );
            let nth = seen.entry(like).or_default();
            *nth += 1;
            if *nth <= NTH_MAX {
                points.push(Point {
                    client: one.client.clone(),
                    operation: one.operation,
                    ordinal,
                    nth: *nth,
                    message: one.message,
                    command: one.command.clone(),
                    node,
                });
            }
        }
        Self {
            is_symmetric: asks_all_at_once(passed),
            points,
        }
    }
}

/// Tells whether some acquire asked a second server before the first one had answered. A client
/// that asks one after the other treats the first one differently, and never does; one that asks
/// all at once may have its first answer early.
fn asks_all_at_once(passed: &[Passed]) -> bool {
    let mut acquires: BTreeMap<(&str, u64), Vec<&Passed>> = BTreeMap::new();
    let of_acquires = passed
        .iter()
        .filter(|one| one.operation == LockOperation::Acquire);
    for one in of_acquires {
        let of_call = acquires.entry((&one.client, one.serial)).or_default();
        of_call.push(one);
    }
    acquires.values().any(|of_call| {
        let answered = of_call.iter().position(|one| one.message == Message::Reply);
        let before = &of_call[..answered.unwrap_or(of_call.len())];
        before.iter().any(|one| one.node != of_call[0].node)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(client: &str, node: &str, message: Message) -> Passed {
        Passed {
            client: client.to_owned(),
            node: node.to_owned(),
            message,
            command: "SET".to_owned(),
            operation: LockOperation::Acquire,
            serial: 1,
        }
    }

    #[test]
    fn messages_of_one_kind_are_numbered_and_many_are_few() {
        let asks = |_| [Message::Request, Message::Reply].map(|side| passed("a", "n1", side));
        let run: Vec<Passed> = (0..9).flat_map(asks).collect();
        let survey = Survey::of(&run, &["a"], &Operations::new(), false);
        let labels: Vec<String> = survey.points.iter().map(Point::label).collect();
        let wanted = [
            "request SET of a's acquire",
            "reply to SET of a's acquire",
            "request SET of a's acquire (2)",
            "reply to SET of a's acquire (2)",
            "request SET of a's acquire (3)",
            "reply to SET of a's acquire (3)",
        ];
        assert_eq!(labels, wanted);
        let of_another = Survey::of(&run, &["b"], &Operations::new(), false);
        assert!(of_another.points.is_empty());
    }

    #[test]
    fn where_any_server_will_do_a_message_is_the_same_whichever_is_asked() {
        let run = ["n1", "n3"].map(|node| passed("a", node, Message::Request));
        let survey = Survey::of(&run, &["a"], &Operations::new(), true);
        let points: Vec<String> = survey.points.iter().map(Point::to_string).collect();
        let wanted = [
            "request SET of a's acquire, to any server",
            "request SET of a's acquire (2), to any server",
        ];
        assert_eq!(points, wanted);
        assert_eq!(survey.points[0].parameters().get("node"), None);
        assert_eq!(survey.points[0].server(), "primary");
    }

    #[test]
    fn servers_are_alike_if_they_are_asked_at_once() {
        let at_once = [
            passed("a", "n1", Message::Request),
            passed("a", "n2", Message::Request),
            passed("a", "n1", Message::Reply),
        ];
        let is_symmetric =
            |run: &[Passed]| Survey::of(run, &["a"], &Operations::new(), false).is_symmetric;
        assert!(is_symmetric(&at_once));
        let in_turn = [&at_once[0], &at_once[2], &at_once[1]].map(Clone::clone);
        assert!(!is_symmetric(&in_turn));
        let mut later = at_once.clone();
        for one in &mut later {
            one.serial = 2;
        }
        let both = [&in_turn[..], &later[..]].concat();
        assert!(is_symmetric(&both));
    }
}
