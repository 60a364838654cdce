//! The floors inside each crate: a room uses only rooms of lower floors, so there are no circles.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use crate::tidy::{report, root, sources};

/// The rooms (top-level modules) of each crate, floor by floor, from the ground up.
const FLOORS: [(&str, &[&[&str]]); 6] = [
    (
        "checker/linearizability",
        &[
            &["model_name", "time"],
            &["call"],
            &["budget", "reason", "values"],
            &["model"],
            &["frontier", "models"],
            &["specification"],
            &["exact", "search"],
            &["shrink"],
            &["decision"],
        ],
    ),
    (
        "checker",
        &[
            &["inert", "parallel", "property_name"],
            &["history"],
            &["clock_error", "text"],
            &["operations", "verdict"],
            &["cut_short", "model", "options"],
            &["engine", "holds"],
            &["case"],
            &["story"],
            &["property"],
            &["analysis"],
        ],
    ),
    (
        "scenarios",
        &[
            &["model", "old_words", "shipped", "suggest"],
            &[
                "hits",
                "schema",
                "situations",
                "source",
                "typed_lock",
                "write",
            ],
            &["excerpt", "library", "shape"],
            &["diagnostics", "written"],
            &["overrides"],
            &["document"],
            &["inspect"],
            &["draft"],
            &["rules"],
            &["load"],
            &["origin"],
            &["expand"],
            &["situated"],
        ],
    ),
    (
        "nemesis",
        &[
            &["error", "mutex", "process", "resp", "sides"],
            &["messages"],
            &["network"],
            &["link", "machines"],
            &["server"],
            &["deployment", "fabric", "kernel"],
            &["fault", "probe"],
            &["faults"],
            &["aim", "plan"],
            &["nemesis"],
            &["schedule"],
        ],
    ),
    (
        "reports",
        &[
            &["error", "model", "schema", "stored", "trace"],
            &[
                "closeup",
                "coverage",
                "endurance",
                "files",
                "hit",
                "measures",
                "words",
            ],
            &["assessment"],
            &[
                "encode", "head", "left_out", "recorded", "remedy", "topology",
            ],
            &["combine", "finding", "grid", "known", "listing", "story"],
            &["fates"],
            &["standing"],
            &["changes", "junit", "markdown", "plots", "terminal"],
            &["embed", "gallery", "github"],
            &["html"],
            &["hunted", "index_file", "render"],
            &["amend"],
        ],
    ),
    (
        "harness",
        &[
            &[
                "carried",
                "clock",
                "environment_error",
                "kernel_sockets",
                "orders",
                "output",
                "seed",
                "usage_error",
            ],
            &["folder", "plan", "process", "recorder", "rerun"],
            &["connection", "progress"],
            &["client_registry", "locks"],
            &["gateway"],
            &["server"],
            &["adapter", "trace"],
            &["client"],
            &["worker"],
            &["workload"],
            &["run"],
            &["conformance", "hunt"],
            &["cli"],
        ],
    ),
];

/// The floor of each room.
fn floor_of(floors: &[&[&'static str]]) -> BTreeMap<&'static str, usize> {
    let rooms = floors.iter().enumerate();
    let mut known = BTreeMap::new();
    for (floor, rooms) in rooms {
        for room in *rooms {
            let before = known.insert(*room, floor);
            assert!(before.is_none(), "{room} is on two floors");
        }
    }
    known
}

/// The room that a file below `src` belongs to, and how deep the file's module is below the crate.
fn place_of(path: &str) -> (&str, usize) {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let room = path.split('/').next().unwrap_or_default();
    (room, path.split('/').count())
}

/// The files that are compiled for tests only, by their paths without `.rs`: those of modules that
/// are declared below `#[cfg(test)]`.
fn tests_only(files: &[(String, String)]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (path, text) in files {
        let folder = ["lib.rs", "mod.rs"]
            .iter()
            .find_map(|root| path.strip_suffix(root))
            .map_or_else(
                || path.trim_end_matches(".rs").to_owned() + "/",
                str::to_owned,
            );
        let lines: Vec<_> = text.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]") {
            if let Some(name) = pair[1].strip_prefix("mod ") {
                found.insert(folder.clone() + name.trim_end_matches(';'));
            }
        }
    }
    found
}

/// The rooms that a text names: `crate::room`, alone or in braces, and `super::` that leads as far.
fn rooms_named(text: &str, depth: usize) -> BTreeSet<String> {
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let upwards = format!("\nuse {}", "super::".repeat(depth));
    let mut named = BTreeSet::new();
    for way in ["crate::", upwards.as_str()] {
        for rest in text.split(way).skip(1) {
            match rest.strip_prefix('{') {
                Some(group) => named.extend(first_words(group)),
                None => named.extend(word(rest)),
            }
        }
    }
    named
}

/// The word that a text begins with.
fn word(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    let word = &text[..end.unwrap_or(text.len())];
    (!word.is_empty()).then(|| word.to_owned())
}

/// First word of each member of a group in braces; `group` begins behind the brace.
fn first_words(group: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut depth = 1;
    let mut begins = true;
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => begins = true,
            _ if begins && !letter.is_whitespace() => {
                words.extend(word(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    words
}

#[test]
fn groups_in_braces_are_read() {
    let text =
        "use crate::{a::{b, c}, d as e,\n    f};\nlet x = crate::g::h;\nuse super::super::k::l;";
    let named: Vec<_> = rooms_named(text, 2).into_iter().collect();
    assert_eq!(named, ["a", "d", "f", "g", "k"]);
}

#[test]
fn rooms_use_only_rooms_of_lower_floors() {
    let mut broken = Vec::new();
    for (krate, floors) in FLOORS {
        let floor_of = floor_of(floors);
        let prefix = format!("{krate}/src/");
        let files: Vec<_> = sources()
            .into_iter()
            .filter_map(|(path, text)| Some((path.strip_prefix(&prefix)?.to_owned(), text)))
            .collect();
        let tests_only = tests_only(&files);
        for (path, text) in &files {
            let (room, depth) = place_of(path);
            let is_test = |only: &String| path.trim_end_matches(".rs").starts_with(only.as_str());
            if ["lib", "main"].contains(&room) || tests_only.iter().any(is_test) {
                continue;
            }
            let Some(floor) = floor_of.get(room) else {
                broken.push(format!("{prefix}{path}: the room {room} is on no floor"));
                continue;
            };
            for other in rooms_named(text, depth) {
                let below = floor_of
                    .get(other.as_str())
                    .is_none_or(|other| other < floor);
                if other != room && !below {
                    broken.push(format!(
                        "{prefix}{path}: {room} is no higher than {other}, and may not use it"
                    ));
                }
            }
        }
    }
    report(&broken);
}

#[test]
fn the_drawn_floors_are_these() {
    let mut drawn = String::new();
    for (krate, floors) in FLOORS {
        writeln!(drawn, "{krate}").expect("a string takes all");
        for (floor, rooms) in floors.iter().enumerate().rev() {
            writeln!(drawn, "{floor:>4}  {}", rooms.join(", ")).expect("a string takes all");
        }
    }
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("it is there");
    assert!(
        page.contains(&drawn),
        "docs/architecture.md should hold, in its section on floors:\n{drawn}"
    );
}
