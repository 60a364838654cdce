//! A lock put into a situation: the case that they make together.
//!
//! For: `lockstorm assess`. Not for: judging what came of it, which reports do.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::draft::Draft;
use crate::expand::case;
use crate::hits::with_hits;
use crate::load::Loaded;
use crate::model::{Case, ClientKind, Lock, LockKind, Origin, Promise, Scenario, Topology};
use crate::origin::{origin, origins};
use crate::rules;
use crate::typed_lock::typed_lock;

/// The case of a lock in a situation, on servers of the given topology, of which it hits so many
/// where it is about a number of them. `promised` is what the lock promises beside what is known of
/// it.
///
/// # Errors
/// In words, why the lock cannot be put into this situation.
pub fn put_into(
    loaded: &Loaded,
    lock: &Lock,
    topology: &Topology,
    promised: &[Promise],
    hits: Option<u32>,
) -> Result<Case, String> {
    let mut file = loaded.clone();
    let mut sources = Vec::new();
    if let Some(number) = hits {
        (file.scenario, sources) = with_hits(&loaded.scenario, number, topology)?;
    }
    let scenario = &file.scenario;
    let situation = scenario.situation.as_ref();
    let situation = situation.ok_or("the file has no [situation]")?;
    if !lock.kind().supports(topology.alike()) {
        let (kind, on) = (lock.kind().name(), topology.kind().name());
        return Err(format!("{kind} does not work on {on} servers"));
    }
    let typed = lock;
    let mut lock = lock.clone();
    lock.take_lease(situation.lease, situation.renewed)?;
    if situation.lease_ends.is_some() && lock.lease().is_none() {
        return Err("its locks have no lease, and one has to end here".to_owned());
    }
    if let Some(threads) = situation.threads {
        lock.take_threads(threads)?;
    }
    if let Some(timeout) = situation.node_timeout {
        lock.take_node_timeout(timeout);
    }
    lock.take_permits(situation.permits.unwrap_or(1));
    let draft = Draft::of_cell(scenario, &lock, topology);
    let mistakes = rules::judge_cell(&draft, &loaded.places);
    if let Some(mistake) = mistakes.into_iter().next() {
        return Err(mistake.message);
    }
    let is_program = is_program(scenario, &lock);
    if let Some(situation) = &mut file.scenario.situation {
        situation.promised = promised.to_vec();
        let made = situation.promises_of(&lock);
        situation.hits.clear();
        if lock.is_semaphore() {
            situation.of_a_semaphore(made.contains(&Promise::OwnRelease));
        }
        situation.tests.retain(|tested| {
            let is_judged = match tested {
                // Only programs can hang or end by themselves: nothing is judged of tasks.
                Promise::Settles => is_program,
                // What never ends is good whenever it comes.
                Promise::ValidOnReturn => lock.lease().is_some(),
                _ => true,
            };
            is_judged && (made.contains(tested) || !tested.is_feature())
        });
        if situation.tests.is_empty() {
            let kind = lock.kind().name();
            return Err(format!(
                "{kind} makes none of the promises that are tested here"
            ));
        }
        for step in &mut file.scenario.step {
            step.keep_breaks(&situation.tests);
        }
    }
    let mut case = case(&file, &lock, topology, None);
    let places = Places::of(&file, &sources, &case, typed);
    case.origins = origins(&case, |path| places.origin(path));
    Ok(case)
}

/// Tells whether the clients are programs of their own.
fn is_program(scenario: &Scenario, lock: &Lock) -> bool {
    lock.is_foreign() || scenario.clients.kind == ClientKind::Process
}

/// Values of a case in a situation by which the place is found where each was chosen.
struct Places<'a> {
    file: &'a Loaded,
    /// For each step of the case the one of the file that it is from; empty if they are the same.
    sources: &'a [usize],
    kind: LockKind,
    /// The lock and the servers as they will be.
    case: Value,
    /// The lock before the situation changed it.
    typed: Value,
    /// Values of both if nobody had chosen anything.
    usual: Value,
}

impl<'a> Places<'a> {
    fn of(file: &'a Loaded, sources: &'a [usize], case: &Case, typed: &Lock) -> Self {
        let topology = usual::<Topology>(case.topology.kind().name(), json!({}));
        Self {
            file,
            sources,
            kind: typed.kind(),
            case: json!({ "lock": case.lock, "topology": case.topology }),
            typed: json!({ "lock": typed, "topology": case.topology }),
            usual: json!({ "lock": usual_lock(typed.kind()), "topology": topology }),
        }
    }

    fn origin(&self, path: &str) -> Option<Origin> {
        let pointer = format!("/{}", path.replace('.', "/"));
        let at = |values: &Value| values.pointer(&pointer).cloned();
        match path.split_once('.').unwrap_or((path, "")) {
            ("lock", _) if at(&self.case) != at(&self.typed) => None,
            ("lock", _) if at(&self.typed) != at(&self.usual) => Some(Origin::CommandLine),
            ("topology", _) if at(&self.case) != at(&self.usual) => None,
            ("lock" | "topology", _) => Some(Origin::Default),
            ("situation", promised) if promised.starts_with("promised") => {
                Some(Origin::CommandLine)
            }
            ("step", rest) => origin(self.file, None, self.kind, &self.step_of_the_file(rest)),
            _ => origin(self.file, None, self.kind, path),
        }
    }

    /// The path of a value in a step, as the file numbers its steps.
    fn step_of_the_file(&self, rest: &str) -> String {
        let (number, value) = rest.split_once('.').unwrap_or((rest, ""));
        let number = number.parse().unwrap_or(usize::MAX);
        let of_file = self.sources.get(number).copied().unwrap_or(number);
        format!("step.{of_file}.{value}")
    }
}

/// The lock of a kind with the options that nobody chose.
fn usual_lock(kind: LockKind) -> Value {
    match kind {
        LockKind::Adapter => usual::<Lock>(kind.name(), json!({ "name": "", "command": [] })),
        own => typed_lock(own.name()).map_or(Value::Null, |lock| json!(lock)),
    }
}

/// Reads these options alone, and writes them again with all the others.
fn usual<T: DeserializeOwned + Serialize>(kind: &str, options: Value) -> Value {
    let tagged = Map::from_iter([(kind.to_owned(), options)]);
    let read = serde_json::from_value::<T>(Value::Object(tagged));
    read.map_or(Value::Null, |read| json!(read))
}
