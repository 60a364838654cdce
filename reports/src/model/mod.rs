//! Stored runs and suites: the contract of `results.json`, and what their verdicts are worth.

mod changes;
mod cost;
mod hunt;
mod mishap;
mod outcome;
mod rate;
mod record;
mod tested;

pub use changes::{Change, ChangeState, Changes, Share};
pub use cost::Cost;
pub use hunt::{
    Cell, CellAnswer, Endurance, Endured, Found, HUNT_VERSION, HuntRecord, HuntSummary, Hunted,
    Size, TriedOf,
};
pub use mishap::Mishap;
pub(crate) use outcome::run_verdict;
pub use rate::Rate;
pub use record::{
    EarlierTry, Environment, ExpectationResult, Node, NotRun, Outcome, RESULTS_VERSION, RunRecord,
    SuiteRecord, SuiteRun,
};
pub use tested::{Answer, PromiseOutcome, Tested};
