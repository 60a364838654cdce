//! The locks and libraries that a situation has broken, as the records say.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use lockstorm_scenarios::Shipped;
use serde_json::Value;

/// Times of five that a script of the scoreboard broke its promise, where it is called broken.
const CONFIRMED: u64 = 5;

/// A promise that a library broke in a situation.
struct Broken {
    library: String,
    promise: String,
    file: String,
}

/// All that is on record.
pub struct Sufferers {
    /// Promises that built-in locks break: situation, and then lock to promises.
    built_in: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Promises that libraries break, by the name of the situation.
    libraries: BTreeMap<String, Vec<Broken>>,
    /// Captions of the pictures, by the name of the situation.
    captions: BTreeMap<String, String>,
}

impl Sufferers {
    /// Reads `docs/promises.md`, which `make promises` writes, and the facts of the scoreboard.
    pub fn read(root: &Path) -> Self {
        let promises = fs::read_to_string(root.join("docs/promises.md")).expect("it is there");
        let captions = fs::read_to_string(root.join("docs/pictures/hazards/captions.json"));
        Self {
            built_in: built_in(&promises),
            libraries: libraries(&root.join("adapters/scoreboard")),
            captions: captions.map_or_else(
                |_| BTreeMap::new(),
                |text| serde_json::from_str(&text).expect("captions.json is JSON"),
            ),
        }
    }

    /// Returns the caption of the picture of a situation.
    pub fn caption(&self, name: &str) -> String {
        self.captions.get(name).cloned().unwrap_or_default()
    }

    /// Says in Markdown who is hurt by a situation.
    pub fn of(&self, shipped: &Shipped, title: &str) -> String {
        let mut text = String::new();
        let built_in = self.built_in.get(shipped.path);
        for (lock, promises) in built_in.into_iter().flatten() {
            let promises = promises.join(", ");
            writeln!(
                text,
                "- [`{lock}`](../promises.md#{lock}) breaks {promises}."
            )
            .expect("a string takes all");
        }
        for broken in self.libraries.get(&generic(title)).into_iter().flatten() {
            writeln!(
                text,
                "- {} breaks {}, and this is the smallest [script](../../{}) that shows it.",
                broken.library, broken.promise, broken.file
            )
            .expect("a string takes all");
        }
        if built_in.is_none() {
            text.push_str("- No built-in lock breaks a promise of its own here.\n");
        }
        text
    }
}

/// A name without the number of servers that are hit.
fn generic(name: &str) -> String {
    let words = name.split(' ');
    let words = words.filter(|word| *word != "or" && word.parse::<u32>().is_err());
    words.collect::<Vec<_>>().join(" ")
}

fn built_in(page: &str) -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    let mut all: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    let mut lock = "";
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            lock = name;
        }
        let Some((promise, rest)) = line
            .strip_prefix("| ")
            .and_then(|row| row.split_once(" | "))
        else {
            continue;
        };
        let Some(places) = rest.strip_prefix("✗ broken | ") else {
            continue;
        };
        for place in places.split("](../").skip(1) {
            let path = place.split(')').next().unwrap_or_default();
            let promises = all.entry(path.to_owned()).or_default();
            let promises = promises.entry(lock.to_owned()).or_default();
            if promises.last().is_none_or(|last| last != promise) {
                promises.push(promise.to_owned());
            }
        }
    }
    all
}

fn libraries(folder: &Path) -> BTreeMap<String, Vec<Broken>> {
    let mut all: BTreeMap<String, Vec<Broken>> = BTreeMap::new();
    let entries = fs::read_dir(folder).expect("adapters/scoreboard is there");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).expect("it can be read");
        let facts: Value = serde_json::from_str(&text).expect("it is JSON");
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let findings = facts["findings"].as_array().into_iter().flatten();
        for found in findings.filter(|found| found["times"] == CONFIRMED) {
            let broken = Broken {
                library: word(&facts["name"]),
                promise: word(&found["promise"]),
                file: word(&found["file"]),
            };
            let hazard = generic(&word(&found["hazard"]));
            all.entry(hazard).or_default().push(broken);
        }
    }
    all
}
