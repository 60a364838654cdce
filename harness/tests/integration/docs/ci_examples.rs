//! The examples for CI systems: their shell parts do what the page says.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::pages::read;
use crate::support::{have_server, lockstorm, said};

/// A lock that breaks as predicted, so that the run passes and has something to say.
const SCENARIO: &str = r#"
name = "two-holders"
expect = { mutual-exclusion = "violated", lost-lock = "any" }
topology.single = {}
lock.none = {}
step = [
    { acquire = { client = "a" } },
    { acquire = { client = "b" } },
    { work = { client = "a", for = "20ms" } },
]
"#;

/// The commands of the examples on `docs/in-ci.md` that begin with our program.
fn commands() -> Vec<String> {
    let page = read("docs/in-ci.md");
    let (_, examples) = page.split_once("## Examples").expect("there are examples");
    let begin = ["- run: lockstorm ", "- lockstorm ", "sh 'lockstorm "];
    let of_line = |line: &str| {
        let (_, rest) = begin.iter().find_map(|begin| line.split_once(begin))?;
        let rest = rest.split('\'').next().unwrap_or_default();
        Some(format!("lockstorm {rest}"))
    };
    examples.lines().filter_map(of_line).collect()
}

/// Runs a line of shell in a folder, with our program first on the path.
fn shell(folder: &Path, line: &str) -> Output {
    let ours = Path::new(lockstorm().get_program()).to_owned();
    let programs = ours.parent().expect("a program lies in a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder);
    command.env("PATH", format!("{programs}:{path}"));
    command.output().expect("there is a shell")
}

#[test]
fn the_shell_parts_of_the_examples_pass_and_leave_what_they_promise() {
    let commands = commands();
    assert_eq!(commands.len(), 4, "{commands:?}");
    if !have_server() {
        return;
    }
    for command in commands {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("locks")).expect("it takes a folder");
        fs::write(folder.path().join("locks/a.toml"), SCENARIO).expect("it takes a file");
        let output = shell(folder.path(), &command);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{command}: {}",
            said(&output)
        );
        if command.contains("run") {
            let page = folder.path().join("runs/latest/report.html");
            assert!(page.is_file(), "{command}: {}", said(&output));
        }
        if command.contains("junit") {
            let xml = fs::read_to_string(folder.path().join("lockstorm.xml"));
            let xml = xml.expect("it was written");
            assert!(xml.contains("<testcase name=\"mutual-exclusion\""), "{xml}");
        }
    }
}
