//! A run on servers of somebody else, and what can be said of it afterwards.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value as Json;

use crate::external::server::PASSWORD;
use crate::support::{lockstorm, stderr, stdout};

/// A finished run: what the program said, and its folder.
pub struct Run {
    pub output: Output,
    pub folder: tempfile::TempDir,
}

/// Runs a scenario that has this text, with the password of `app` in the environment.
pub fn run(scenario: &str) -> Run {
    run_with(scenario, PASSWORD, &[])
}

/// Runs a scenario with this password, and further arguments.
pub fn run_with(scenario: &str, password: &str, more: &[&str]) -> Run {
    run_in(scenario, &[("APP_PASSWORD", password.to_owned())], more)
}

/// Runs a scenario in this environment.
pub fn run_in(scenario: &str, variables: &[(&str, String)], more: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("scenario-of-the-test.toml");
    fs::write(&file, scenario).expect("the scenario can be written");
    let output = lockstorm()
        .arg("run")
        .arg(&file)
        .arg("--out")
        .arg(folder.path().join("runs"))
        .args(["--progress", "none", "--seed", "7", "--format", "json"])
        .args(more)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output()
        .expect("the program can be started");
    Run { output, folder }
}

/// Runs a shipped scenario on one server that is at this URL.
pub fn run_shipped(scenario: &str, url: &str) -> Run {
    let path = crate::support::root()
        .join("scenarios/library")
        .join(scenario);
    let text = fs::read_to_string(path).expect("it is shipped");
    let topology = format!("topology={{external={{urls=[\"{url}\"],prefix=\"team:\"}}}}");
    run_with(&text, PASSWORD, &["--set", &topology])
}

impl Run {
    /// Asserts that everything was as the scenario expects.
    pub fn as_expected(&self) -> &Self {
        let text = stderr(&self.output);
        assert!(self.output.status.success(), "{text}");
        self
    }

    /// Tells whether the run could not tell, which accuses nobody and shows nothing.
    pub fn is_undecided(&self) -> bool {
        self.output.status.code() == Some(2)
    }

    /// Content of `results.json`.
    pub fn results(&self) -> Json {
        let text = stdout(&self.output);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Asserts that the program ended with this exit code, and gives what it said.
    pub fn refused(&self, code: i32) -> String {
        let text = stderr(&self.output);
        assert_eq!(self.output.status.code(), Some(code), "{text}");
        text
    }

    /// Asserts that this text stands in none of its files, and was not said.
    pub fn nowhere(&self, secret: &str) -> &Self {
        let said = stderr(&self.output) + &stdout(&self.output);
        assert!(!said.contains(secret), "{said}");
        let mut files = 0;
        search(&self.folder.path().join("runs"), secret, &mut files);
        assert!(
            files > 0,
            "the walk must find the files, or it proves nothing"
        );
        self
    }
}

fn search(folder: &Path, secret: &str, files: &mut usize) {
    for entry in fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() && !path.is_symlink() {
            search(&path, secret, files);
        } else if path.is_file() {
            *files += 1;
            let bytes = fs::read(&path).expect("the file can be read");
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(secret), "{} has it", path.display());
        }
    }
}
