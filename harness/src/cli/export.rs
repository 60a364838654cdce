//! `lockstorm export`: a history in another format, for other tools.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error};
use clap::{Args, ValueEnum};
use lockstorm_checker::history::{
    EdnStyle, EdnWriter, Event, EventSink, Format, Header, Kind, Name, Process, ReadOptions,
    RefusedRelease, write_event, write_header,
};

use super::examples;
use super::exit::ExitCode;
use super::input;
use super::input::Care;
use crate::output;
use crate::usage_error::UsageError;

/// Number of locks that a message names, at most.
const NAMED_MAX: usize = 10;

/// Longest part of a file's name that a key makes up, in characters: file systems have limits.
const KEY_CHARS_MAX: usize = 80;

/// Arguments of `lockstorm export`.
#[derive(Debug, Args)]
#[command(after_help = examples::EXPORT)]
pub struct ExportArgs {
    /// The history: a file, or the folder of a run.
    #[arg(value_name = "HISTORY")]
    pub history: PathBuf,
    /// Format to write.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Target,
    /// Format of the history, where its content does not tell it.
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<Format>,
    /// Write the events of this lock only.
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// File to write; without it, standard output. In EDN each of several locks gets a file of its
    /// own, with the key in its name.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// In EDN: only acquires and releases, with nil values, as Knossos's mutex model takes them.
    #[arg(long)]
    pub bare: bool,
    /// In EDN: how a release is written that was refused because the caller was not the owner.
    #[arg(long, value_enum, default_value_t, value_name = "TYPE")]
    pub refused_release: Refused,
}

/// Formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// Jepsen's maps, for Knossos, Elle and the like.
    Edn,
    /// Lockstorm's own lines.
    Jsonl,
}

/// Form in which a refused release is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Refused {
    /// The server did nothing.
    #[default]
    Fail,
    /// The critical section is over, for models that know no leases.
    Ok,
}

/// Writes the history in the other format.
///
/// # Errors
/// When the history cannot be read, the output cannot be written, or several locks would end up in
/// one history of EDN.
pub fn execute(args: &ExportArgs) -> Result<ExitCode, Error> {
    let mut export = Export::new(args);
    let options = ReadOptions {
        format: args.from,
        ..ReadOptions::default()
    };
    input::read(&args.history, options, Care::Copy, &mut export)?;
    let parts = export.finish()?;
    let Some(out) = &args.out else {
        if parts.len() > 1 {
            let text = format!(
                "the history has {} locks ({}), and EDN takes a history for each: choose one with \
                 --key KEY, or give them files with --out FILE",
                parts.len(),
                named(parts.keys())
            );
            return Err(UsageError(text).into());
        }
        for text in parts.values() {
            output::machine(text)?;
        }
        return Ok(ExitCode::AsExpected);
    };
    for (path, text) in paths(out, parts) {
        let failed = || format!("cannot write '{}'", path.display());
        fs::write(&path, text).with_context(failed)?;
        output::human(&path.display().to_string());
    }
    Ok(ExitCode::AsExpected)
}

/// Sorts the events by lock while they are read.
struct Export<'a> {
    args: &'a ExportArgs,
    header: Header,
    parts: BTreeMap<Name, Part>,
    /// Events that concern every lock: they are repeated in each part, also in those that begin
    /// later.
    shared: Vec<Event>,
    /// The lock that each process uses: a completion may leave it out.
    pending: HashMap<u64, Name>,
    /// The locks that there are.
    seen: BTreeSet<Name>,
}

/// One history that is being written.
#[derive(Default)]
struct Part {
    text: Vec<u8>,
    edn: EdnWriter,
}

impl<'a> Export<'a> {
    fn new(args: &'a ExportArgs) -> Self {
        Self {
            args,
            header: Header::new(),
            parts: BTreeMap::new(),
            shared: Vec::new(),
            pending: HashMap::new(),
            seen: BTreeSet::new(),
        }
    }

    fn begin(&self) -> Part {
        let mut part = Part::default();
        match self.args.to {
            Target::Jsonl => write_header(&mut part.text, &self.header),
            Target::Edn => {
                part.edn = EdnWriter::new(EdnStyle {
                    bare: self.args.bare,
                    refused_release: match self.args.refused_release {
                        Refused::Fail => RefusedRelease::Fail,
                        Refused::Ok => RefusedRelease::Ok,
                    },
                });
            }
        }
        for event in &self.shared {
            part.write(self.args.to, event);
        }
        part
    }

