//! Renders stored runs for people and machines.
//!
//! For: turning `results.json` and `history.jsonl` of a run folder into HTML, PNG, SVG, JUnit,
//! Markdown and terminal text. Not for: running, judging, or anything that needs a server. Any
//! stored run can be rendered again, and equal input gives equal bytes.
//!
//! ```text
//! results.json ─→ record ─→ grid, findings ─→ terminal, Markdown, JUnit, HTML
//! history.jsonl ─→ trace ─→ measures ─→ drawings ─→ SVG, PNG
//!              └→ embed ─→ canvas of the HTML
//! ```

mod amend;
mod assessment;
mod changes;
mod closeup;
mod combine;
mod coverage;
mod embed;
mod encode;
mod endurance;
mod error;
mod fates;
mod files;
mod finding;
mod gallery;
mod github;
mod grid;
mod head;
mod hit;
mod html;
mod hunted;
mod index_file;
mod junit;
mod known;
mod left_out;
mod listing;
mod markdown;
mod measures;
mod model;
mod plots;
mod recorded;
mod remedy;
mod render;
#[cfg(test)]
mod sample;
mod schema;
mod standing;
mod stored;
mod story;
mod terminal;
mod topology;
mod trace;
mod words;

use lockstorm_checker::inert;

pub use amend::amend;
pub use assessment::{is_assessment, worst_answer};
pub use combine::combine;
pub use embed::{Extent, HTML_BUDGET_DEFAULT, ParseWindowError, parse_window};
pub use encode::{
    RESULTS_FILE, Record, read_baseline, read_record, read_results_text, read_run, read_suite,
    write_run, write_suite,
};
pub use error::RenderError;
pub use github::{github_mishaps, github_run, github_suite, step_summary_run, step_summary_suite};
pub use head::{Head, Standing};
pub use hunted::{HUNT_FILE, read_hunt, write_hunt};
pub use index_file::write_index;
pub use junit::{junit_mishaps, junit_run, junit_suite};
pub use known::Known;
pub use markdown::{markdown_hunt, markdown_run, markdown_suite};
pub use model::{
    Answer, Cell, CellAnswer, Change, ChangeState, Changes, Cost, EarlierTry, Endurance, Endured,
    Environment, ExpectationResult, Found, HUNT_VERSION, HuntRecord, HuntSummary, Hunted, Mishap,
    Node, NotRun, Outcome, PromiseOutcome, RESULTS_VERSION, Rate, RunRecord, Share, Size,
    SuiteRecord, SuiteRun, Tested, TriedOf,
};
pub use remedy::remedies;
pub use render::{Format, Formats, Rendered, UnknownFormat, render_run, render_suite};
pub use schema::{HISTORY_SCHEMA, RESULTS_SCHEMA};
pub use stored::{inside, open_stored};
pub use terminal::{
    TerminalOptions, terminal_analysis, terminal_assessment, terminal_hunt, terminal_run,
    terminal_story, terminal_suite,
};
