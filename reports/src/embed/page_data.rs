//! From a history to the text that a page embeds, within a budget.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use lockstorm_checker::{Digest, Hold, Interval};

use super::bins::Bins;
use super::column::Column;
use super::events::EventColumns;
use super::extent::{Extent, Windows};
use super::holds::HoldColumns;
use super::lanes::Lanes;
use super::operations::OperationColumns;
use super::scene::Scene;
use super::selection::Selection;
use super::ticks::Unit;
use crate::model::RunRecord;
use crate::recorded::Recorded;
use crate::words;

/// Bytes that an operation takes at the least: a history of more operations than fit at this rate
/// need not be tried whole.
const BYTES_MIN: u64 = 2;
/// Bytes that an operation takes about, for the first try with windows.
const BYTES_USUAL: u64 = 8;
/// Tries with windows, each with half the operations of the one before.
const TRIES_MAX: u32 = 6;

/// Data that a page embeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageData {
    /// Base64: inert in any markup.
    pub(crate) text: String,
    /// Parts that are not embedded whole, in a sentence or two.
    pub(crate) note: Option<String>,
}

/// The history of a run as its page embeds it.
pub(crate) fn page_data(run: &RunRecord, recorded: &Recorded, extent: &Extent) -> PageData {
    let encoder = Encoder::new(run, recorded);
    if let Some((from, to)) = extent.window {
        let windows = Windows {
            whole: vec![Interval::new(from, to)],
            left_out: 0,
        };
        return encoder.windowed(&windows);
    }
    let operations = recorded.digest.operations.len();
    if operations as u64 * BYTES_MIN <= extent.budget {
        let whole = encoder.whole();
        if whole.text.len() as u64 <= extent.budget {
            return whole;
        }
    }
    let mut operations_max = extent.budget / BYTES_USUAL;
    for _ in 0..TRIES_MAX {
        let most = usize::try_from(operations_max).unwrap_or(usize::MAX);
        let windows = Windows::around(run, &recorded.digest, most);
        let data = encoder.windowed(&windows);
        if data.text.len() as u64 <= extent.budget {
            return data;
        }
        operations_max /= 2;
    }
    // Names and lanes alone are more than that: the page says how busy the clients were.
    encoder.windowed(&Windows::around(run, &recorded.digest, 0))
}

struct Encoder<'a> {
    run: &'a RunRecord,
    digest: &'a Digest,
    /// Those that were granted, in order of their acquires.
    holds: Vec<&'a Hold>,
    lanes: Lanes,
}

impl<'a> Encoder<'a> {
    fn new(run: &'a RunRecord, recorded: &'a Recorded) -> Self {
        let granted = recorded.holds.iter().filter(|hold| hold.is_granted());
        let mut holds: Vec<&Hold> = granted.collect();
        holds.sort_unstable_by_key(|hold| hold.acquire);
        Self {
            run,
            digest: &recorded.digest,
            holds,
            lanes: Lanes::of(&recorded.digest),
        }
    }

    fn whole(&self) -> PageData {
        let selection = Selection::whole(self.digest);
        PageData {
            text: self.encode(&selection, None),
            note: None,
        }
    }

    fn windowed(&self, windows: &Windows) -> PageData {
        let selection = Selection::of_windows(self.digest, &self.holds, &windows.whole);
        let all = self.digest.operations.len();
        let mut note = format!(
            "Of {all} operations {} are here in full, those of {}. Elsewhere the timeline shows \
             how busy each client was; `lockstorm report RUN_DIR --window 1.2s..3s` renders any \
             stretch in full.",
            selection.len(),
            words::count(windows.whole.len() as u64, "window"),
        );
        if windows.left_out > 0 {
            let left_out = windows.left_out;
            note = format!(
                "{note} There was no room for what is around {left_out} of the violations and \
                 edges of faults."
            );
        }
        PageData {
            text: self.encode(&selection, Some(&windows.whole)),
            note: Some(note),
        }
    }

