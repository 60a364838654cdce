//! The house rules that a machine can check, checked.

mod first_sentences;
mod floors;

use std::fs;
use std::path::{Path, PathBuf};

/// Longest line of code.
const COLUMNS_MAX: usize = 100;
/// Longest file: one concept fits.
const LINES_MAX: usize = 600;

/// Calls that are banned, where they are allowed all the same, and what to use instead.
const BANNED: [(&str, &[&str], &str); 13] = [
    ("thread::sleep(", &[], "wait for a condition"),
    ("SystemTime::now(", &[], "clock.rs has the run's clock"),
    (
        "jiff::Timestamp::now(",
        &["harness/src/clock.rs"],
        "clock.rs has the wall clock",
    ),
    (
        "eprintln!(",
        &["/tests/", "/benches/"],
        "output/print.rs prints",
    ),
    (
        " println!(",
        &["/tests/", "/benches/"],
        "output/print.rs prints",
    ),
    (
        "eprint!(",
        &["/tests/", "/benches/"],
        "output/print.rs prints",
    ),
    (
        " print!(",
        &["/tests/", "/benches/"],
        "output/print.rs prints",
    ),
    (
        "stderr()",
        &[
            "/tests/",
            "/benches/",
            "harness/src/output/print.rs",
            // Tests only.
            "reports/src/embed/round_trip.rs",
        ],
        "output/print.rs prints, and cleans what it prints",
    ),
    (
        "stdout()",
        &[
            "/tests/",
            "/benches/",
            "harness/src/output/print.rs",
            "harness/src/worker/serve.rs",
            "harness/src/cli/guard.rs",
        ],
        "output/print.rs prints, and cleans what it prints",
    ),
    (
        "ProgressBar::new(",
        &["harness/src/progress.rs"],
        "it prints by itself; progress.rs cleans what it is given",
    ),
    (
        "/dev/tty",
        &["/tests/"],
        "output/print.rs prints, and cleans what it prints",
    ),
    (
        "process::exit(",
        &["harness/src/cli/interrupt.rs"],
        "return an exit code",
    ),
    ("StdRng", &[], "ChaCha8 is stable across versions"),
];

/// The crates and the crates of ours that each may depend on: arrows point one way.
const ARROWS: [(&str, &[&str]); 7] = [
    ("checker/linearizability", &[]),
    ("checker", &["checker/linearizability"]),
    ("scenarios", &["checker"]),
    ("nemesis", &["checker", "scenarios"]),
    ("reports", &["checker", "scenarios"]),
    ("harness", &["checker", "scenarios", "nemesis", "reports"]),
    ("nemesis/shim", &[]),
];

/// Crates that the checker may not know: it is pure.
const IMPURE: [&str; 7] = [
    "tokio", "redis", "rusqlite", "clap", "plotters", "nix", "jiff",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is in a folder")
        .to_owned()
}

/// Every Rust file of ours: path from the checkout, and text.
fn sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (krate, _) in ARROWS {
        for part in ["src", "tests", "benches"] {
            collect(&root().join(krate).join(part), &mut files);
        }
    }
    assert!(
        files.len() > 50,
        "the walk must find the code, or it proves nothing"
    );
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<(String, String)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("sources are text");
            let name = path.strip_prefix(root()).expect("it is below the root");
            files.push((name.display().to_string(), text));
        }
    }
}

fn report(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn no_line_is_too_wide_and_no_file_too_long() {
    let mut broken = Vec::new();
    for (name, text) in sources() {
        let lines = text.lines().count();
        if lines > LINES_MAX {
            broken.push(format!(
                "{name}: {lines} lines; split it, one concept a file"
            ));
        }
        for (n, line) in text.lines().enumerate() {
            if line.chars().count() > COLUMNS_MAX {
                broken.push(format!("{name}:{}: wider than {COLUMNS_MAX}", n + 1));
            }
        }
    }
    report(&broken);
}

#[test]
fn every_file_says_first_what_it_is_for() {
    let silent: Vec<_> = sources()
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(name, _)| format!("{name}: begins without module documentation"))
        .collect();
    report(&silent);
}

