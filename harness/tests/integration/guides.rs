//! The guides to a new lock and a new fault, done as they say: a copy of the checkout gets the code
//! of their pages, is built, and runs their scenarios.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{have_server, root, stderr, stdout};

/// The pages that are followed, one after the other, in one copy.
const GUIDES: [&str; 2] = ["docs/adding-a-lock.md", "docs/adding-a-fault.md"];
/// The bench that is built quickest.
const SMALLEST_BENCH: &str = "sweep";
/// Name of the program in the copy: the one under test may not be replaced.
const PROGRAM: &str = "lockstorm-by-the-guides";

/// One block of code that names its place behind the language.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// A new file (`file=PATH`).
    File { path: String, text: String },
    /// Lines for a file that is there (`in=PATH after='LINE'`).
    Lines {
        path: String,
        after: String,
        text: String,
    },
}

/// The steps of a page, in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let inside = lines.by_ref().take_while(|line| *line != "```");
        let text = inside.fold(String::new(), |text, line| text + line + "\n");
        let place = info.split_once(' ').map_or("", |(_, place)| place);
        if let Some(path) = place.strip_prefix("file=") {
            let path = path.to_owned();
            steps.push(Step::File { path, text });
        } else if let Some(place) = place.strip_prefix("in=") {
            let (path, after) = place.split_once(" after=").expect("a line to stand after");
            steps.push(Step::Lines {
                path: path.to_owned(),
                after: after.trim_matches('\'').to_owned(),
                text,
            });
        }
    }
    steps
}

/// Copies all files that git knows, and those that it does not yet and would not ignore.
fn copy_checkout(to: &Path) {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    assert!(listed.status.success(), "{}", stderr(&listed));
    for path in stdout(&listed).lines() {
        let from = root().join(path);
        if from.is_file() {
            let copy = to.join(path);
            fs::create_dir_all(copy.parent().expect("a file is in a folder")).expect("a folder");
            fs::copy(&from, &copy).expect("a file can be copied");
            keep_time(&from, &copy);
        }
    }
}

/// Gives a copy the time of what it is a copy of: what was built from that is built from this.
fn keep_time(from: &Path, copy: &Path) {
    let time = fs::metadata(from).and_then(|from| from.modified());
    let copy = fs::File::options().write(true).open(copy);
    let kept = copy.and_then(|copy| copy.set_modified(time?));
    kept.expect("the time of a file can be set");
}

/// Changes a file of the copy.
fn edit(path: &Path, change: impl FnOnce(String) -> String) {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    fs::write(path, change(text)).expect("a file of the copy can be written");
}

/// Takes one step in the copy.
fn take(step: &Step, copy: &Path) {
    match step {
        Step::File { path, text } => {
            assert!(!copy.join(path).exists(), "{path} is not there yet");
            fs::write(copy.join(path), text).expect("a file of the copy can be written");
        }
        Step::Lines { path, after, text } => edit(&copy.join(path), |whole| {
            let found: Vec<_> = whole.match_indices(after).collect();
            assert_eq!(found.len(), 1, "{path} must have '{after}' once");
            let line_end = found[0].0 + whole[found[0].0..].find('\n').expect("a line ends") + 1;
            let (before, behind) = whole.split_at(line_end);
            format!("{before}{text}{behind}")
        }),
    }
}

/// Builds the copy under a name and a version of its own, and returns the program: by its version
/// cargo tells our libraries from those of the copy. What no guide changes, and libraries of
/// others, which are all built already, are built no second time.
fn build(copy: &Path) -> PathBuf {
    edit(&copy.join("Cargo.toml"), |text| {
        let version = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");
        let of_copy = concat!(
            "version = \"",
            env!("CARGO_PKG_VERSION"),
            "-by-the-guides\""
        );
        text.replacen(version, of_copy, 1)
    });
    for unchanged in ["checker", "checker/linearizability"] {
        edit(&copy.join(unchanged).join("Cargo.toml"), |text| {
            let version = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");
            text.replacen("version.workspace = true", version, 1)
        });
    }
    edit(&copy.join("harness/Cargo.toml"), |text| {
        let (package, program) = text.split_once("[[bin]]").expect("there is a program");
        let program = program.replacen("\"lockstorm\"", &format!("\"{PROGRAM}\""), 1);
        format!("{package}[[bin]]{program}")
    });
    let tested = Path::new(env!("CARGO_BIN_EXE_lockstorm"));
    let target = tested.ancestors().nth(2).expect("the folder of all builds");
    let mut cargo = Command::new(env!("CARGO"));
    // Libraries would be built again for what the cargo around this test has set for it.
    let set = std::env::vars().map(|(name, _)| name);
    for name in set.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MAN")) {
        cargo.env_remove(name);
    }
    // A bench of any size has the libraries of others built with the features that tests want, as
    // they are already.
    let built = cargo
        .args(["build", "--offline", "--quiet", "--workspace"])
        .args(["--bin", PROGRAM, "--bench", SMALLEST_BENCH])
        .env("CARGO_TARGET_DIR", target)
        .current_dir(copy)
        .output()
        .expect("cargo can be started");
    assert!(built.status.success(), "{}", stderr(&built));
    target.join("debug").join(PROGRAM)
}

#[test]
fn what_the_guides_say_can_be_done_and_does_what_they_say() {
    if !have_server() {
        return;
    }
    // The same place each time, so that one build takes the place of the last.
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guides");
    if copy.exists() {
        fs::remove_dir_all(&copy).expect("the last copy can be removed");
    }
    copy_checkout(&copy);
    let mut scenarios = Vec::new();
    for guide in GUIDES {
        let page = fs::read_to_string(root().join(guide)).expect("the page is there");
        let steps = steps(&page);
        let before = scenarios.len();
        for step in &steps {
            take(step, &copy);
            if let Step::File { path, .. } = step
                && Path::new(path).extension().is_some_and(|end| end == "toml")
            {
                scenarios.push(path.clone());
            }
        }
        assert!(steps.len() > 3, "{guide}: steps must be found");
        assert!(
            scenarios.len() > before,
            "{guide}: a scenario must be found"
        );
    }
    let program = build(&copy);
    let out = copy.join("runs");
    for scenario in &scenarios {
        let run = Command::new(&program)
            .args(["run", scenario, "--progress", "none", "--report", "none"])
            .arg("--out")
            .arg(&out)
            .current_dir(&copy)
            .output()
            .expect("the program can be started");
        assert!(run.status.success(), "{}{}", stdout(&run), stderr(&run));
    }
}

#[test]
fn steps_are_read_with_their_places() {
    let page = "```rust\nno step\n```\n```toml file=a/b.toml\nx = 1\n```\n\
                text\n```rust in=c.rs after='mod a;'\nmod b;\n```\n";
    let file = Step::File {
        path: "a/b.toml".to_owned(),
        text: "x = 1\n".to_owned(),
    };
    let lines = Step::Lines {
        path: "c.rs".to_owned(),
        after: "mod a;".to_owned(),
        text: "mod b;\n".to_owned(),
    };
    assert_eq!(steps(page), [file, lines]);
}
