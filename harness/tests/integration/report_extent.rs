//! How much of a history goes into its page: `report --window` and `--html-budget`. No servers.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{root, run, stderr};

/// A copy of the stored run.
fn stored(out: &Path) -> PathBuf {
    let folder = out.join("run");
    fs::create_dir_all(&folder).expect("a folder can be made");
    for name in ["results.json", "history.jsonl", "scenario.toml"] {
        let from = root().join("reports/tests/failover").join(name);
        fs::copy(from, folder.join(name)).expect("the fixture can be copied");
    }
    folder
}

/// The page of this name that `lockstorm report` writes with these arguments.
fn page(folder: &Path, name: &str, args: &[&str]) -> String {
    let place = folder.to_str().expect("temporary folders have plain names");
    let output = run(&[&["report", place], args].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    fs::read_to_string(folder.join(name)).expect("it was written")
}

#[test]
fn a_page_of_a_window_has_a_name_of_its_own_and_says_what_it_has_in_full() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let folder = stored(out.path());
    let page = page(
        &folder,
        "report-1.4s-1.7s.html",
        &["--window", "1.4s..1.7s"],
    );
    assert!(page.contains("Of 8 operations 4 are here in full, those of 1 window."));
    for other in ["report.html", "report.md", "matrix.png"] {
        assert!(!folder.join(other).exists(), "{other}");
    }
}

#[test]
fn a_history_beyond_the_budget_is_cut_and_the_page_says_so_with_counts() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let folder = stored(out.path());
    let whole = page(&folder, "report.html", &["--report", "html"]);
    assert!(!whole.contains("are here in full"), "it fits");
    let cut = page(
        &folder,
        "report.html",
        &["--report", "html", "--html-budget", "1"],
    );
    assert!(cut.contains("Of 8 operations 4 are here in full, those of 4 windows."));
    assert!(cut.contains("no room for what is around 2 of the violations and edges of faults"));
}

#[test]
fn a_wrong_window_is_refused_with_how_it_is_written() {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let folder = stored(out.path());
    let place = folder.to_str().expect("temporary folders have plain names");
    for (window, said) in [
        ("12", "write it as 12.3s..14s"),
        ("a..b", "write it in seconds"),
        ("2s..1s", "has no length"),
    ] {
        let output = run(&["report", place, "--window", window]);
        assert_eq!(output.status.code(), Some(64), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    assert!(!folder.join("report.html").exists());
}
