//! Origins of the values of a case: which of them somebody chose, and where.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Origin of a value, when not from the file of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody wrote it.
    Default,
    /// The row of a comparison, in a file with `[matrix]`.
    Comparison,
    /// `--set`, or another option of the command line.
    CommandLine,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Default, Self::Comparison, Self::CommandLine];

    /// Its name in `scenario.toml` of a run.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Comparison => "comparison",
            Self::CommandLine => "command line",
        }
    }
}

/// The values of a case that are not from the file of its scenario, by their paths: names and
/// indexes joined by dots, as for `--set`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    elsewhere: BTreeMap<String, Origin>,
    /// Its place in the file of its scenario.
    pub lines: Lines,
}

/// Place of a case in the file of its scenario, for whoever reads that beside a report. Lines count
/// from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Lines {
    /// The file, as it was named.
    pub file: String,
    /// Line of what is expected, or else of the name.
    pub expect: usize,
    /// Lines of the steps, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<usize>,
}

impl FromIterator<(String, Origin)> for Origins {
    fn from_iter<I: IntoIterator<Item = (String, Origin)>>(origins: I) -> Self {
        Self {
            elsewhere: origins.into_iter().collect(),
            lines: Lines::default(),
        }
    }
}

impl Origins {
    /// Notes that the value at `path` is from somewhere else than the file.
    pub fn note(&mut self, path: &str, origin: Origin) {
        self.elsewhere.insert(path.to_owned(), origin);
    }

    /// Where the value at `path` is from; `None` is the file of the scenario.
    pub fn get(&self, path: &str) -> Option<Origin> {
        self.elsewhere.get(path).copied()
    }
}
