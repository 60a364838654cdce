//! Changes to a history of which it is known what they do to the verdicts.

use std::collections::BTreeMap;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Event, Function, History, Kind, Mode, Name, Process, Value};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Gives owners and keys other names, which turns their order round.
pub(crate) fn renamed(history: &History) -> History {
    let mut renamed = history.clone();
    for event in &mut renamed.events {
        event.key = turned(&event.key);
        event.value.owner = event.value.owner.as_deref().map(turned);
        for holder in seen(event) {
            *holder = turned(holder);
        }
    }
    renamed
}

/// Names of the owners whose tokens a view has seen.
fn seen(event: &mut Event) -> impl Iterator<Item = &mut Name> {
    let view = event.value.view.as_deref_mut();
    let nodes = view.into_iter().flat_map(|view| &mut view.nodes);
    nodes.flat_map(|node| &mut node.held_by)
}

fn turned(name: &str) -> Name {
    name.chars().rev().collect::<String>().into()
}

/// Moves all events to a few seconds later.
pub(crate) fn shifted(history: &History) -> History {
    let mut shifted = history.clone();
    let by = Nanos::from_millis(5_000);
    for event in &mut shifted.events {
        event.time = event.time + by;
        if let Some(view) = event.value.view.as_deref_mut() {
            view.since = view.since.map(|since| since + by);
        }
    }
    shifted
}

/// Shuffles the events of each instant, but keeps those of one client in order.
pub(crate) fn shuffled(history: &History, rng: &mut ChaCha8Rng) -> History {
    let mut shuffled = history.clone();
    for instant in shuffled.events.chunk_by_mut(|a, b| a.time == b.time) {
        let mut groups: BTreeMap<Name, Vec<Event>> = BTreeMap::new();
        for event in &mut *instant {
            groups.entry(client(event)).or_default().push(event.clone());
        }
        let mut turns: Vec<Name> = instant.iter().map(client).collect();
        turns.shuffle(rng);
        for (place, turn) in instant.iter_mut().zip(turns) {
            if let Some(group) = groups.get_mut(&turn) {
                *place = group.remove(0);
            }
        }
    }
    numbered(shuffled)
}

/// A client is a process modulo a hundred: after an answer that it never had it takes the next.
fn client(event: &Event) -> Name {
    match event.process {
        Process::Client(process) => (process % 100).to_string().into(),
        Process::Nemesis => "nemesis".into(),
    }
}

/// The events of one key; notes of the nemesis stay.
pub(crate) fn of_key(history: &History, key: &str) -> History {
    let mut part = history.clone();
    part.events
        .retain(|event| &*event.key == key || event.process == Process::Nemesis);
    numbered(part)
}

/// The history beside a copy of itself on other keys, by other owners.
pub(crate) fn doubled(history: &History) -> History {
    let mut doubled = history.clone();
    doubled.events = history
        .events
        .iter()
        .flat_map(|event| {
            let mut copy = event.clone();
            if let Process::Client(process) = event.process {
                copy.process = Process::Client(process + 1_000_000);
                copy.key = format!("copy of {}", event.key).into();
                let owner = copy.value.owner.as_deref();
                copy.value.owner = owner.map(|owner| format!("copy of {owner}").into());
            }
            let is_view = event.function == Function::View;
            if is_view {
                copy.key = format!("copy of {}", event.key).into();
                for holder in seen(&mut copy) {
                    *holder = format!("copy of {holder}").into();
                }
            }
            let is_note = event.process == Process::Nemesis && !is_view;
            [Some(event.clone()), (!is_note).then_some(copy)]
        })
        .flatten()
        .collect();
    numbered(doubled)
}

/// Takes away the answer to one operation; its client goes on as another process.
pub(crate) fn doubted(history: &History, rng: &mut ChaCha8Rng) -> History {
    let mut doubted = history.clone();
    let answered: Vec<usize> = (0..doubted.events.len())
        .filter(|&at| matches!(doubted.events[at].kind, Kind::Ok | Kind::Fail))
        .collect();
    if answered.is_empty() {
        return doubted;
    }
    let at = answered[rng.random_range(0..answered.len())];
    let process = doubted.events[at].process;
    doubted.events[at] = Event {
        kind: Kind::Info,
        value: Value::default(),
        error: None,
        ..doubted.events[at].clone()
    };
    for event in &mut doubted.events[at + 1..] {
        if let (true, Process::Client(number)) = (event.process == process, event.process) {
            event.process = Process::Client(number + 50_000);
        }
    }
    doubted
}

/// Removes the mode of every renewal and release, as if only acquires told it.
pub(crate) fn without_modes(history: &History) -> History {
    let mut changed = history.clone();
    for event in &mut changed.events {
        if matches!(event.function, Function::Renew | Function::Release) {
            event.value.mode = None;
        }
    }
    changed
}

/// Removes every mode but that of readers, as somebody may who leaves out what is usual.
pub(crate) fn with_readers_only(history: &History) -> History {
    let mut changed = history.clone();
    for event in &mut changed.events {
        event.value.mode = event.value.mode.filter(|&mode| mode == Mode::Read);
    }
    changed
}

/// Without the phases of the run.
pub(crate) fn without_phases(history: &History) -> History {
    let mut plain = history.clone();
    plain
        .events
        .retain(|event| event.function != Function::Phase);
    numbered(plain)
}

fn numbered(mut history: History) -> History {
    for (index, event) in (0..).zip(&mut history.events) {
        event.index = index;
    }
    history
}
