//! The adapters that the program carries: a start for an adapter of one's own, and the libraries
//! that it has been tried with.

use std::collections::BTreeSet;

use lockstorm_scenarios::nearest;

/// A file of an adapter or of a kit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Its path below the folder of adapters, such as `python/redis-py/adapter.py`.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
    /// True if it is started.
    pub is_program: bool,
}

// `CARRIED`, written by the build script.
include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// The adapter that a language's name alone stands for.
const USUAL: [(&str, &str); 5] = [
    ("go", "go/redsync"),
    ("java", "java/shedlock"),
    ("node", "node/redlock-5"),
    ("python", "python/redis-py"),
    ("rust", "rust/rslock"),
];

/// Lists the adapters, such as `python/redis-py`.
pub fn carried_adapters() -> BTreeSet<&'static str> {
    let runs = CARRIED.iter().filter(|file| !file.path.starts_with("sdk/"));
    runs.filter_map(|file| file.path.strip_suffix("/run"))
        .collect()
}

/// Finds an adapter by its name, or by that of a language alone.
pub fn carried_adapter(name: &str) -> Option<&'static str> {
    let usual = USUAL.iter().find(|(language, _)| *language == name);
    let name = usual.map_or(name, |(_, usual)| usual);
    carried_adapters().into_iter().find(|known| *known == name)
}

/// Finds the adapter or language that somebody may have meant by a name that is none.
pub fn similar_adapter(name: &str) -> Option<&'static str> {
    let languages = USUAL.into_iter().map(|(language, _)| language);
    let known: Vec<&str> = languages.chain(carried_adapters()).collect();
    let near = nearest(name, &known);
    known.iter().copied().find(|known| Some(*known) == near)
}

/// Returns what an adapter drives: the heading of its README.
pub fn driven_by(adapter: &str) -> &'static str {
    let readme = format!("{adapter}/README.md");
    let readme = CARRIED.iter().find(|file| file.path == readme);
    let heading = readme.and_then(|file| file.text.lines().next());
    heading.unwrap_or_default().trim_start_matches("# ")
}

/// Lists the files that an adapter needs: its own, those that its language's adapters share, and
/// the kit.
pub fn files_of(adapter: &str) -> impl Iterator<Item = &'static Carried> {
    let language = adapter.split('/').next().unwrap_or_default();
    let own = format!("{adapter}/");
    let kit = format!("sdk/{language}/");
    let shared = format!("{language}/");
    CARRIED.iter().filter(move |file| {
        let in_language = file.path.strip_prefix(&*shared);
        file.path.starts_with(&own)
            || file.path.starts_with(&kit)
            || in_language.is_some_and(|rest| !rest.contains('/'))
    })
}
