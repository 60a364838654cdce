//! Keeps the notes of a nemesis, and shows them in a form that tests can compare.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use lockstorm_checker::history::{DataLoss, FaultNote, FaultPhase};
use lockstorm_nemesis::{Nemesis, NoteSink};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::faults::fake::Fake;

#[derive(Default)]
pub(crate) struct Notes(Mutex<Vec<FaultNote>>);

#[async_trait]
impl NoteSink for Notes {
    async fn note(&self, note: FaultNote) {
        self.0.lock().unwrap().push(note);
    }
}

/// A nemesis over a fake, with what it notes.
pub(crate) fn stage(fake: Fake) -> (Arc<Fake>, Arc<Notes>, Nemesis) {
    let (fake, notes) = (Arc::new(fake), Arc::new(Notes::default()));
    let nemesis = Nemesis::new(
        Arc::clone(&fake) as _,
        Arc::clone(&notes) as _,
        ChaCha8Rng::seed_from_u64(1),
    );
    (fake, notes, nemesis)
}

impl Notes {
    /// Each note as `F1 kill primary: observed`.
    pub(crate) fn lines(&self) -> Vec<String> {
        let notes = self.0.lock().unwrap();
        let line = |note: &FaultNote| {
            let phase = format!("{:?}", note.phase).to_lowercase();
            format!("{} {} {}: {phase}", note.id, note.kind, note.target)
        };
        notes.iter().map(line).collect()
    }

    /// The stages of one fault, as `requested injected observed`.
    pub(crate) fn stages(&self, id: &str) -> String {
        let start = format!("{id} ");
        let lines = self.lines();
        let own = lines.iter().filter(|line| line.starts_with(&start));
        let stages: Vec<_> = own.map(|line| line.rsplit_once(": ").unwrap().1).collect();
        stages.join(" ")
    }

    /// Evidence that was noted of one stage of a fault.
    pub(crate) fn evidence(&self, id: &str, phase: FaultPhase) -> String {
        let notes = self.0.lock().unwrap();
        let note = notes
            .iter()
            .find(|note| *note.id == *id && note.phase == phase);
        let evidence = note.and_then(|note| note.evidence.as_deref());
        evidence.unwrap_or_default().to_owned()
    }

    /// Loss of a server's data in one stage of a fault.
    pub(crate) fn loss(&self, id: &str, phase: FaultPhase) -> Option<DataLoss> {
        let notes = self.0.lock().unwrap();
        let mut notes = notes.iter();
        let note = notes.find(|note| *note.id == *id && note.phase == phase)?;
        note.lost
    }

    /// How far off a clock was in one stage of a fault.
    pub(crate) fn offset(&self, id: &str, phase: FaultPhase) -> Option<i64> {
        let notes = self.0.lock().unwrap();
        let mut notes = notes.iter();
        let note = notes.find(|note| *note.id == *id && note.phase == phase)?;
        note.offset_ns
    }
}
