//! The events of the embedded operations: in which order they came, when, and of which process.

use std::collections::HashMap;

use lockstorm_checker::{Digest, Nanos};

use super::column::Column;
use super::selection::Selection;
use super::ticks::{NUMBER_MAX, Unit};

/// The columns of events.
#[derive(Debug, Default)]
pub(super) struct EventColumns {
    /// Twice the indexes passed over since the event before; and one more where a process sends
    /// anew without having been answered. A reader takes every other event of a process that waits
    /// for an answer.
    pub(super) gaps: Column,
    /// Ticks since the event before.
    pub(super) times: Column,
    /// Processes, numbered as they come.
    pub(super) processes: Column,
    /// How many events there are.
    pub(super) count: usize,
}

/// One end of an operation.
struct Edge {
    index: u64,
    time: Nanos,
    process: u32,
    is_sent: bool,
}

impl EventColumns {
    pub(super) fn of(digest: &Digest, selection: &Selection, unit: Unit) -> Self {
        let edges = edges(digest, selection);
        let mut columns = Self {
            count: edges.len(),
            ..Self::default()
        };
        let (mut next, mut before) = (0, 0);
        let mut is_waiting: Vec<bool> = Vec::new();
        for edge in &edges {
            let process = edge.process as usize;
            if process >= is_waiting.len() {
                is_waiting.resize(process + 1, false);
            }
            let is_anew = edge.is_sent && is_waiting[process];
            is_waiting[process] = edge.is_sent;
            let index = edge.index.min(NUMBER_MAX);
            let gap = index.saturating_sub(next);
            columns.gaps.number(gap << 1 | u64::from(is_anew));
            next = index + 1;
            let time = unit.ticks(edge.time);
            columns.times.signed(time - before);
            before = time;
            columns.processes.number(edge.process.into());
        }
        columns
    }
}

/// Both ends of each operation, in order of their events.
fn edges(digest: &Digest, selection: &Selection) -> Vec<Edge> {
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    let operations = selection.operations(digest);
    let mut edges = Vec::with_capacity(2 * selection.len());
    for operation in operations {
        let known = numbers.len() as u32;
        let process = *numbers.entry(operation.process).or_insert(known);
        let edge = |index, time, is_sent| Edge {
            index,
            time,
            process,
            is_sent,
        };
        edges.push(edge(operation.invoke, operation.invoked, true));
        let completion = operation.completion;
        edges.extend(completion.map(|done| edge(done.index, done.time, false)));
    }
    edges.sort_by_key(|edge| edge.index);
    edges
}
