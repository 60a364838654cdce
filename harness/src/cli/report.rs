//! `lockstorm report`.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Error;
use clap::Args;
use lockstorm_reports::{
    Formats, Record, RenderError, combine, read_record, render_run, render_suite, write_suite,
};

use super::baseline::Baseline;
use super::exit::{ExitCode, UsageError};
use super::output;
use super::run::parse_formats;

/// Arguments of `lockstorm report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folders of runs or suites; several become a comparison.
    #[arg(required = true, value_name = "RUN_DIR")]
    pub folders: Vec<PathBuf>,
    /// Files to write, joined by commas: html, png, svg, junit, md.
    #[arg(long, default_value = "html,png,junit,md", value_name = "LIST")]
    pub report: String,
    /// Where a comparison of several folders goes.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Say what changed against this earlier run or suite, and store it: its folder, or its
    /// results.json.
    #[arg(long, value_name = "DIR")]
    pub baseline: Option<PathBuf>,
}

/// Renders the folders again.
///
/// # Errors
/// When a folder holds no record that can be read, or nothing can be written.
pub fn execute(args: &ReportArgs) -> Result<ExitCode, Error> {
    let formats = parse_formats(&args.report)?;
    let baseline = Baseline::read(args.baseline.as_ref())?;
    let paths = match (args.folders.as_slice(), &args.out) {
        ([only], None) => {
            baseline.note_stored(only)?;
            render(only, &formats)?
        }
        (_, None) => {
            let text = "a comparison of several folders needs a folder of its own: --out DIR";
            return Err(UsageError(text.to_owned()).into());
        }
        (folders, Some(out)) => compare(folders, out, (&formats, &baseline))?,
    };
    for path in paths {
        output::human(&path.display().to_string());
    }
    Ok(ExitCode::AsExpected)
}

/// Renders what is stored in `folder`, a suite with all its runs.
pub fn render(folder: &Path, formats: &Formats) -> Result<Vec<PathBuf>, RenderError> {
    let rendered = match read_record(folder)? {
        Record::Run(_) => render_run(folder, formats)?,
        Record::Suite(suite) => {
            for run in &suite.runs {
                render_run(&folder.join(&run.folder), formats)?;
            }
            render_suite(folder, formats)?
        }
    };
    for note in &rendered.notes {
        output::human(note);
    }
    Ok(rendered.paths)
}

/// Puts all runs of `folders` side by side in `out`.
fn compare(
    folders: &[PathBuf],
    out: &Path,
    (formats, baseline): (&Formats, &Baseline),
) -> Result<Vec<PathBuf>, Error> {
    let mut parts = Vec::new();
    for folder in folders {
        parts.push((folder, read_record(folder)?));
    }
    let unwritable = |source| RenderError::Write {
        path: out.to_owned(),
        source,
    };
    fs::create_dir_all(out).map_err(unwritable)?;
    let from = fs::canonicalize(out).map_err(unwritable)?;
    let mut named = Vec::new();
    for (folder, record) in parts {
        let to = fs::canonicalize(folder)?;
        if to == from {
            let text = "the comparison would overwrite a run; give another folder: --out DIR";
            return Err(UsageError(text.to_owned()).into());
        }
        named.push((way(&from, &to).display().to_string(), record));
    }
    write_suite(out, &combine(named))?;
    baseline.note_stored(out)?;
    let rendered = render_suite(out, formats)?;
    for note in &rendered.notes {
        output::human(note);
    }
    Ok(rendered.paths)
}

/// The way from one folder to another, so that both can be moved together. Both are absolute,
/// and hold no link: `latest` would lead elsewhere tomorrow.
fn way(from: &Path, to: &Path) -> PathBuf {
    let common = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_finds_its_runs_from_where_it_lies() {
        let way = |from: &str, to: &str| way(Path::new(from), Path::new(to));
        assert_eq!(way("/r/cmp", "/r/a/1"), Path::new("../a/1"));
        assert_eq!(way("/cmp", "/r/a"), Path::new("../r/a"));
        assert_eq!(way("/r", "/r/a"), Path::new("a"));
    }
}
