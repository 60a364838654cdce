//! `lockstorm init`: files to start from, as the program carries them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Output;

use lockstorm_harness::carried::{CARRIED, carried_adapters};
use serde_json::Value;

use crate::support::{have_server, listed, lockstorm, root, run, skipped, stderr, stdout};

/// The library's lock, as the adapter drives it.
const SCENARIO: &str = r#"
name = "mine"
topology.single = {}
lock.adapter = { name = "redis-py", command = ["adapters/python/redis-py/run"], lease = "5s" }
step = [
    { acquire = { client = "a", expect = "granted" } },
    { acquire = { client = "b", expect = "refused" } },
    { release = { client = "a", expect = "released" } },
    { acquire = { client = "b", expect = "granted" } },
]
"#;

fn init_in(folder: &Path, args: &[&str]) -> Output {
    let mut command = lockstorm();
    command.current_dir(folder).arg("init").args(args);
    command.output().expect("the program can be started")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

#[test]
fn the_first_scenario_is_that_of_the_tutorial_and_is_never_written_over() {
    let folder = folder();
    let output = init_in(folder.path(), &["scenario", "mine.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("lockstorm run mine.toml"));
    let file = folder.path().join("mine.toml");
    let written = fs::read_to_string(&file).expect("it was written");
    let tutorial = fs::read_to_string(root().join("docs/first-scenario.md")).expect("it is there");
    assert!(tutorial.contains(&format!("```toml\n{written}```")));
    fs::write(&file, "name = \"mine\"").expect("it can be changed");
    let output = init_in(folder.path(), &["scenario", "mine.toml"]);
    assert_eq!(output.status.code(), Some(64), "{}", stderr(&output));
    let kept = fs::read_to_string(&file).expect("it is there still");
    assert_eq!(kept, "name = \"mine\"");
}

/// Cargo does not look for new files: where one is missing here, `touch harness/build/main.rs`.
#[test]
fn the_program_carries_every_adapter_as_it_is_in_the_project() {
    let adapters = root().join("adapters");
    for file in CARRIED {
        let there = fs::read_to_string(adapters.join(file.path)).expect(file.path);
        assert_eq!(there, file.text, "{}", file.path);
    }
    let languages = listed(&adapters).into_iter().filter(|path| path.is_dir());
    let folders = languages.flat_map(|language| listed(&language));
    let with_run = folders.filter(|folder| folder.join("run").is_file());
    let names: BTreeSet<String> = with_run
        .filter_map(|folder| Some(folder.strip_prefix(&adapters).ok()?.display().to_string()))
        .filter(|name| !name.starts_with("sdk/"))
        .collect();
    let carried: BTreeSet<String> = carried_adapters().into_iter().map(str::to_owned).collect();
    assert_eq!(carried, names);
    let listed: Value =
        serde_json::from_str(&stdout(&run(&["list", "adapters", "--format", "json"])))
            .expect("it is JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(names.len()));
    assert!(
        listed[0]["about"]
            .as_str()
            .is_some_and(|about| !about.is_empty())
    );
}

#[test]
fn an_adapter_is_written_with_its_kit_and_can_be_started() {
    let folder = folder();
    for name in carried_adapters() {
        let output = init_in(folder.path(), &["adapter", name]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        for program in ["setup", "run"] {
            let path = folder.path().join("adapters").join(name).join(program);
            let mode = fs::metadata(&path).expect(name).permissions().mode();
            assert_eq!(mode & 0o111, 0o111, "{}", path.display());
        }
    }
    let output = init_in(folder.path(), &["adapter", "cobol"]);
    assert_eq!(output.status.code(), Some(64), "{}", stderr(&output));
    assert!(stderr(&output).contains("list adapters"));
    let output = init_in(folder.path(), &["adapter", "pyton"]);
    let said = stderr(&output);
    assert!(said.contains("did you mean \"python\"?"), "{said}");

    // What `setup` would install is taken from the project, to spare the registry.
    let installed = root().join("adapters/python/redis-py/.venv");
    if !installed.join("installed").exists() {
        return skipped("the adapter of redis-py is not set up: run `bash .ci/setup adapters`");
    }
    if !have_server() {
        return;
    }
    let mine = folder.path().join("adapters/python/redis-py");
    symlink(&installed, mine.join(".venv")).expect("it takes a link");
    fs::write(folder.path().join("mine.toml"), SCENARIO).expect("it takes a file");
    let mut command = lockstorm();
    command.current_dir(folder.path());
    command.args(["run", "mine.toml", "--report", "none"]);
    let output = command.output().expect("the program can be started");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
