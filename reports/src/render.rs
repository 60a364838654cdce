//! From a stored run or suite to its artefacts: the entry point of the command line.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread::{self, ScopedJoinHandle};

use lockstorm_checker::Nanos;

use crate::embed::{Extent, page_data};
use crate::encode::{read_run, read_suite};
use crate::error::RenderError;
use crate::files::write_whole;
use crate::gallery::{self, Picture};
use crate::html::{RunSources, run_page, suite_page};
use crate::junit::{junit_run, junit_suite};
use crate::markdown::{markdown_of, markdown_suite};
use crate::measures::Measures;
use crate::model::RunRecord;
use crate::plots;
use crate::recorded::{History, Recorded};
use crate::stored::{open_stored, text_of};

/// Name of the history in a run folder.
pub(crate) const HISTORY_FILE: &str = "history.jsonl";
/// Name of the effective scenario in a run folder.
const SCENARIO_FILE: &str = "scenario.toml";

/// Bytes of an effective scenario that are read: several times what a scenario file may have.
const SCENARIO_BYTES_MAX: u64 = 8 << 20;

/// An artefact that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// `report.html`.
    Html,
    /// The pictures as PNG files: `timeline.png` and others of a run, `matrix.png` of a suite.
    Png,
    /// Pictures as SVG files.
    Svg,
    /// `junit.xml`.
    Junit,
    /// `report.md`.
    Markdown,
}

/// A set of artefacts.
pub type Formats = BTreeSet<Format>;

impl Format {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Html,
        Self::Png,
        Self::Svg,
        Self::Junit,
        Self::Markdown,
    ];

    /// The word used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Png => "png",
            Self::Svg => "svg",
            Self::Junit => "junit",
            Self::Markdown => "md",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name of no artefact.
#[derive(Debug, thiserror::Error)]
#[error("unknown report format '{0}'; choose from html, png, svg, junit, md")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// Files that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The files, in the order in which they were written.
    pub paths: Vec<PathBuf>,
    /// Parts that could not be shown, and why, in a sentence each.
    pub notes: Vec<String>,
}

impl Rendered {
    fn write(&mut self, folder: &Path, name: &str, bytes: &[u8]) -> Result<(), RenderError> {
        let path = folder.join(name);
        write_whole(&path, bytes)?;
        self.paths.push(path);
        Ok(())
    }

    /// The scenario that was stored with a run, if it was.
    fn scenario_in(&mut self, folder: &Path) -> Option<String> {
        let path = folder.join(SCENARIO_FILE);
        match open_stored(&path).and_then(|file| text_of(file, SCENARIO_BYTES_MAX)) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                let note = format!("the scenario {} is left out: {error}", path.display());
                self.notes.push(note);
                None
            }
        }
    }

    /// Notes what a picture leaves out, with its name, for the reader does not see the picture.
    fn note(&mut self, pictures: &[Picture]) {
        let notes = pictures.iter().filter_map(|picture| {
            let note = picture.note.as_ref()?;
            Some(format!("{}: {note}", picture.name))
        });
        self.notes.extend(notes);
    }

    /// Writes pictures as PNG files.
    fn png(&mut self, folder: &Path, pictures: &[Picture]) -> Result<(), RenderError> {
        for picture in pictures {
            let name = format!("{}.png", picture.name);
            let drawn = plots::png(&picture.drawing);
            let bytes = drawn.map_err(|reason| RenderError::Picture {
                name: name.clone(),
                reason,
            })?;
            self.write(folder, &name, &bytes)?;
        }
        Ok(())
    }

    /// Writes pictures as SVG files.
    fn svg(&mut self, folder: &Path, pictures: &[Picture]) -> Result<(), RenderError> {
        for picture in pictures {
            let name = format!("{}.svg", picture.name);
            self.write(folder, &name, plots::svg_file(&picture.drawing).as_bytes())?;
        }
        Ok(())
    }
}

