//! Goal: what the page's own script reads out of the embedded history is the history. Method:
//! random histories are embedded, Node runs the shipped decoder on them, and every figure is
//! compared.

use std::io::Write as _;
use std::process::{Command, Stdio};

use lockstorm_checker::history::{Event, Function, Kind, Name, Process, Value as EventValue};
use lockstorm_checker::{Action, Digest, DigestBuilder, Hold, Interval, Nanos, Operation};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::extent::Extent;
use super::operations::kind;
use super::page_data::page_data;
use super::selection::Selection;
use super::ticks::TOKEN_MAX;
use crate::recorded::Recorded;
use crate::sample;

/// Histories, all told in one run of Node, whose start takes longer than everything else.
const HISTORIES: usize = 48;

/// Scripts of the page, up to the arrays of numbers.
const DECODER: [&str; 4] = [
    include_str!("../html/script/lockstorm.js"),
    include_str!("../html/script/unpack.js"),
    include_str!("../html/script/column.js"),
    include_str!("../html/script/decode.js"),
];

/// Reads texts from standard input, and prints what the decoder makes of each.
const DRIVER: &str = r"
const told = (text) => lockstorm.unpack(text).then((bytes) => {
  const { events, operations: o, holds: h } = lockstorm.decode(bytes);
  const index = (event) => (event < 0 ? null : events.index[event]);
  const each = (count, tell) => Array.from({ length: count }, (_, at) => tell(at));
  return {
    operations: each(o.count, (at) => [index(o.sentEvent[at]), o.sent[at], index(o.doneEvent[at]),
      o.done[at], o.kind[at], o.lane[at], o.wait[at], o.token[at]]),
    holds: each(h.count, (at) => [index(o.sentEvent[h.acquire[at]]),
      h.release[at] < 0 ? null : index(o.sentEvent[h.release[at]]), h.start[at], h.end[at],
      h.hullEnd[at], h.floor[at], h.ceiling[at], h.largeTokens.get(at) ?? h.token[at]]),
  };
});
let input = '';
process.stdin.on('data', (part) => { input += part; });
process.stdin.on('end', async () => {
  console.log(JSON.stringify(await Promise.all(JSON.parse(input).map(told))));
});
";

/// A step of a random history: who, what, how it is answered, and when.
#[derive(Clone, Debug)]
struct Step {
    process: u64,
    choice: u8,
    key: u8,
    pause: u64,
    skipped: u64,
    token: Option<u64>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let token = prop_oneof![
        2 => Just(None),
        3 => (0_u64..1000).prop_map(Some),
        1 => any::<u64>().prop_map(Some),
    ];
    let pause = prop_oneof![0_u64..3, 0_u64..100_000, Just(4_000_000_000)];
    let step = (0_u64..5, 0_u8..20, 0_u8..3, pause, 0_u64..3, token);
    let step = step.prop_map(|(process, choice, key, pause, skipped, token)| Step {
        process,
        choice,
        key,
        pause,
        skipped,
        token,
    });
    proptest::collection::vec(step, 0..120)
}

fn question(choice: u8) -> Function {
    match choice {
        0..=8 => Function::Acquire,
        9..=14 => Function::Release,
        15 | 16 => Function::Renew,
        17 => Function::Read,
        18.. => Function::Write,
    }
}

fn answer(choice: u8, is_acquire: bool) -> (Kind, Option<&'static str>) {
    match choice {
        0..=11 => (Kind::Ok, None),
        12..=14 if is_acquire => (Kind::Fail, Some(Event::REFUSED)),
        12..=14 => (Kind::Fail, Some(Event::NOT_OWNER)),
        15 | 16 => (Kind::Fail, None),
        17.. => (Kind::Info, None),
    }
}

/// Plays the steps: a process that waits is answered, any other asks; now and then one that waits
/// asks again.
fn digest(steps: &[Step]) -> Digest {
    let mut builder = DigestBuilder::default();
    let mut waiting: [Option<Function>; 5] = Default::default();
    let (mut index, mut time) = (0, 0);
    for step in steps {
        index += step.skipped + 1;
        time += step.pause;
        let slot = &mut waiting[step.process as usize];
        let is_anew = step.choice == 19;
        let (kind, function, error) = if let Some(asked) = slot.take().filter(|_| !is_anew) {
            let (kind, error) = answer(step.choice, asked == Function::Acquire);
            (kind, asked, error)
        } else {
            *slot = Some(question(step.choice));
            (Kind::Invoke, question(step.choice), None)
        };
        let value = EventValue {
            owner: Some(format!("c{}", step.process).into()),
            lease_ms: (step.key > 0).then_some(2_000),
            token: step.token,
            waited_ns: (step.choice % 2 == 0).then_some(step.pause / 2),
            ..EventValue::default()
        };
        builder.push(&Event {
            index,
            time: Nanos(time),
            kind,
            process: Process::Client(step.process),
            function,
            key: format!("k{}", step.key).into(),
            value,
            error: error.map(Name::from),
            extra: None,
        });
    }
    builder.finish()
}

