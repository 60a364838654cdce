//! `lockstorm report`.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Error;
use clap::Args;
use lockstorm_checker::history::TimeUnit;
use lockstorm_reports::{
    Extent, Format, Formats, HTML_BUDGET_DEFAULT, HUNT_FILE, HuntRecord, Record, RenderError,
    amend, combine, inside, parse_window, read_hunt, read_record, render_run, render_suite,
    write_hunt, write_suite,
};

use super::baseline::Baseline;
use super::ci::FailOn;
use super::exit::ExitCode;
use super::perform::parse_formats;
use super::publish::{OutputFormat, publish};
use super::recheck::recheck;
use super::{bare, examples, killed, open};
use crate::output;
use crate::usage_error::UsageError;

/// Arguments of `lockstorm report`.
#[derive(Debug, Args)]
#[command(after_help = examples::REPORT)]
pub struct ReportArgs {
    /// Folders of runs or suites, of which several become a comparison; or one history file.
    #[arg(required = true, value_name = "RUN")]
    pub folders: Vec<PathBuf>,
    /// Files to write, joined by commas: html, png, svg, junit, md.
    #[arg(long, default_value = "html,png,junit,md", value_name = "LIST")]
    pub report: String,
    /// Folder for a comparison of several folders, or for the report of a history.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Unit of a number in `time` of a history file: ns, us, ms or s; see `check`.
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<TimeUnit>,
    /// Say what changed against this earlier run or suite, and store it: its folder, or its
    /// results.json.
    #[arg(long, value_name = "DIR")]
    pub baseline: Option<PathBuf>,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Write only a page with this stretch of the run in full, such as `12.3s..14s`, in seconds.
    #[arg(long, value_name = "FROM..TO")]
    pub window: Option<String>,
    /// Content of standard output.
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Make the exit code of failures, as `run` does, and not 0: of all of them, or only of those
    /// that --baseline does not have. For parts that several machines ran.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub fail_on: Option<FailOn>,
    /// Open the page in a browser.
    #[arg(long)]
    pub open: bool,
}

/// Arguments that limit the size of a page.
#[derive(Debug, Args)]
pub struct BudgetArgs {
    /// Maximum size of the history in a page, in bytes. A larger one is kept in full only around
    /// violations and faults.
    #[arg(long, default_value_t = HTML_BUDGET_DEFAULT, env = "LOCKSTORM_HTML_BUDGET",
        value_name = "BYTES")]
    pub html_budget: u64,
}

impl BudgetArgs {
    /// Returns how much of a history goes into its page.
    pub fn extent(&self) -> Extent {
        Extent {
            budget: self.html_budget,
            window: None,
        }
    }
}