/// Writes the artefacts of the run stored in `folder`, into that folder.
///
/// A run without a readable history is rendered without its pictures over time, and says so. Where
/// `extent` asks for a window, the page has a name of its own, beside that of the whole run.
///
/// # Errors
/// [`RenderError`] when there is no record of a run, or an artefact cannot be written.
pub fn render_run(
    folder: &Path,
    formats: &Formats,
    extent: &Extent,
) -> Result<Rendered, RenderError> {
    let run = read_run(folder)?;
    let mut rendered = Rendered::default();
    let has_page = formats.contains(&Format::Html);
    let has_pictures = formats.contains(&Format::Png) || formats.contains(&Format::Svg);
    let drawn = has_page || has_pictures;
    let path = folder.join(HISTORY_FILE);
    let recorded = if drawn {
        Recorded::read(&path)
    } else {
        Err(String::new())
    };
    let unread = match &recorded {
        Ok(_) => None,
        Err(reason) if drawn => Some(reason.clone()),
        Err(_) => open_stored(&path).err().map(|error| error.to_string()),
    };
    if let (true, Err(reason)) = (drawn, &recorded) {
        rendered.notes.push(reason.clone());
    }
    let recorded = recorded.as_ref();
    thread::scope(|scope| {
        // Of a long history, what its page embeds takes as long as everything else.
        let embedding = recorded.ok().filter(|_| has_page);
        let run = &run;
        let mut embedding =
            embedding.map(|recorded| scope.spawn(move || page_data(run, recorded, extent)));
        let history = recorded.map(|recorded| recorded.history(run));
        let history = history.as_ref().map_err(|reason| reason.as_str());
        let measures = history.ok().map(|history| Measures::of(&history.trace));
        let pictures = match &measures {
            Some(measures) if has_pictures => gallery::of_run(run, measures),
            Some(_) | None => Vec::new(),
        };
        rendered.note(&pictures);
        for format in formats {
            match format {
                Format::Html => {
                    let data = embedding.take().map(result_of);
                    let scenario = rendered.scenario_in(folder);
                    let sources = RunSources {
                        history,
                        measures: measures.as_ref(),
                        data: data.as_ref(),
                        scenario: scenario.as_deref(),
                    };
                    let page = run_page(run, &sources);
                    rendered.write(folder, &page_name(extent), page.as_bytes())?;
                }
                Format::Png => rendered.png(folder, &pictures)?,
                Format::Svg => rendered.svg(folder, &pictures)?,
                Format::Junit => {
                    rendered.write(folder, "junit.xml", junit_run(run)?.as_bytes())?;
                }
                Format::Markdown => {
                    rendered.write(
                        folder,
                        "report.md",
                        markdown_of(run, unread.as_deref()).as_bytes(),
                    )?;
                }
            }
        }
        Ok(rendered)
    })
}

/// Returns the result of a thread.
fn result_of<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Writes the artefacts of the suite stored in `folder`, into that folder. Its runs have their
/// own, see [`render_run`].
///
/// # Errors
/// [`RenderError`] when there is no record of a suite, or an artefact cannot be written.
pub fn render_suite(folder: &Path, formats: &Formats) -> Result<Rendered, RenderError> {
    let suite = read_suite(folder)?;
    let mut rendered = Rendered::default();
    for format in formats {
        match format {
            Format::Html => {
                let history = |name: &str, run: &RunRecord| read_history(&folder.join(name), run);
                let page = suite_page(&suite, |name, run| history(name, run).ok());
                rendered.write(folder, "report.html", page.as_bytes())?;
            }
            Format::Png => rendered.png(folder, &gallery::of_suite(&suite))?,
            Format::Svg => rendered.svg(folder, &gallery::of_suite(&suite))?,
            Format::Junit => {
                rendered.write(folder, "junit.xml", junit_suite(&suite)?.as_bytes())?;
            }
            Format::Markdown => {
                rendered.write(folder, "report.md", markdown_suite(&suite).as_bytes())?;
            }
        }
    }
    Ok(rendered)
}

/// Reads what the page and the pictures need of a run's history; an error says in a sentence why
/// there is none.
fn read_history(folder: &Path, run: &RunRecord) -> Result<History, String> {
    Ok(Recorded::read(&folder.join(HISTORY_FILE))?.history(run))
}

