//! Every shipped scenario file loads, means something, survives being written and read again, and
//! says which schema it follows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_scenarios::{
    Case, Lines, Loaded, Origins, SHIPPED, Shipped, effective, expand, list, load, load_shipped,
    load_str, open,
};

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("library")
}

/// All shipped files that name a lock, each loaded. Situations have tests of their own.
fn with_locks() -> Vec<(PathBuf, Loaded)> {
    let mut shipped = shipped();
    shipped.retain(|(_, loaded)| loaded.scenario.situation.is_none());
    shipped
}

/// All shipped files, each loaded.
fn shipped() -> Vec<(PathBuf, Loaded)> {
    let listed = list(&library()).expect("the library can be read");
    listed
        .into_iter()
        .map(|listed| {
            let loaded = load(&listed.path, &[])
                .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
            (listed.path, loaded)
        })
        .collect()
}

#[test]
fn every_shipped_file_loads_and_stands_for_at_least_one_case() {
    let shipped = with_locks();
    assert!(
        shipped.len() >= 20,
        "only {} files were found",
        shipped.len()
    );
    for (path, loaded) in shipped {
        let expanded =
            expand(&loaded).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        assert!(!expanded.cases.is_empty(), "{}", path.display());
    }
}

/// Run folders rely on this: their `scenario.toml` runs the same case again.
#[test]
fn every_case_written_as_a_file_is_the_same_case_when_read() {
    for (path, loaded) in with_locks() {
        for case in expand(&loaded).expect("shipped files expand").cases {
            let text = effective(&case);
            let again = load_str(&text, "again.toml", &[])
                .unwrap_or_else(|mistakes| panic!("{text}\n{}", mistakes.render(false)));
            let mut cases = expand(&again).expect("a single case expands").cases;
            cases[0].origins.lines = Lines::default();
            // In this file nothing is left to a default any more.
            let all_written = Case {
                origins: Origins::default(),
                ..case
            };
            assert_eq!(cases, [all_written], "{}", path.display());
        }
    }
}

#[test]
fn the_program_carries_every_shipped_file_under_a_name_of_its_own() {
    let project = library().join("../..");
    let on_disk: BTreeSet<PathBuf> = shipped().into_iter().map(|(path, _)| path).collect();
    let carried = SHIPPED.iter().map(|file| {
        let path = project.join(file.path);
        assert_eq!(fs::read_to_string(&path).unwrap(), file.text);
        fs::canonicalize(path).unwrap()
    });
    let on_disk: BTreeSet<PathBuf> = on_disk
        .iter()
        .map(|at| fs::canonicalize(at).unwrap())
        .collect();
    assert_eq!(carried.collect::<BTreeSet<_>>(), on_disk);
    let names: BTreeSet<&str> = SHIPPED.iter().map(Shipped::name).collect();
    assert_eq!(names.len(), SHIPPED.len(), "two are run by one name");
}

#[test]
fn what_the_program_carries_stands_for_the_same_as_the_file() {
    for file in SHIPPED {
        let from_disk = load(&library().join("../..").join(file.path), &[]).unwrap();
        let carried = load_shipped(file, &[]).unwrap();
        assert_eq!(carried.scenario, from_disk.scenario);
        let [carried, from_disk] = [carried, from_disk].map(|loaded| {
            let mut cases = expand(&loaded).map(|expanded| expanded.cases).ok()?;
            // They lie elsewhere.
            for case in &mut cases {
                case.origins.lines = Lines::default();
            }
            Some(cases)
        });
        assert_eq!(carried, from_disk, "{}", file.path);
    }
}

#[test]
fn a_scenario_is_opened_by_its_name_and_a_slip_of_the_pen_is_named() {
    let opened = open(Path::new("failover-loses-the-lock"), &[]).unwrap();
    assert_eq!(opened.scenario.name, "failover-loses-the-lock");
    let mistakes = open(Path::new("failover-looses-the-lock"), &[]).unwrap_err();
    let told = mistakes.render(false);
    assert!(
        told.contains("did you mean 'failover-loses-the-lock'?"),
        "{told}"
    );
    // What looks like a file is one.
    let missing = open(Path::new("failover-loses-the-lock.toml"), &[]).unwrap_err();
    assert!(missing.render(false).contains("cannot be opened"));
}

#[test]
fn every_shipped_file_is_named_after_its_scenario_and_says_what_it_shows() {
    for (path, loaded) in shipped() {
        let scenario = loaded.scenario;
        assert_eq!(
            Some(scenario.name.as_str()),
            path.file_stem().and_then(|stem| stem.to_str())
        );
        assert!(
            scenario.description.len() > 80,
            "{} says too little",
            path.display()
        );
    }
}

#[test]
fn every_shipped_file_names_its_schema_by_a_path_that_exists() {
    for (path, _) in shipped() {
        let text = fs::read_to_string(&path).expect("it was loaded before");
        let first = text.lines().next().unwrap_or_default();
        let schema = first.strip_prefix("#:schema ").unwrap_or_else(|| {
            panic!("{} does not begin with its schema", path.display());
        });
        let folder = path.parent().expect("a file lies in a folder");
        assert!(
            folder.join(schema).is_file(),
            "{}: no file {schema}",
            path.display()
        );
    }
}

#[test]
fn the_list_gives_name_and_first_sentence() {
    let listed = list(&library()).expect("the library can be read");
    let failover = listed
        .iter()
        .find(|listed| listed.name == "failover-loses-the-lock")
        .expect("it is shipped");
    assert!(
        failover
            .path
            .ends_with("examples/failover-loses-the-lock.toml")
    );
    assert_eq!(
        failover.description,
        "A failover loses the lock, because the primary answers before its replica knows."
    );
}

#[test]
fn the_table_of_the_origin_names_each_of_its_files_and_no_other() {
    let table = include_str!("../../../docs/origin.md");
    let in_table = |path: &str| table.contains(&format!("(../scenarios/library/origin/{path})"));
    let files = list(&library().join("origin")).expect("the folder can be read");
    for file in &files {
        let name = format!("{}.toml", file.name);
        assert!(in_table(&name), "docs/origin.md does not name {name}");
    }
    let links = table.matches("](../scenarios/library/origin/").count();
    assert_eq!(
        links,
        files.len(),
        "a link leads nowhere, or is there twice"
    );
}

/// The reference begins with an example that its readers will copy.
#[test]
fn the_example_of_the_reference_is_a_scenario() {
    let reference = include_str!("../../../docs/scenarios.md");
    let example = reference
        .split("```")
        .nth(1)
        .and_then(|block| block.strip_prefix("toml\n"));
    let example = example.expect("the first block of the reference is TOML");
    let loaded = load_str(example, "docs/scenarios.md", &[])
        .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    assert_eq!(expand(&loaded).expect("it expands").cases.len(), 1);
}
