//! The scenario files below a folder, for `lockstorm list scenarios`.

use std::io;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::hits::numbered_by_all;

/// Files listed at most, and folders gone down at most: a wrong folder is not searched forever.
const FILES_MAX: usize = 10_000;
const DEPTH_MAX: usize = 8;

/// A scenario file as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Where it lies: the folder that was listed, joined with the path below it.
    pub path: PathBuf,
    /// Its name; that of the file where it has none.
    pub name: String,
    /// Statement of the file, the first sentence of its description; for a file that is no TOML,
    /// that it is none.
    pub description: String,
}

/// Every `.toml` file below `folder`, by path. Files are not validated.
///
/// # Errors
/// When a folder or a file cannot be read, with its path.
pub fn list(folder: &Path) -> io::Result<Vec<Listed>> {
    let mut listed = Vec::new();
    gather(folder, 0, &mut listed)?;
    listed.sort();
    Ok(listed)
}

fn gather(folder: &Path, depth: usize, listed: &mut Vec<Listed>) -> io::Result<()> {
    let named = |path: &Path, error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("cannot read {}: {error}", path.display()),
        )
    };
    for entry in std::fs::read_dir(folder).map_err(|error| named(folder, error))? {
        let path = entry.map_err(|error| named(folder, error))?.path();
        if path.is_dir() && depth < DEPTH_MAX {
            gather(&path, depth + 1, listed)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let text = std::fs::read_to_string(&path).map_err(|error| named(&path, error))?;
            listed.push(describe(&path, &text));
        }
        if listed.len() >= FILES_MAX {
            break;
        }
    }
    Ok(())
}

/// Describes the scenario file at `path`, whose text this is, as a list shows it.
pub fn describe(path: &Path, text: &str) -> Listed {
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let Ok(table) = DeTable::parse(text) else {
        return Listed {
            path: path.to_owned(),
            name: stem,
            description: "not readable; `lockstorm validate` says why".to_owned(),
        };
    };
    let table = table.get_ref();
    let word = |key: &str| Some(table.get(key)?.get_ref().as_str()?.to_owned());
    let description = first_sentence(&word("description").unwrap_or_default());
    Listed {
        name: word("name").unwrap_or(stem),
        description: numbered_by_all(&description, &hits(table).unwrap_or_default()),
        path: path.to_owned(),
    }
}

/// Numbers of servers that a situation hits.
fn hits(table: &DeTable) -> Option<Vec<u32>> {
    let situation = table.get("situation")?.get_ref().as_table()?;
    let hits = situation.get("hits")?.get_ref().as_array()?;
    let number = |one: &Spanned<DeValue>| one.get_ref().as_integer()?.as_str().parse().ok();
    Some(hits.iter().filter_map(number).collect())
}

fn first_sentence(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => line,
    }
}
