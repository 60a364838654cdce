//! Every shipped scenario, run as a user runs it: each must come out as it says it will.

mod support;

use std::fs;
use std::path::Path;

use lockstorm_scenarios::{FaultSpec, expand, load};
use support::{have_kernel_network, have_server, root, run_scenario, stderr};

/// Runs at once: they mostly wait for servers to notice something.
const AT_ONCE: &str = "4";
/// Tries until one shows all: on a busy machine a server may be taken for dead that no scenario
/// has touched, and then the run says that it cannot tell.
const TRIES_MAX: usize = 3;
/// What `lockstorm run` exits with if it cannot tell.
const UNDECIDED: i32 = 2;

/// Scenario files of one folder of the library.
fn shipped(folder: &str) -> Vec<String> {
    let path = root().join("scenarios/library").join(folder);
    let mut files: Vec<_> = fs::read_dir(path)
        .expect("the library has this folder")
        .map(|entry| {
            entry
                .expect("it can be listed")
                .path()
                .display()
                .to_string()
        })
        .filter(|path| {
            Path::new(path)
                .extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    assert!(
        !files.is_empty(),
        "the folder must hold scenarios, or nothing is tested"
    );
    files
}

/// Whether a file has a fault that takes a network of packets.
fn needs_packets(scenario: &str) -> bool {
    let loaded = load(Path::new(scenario), &[]).expect("shipped files load");
    let cases = expand(&loaded).expect("shipped files expand").cases;
    let mut faults = cases.iter().flat_map(|case| case.workload.faults());
    faults.any(FaultSpec::needs_packets)
}

/// Runs every scenario of a folder, with all reports; lists all that did not come out as they
/// should.
fn all_come_out_as_expected(folder: &str) {
    if !have_server() {
        return;
    }
    let mut wrong = Vec::new();
    for scenario in shipped(folder) {
        if needs_packets(&scenario) && !have_kernel_network() {
            continue;
        }
        let out = tempfile::tempdir().expect("a temporary folder can be made");
        let output = run_scenario(&scenario, out.path(), &[]);
        if !output.status.success() {
            wrong.push(format!(
                "{scenario}: {}\n{}",
                output.status,
                stderr(&output)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Runs these scenarios, some at once. That nobody is accused who should not be, and nobody gets
/// away, must be shown in each try; that all could be shown, in one.
fn all_come_out_as_expected_in_one_try(scenarios: &[String]) {
    if !have_server() {
        return;
    }
    for _ in 0..TRIES_MAX {
        let out = tempfile::tempdir().expect("a temporary folder can be made");
        let (first, others) = scenarios.split_first().expect("there are scenarios");
        let mut more: Vec<&str> = others.iter().map(String::as_str).collect();
        more.extend(["--jobs", AT_ONCE, "--report", "none"]);
        let output = run_scenario(first, out.path(), &more);
        if output.status.success() {
            return;
        }
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(UNDECIDED), "{text}");
    }
    panic!("no try of {TRIES_MAX} could decide all of {scenarios:?}");
}

#[test]
fn every_experiment_of_the_origin_comes_out_as_its_file_says() {
    all_come_out_as_expected("origin");
}

#[test]
fn every_hazard_comes_out_as_its_file_says() {
    all_come_out_as_expected_in_one_try(&shipped("hazards"));
}

#[test]
fn every_storm_comes_out_as_its_file_says() {
    all_come_out_as_expected("storms");
}

/// All locks under all hazards.
#[test]
fn every_cell_of_the_matrix_comes_out_as_its_file_says() {
    let matrix = root().join("scenarios/library/matrix.toml");
    all_come_out_as_expected_in_one_try(&[matrix.display().to_string()]);
}

/// The comparison of the README, and with it every report that it writes.
#[test]
fn the_comparison_comes_out_as_expected_and_leaves_its_reports() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    for scenario in shipped("compare") {
        let output = run_scenario(&scenario, out.path(), &["--seed", "7"]);
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        assert!(
            text.starts_with("seed 7, run folder "),
            "the first line tells both:\n{text}"
        );
        let folder = out.path().join("latest");
        for file in [
            "results.json",
            "report.html",
            "matrix.png",
            "junit.xml",
            "report.md",
        ] {
            let size = fs::metadata(folder.join(file)).map_or(0, |data| data.len());
            assert!(size > 500, "{file} has {size} bytes");
        }
    }
}
