//! Folders of runs and suites that were killed before their results were stored.
//!
//! For: judging what is there, and saying that it is not all. Not for: runs that ended, which have
//! a record.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Error;
use lockstorm_reports::{combine, read_record, write_suite};

use super::bare;
use crate::folder::{CELLS, HISTORY};
use crate::output;

/// Name of the file that holds a record: a folder that has one is not taken for killed, whatever
/// the record says.
const RESULTS: &str = "results.json";

/// The runs of a suite without a record that have a history, in their order.
pub fn cells(suite: &Path) -> Vec<PathBuf> {
    let is_whole = suite.join(RESULTS).exists() || suite.join(HISTORY).exists();
    let Ok(entries) = fs::read_dir(suite.join(CELLS)) else {
        return Vec::new();
    };
    if is_whole {
        return Vec::new();
    }
    let cells = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut cells: Vec<_> = cells.filter(|cell| is_file(&cell.join(HISTORY))).collect();
    cells.sort();
    cells
}

/// Describes a killed suite of which this many runs are there.
pub fn told(cells: usize) -> String {
    let runs = match cells {
        1 => "1 run that is".to_owned(),
        many => format!("{many} runs that are"),
    };
    format!("the suite was cut short: it has no {RESULTS}; what follows is of the {runs} there")
}

/// Makes the records that a killed run or suite has not.
///
/// # Errors
/// When a history cannot be read, or nothing can be written.
pub fn adopt(folder: &Path) -> Result<(), Error> {
    if folder.join(RESULTS).exists() {
        return Ok(());
    }
    if is_file(&folder.join(HISTORY)) {
        output::human(&format!(
            "{}: the run was killed: it has no {RESULTS}, and its history is judged as it is",
            folder.display()
        ));
        return bare::adopt(&folder.join(HISTORY), None, folder);
    }
    let cells = cells(folder);
    if cells.is_empty() {
        return Ok(());
    }
    let told = told(cells.len());
    output::human(&format!("{}: {told}", folder.display()));
    let mut parts = Vec::new();
    for cell in cells {
        if !cell.join(RESULTS).exists() {
            bare::adopt(&cell.join(HISTORY), None, &cell)?;
        }
        let name = cell.file_name().unwrap_or_default().to_string_lossy();
        parts.push((format!("{CELLS}/{name}"), read_record(&cell)?));
    }
    let mut suite = combine(parts);
    suite.description = format!("{}{}.", told[..1].to_uppercase(), &told[1..]);
    write_suite(folder, &suite)?;
    Ok(())
}

/// Tells whether it is a file and no link, for what is in a run folder may come from elsewhere.
fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}
