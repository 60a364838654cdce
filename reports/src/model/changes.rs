//! Changes against an earlier run or suite, as they are stored: findings that are new, ongoing,
//! resolved or undecided.

use lockstorm_checker::Property;
use lockstorm_scenarios::CaseLabels;
use serde::{Deserialize, Serialize};

/// The findings of a run or suite beside those of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Baseline of the comparison: name, seed and start of the earlier run or suite.
    pub baseline: String,
    /// True if the two have a cell in common; without one nothing can be compared.
    pub comparable: bool,
    /// New ones first, then ongoing, resolved and undecided ones.
    pub findings: Vec<Change>,
}

/// One finding, now and before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// State of the finding since.
    pub state: ChangeState,
    /// True if at most one run in five of its cell shows it, of at least five.
    pub rare: bool,
    /// Its cell.
    pub labels: CaseLabels,
    /// Property that is violated.
    pub property: Property,
    /// The kind of violation.
    pub signature: String,
    /// One claim of this kind: of now, or of before for one that is gone.
    pub claim: String,
    /// How many runs of the cell show it now.
    pub now: Share,
    /// How many did before.
    pub before: Share,
}

/// Runs of a cell that show a finding, among all that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Runs that show it.
    pub seen: u64,
    /// All of them.
    pub runs: u64,
}

/// State of a finding against the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeState {
    /// It is there, and was not before.
    New,
    /// It is there, and was before.
    Ongoing,
    /// It was there before, and is not now, though the property was judged in every run.
    Resolved,
    /// It was there before, and a run of now could not tell, or there is none of its cell.
    Undecided,
}

impl ChangeState {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 4] = [Self::New, Self::Ongoing, Self::Resolved, Self::Undecided];

    /// The word of the reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Ongoing => "ongoing",
            Self::Resolved => "resolved",
            Self::Undecided => "not judged this time",
        }
    }
}
