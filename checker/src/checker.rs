//! A history of any length, judged event by event.
//!
//! For: histories that do not fit in memory, or need not be kept. The events are gathered into
//! parts; a part is judged when it is full, and only what may still matter of it is carried into
//! the next. What that is, the carry says; how the answers add up, the sum.
//!
//! Whole in memory stays what no part can be cut off from: a history whose times go back, and one
//! that a model is to explain, for that takes every operation.

use std::collections::HashSet;

use crate::carry::{Carried, carried};
use crate::digest::{Digest, DigestBuilder};
use crate::examine::{Exhibit, examine};
use crate::history::{Event, EventSink, Header, Nanos};
use crate::names::Names;
use crate::operation::{Action, OpId};
use crate::options::Options;
use crate::sum::{Known, Sum};
use crate::verdict::Analysis;

/// How many operations a part has at the least. They take about fifty megabytes while they are
/// judged; a larger part is not judged any faster.
pub const PART: usize = 1 << 17;

/// Judges a history whose events it is given in order.
pub struct Checker {
    options: Options,
    part: DigestBuilder,
    /// How many operations make a part.
    size: usize,
    /// How many operations there are when the next part is full.
    full: usize,
    /// Up to when each key of the part was judged for good.
    judged: Vec<Nanos>,
    sum: Sum,
    /// Violations that only what was not carried would explain.
    known: Known,
    seen: Option<Seen>,
}

/// Whom and what earlier parts named.
#[derive(Default)]
struct Seen {
    keys: Names,
    owners: Names,
}

impl Checker {
    /// With parts of the usual size.
    pub fn new(options: Options) -> Self {
        Self::with_parts(options, PART)
    }

    /// With parts of at least so many operations.
    pub fn with_parts(options: Options, size: usize) -> Self {
        let full = if options.model.is_some() {
            usize::MAX
        } else {
            size
        };
        Self {
            options,
            part: DigestBuilder::default(),
            size,
            full,
            judged: Vec::new(),
            sum: Sum::default(),
            known: Known::new(),
            seen: None,
        }
    }

    /// How many operations are kept at this time.
    pub fn kept(&self) -> usize {
        self.part.operations()
    }

    /// The analysis of all events.
    pub fn finish(mut self) -> Analysis {
        let digest = self.part.finish();
        let exhibit = Exhibit::new(&digest, &self.options, &self.judged);
        self.sum.add(examine(&exhibit, &self.known));
        let mut analysis = self.sum.conclude(&self.options);
        if let Some(seen) = &mut self.seen {
            seen.note(&digest);
            analysis.coverage.keys = seen.keys.len() as u64;
            analysis.coverage.owners = seen.owners.len() as u64;
        }
        analysis
    }

    fn turn(&mut self) {
        let (digest, pending) = std::mem::take(&mut self.part).pause();
        if !digest.is_in_time() {
            self.part = DigestBuilder::resume(digest, pending);
            self.full = usize::MAX;
            return;
        }
        let in_flight: HashSet<OpId> = pending.values().copied().collect();
        let exhibit = Exhibit::new(&digest, &self.options, &self.judged);
        self.sum.add(examine(&exhibit, &self.known));
        self.seen.get_or_insert_default().note(&digest);
        let Carried { kept, judged } = carried(&exhibit.case(), &in_flight);
        let carried = digest.narrowed(&kept);
        let place = |id: OpId| kept.binary_search(&id).ok().map(OpId::at);
        let pending = pending
            .into_iter()
            .filter_map(|(process, id)| Some((process, place(id)?)));
        let pending = pending.collect();
        self.judged = digest.keys_in(&carried, &judged);
        drop(exhibit);
        drop(digest);
        let exhibit = Exhibit::new(&carried, &self.options, &self.judged);
        self.known = self.sum.subtract(&examine(&exhibit, &Known::new()));
        drop(exhibit);
        // So that what is carried is judged a bounded number of times, however much it is.
        self.full = self.size.max(2 * kept.len());
        self.part = DigestBuilder::resume(carried, pending);
    }
}

impl EventSink for Checker {
    fn header(&mut self, header: Header) {
        self.part.header(header);
    }

    fn event(&mut self, event: Event) {
        self.part.push(&event);
        if self.part.operations() >= self.full {
            self.turn();
        }
    }
}

impl Seen {
    fn note(&mut self, digest: &Digest) {
        let acquires = digest.operations.iter();
        for acquire in acquires.filter(|one| one.action == Action::Acquire) {
            self.keys.intern_name(digest.keys.name(acquire.key.0));
            self.owners.intern_name(digest.owners.name(acquire.owner.0));
        }
    }
}
