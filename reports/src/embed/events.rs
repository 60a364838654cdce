//! The events of the embedded operations: in which order they came, when, and of which process.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use lockstorm_checker::{Digest, Nanos};

use super::column::Column;
use super::selection::Selection;
use super::ticks::{NUMBER_MAX, Unit};

/// The columns of events.
#[derive(Debug, Default)]
pub(super) struct EventColumns {
    /// Twice the indexes passed over since the event before; and one more where a process sends
    /// again without having been answered. A reader takes every other event of a process that waits
    /// for an answer.
    pub(super) gaps: Column,
    /// Ticks since the event before.
    pub(super) times: Column,
    /// Processes, numbered as they come.
    pub(super) processes: Column,
    /// Number of events.
    pub(super) count: usize,
}

/// One end of an operation; the earlier one is the lesser.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    index: u64,
    time: Nanos,
    process: u32,
    is_sent: bool,
}

impl EventColumns {
    pub(super) fn of(digest: &Digest, selection: &Selection, unit: Unit) -> Self {
        let mut writer = Writer::new(unit);
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        // Answers that are yet to come in the order of events: of a few operations at a time.
        let mut answers: BinaryHeap<Reverse<Edge>> = BinaryHeap::new();
        for operation in selection.positions().map(|at| &digest.operations[at]) {
            while let Some(answer) = answers.peek()
                && answer.0.index < operation.invoke
            {
                writer.take(answer.0);
                answers.pop();
            }
            let known = numbers.len() as u32;
            let process = *numbers.entry(operation.process).or_insert(known);
            let edge = |index, time, is_sent| Edge {
                index,
                time,
                process,
                is_sent,
            };
            writer.take(edge(operation.invoke, operation.invoked, true));
            let done = operation.completion;
            answers.extend(done.map(|done| Reverse(edge(done.index, done.time, false))));
        }
        while let Some(Reverse(answer)) = answers.pop() {
            writer.take(answer);
        }
        writer.columns
    }
}

/// Writes the columns, edge by edge.
struct Writer {
    unit: Unit,
    columns: EventColumns,
    /// The index after that of the edge before, and the ticks of its time.
    next: u64,
    before: i64,
    /// By process: whether it waits for an answer.
    is_waiting: Vec<bool>,
}

impl Writer {
    fn new(unit: Unit) -> Self {
        Self {
            unit,
            columns: EventColumns::default(),
            next: 0,
            before: 0,
            is_waiting: Vec::new(),
        }
    }

    fn take(&mut self, edge: Edge) {
        let process = edge.process as usize;
        if process >= self.is_waiting.len() {
            self.is_waiting.resize(process + 1, false);
        }
        let is_anew = edge.is_sent && self.is_waiting[process];
        self.is_waiting[process] = edge.is_sent;
        let index = edge.index.min(NUMBER_MAX);
        let gap = index.saturating_sub(self.next);
        self.next = index + 1;
        let time = self.unit.ticks(edge.time);
        let columns = &mut self.columns;
        columns.gaps.number(gap << 1 | u64::from(is_anew));
        columns.times.signed(time - self.before);
        columns.processes.number(edge.process.into());
        columns.count += 1;
        self.before = time;
    }
}