    /// The lock that an event is about; `None` where it concerns all.
    fn key(&mut self, event: &Event) -> Option<Name> {
        match (event.process, event.kind) {
            (Process::Client(process), Kind::Invoke) => {
                self.pending.insert(process, Name::clone(&event.key));
            }
            (Process::Client(process), Kind::Ok | Kind::Fail | Kind::Info) => {
                return self.pending.remove(&process);
            }
            (Process::Nemesis, _) | (Process::Client(_), Kind::Note) if event.key.is_empty() => {
                return None;
            }
            (Process::Nemesis, _) | (Process::Client(_), Kind::Note) => {}
        }
        Some(Name::clone(&event.key))
    }

    /// The text of each history, by lock; of a history in our own lines there is one for all.
    fn finish(mut self) -> Result<BTreeMap<Name, String>, UsageError> {
        if let Some(key) = &self.args.key
            && !self.seen.contains(key.as_str())
        {
            let others = named(self.seen.iter());
            let text = format!("the history has no lock {key:?}; it has {others}");
            return Err(UsageError(text));
        }
        if self.parts.is_empty() {
            let part = self.begin();
            self.parts.insert("".into(), part);
        }
        let text = |part: Part| String::from_utf8(part.text).expect("names and numbers are text");
        let parts = self.parts.into_iter();
        Ok(parts.map(|(key, part)| (key, text(part))).collect())
    }
}

impl EventSink for Export<'_> {
    fn header(&mut self, header: Header) {
        self.header = header;
    }

    fn event(&mut self, mut event: Event) {
        let Some(key) = self.key(&event) else {
            for part in self.parts.values_mut() {
                part.write(self.args.to, &event);
            }
            self.shared.push(event);
            return;
        };
        self.seen.insert(Name::clone(&key));
        if self.args.key.as_deref().is_some_and(|only| *only != *key) {
            return;
        }
        event.key = Name::clone(&key);
        let part = match self.args.to {
            Target::Edn => key,
            Target::Jsonl => "".into(),
        };
        if !self.parts.contains_key(&part) {
            let begun = self.begin();
            self.parts.insert(Name::clone(&part), begun);
        }
        if let Some(part) = self.parts.get_mut(&part) {
            part.write(self.args.to, &event);
        }
    }
}

impl Part {
    fn write(&mut self, to: Target, event: &Event) {
        match to {
            Target::Edn => self.edn.write(&mut self.text, event),
            Target::Jsonl => write_event(&mut self.text, event),
        }
    }
}

fn named<'a>(keys: impl ExactSizeIterator<Item = &'a Name>) -> String {
    let more = keys.len().saturating_sub(NAMED_MAX);
    let mut words: Vec<_> = keys.take(NAMED_MAX).map(|key| format!("{key:?}")).collect();
    if more > 0 {
        words.push(format!("{more} more"));
    }
    words.join(", ")
}

/// Pairs each history with its path: `out`, or with several locks `out` with the key before its
/// extension.
fn paths(out: &Path, parts: BTreeMap<Name, String>) -> Vec<(PathBuf, String)> {
    if parts.len() == 1 {
        let texts = parts.into_values();
        return texts.map(|text| (out.to_owned(), text)).collect();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut taken = BTreeSet::new();
    let mut paths = Vec::new();
    for (n, (key, text)) in parts.into_iter().enumerate() {
        let mut word: String = key.chars().take(KEY_CHARS_MAX).map(plain).collect();
        if word.is_empty() || !taken.insert(word.clone()) {
            // Keys that look alike in a file's name are told apart by their number.
            word = format!("{word}-{n}");
        }
        let extension = out.extension().unwrap_or_default().to_string_lossy();
        let extension = if extension.is_empty() {
            word
        } else {
            format!("{word}.{extension}")
        };
        paths.push((out.with_extension(extension), text));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lock_gets_a_file_that_no_other_gets_inside_the_same_folder() {
        let parts = ["", "a/b", "a_b", "c"].map(|key| (Name::from(key), String::new()));
        let paths = paths(Path::new("out/h.edn"), parts.into());
        let paths: Vec<_> = paths.iter().map(|(path, _)| path.to_str()).collect();
        let expected = ["h.-0.edn", "h.a_b.edn", "h.a_b-2.edn", "h.c.edn"];
        assert_eq!(
            paths,
            expected
                .map(|name| format!("out/{name}"))
                .each_ref()
                .map(|p| Some(&**p))
        );
    }
}