    fn encode(&self, selection: &Selection, windows: Option<&[Interval]>) -> String {
        let digest = self.digest;
        let unit = Unit::of(selection.len());
        let own = self.holds.iter().copied();
        let own: Vec<&Hold> = own.filter(|hold| selection.has(hold.acquire)).collect();
        let events = EventColumns::of(digest, selection, unit);
        let operations = OperationColumns::of(digest, selection, &self.lanes, unit);
        let holds = HoldColumns::of(digest, &own, selection, &self.lanes, unit);
        let bins = match windows {
            None => Bins::default(),
            Some(_) => Bins::of(digest, &self.holds, &self.lanes),
        };
        let mut scene = Scene::of(self.run, digest, &self.lanes, windows);
        scene.unit = unit.0;
        scene.events = events.count;
        scene.operations = selection.len();
        scene.holds = own.len();
        scene.bins = bins.of_lane;
        scene.large_tokens.clone_from(&holds.large_tokens);
        let scene = serde_json::to_vec(&scene)
            .expect("a scene has neither maps nor numbers that JSON does not know");
        let mut all = Column::default();
        all.block(&scene);
        for column in [&events.gaps, &events.times, &events.processes] {
            all.block(column.bytes());
        }
        let of_operations = [
            &operations.kinds,
            &operations.lanes,
            &operations.waits,
            &operations.tokens,
        ];
        let of_holds = [
            &holds.acquires,
            &holds.starts,
            &holds.releases,
            &holds.ends,
            &holds.hull_ends,
            &holds.floors,
            &holds.ceilings,
            &holds.tokens,
        ];
        for column in of_operations.into_iter().chain(of_holds) {
            all.block(column.bytes());
        }
        all.block(bins.shares.bytes());
        STANDARD.encode(gzip(all.bytes()))
    }
}

/// Neither time nor name goes into the header, so that equal input makes equal bytes.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .expect("memory takes what is written to it")
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::history::{Event, Function, Kind, Process, Value};
    use lockstorm_checker::{DigestBuilder, Nanos};

    use super::*;
    use crate::sample;

    /// Cycles of one client, a millisecond each.
    fn cycles(count: u64) -> Recorded {
        let mut builder = DigestBuilder::default();
        let steps = [
            (Kind::Invoke, Function::Acquire),
            (Kind::Ok, Function::Acquire),
            (Kind::Invoke, Function::Release),
            (Kind::Ok, Function::Release),
        ];
        for n in 0..count * 4 {
            let (kind, function) = steps[n as usize % 4].clone();
            builder.push(&Event {
                index: n,
                // Uneven, so that there is something to embed.
                time: Nanos(n * 250_000 + n * n % 7_919),
                kind,
                process: Process::Client(0),
                function,
                key: "orders".into(),
                value: Value {
                    lease_ms: Some(20),
                    ..Value::default()
                },
                error: None,
                extra: None,
            });
        }
        Recorded::of(builder.finish())
    }

    #[test]
    fn a_history_within_the_budget_is_whole_and_always_the_same() {
        let (run, recorded) = (sample::failover_run(), cycles(4_000));
        let data = page_data(&run, &recorded, &Extent::default());
        assert_eq!(data.note, None);
        assert_eq!(data, page_data(&run, &recorded, &Extent::default()));
    }

    #[test]
    fn a_history_above_the_budget_is_cut_to_it_and_the_page_says_so_with_counts() {
        let (run, recorded) = (sample::failover_run(), cycles(4_000));
        let whole = page_data(&run, &recorded, &Extent::default()).text.len() as u64;
        let extent = Extent {
            budget: whole / 2,
            ..Extent::default()
        };
        let data = page_data(&run, &recorded, &extent);
        assert!(data.text.len() as u64 <= whole / 2);
        let note = data.note.expect("something is left out");
        assert!(note.starts_with("Of 8000 operations "), "{note}");
        assert!(!note.starts_with("Of 8000 operations 0 "), "{note}");
        assert!(note.contains("--window"), "{note}");
    }

    #[test]
    fn a_window_is_whole_whatever_it_takes() {
        let (run, recorded) = (sample::failover_run(), cycles(1_000));
        let extent = Extent {
            budget: 0,
            window: Some((Nanos(0), Nanos::from_millis(100))),
        };
        let note = page_data(&run, &recorded, &extent).note;
        let note = note.expect("the rest is not whole");
        assert!(note.starts_with("Of 2000 operations 20"), "{note}");
        assert!(note.contains("those of 1 window."), "{note}");
    }
}
