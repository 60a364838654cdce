//! Findings of hunts, kept beside their scripts in `scenarios/hunted`, so that the page can be
//! written again where nobody has the hunts any more.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_reports::{Endured, HUNT_FILE, HuntRecord, HuntSummary, Hunted, read_hunt};
use lockstorm_scenarios::{LockKind, Promise, System, TopologyKind};

use crate::support::{lockstorm, root, stderr};

/// The locks of the page: those of Redis, on whose servers single messages can be lost.
pub fn built_in() -> impl Iterator<Item = LockKind> {
    let all = LockKind::ALL.into_iter();
    all.filter(|kind| {
        let is_lock = ![LockKind::Adapter, LockKind::NoLock].contains(kind);
        is_lock && kind.is_of(System::Redis)
    })
}

fn file(name: &str) -> PathBuf {
    root().join(format!("scenarios/hunted/{name}.json"))
}

/// Reads what is known of a lock, or of a library by its slug, if anything is.
pub fn read(name: &str) -> Option<HuntRecord> {
    let text = fs::read_to_string(file(name)).ok()?;
    let known = serde_json::from_str(&text);
    Some(known.unwrap_or_else(|error| panic!("{}: {error}", file(name).display())))
}

/// The hunt for a lock on servers of a kind.
pub fn hunted(all: &[(LockKind, HuntRecord)], lock: LockKind, on: TopologyKind) -> Option<&Hunted> {
    let (_, record) = all.iter().find(|(known, _)| *known == lock)?;
    let mut hunts = record.hunts.iter();
    hunts.find(|hunted| servers(hunted) == on.name())
}

/// Word of the servers of a hunt, without their number.
pub fn servers(hunted: &Hunted) -> &str {
    hunted.topology.split(' ').next().unwrap_or_default()
}

/// Endurance of a promise of a lock.
pub fn endured(hunted: &Hunted, promise: Promise) -> Option<Endured> {
    let promises = HuntSummary::of(hunted, "").promises;
    promises.into_iter().find(|one| one.promise == promise)
}

/// Hunts what these words name, unless that was done in this checkout, and keeps what was found.
pub fn hunt(name: &str, words: &[&str]) {
    let out = root().join("target/hunts").join(name);
    let folder = finished(&out).unwrap_or_else(|| run(words, &out));
    keep(name, words, &folder);
}

/// The latest hunt in `out` that came to its end.
pub fn finished(out: &Path) -> Option<PathBuf> {
    let folders = fs::read_dir(out.join("hunt")).ok()?;
    let folders = folders.map(|entry| entry.expect("the folder can be listed").path());
    folders
        .filter(|folder| folder.join(HUNT_FILE).exists())
        .max()
}

/// Runs a hunt in `out`, and gives its folder.
pub fn run(words: &[&str], out: &Path) -> PathBuf {
    let mut command = lockstorm();
    command.arg("hunt").args(words).args(["--seed", "1"]);
    command.args(["--progress", "none", "--out"]);
    let output = command.arg(out).output();
    let text = stderr(&output.expect("the program can be started"));
    finished(out).unwrap_or_else(|| panic!("{text}"))
}

pub fn record(folder: &Path) -> HuntRecord {
    read_hunt(folder).unwrap_or_else(|error| panic!("{error}"))
}

/// Keeps what a hunt found: of each promise on each kind of servers the smallest script.
fn keep(name: &str, words: &[&str], folder: &Path) {
    let mut record = record(folder);
    let scripts = root().join("scenarios/hunted").join(name);
    let _ = fs::remove_dir_all(&scripts);
    let parent = scripts.parent().expect("it has one");
    fs::create_dir_all(parent).expect("scenarios/ can be written");
    for hunted in &mut record.hunts {
        hunted.cells.clear();
        hunted.columns.clear();
        let mut promises = BTreeSet::new();
        hunted
            .found
            .sort_by_key(|found| (found.faults, found.steps));
        let mut is_first = |promise| promises.insert(promise);
        hunted
            .found
            .retain(|found| found.is_confirmed() && is_first(found.promise));
        let on = servers(hunted).to_owned();
        for found in &mut hunted.found {
            let script = format!("{on}-{}.toml", found.promise.name());
            fs::create_dir_all(&scripts).expect("scenarios/ can be written");
            fs::copy(folder.join(&found.file), scripts.join(&script))
                .expect("scenarios/ can be written");
            found.file = format!("scenarios/hunted/{name}/{script}");
            found.run.clear();
            found.story.clear();
        }
    }
    record.folder.clear();
    record.rerun = format!("lockstorm hunt {} --seed 1", quoted(words));
    let mut text = serde_json::to_string_pretty(&record).expect("it can be written as JSON");
    text.push('\n');
    fs::write(file(name), text).expect("scenarios/ can be written");
}

/// The words of a command, those with blanks in quotes.
fn quoted(words: &[&str]) -> String {
    let words = words.iter().map(|word| {
        if word.contains(' ') {
            format!("'{word}'")
        } else {
            (*word).to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