/// Decodes embedded histories by Node; `None` where there is no Node.
fn decoded(texts: &[String]) -> Option<Vec<Value>> {
    let script = format!("{}{DRIVER}", DECODER.concat());
    let node = Command::new("node")
        .args(["-e", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut node) = node else {
        // A skipped test must be seen in the log.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: no Node here to run the decoder of the page"
        );
        return None;
    };
    let mut input = node.stdin.take().expect("it is piped");
    let texts = serde_json::to_vec(texts).expect("texts are JSON");
    input.write_all(&texts).expect("Node reads its input");
    drop(input);
    let output = node.wait_with_output().expect("Node ends");
    Some(serde_json::from_slice(&output.stdout).expect("the driver prints JSON"))
}

fn at(time: Nanos) -> Value {
    if time == Nanos::MAX {
        Value::Null
    } else {
        json!(time.0)
    }
}

fn told_operation(operation: &Operation, lane: u32) -> Value {
    let done = operation.completion;
    let is_acquire = operation.action == Action::Acquire;
    let waited = if is_acquire { operation.waited.0 } else { 0 };
    let is_access = matches!(operation.action, Action::Resource(_));
    let token = operation
        .token
        .filter(|&token| is_access && token < TOKEN_MAX);
    json!([
        operation.invoke,
        operation.invoked.0,
        done.map(|done| done.index),
        done.map(|done| done.time.0),
        kind(operation),
        lane,
        waited,
        token.map_or(0, |token| token + 1),
    ])
}

fn told_hold(hold: &Hold, digest: &Digest) -> Value {
    let index = |id| digest.operation(id).invoke;
    let token = hold.token.map(|token| {
        if token < TOKEN_MAX {
            json!(token)
        } else {
            json!(token.to_string())
        }
    });
    json!([
        index(hold.acquire),
        hold.release.map(index),
        hold.core.start.0,
        at(hold.left()),
        at(hold.hull.end),
        at(hold.own_lease(digest).floor),
        at(hold.own_lease(digest).ceiling),
        token,
    ])
}

/// Returns the data that the decoder should tell of the operations that are embedded.
fn expected(recorded: &Recorded, selection: &Selection) -> Value {
    let digest = &recorded.digest;
    let lanes = super::lanes::Lanes::of(digest);
    let operations = selection.positions().map(|position| {
        let operation = &digest.operations[position];
        let own = (operation.key, operation.owner);
        let lane = (0..).zip(&lanes.places).find(|(_, place)| **place == own);
        told_operation(operation, lane.expect("it has a lane").0)
    });
    let mut holds: Vec<&Hold> = recorded
        .holds
        .iter()
        .filter(|hold| hold.is_granted())
        .collect();
    holds.sort_by_key(|hold| hold.acquire);
    let holds = holds.iter().filter(|hold| selection.has(hold.acquire));
    json!({
        "operations": operations.collect::<Vec<_>>(),
        "holds": holds.map(|hold| told_hold(hold, digest)).collect::<Vec<_>>(),
    })
}

#[test]
fn the_script_of_the_page_reads_the_history_that_was_embedded() {
    let mut runner = TestRunner::deterministic();
    let run = sample::control_run();
    let (mut texts, mut wanted) = (Vec::new(), Vec::new());
    for n in 0..HISTORIES {
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let recorded = Recorded::of(digest(&steps));
        // Every other history is embedded only in part.
        let window = (n % 2 == 1).then_some((Nanos(0), Nanos(recorded.digest.end.0 / 2 + 1)));
        let extent = Extent {
            window,
            ..Extent::default()
        };
        let mut holds: Vec<&Hold> = recorded
            .holds
            .iter()
            .filter(|hold| hold.is_granted())
            .collect();
        holds.sort_by_key(|hold| hold.acquire);
        let selection = match window {
            None => Selection::whole(&recorded.digest),
            Some((from, to)) => {
                Selection::of_windows(&recorded.digest, &holds, &[Interval::new(from, to)])
            }
        };
        texts.push(page_data(&run, &recorded, &extent).text);
        wanted.push(expected(&recorded, &selection));
    }
    let held = wanted
        .iter()
        .filter(|one| one["holds"].as_array().is_some_and(|all| all.len() > 3));
    assert!(
        held.count() > HISTORIES / 4,
        "most have holds, or this proves little"
    );
    let Some(found) = decoded(&texts) else {
        return;
    };
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!(found, wanted);
    }
    assert_eq!(found.len(), wanted.len());
}
