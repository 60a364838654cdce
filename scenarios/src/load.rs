//! From a file to a scenario, or to all its mistakes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

use crate::diagnostics::{Diagnostics, Mistake};
use crate::document::{self, Places};
use crate::draft::Draft;
use crate::inspect::inspect;
use crate::model::Scenario;
use crate::overrides::Override;
use crate::rules;
use crate::shape::SCENARIO;
use crate::shipped::{SHIPPED, Shipped, shipped, shipped_at};
use crate::source::Sources;
use crate::suggest::nearest;
use crate::written::Words;

/// Bytes of a scenario file at most: hundreds of times the longest shipped one.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Scenario files of one matrix at most.
const MATRIX_FILES_MAX: usize = 100;

/// A scenario in which no mistake was found, and the scenarios that its matrix names.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The scenario, with overrides applied.
    pub scenario: Scenario,
    pub(crate) sources: Sources,
    pub(crate) places: Places,
    /// One for each entry of `matrix.scenarios`, in order.
    pub(crate) files: Vec<Loaded>,
    pub(crate) words: Words,
}

/// Reads the scenario file at `path`, with `overrides` applied.
///
/// # Errors
/// Every mistake of the file, of the overrides, and of the files that its matrix names.
pub fn load(path: &Path, overrides: &[Override]) -> Result<Loaded, Diagnostics> {
    let name = path.display().to_string();
    let text = read(path).map_err(|message| Diagnostics::unreadable(&name, message))?;
    load_str(&text, &name, overrides)
}

/// Loads a scenario from a text. `name` is its path for diagnostics and for the files of its
/// matrix.
///
/// # Errors
/// As for [`load`].
pub fn load_str(text: &str, name: &str, overrides: &[Override]) -> Result<Loaded, Diagnostics> {
    load_level(text, name, overrides, (Level::Top, FilesFrom::Disk))
}

/// Reads what somebody names: a scenario file, or a scenario that the program carries by its name,
/// also where the folder with its runs stands beside.
///
/// # Errors
/// As for [`load`]; and where there is neither, what is called nearly so.
pub fn open(named: &Path, overrides: &[Override]) -> Result<Loaded, Diagnostics> {
    let is_word = named.components().count() == 1 && named.extension().is_none();
    let Some(name) = named.to_str().filter(|_| is_word) else {
        return load(named, overrides);
    };
    match shipped(name) {
        Some(file) if !named.exists() || named.is_dir() => load_shipped(file, overrides),
        None if !named.exists() => Err(Diagnostics::unreadable(name, unheard_of(name))),
        _ => load(named, overrides),
    }
}

/// The message about a name that is nobody's.
fn unheard_of(name: &str) -> String {
    let names: Vec<&str> = SHIPPED.iter().map(Shipped::name).collect();
    let near = nearest(name, &names).map(|near| format!("; did you mean '{near}'?"));
    format!(
        "is no file, and no scenario that `lockstorm list scenarios` shows{}",
        near.unwrap_or_default()
    )
}

/// Loads a scenario that the program carries; so are those that its matrix names.
///
/// # Errors
/// As for [`load`].
pub fn load_shipped(file: &Shipped, overrides: &[Override]) -> Result<Loaded, Diagnostics> {
    load_level(
        file.text,
        file.path,
        overrides,
        (Level::Top, FilesFrom::Program),
    )
}

/// Place where the files of a matrix are looked for.
#[derive(Clone, Copy)]
enum FilesFrom {
    Disk,
    Program,
}

/// True if a scenario may have a matrix of files: those files may not name files again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Top,
    InMatrix,
}

fn load_level(
    text: &str,
    name: &str,
    overrides: &[Override],
    (level, files_from): (Level, FilesFrom),
) -> Result<Loaded, Diagnostics> {
    let mut sources = Sources::default();
    let mut diagnostics = Diagnostics::default();
    let (whole, mut mistakes) = match document::parse(&mut sources, name, text, overrides) {
        Ok(parsed) => parsed,
        Err(mistake) if level == Level::InMatrix => {
            let (line, _) = sources.spot(&mistake.span).line_column();
            let reason = format!("it cannot be read as TOML, from line {line} on");
            return Err(no_scenario(name, &reason));
        }
        Err(mistake) => {
            diagnostics.extend(&sources, vec![mistake]);
            return Err(diagnostics);
        }
    };
    let places = Places::of(&whole);
    if level == Level::InMatrix && !places.has("name") {
        return Err(no_scenario(name, "it has no `name`"));
    }
    let words = Words::of(&whole);
    let mut root = whole.clone();
    let inspection = inspect(&SCENARIO, &mut root);
    let draft = Draft::read(&root, &inspection);
    mistakes.extend(inspection.mistakes);
    mistakes.extend(rules::judge(&draft, &places));

    let mut files = Vec::new();
    let mut nested = Diagnostics::default();
    match (level, &draft.matrix) {
        (Level::Top, Some(matrix)) => {
            let mut table = MatrixFiles {
                name,
                files_from,
                places: &places,
                mistakes: &mut mistakes,
                nested: &mut nested,
            };
            files = table.load(&matrix.scenarios);
        }
        (Level::InMatrix, _) if places.has("matrix.scenarios") => {
            let message = "a scenario of a matrix cannot name scenarios itself";
            mistakes.push(Mistake::new(places.key("matrix.scenarios"), message));
        }
        (Level::Top | Level::InMatrix, _) => {}
    }

    let scenario = if mistakes.is_empty() {
        deserialize(whole)
            .map_err(|mistake| mistakes.push(mistake))
            .ok()
    } else {
        None
    };
    diagnostics.extend(&sources, mistakes);
    diagnostics.append(nested);
    diagnostics.or(())?;
    Ok(Loaded {
        scenario: scenario.expect("a scenario that cannot be read has left a mistake"),
        sources,
        places,
        files,
        words,
    })
}

