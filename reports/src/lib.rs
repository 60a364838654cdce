//! Renders stored runs for people and machines.
//!
//! For: turning `results.json` and `history.jsonl` of a run folder into HTML, PNG, JUnit,
//! Markdown and terminal text. Not for: running, judging, or anything that needs a server. Any
//! stored run can be rendered again, and equal input gives equal bytes.

mod model;

pub use model::{
    Environment, ExpectationResult, Node, NotRun, Outcome, RESULTS_VERSION, RunRecord, SuiteRecord,
    SuiteRun,
};
