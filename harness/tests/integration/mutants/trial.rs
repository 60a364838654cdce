//! One run of a scenario with a correct lock or a mutant of it, and what it says.

use std::fs;

use lockstorm_checker::Property;
use lockstorm_scenarios::{Case, Mutant, to_toml};
use serde_json::Value;

use super::column::Column;
use crate::support::{TRIES_MAX, run_scenario, stderr, stdout};

/// One run.
pub struct Trial {
    case: Case,
    pub mutant: Option<Mutant>,
}

/// What a run said of each property.
pub struct Verdicts {
    /// Expected, and found, by property.
    properties: Vec<(Property, String, String)>,
    outcome: String,
    /// All of it in words.
    pub text: String,
}

impl Trial {
    /// The lock of a column, correct or not.
    pub fn of(column: &Column, mutant: Option<Mutant>) -> Self {
        let case = column.case.clone();
        let lock = match mutant {
            Some(mutant) => case.lock.with_mutant(mutant),
            None => case.lock,
        };
        let case = Case { lock, ..case };
        Self { case, mutant }
    }

    /// A case as it is.
    pub fn correct(case: Case) -> Self {
        Self { case, mutant: None }
    }

    /// Which run it is.
    pub fn title(&self) -> String {
        format!("{} with {}", self.case.name, self.case.lock.label())
    }

    /// Runs it as a user does, from a file; the correct lock again where the run could not tell.
    pub fn run(&self) -> Verdicts {
        let mut verdicts = self.run_once();
        for _ in 1..TRIES_MAX {
            if self.mutant.is_some() || !verdicts.could_not_tell() {
                break;
            }
            verdicts = self.run_once();
        }
        verdicts
    }

    fn run_once(&self) -> Verdicts {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("scenario.toml");
        fs::write(&path, to_toml(&self.case.to_scenario())).expect("the file can be written");
        let output = run_scenario(
            path.to_str().expect("temporary folders have plain names"),
            folder.path(),
            &["--format", "json", "--report", "none", "--seed", "1"],
        );
        let record: Value = serde_json::from_str(&stdout(&output))
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", self.title(), stderr(&output)));
        Verdicts::of(&record)
    }
}

impl Verdicts {
    fn of(record: &Value) -> Self {
        let expectations = record["expectations"].as_array();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let properties = expectations
            .expect("a record has expectations")
            .iter()
            .map(|result| {
                let name = word(&result["property"]);
                let property = name.parse().expect("records name known properties");
                (property, word(&result["expected"]), word(&result["actual"]))
            })
            .collect();
        let outcome = word(&record["outcome"]);
        let said = |result: &Value| {
            let words = ["property", "expected", "actual"].map(|key| word(&result[key]));
            format!("{} {} (expected {})", words[0], words[2], words[1])
        };
        let all: Vec<_> = expectations.into_iter().flatten().map(said).collect();
        let stopped = record["stopped"].as_str().unwrap_or("ran to its end");
        let text = format!("{outcome}, {stopped}: {}", all.join(", "));
        Self {
            properties,
            outcome,
            text,
        }
    }

    /// Properties that are violated, of those that the scenario expects the correct lock to keep.
    pub fn accusations(&self) -> Vec<Property> {
        self.properties
            .iter()
            .filter(|(_, expected, actual)| expected == "valid" && actual == "violated")
            .map(|&(property, ..)| property)
            .collect()
    }

    /// `true` if nothing was found wrong, but not all could be judged.
    fn could_not_tell(&self) -> bool {
        self.outcome == "unknown"
    }

    /// Tells whether all came out as the scenario says.
    pub fn as_expected(&self) -> bool {
        self.outcome == "as-expected"
    }
}
