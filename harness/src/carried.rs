//! The adapters that the program carries: a start for an adapter of one's own, and the libraries
//! that it has been tried with.

use std::collections::BTreeSet;
use std::path::Path;

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

/// Says what to do about a program that cannot be started: one of an adapter that is carried can be
/// written, any other has to be looked for.
pub fn remedy_for(program: &str) -> String {
    if Path::new(program).is_file() {
        return "may it be executed, and is what its first line names installed?".to_owned();
    }
    let written = |adapter: &str| {
        let (place, file) = program.rsplit_once('/')?;
        let into = place.strip_suffix(adapter)?.strip_suffix('/')?;
        let is_its_own = files_of(adapter).any(|carried| {
            carried.is_program && carried.path.strip_prefix(adapter) == Some(&format!("/{file}"))
        });
        let elsewhere = if into == "adapters" {
            String::new()
        } else {
            format!(" --into {into}")
        };
        is_its_own.then(|| {
            format!(
                "`lockstorm init adapter {adapter}{elsewhere}` writes it, and {place}/setup \
                 installs the library"
            )
        })
    };
    let remedy = carried_adapters().into_iter().find_map(written);
    remedy.unwrap_or_else(|| "is it installed, and is the path right?".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_an_adapter_that_is_carried_can_be_written_where_it_is_looked_for() {
        let remedy = remedy_for("my/adapters/go/redsync/run");
        assert_eq!(
            remedy,
            "`lockstorm init adapter go/redsync --into my/adapters` writes it, and \
             my/adapters/go/redsync/setup installs the library"
        );
        for other in [
            "run",
            "adapters/go/redsync/main.go",
            "adapters/go/own/run",
            "go/redsync/run",
        ] {
            assert!(remedy_for(other).starts_with("is it installed"), "{other}");
        }
    }
}