#[test]
fn banned_calls_are_not_made() {
    let mut broken = Vec::new();
    for (name, text) in sources() {
        if name.ends_with("tests/integration/tidy/mod.rs") {
            continue;
        }
        for (call, allowed, instead) in BANNED {
            let free = allowed.iter().any(|place| name.contains(place));
            for (n, line) in text
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains(call))
            {
                if !free && !line.trim_start().starts_with("//") {
                    broken.push(format!("{name}:{}: {call} is banned; {instead}", n + 1));
                }
            }
        }
    }
    report(&broken);
}

#[test]
fn nothing_is_left_over() {
    let words = [
        "FIX".to_owned() + "ME",
        "TO".to_owned() + "DO",
        "XX".to_owned() + "X",
    ];
    let calls = [
        "dbg".to_owned() + "!(",
        "todo".to_owned() + "!(",
        "unimplemented".to_owned() + "!(",
    ];
    let mut broken = Vec::new();
    for (name, text) in sources() {
        for (n, line) in text.lines().enumerate() {
            if words
                .iter()
                .chain(&calls)
                .any(|word| line.contains(word.as_str()))
            {
                broken.push(format!("{name}:{}: left over", n + 1));
            }
        }
    }
    report(&broken);
}

#[test]
fn crate_roots_hold_no_code() {
    let mut broken = Vec::new();
    for (name, text) in sources() {
        let is_root =
            name.ends_with("/lib.rs") || (name.ends_with("/mod.rs") && name.contains("/src/"));
        let has_code = text.lines().any(|line| {
            let line = line
                .trim_start_matches("pub ")
                .trim_start_matches("pub(crate) ");
            line.starts_with("struct ") || line.starts_with("enum ") || line.starts_with("impl ")
        });
        if is_root && has_code {
            broken.push(format!("{name}: types belong into a file of their own"));
        }
    }
    report(&broken);
}

#[test]
fn arrows_between_crates_point_one_way() {
    for (krate, allowed) in ARROWS {
        let manifest =
            fs::read_to_string(root().join(krate).join("Cargo.toml")).expect("it exists");
        let dependencies = manifest
            .split("[dependencies]")
            .nth(1)
            .expect("it has dependencies");
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for (other, _) in ARROWS {
            let package = other.rsplit('/').next().unwrap_or(other);
            let depends = dependencies.contains(&format!("lockstorm-{package}"));
            assert!(
                !depends || allowed.contains(&other),
                "{krate} may not depend on {other}"
            );
        }
        if krate.starts_with("checker") {
            for name in IMPURE {
                let depends = dependencies.lines().any(|line| line.starts_with(name));
                assert!(!depends, "the checker is pure and may not depend on {name}");
            }
        }
    }
}

#[test]
fn the_commands_of_the_readme_exist() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    let makefile = fs::read_to_string(root().join("Makefile")).expect("there is a Makefile");
    let ci = fs::read_to_string(root().join(".ci/run")).expect("there is a CI script");
    for target in ["demo", "test"] {
        assert!(
            readme.contains(&format!("make {target}")),
            "README names `make {target}`"
        );
        assert!(
            makefile.contains(&format!("\n{target}:")),
            "the Makefile has {target}"
        );
    }
    assert!(
        ci.contains("make test"),
        "CI runs the same tests as the README"
    );
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    assert!(pages.iter().all(|page| page.exists()), "both are there");
    let docs = fs::read_dir(root().join("docs")).expect("there is documentation");
    pages.extend(docs.map(|entry| entry.expect("it can be listed").path()));
    for page in pages
        .iter()
        .filter(|page| page.extension().is_some_and(|e| e == "md"))
    {
        let text = fs::read_to_string(page).expect("pages are text");
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let target = link.split('#').next().unwrap_or_default();
            let folder = page.parent().expect("a page is in a folder");
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                broken.push(format!("{}: {link} leads nowhere", page.display()));
            }
        }
    }
    report(&broken);
}