/// The name of a page: a window has one of its own.
fn page_name(extent: &Extent) -> String {
    let seconds = |at: Nanos| format!("{}s", at.as_secs_f64());
    match extent.window {
        None => "report.html".to_owned(),
        Some((from, to)) => format!("report-{}-{}.html", seconds(from), seconds(to)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::encode::{write_run, write_suite};
    use crate::sample;

    /// A run folder as the harness leaves it.
    fn stored_run(folder: &Path, record: &RunRecord) {
        fs::create_dir_all(folder).unwrap();
        write_run(folder, record).unwrap();
        fs::write(folder.join(HISTORY_FILE), sample::FAILOVER_HISTORY).unwrap();
        fs::write(folder.join(SCENARIO_FILE), sample::FAILOVER_SCENARIO).unwrap();
    }

    fn stored_suite(folder: &Path) {
        let suite = sample::suite();
        write_suite(folder, &suite).unwrap();
        for run in &suite.runs {
            stored_run(&folder.join(&run.folder), &run.record);
        }
    }

    fn all() -> Formats {
        Formats::from(Format::ALL)
    }

    fn names(rendered: &Rendered) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        rendered.paths.iter().map(name).collect()
    }

    /// Size of a PNG file, which its header tells.
    fn size_of(path: &Path) -> (u32, u32) {
        let info = png::Decoder::new(fs::File::open(path).unwrap())
            .read_info()
            .unwrap();
        (info.info().width, info.info().height)
    }

    #[test]
    fn a_stored_run_becomes_page_pictures_xml_and_markdown() {
        let folder = tempfile::tempdir().unwrap();
        stored_run(folder.path(), &sample::failover_run());

        let rendered = render_run(folder.path(), &all(), &Extent::default()).unwrap();

        let names = names(&rendered);
        let pictures = |ending: &str| -> Vec<String> {
            let of_ending = names.iter().filter_map(|name| name.strip_suffix(ending));
            of_ending.map(str::to_owned).collect()
        };
        assert_eq!(pictures(".png"), ["timeline", "timeline-1"]);
        assert_eq!(pictures(".png"), pictures(".svg"));
        assert_eq!(pictures(".html"), ["report"]);
        assert_eq!(pictures(".xml"), ["junit"]);
        assert_eq!(pictures(".md"), ["report"]);
        assert!(rendered.notes.is_empty(), "{:?}", rendered.notes);
        for name in pictures(".png") {
            let path = folder.path().join(format!("{name}.png"));
            assert_eq!(size_of(&path).0, 1800, "{name}");
        }
    }

    #[test]
    fn a_stored_suite_becomes_page_matrix_xml_and_markdown() {
        let folder = tempfile::tempdir().unwrap();
        stored_suite(folder.path());

        let rendered = render_suite(folder.path(), &all()).unwrap();

        let wanted = [
            "report.html",
            "matrix.png",
            "matrix.svg",
            "junit.xml",
            "report.md",
        ];
        assert_eq!(names(&rendered), wanted);
        assert_eq!(size_of(&folder.path().join("matrix.png")), (1800, 900));
    }

    #[test]
    fn rendering_twice_gives_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        stored_suite(folder.path());
        let run = folder.path().join(&sample::suite().runs[1].folder);
        let bytes = || {
            let mut paths = render_suite(folder.path(), &all()).unwrap().paths;
            paths.extend(render_run(&run, &all(), &Extent::default()).unwrap().paths);
            let read = |path: PathBuf| fs::read(path).unwrap();
            paths.into_iter().map(read).collect::<Vec<_>>()
        };
        assert_eq!(bytes(), bytes());
    }

    #[test]
    fn only_what_was_asked_for_is_written_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        stored_run(folder.path(), &sample::failover_run());
        render_run(
            folder.path(),
            &Formats::from([Format::Junit]),
            &Extent::default(),
        )
        .unwrap();
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(
            left,
            [
                "history.jsonl",
                "junit.xml",
                "results.json",
                "scenario.toml"
            ]
        );
    }

    #[test]
    fn a_run_without_history_is_rendered_and_says_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        stored_run(folder.path(), &sample::failover_run());
        fs::remove_file(folder.path().join(HISTORY_FILE)).unwrap();

        let rendered = render_run(folder.path(), &all(), &Extent::default()).unwrap();

        assert_eq!(names(&rendered), ["report.html", "junit.xml", "report.md"]);
        assert!(
            rendered.notes[0].contains("history.jsonl"),
            "{:?}",
            rendered.notes
        );
        let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(page.contains("No timeline: "));
        assert!(
            page.contains("2 holders"),
            "the witness alone is enough for its picture"
        );
    }

    #[test]
    fn a_malformed_history_is_a_note_not_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        stored_run(folder.path(), &sample::failover_run());
        fs::write(
            folder.path().join(HISTORY_FILE),
            "{\"index\":\nnonsense\n{}\n",
        )
        .unwrap();
        let rendered = render_run(folder.path(), &all(), &Extent::default()).unwrap();
        assert!(
            rendered.notes[0].contains("cannot be read"),
            "{:?}",
            rendered.notes
        );
    }

    #[test]
    fn formats_are_known_by_their_names() {
        let parsed: Vec<Format> = ["html", "png", "svg", "junit", "md"]
            .map(|n| n.parse().unwrap())
            .into();
        assert_eq!(parsed, Format::ALL);
        let refused = "pdf".parse::<Format>().unwrap_err().to_string();
        assert!(refused.contains("html, png, svg, junit, md"), "{refused}");
    }
}