/// Of a file that a matrix names and that is no scenario nothing is shown: who wrote the matrix may
/// be somebody else than who is allowed to read the file.
fn no_scenario(name: &str, reason: &str) -> Diagnostics {
    let message = format!("is no scenario file: {reason}; `lockstorm validate` of it shows more");
    Diagnostics::unreadable(name, message)
}

/// Builds the scenario. The inspection before has found what this would refuse, and more.
fn deserialize(root: Spanned<DeValue<'_>>) -> Result<Scenario, Mistake> {
    Scenario::deserialize(ValueDeserializer::from(root)).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        Mistake::new(span, error.message().to_owned())
    })
}

/// Loads the files of a matrix.
struct MatrixFiles<'a> {
    name: &'a str,
    files_from: FilesFrom,
    places: &'a Places,
    mistakes: &'a mut Vec<Mistake>,
    nested: &'a mut Diagnostics,
}

impl MatrixFiles<'_> {
    fn load(&mut self, scenarios: &[Option<String>]) -> Vec<Loaded> {
        if scenarios.len() > MATRIX_FILES_MAX {
            let message = format!("a matrix takes at most {MATRIX_FILES_MAX} scenarios");
            let span = self.places.value("matrix.scenarios");
            self.mistakes.push(Mistake::new(span, message));
            return Vec::new();
        }
        let mut loaded = Vec::new();
        let mut seen = BTreeSet::new();
        for (n, file) in scenarios.iter().enumerate() {
            let Some(file) = file else { continue };
            if self.nested.is_full() {
                break;
            }
            let folder = Path::new(self.name).parent().unwrap_or(Path::new(""));
            let path = folder.join(file);
            if !seen.insert(path.clone()) {
                let message = format!("'{file}' is named twice");
                let help = "each scenario file is a column, or part of one: name it once";
                self.refuse(n, message, help);
                continue;
            }
            let name = path.display().to_string();
            match self.read(&path) {
                Err(message) => {
                    let help = format!("paths are relative to this file; looked for {name}");
                    self.refuse(n, format!("'{file}' {message}"), &help);
                }
                Ok(text) => match load_level(&text, &name, &[], (Level::InMatrix, self.files_from))
                {
                    Ok(file) => loaded.push(file),
                    Err(diagnostics) => self.nested.append(diagnostics),
                },
            }
        }
        loaded
    }

    fn read(&self, path: &Path) -> Result<String, String> {
        match self.files_from {
            FilesFrom::Disk => read_named(path),
            FilesFrom::Program => shipped_at(path)
                .map(|file| file.text.to_owned())
                .ok_or_else(|| "is none that the program carries".to_owned()),
        }
    }

    fn refuse(&mut self, n: usize, message: String, help: &str) {
        let span = self.places.value(&format!("matrix.scenarios.{n}"));
        self.mistakes.push(Mistake::new(span, message).help(help));
    }
}

/// Reads a file that a matrix names: a scenario file, and no pipe, device or anything else.
fn read_named(path: &Path) -> Result<String, String> {
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Err("is no scenario file: its name does not end with .toml".to_owned());
    }
    if path.exists() && !path.is_dir() && !path.is_file() {
        return Err("is no regular file".to_owned());
    }
    read(path)
}

/// Reads a text file of bearable size; else says what is wrong with it.
fn read(path: &Path) -> Result<String, String> {
    if path.is_dir() {
        return Err("is a folder; name the files in it".to_owned());
    }
    let file = File::open(path).map_err(|error| format!("cannot be opened: {error}"))?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!(
            "is larger than {FILE_BYTES_MAX} bytes: no scenario is"
        ));
    }
    String::from_utf8(bytes).map_err(|_| "is no text: it has bytes that are not UTF-8".to_owned())
}
