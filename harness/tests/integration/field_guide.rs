//! Pictures of the field guide, from real runs: `make field-guide`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_checker::verdict::Witness;
use lockstorm_reports::{Record, read_record};
use lockstorm_scenarios::{Loaded, LockKind, Mutant, Topology};

use crate::support::situations::all_shipped;
use crate::support::{crew, have_server, is_asked_for, lockstorm, root, run};

/// Longest caption, in characters: a claim that names two hundred clients is no caption.
const CAPTION_MAX: usize = 300;

fn pictures() -> PathBuf {
    root().join("docs/pictures/hazards")
}

/// A lock that a situation breaks, as `assess` takes it.
struct Sufferer {
    typed: String,
    topology: String,
}

/// The locks to try in a situation: those that are known to break a promise there, by the pages
/// that say so, and then one that only what is inherent can harm.
fn sufferers(loaded: &Loaded) -> Vec<Sufferer> {
    let file = format!("situations/{}.toml", loaded.scenario.name);
    let situation = loaded.scenario.situation.as_ref();
    let topologies = situation.map_or(&[][..], |situation| &situation.topologies);
    let mut all = Vec::new();
    let mut push = |typed: String, kind: LockKind| {
        let mut kinds = topologies.iter().map(Topology::kind);
        if let Some(topology) = kinds.find(|topology| kind.supports(*topology)) {
            let topology = topology.name().to_owned();
            all.push(Sufferer { typed, topology });
        }
    };
    let promises = page("docs/promises.md");
    for (lock, _) in
        rows(&promises).filter(|(_, row)| row.contains("✗ broken") && row.contains(&file))
    {
        let kind = LockKind::ALL.into_iter().find(|kind| kind.name() == lock);
        push(lock.to_owned(), kind.expect("the page names locks"));
    }
    let mutants = page("docs/mutants.md");
    for (_, row) in rows(&mutants).filter(|(_, row)| row.contains(&file)) {
        let name = row.split('`').nth(1).unwrap_or_default();
        let mutant = Mutant::ALL.into_iter().find(|mutant| mutant.name() == name);
        let mutant = mutant.expect("the page names mutants");
        let lock = mutant.lock();
        push(format!("{}={{mutant=\"{name}\"}}", lock.name()), lock);
    }
    push("token".to_owned(), LockKind::Token);
    push("redlock".to_owned(), LockKind::Redlock);
    all
}

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// The rows of the tables of a page, each with the heading above it.
fn rows(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut heading = "";
    page.lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix("## ") {
            heading = name;
        }
        line.starts_with("| ").then_some((heading, line))
    })
}

/// The first violation in a folder of runs: the run, and its proof.
fn first_violation(out: &Path) -> Option<(PathBuf, Witness)> {
    let latest = out.join("latest");
    let runs = match read_record(&latest).ok()? {
        Record::Run(run) => vec![(latest, *run)],
        Record::Suite(suite) => {
            let runs = suite.runs.into_iter();
            runs.map(|run| (latest.join(&run.folder), run.record))
                .collect()
        }
    };
    runs.into_iter().find_map(|(folder, run)| {
        let mut judged = run.analysis.properties.into_values();
        let witness = judged.find_map(|judgement| judgement.witnesses.into_iter().next())?;
        Some((folder, witness))
    })
}

/// Runs the first lock that is broken there, keeps its picture, and returns the caption.
fn picture(loaded: &Loaded) -> Option<(String, String)> {
    let name = &loaded.scenario.name;
    sufferers(loaded).into_iter().find_map(|sufferer| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let out = folder.path().display().to_string();
        let mut command = lockstorm();
        command.args(["assess", &sufferer.typed, "--only", name]);
        command.args(["--topology", &sufferer.topology, "--report", "none"]);
        command.args(["--seed", "1", "--out", &out]);
        command.output().expect("the program can be started");
        let (run_folder, witness) = first_violation(folder.path())?;
        let run_folder = run_folder.display().to_string();
        run(&["report", &run_folder, "--report", "svg"]);
        let drawn = Path::new(&run_folder).join("timeline-1.svg");
        fs::copy(&drawn, pictures().join(format!("{name}.svg"))).ok()?;
        let claim: String = witness.claim.chars().take(CAPTION_MAX).collect();
        let lock = sufferer
            .typed
            .replace("={mutant=", " with the mistake ")
            .replace(['}', '"'], "");
        Some((
            name.clone(),
            format!("{lock} on {}: {claim}", sufferer.topology),
        ))
    })
}

/// Draws the pictures of all situations, or of those that are named in `LOCKSTORM_ONLY`.
#[test]
#[ignore = "takes a quarter of an hour; make field-guide"]
fn every_hazard_that_breaks_a_lock_has_its_picture() {
    assert!(have_server(), "without a server there is no run");
    fs::create_dir_all(pictures()).expect("docs/ can be written");
    let file = pictures().join("captions.json");
    let known = fs::read_to_string(&file).unwrap_or_else(|_| "{}".to_owned());
    let mut captions: BTreeMap<String, String> =
        serde_json::from_str(&known).expect("it was written here");
    let all: Vec<Loaded> = all_shipped().collect();
    let asked = all.iter().filter(|one| is_asked_for(&one.scenario.name));
    let asked: Vec<&Loaded> = asked.collect();
    // What stands there of these, or of a situation that is no more, was drawn of another script.
    captions.retain(|name, _| {
        let is_of = |one: &&Loaded| one.scenario.name == *name;
        let stays = all.iter().any(|one| is_of(&one)) && !asked.iter().any(is_of);
        if !stays {
            let _ = fs::remove_file(pictures().join(format!("{name}.svg")));
        }
        stays
    });
    let drawn = crew::all(&asked, |loaded| picture(loaded));
    captions.extend(drawn.into_iter().flatten());
    let text = serde_json::to_string_pretty(&captions).expect("it can be written as JSON");
    fs::write(&file, text + "\n").expect("docs/ can be written");
    assert!(
        captions.len() > all.len() / 2,
        "{} pictures",
        captions.len()
    );
}
