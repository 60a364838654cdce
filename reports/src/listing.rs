//! The runs in a folder of runs, as `index.html` lists them.
//!
//! For: finding a run again. Not for: its findings; each run and each comparison has a page of its
//! own. The list is made again from what is stored, so it is right whatever came before.

use std::fs;
use std::path::Path;

use crate::encode::{RESULTS_FILE, Record, read_record};
use crate::head::Head;
use crate::model::{RunRecord, SuiteRecord};
use crate::words;

/// Runs that are listed; each takes the reading of its record.
const ENTRIES_MAX: usize = 300;
/// The picture that tells most of a run or of a suite, if it was asked for.
const PICTURES: [&str; 2] = ["matrix.png", "timeline.png"];

/// Content of a folder of runs.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The newest first.
    pub(crate) entries: Vec<Entry>,
    /// How many older ones there are.
    pub(crate) left_out: usize,
    /// Folders that hold no record, or none that this version reads.
    pub(crate) without_record: usize,
}

/// A run or a suite.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Below the folder of runs.
    pub(crate) folder: String,
    pub(crate) name: String,
    /// Lock, topology and hazard of a run; what a suite shows.
    pub(crate) place: String,
    pub(crate) head: Head,
    pub(crate) runs: usize,
    pub(crate) seed: u64,
    pub(crate) started: String,
    /// File name of a picture.
    pub(crate) picture: Option<String>,
    /// True if there is a page of it.
    pub(crate) has_page: bool,
}

impl Entry {
    pub(crate) fn of_run(folder: &str, run: &RunRecord) -> Self {
        Self {
            folder: folder.to_owned(),
            name: run.scenario.clone(),
            place: words::cell_name(&run.labels),
            head: Head::of_run(run),
            runs: 1,
            seed: run.seed,
            started: run.started.clone(),
            picture: None,
            has_page: false,
        }
    }

    pub(crate) fn of_suite(folder: &str, suite: &SuiteRecord) -> Self {
        Self {
            folder: folder.to_owned(),
            name: suite.name.clone(),
            place: "comparison".to_owned(),
            head: Head::of_suite(suite),
            runs: suite.runs.len(),
            seed: suite.seed,
            started: suite.started.clone(),
            picture: None,
            has_page: false,
        }
    }

    /// The file that it is best read by.
    pub(crate) fn page(&self) -> &'static str {
        if self.has_page {
            "report.html"
        } else {
            RESULTS_FILE
        }
    }

    /// Reads what is stored in `out/folder`; `None` where no record can be read.
    fn stored(out: &Path, folder: &str) -> Option<Self> {
        let path = out.join(folder);
        let entry = match read_record(&path).ok()? {
            Record::Run(run) => Self::of_run(folder, &run),
            Record::Suite(suite) => Self::of_suite(folder, &suite),
        };
        let picture = PICTURES.iter().find(|name| path.join(name).is_file());
        Some(Self {
            picture: picture.map(|name| (*name).to_owned()),
            has_page: path.join("report.html").is_file(),
            ..entry
        })
    }
}

impl Listing {
    /// Looks at the runs in `out`, which lie in a folder for each scenario.
    pub(crate) fn of(out: &Path) -> Self {
        let mut folders: Vec<(String, String)> = Vec::new();
        for scenario in names(out) {
            let runs = names(&out.join(&scenario)).into_iter();
            // The name of a run begins with its time: the newest is the greatest.
            folders.extend(runs.map(|run| (run.clone(), format!("{scenario}/{run}"))));
        }
        folders.sort_unstable_by(|a, b| b.cmp(a));
        let left_out = folders.len().saturating_sub(ENTRIES_MAX);
        folders.truncate(ENTRIES_MAX);
        let stored = folders
            .iter()
            .filter_map(|(_, folder)| Entry::stored(out, folder));
        let entries: Vec<Entry> = stored.collect();
        Self {
            without_record: folders.len() - entries.len(),
            entries,
            left_out,
        }
    }
}

/// Names of the folders in a folder. A link, such as that to the newest run, is no folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::encode::{write_run, write_suite};
    use crate::head::Standing;
    use crate::sample;

    fn folder(out: &Path, name: &str) -> PathBuf {
        let path = out.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn runs_and_suites_are_listed_newest_first_with_what_they_left() {
        let out = tempfile::tempdir().unwrap();
        let old = folder(out.path(), "zebra/20260101T000000Z-1");
        write_run(&old, &sample::failover_run()).unwrap();
        let new = folder(out.path(), "ant/20270101T000000Z-1");
        write_suite(&new, &sample::suite()).unwrap();
        fs::write(new.join("matrix.png"), b"picture").unwrap();
        folder(out.path(), "ant/20280101T000000Z-1");

        let listing = Listing::of(out.path());

        let told: Vec<(&str, Standing)> = listing
            .entries
            .iter()
            .map(|entry| (entry.folder.as_str(), entry.head.standing))
            .collect();
        let expected = [
            ("ant/20270101T000000Z-1", Standing::Fail),
            ("zebra/20260101T000000Z-1", Standing::Pass),
        ];
        assert_eq!(told, expected);
        assert_eq!(listing.entries[0].picture.as_deref(), Some("matrix.png"));
        assert_eq!(listing.entries[1].page(), RESULTS_FILE);
        assert_eq!(listing.without_record, 1, "one that goes on is no entry");
    }
}