/// Renders the folders again.
///
/// # Errors
/// When a folder holds no record that can be read, or nothing can be written.
pub fn execute(args: &ReportArgs) -> Result<ExitCode, Error> {
    let formats = parse_formats(&args.report)?;
    if args.fail_on == Some(FailOn::New) && args.baseline.is_none() {
        return Err(UsageError(FailOn::NO_BASELINE.to_owned()).into());
    }
    let baseline = Baseline::read(args.baseline.as_ref())?;
    if args.format == OutputFormat::JsonLines {
        let text = "--format json-lines is not available for a report: use --format json";
        return Err(UsageError(text.to_owned()).into());
    }
    if let ([only], None) = (args.folders.as_slice(), &args.out)
        && only.join(HUNT_FILE).is_file()
    {
        if args.fail_on.is_some() {
            let text = "--fail-on takes runs and suites, and this is the folder of a hunt";
            return Err(UsageError(text.to_owned()).into());
        }
        return hunted(only, args.open);
    }
    for folder in args.folders.iter().filter(|folder| !folder.is_file()) {
        killed::adopt(folder)?;
        recheck(folder)?;
    }
    let (folder, paths) = match (args.folders.as_slice(), &args.out) {
        ([only], None) if args.window.is_some() => {
            let text = args.window.as_deref().unwrap_or_default();
            (only, render_window(only, text, &args.budget)?)
        }
        _ if args.window.is_some() => {
            let text = "--window takes the folder of one run";
            return Err(UsageError(text.to_owned()).into());
        }
        ([only], None) if !only.is_file() => {
            amend(only)?;
            baseline.note_stored(only)?;
            (only, render(only, &formats, &args.budget.extent())?)
        }
        ([only], Some(out)) if only.is_file() => {
            bare::adopt(only, args.time_unit, out)?;
            baseline.note_stored(out)?;
            (out, render(out, &formats, &args.budget.extent())?)
        }
        ([_], None) => {
            let text = "the report of a history needs a folder of its own: --out DIR";
            return Err(UsageError(text.to_owned()).into());
        }
        (_, None) => {
            let text = "a comparison of several folders needs a folder of its own: --out DIR";
            return Err(UsageError(text.to_owned()).into());
        }
        (folders, Some(out)) => (out, compare(folders, out, (&formats, &baseline))?),
    };
    let record = read_record(folder)?;
    let known = baseline
        .known()
        .filter(|_| args.fail_on == Some(FailOn::New));
    publish(&record, known.as_ref(), folder, args.format)?;
    for path in paths {
        output::human(&path.display().to_string());
    }
    if args.open {
        open::page(folder);
    }
    Ok(match args.fail_on {
        None => ExitCode::AsExpected,
        Some(_) => known
            .map_or_else(|| record.outcome(), |known| known.outcome_of_new(&record))
            .into(),
    })
}

/// Writes the record of a hunt and its pages, those of the runs that tell a story too. Gives the
/// paths of the former.
///
/// # Errors
/// When something cannot be written.
pub fn render_hunt(record: &HuntRecord, hunt: &Path) -> Result<Vec<PathBuf>, Error> {
    let formats = Formats::from([Format::Html]);
    let extent = Extent {
        budget: HTML_BUDGET_DEFAULT,
        window: None,
    };
    let found = record.hunts.iter().flat_map(|hunted| &hunted.found);
    for run in found.map(|found| hunt.join(&found.run)) {
        render(&run, &formats, &extent)?;
    }
    Ok(write_hunt(hunt, record)?)
}

/// Renders the record of a hunt again, with the pages of its findings.
fn hunted(folder: &Path, open: bool) -> Result<ExitCode, Error> {
    let record = HuntRecord {
        folder: folder.display().to_string(),
        ..read_hunt(folder)?
    };
    for path in render_hunt(&record, folder)? {
        output::human(&path.display().to_string());
    }
    if open {
        open::page(folder);
    }
    Ok(ExitCode::AsExpected)
}

/// Renders a stretch of one run, beside its other artefacts.
fn render_window(folder: &Path, text: &str, budget: &BudgetArgs) -> Result<Vec<PathBuf>, Error> {
    let window = parse_window(text).map_err(|error| UsageError(error.to_string()))?;
    let extent = Extent {
        window: Some(window),
        ..budget.extent()
    };
    let rendered = render_run(folder, &Formats::from([Format::Html]), &extent)?;
    for note in &rendered.notes {
        output::human(note);
    }
    Ok(rendered.paths)
}

/// Renders what is stored in `folder`, a suite with all its runs.
pub fn render(
    folder: &Path,
    formats: &Formats,
    extent: &Extent,
) -> Result<Vec<PathBuf>, RenderError> {
    let rendered = match read_record(folder)? {
        Record::Run(_) => render_run(folder, formats, extent)?,
        Record::Suite(suite) => {
            let mut elsewhere = 0;
            for run in &suite.runs {
                match inside(folder, &run.folder) {
                    Some(path) => {
                        render_run(&path, formats, extent)?;
                    }
                    None => elsewhere += 1,
                }
            }
            if elsewhere > 0 {
                output::human(&format!(
                    "{elsewhere} of the runs are not inside of {}, and are not rendered again; \
                     give their own folders for that",
                    folder.display()
                ));
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
        amend(folder)?;
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
