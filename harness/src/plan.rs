//! The command line, turned into what it means: the runs to do, in order, each with its seed.

use std::path::PathBuf;

use lockstorm_scenarios::{Case, CaseLabels, NAME_BYTES_MAX};
use sha2::{Digest as _, Sha256};

use crate::seed::Seed;

/// One run to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// Case that is run.
    pub case: Case,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// From which every choice follows.
    pub seed: Seed,
    /// Name of its folder, where it is one of several.
    pub slug: String,
    /// The command that repeats it; for one of several, its stored scenario says all.
    pub rerun: Option<String>,
}

/// Everything that one `lockstorm run` is to do.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// Name of the folder of runs: the scenario's, or `suite` for several scenarios.
    pub name: String,
    /// Description of what it shows.
    pub description: String,
    /// Seed of the whole.
    pub seed: Seed,
    /// The runs.
    pub jobs: Vec<Job>,
    /// Combinations of the matrix that make no sense.
    pub left_out: Vec<(CaseLabels, String)>,
    /// `true` if it is a comparison or a repetition rather than one run.
    pub suite: bool,
    /// The exact command that repeats it.
    pub rerun: String,
    /// Folder where run folders go.
    pub out: PathBuf,
}

/// The jobs for `cases`, each as often as `repeat` says, repetitions of the whole one after the
/// other.
///
/// A plan of one job uses the seed itself, so that the command that repeats one run of a suite
/// needs no more than the run's own seed.
pub fn jobs(cases: &[Case], repeat: impl Fn(&Case) -> u32, seed: Seed) -> Vec<Job> {
    let most = cases.iter().map(&repeat).max().unwrap_or_default();
    let alone = cases.len() == 1 && most == 1;
    let mut jobs = Vec::new();
    for repetition in 0..most {
        for case in cases.iter().filter(|case| repetition < repeat(case)) {
            let labels = &case.labels;
            let id = format!(
                "{}/{}/{}/{}/{repetition}",
                case.name, labels.lock, labels.topology, labels.hazard
            );
            let (lock, topology, hazard) = (&labels.lock, &labels.topology, &labels.hazard);
            let words = short_slug(&format!("{lock} {topology} {hazard}"));
            jobs.push(Job {
                case: case.clone(),
                repetition,
                seed: if alone { seed } else { seed.child(&id) },
                slug: format!("{:03}-{words}", jobs.len() + 1),
                rerun: None,
            });
        }
    }
    jobs
}

/// Tells whether a case faults clocks or disks of servers, and so needs the shim in them.
pub fn needs_shim(case: &Case) -> bool {
    case.workload
        .faults()
        .iter()
        .any(|fault| fault.needs_shim())
}

/// Tells whether a case faults clocks of clients, and so needs the shim in them.
pub fn needs_shim_in_clients(case: &Case) -> bool {
    let faults = case.workload.faults();
    faults.iter().any(|fault| fault.needs_shim_in_clients())
}

/// A text that was broken into lines, on one line.
pub fn one_paragraph(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` as part of a folder's name: lower-case words joined by `-`.
pub fn slug(text: &str) -> String {
    let words: Vec<_> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}

/// `text` as the name of a scenario or a folder: a slug, and where that would be too long, cut,
/// with a few digits of its hash behind, so that two of them stay two.
pub fn short_slug(text: &str) -> String {
    let whole = slug(text);
    if whole.len() <= NAME_BYTES_MAX {
        return whole;
    }
    let hash = Sha256::digest(&whole);
    let digits = format!("-{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2]);
    let begin = &whole[..NAME_BYTES_MAX - digits.len()];
    format!("{}{digits}", begin.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_scenario_is_never_too_long_and_tells_long_texts_apart() {
        assert_eq!(short_slug("exclusive: lost reply"), "exclusive-lost-reply");
        let long = "reply to EVAL of a's acquire ".repeat(9);
        let [one, another] = ["a", "b"].map(|end| short_slug(&format!("{long}{end}")));
        assert!(one.len() <= NAME_BYTES_MAX && another.len() <= NAME_BYTES_MAX);
        assert_ne!(one, another);
    }

    #[test]
    fn a_slug_holds_no_character_that_a_shell_minds() {
        assert_eq!(slug("replicated (1 replica)"), "replicated-1-replica");
        assert_eq!(slug("../../etc"), "etc");
    }
}
