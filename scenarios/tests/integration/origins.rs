//! Goal: a run's scenario says of each value whether somebody chose it, and where.
//! Method: small files, expanded as for a run.

use std::fs;

use lockstorm_scenarios::{
    Expanded, Override, Promise, effective, expand, load, load_str, put_into, typed_lock,
};

const STEPS: &str = "[[step]]\nacquire = { client = \"a\", expect = \"granted\" }\n";

fn one(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<Override> = overrides
        .iter()
        .map(|o| o.parse().expect("it is an override"))
        .collect();
    let loaded = load_str(text, "f", &overrides).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    effective(&expand(&loaded).expect("it is one case").cases[0])
}

fn script() -> String {
    format!(
        "name = \"rule\"\ndescription = \"\"\"\nIn two\nlines.\"\"\"\ntopology.single = {{}}\n\
         lock.token = {{ lease = \"2s\" }}\nclients.hold = \"5ms\"\n{STEPS}"
    )
}

#[track_caller]
fn assert_line(text: &str, line: &str) {
    assert!(text.lines().any(|other| other == line), "{line}\n{text}");
}

#[test]
fn what_nobody_wrote_is_called_a_default_and_what_was_written_is_not() {
    let text = one(&script(), &[]);
    assert_line(&text, "lease = \"2s\"");
    assert_line(&text, "wait = \"1s\"  # default");
    assert_line(&text, "client = \"a\"");
    assert_line(&text, "key = \"lock\"  # default");
    assert_line(&text, "name = \"rule\"");
    assert!(text.contains("lines.\"\"\"\n"), "{text}");
}

#[test]
fn a_range_in_one_word_was_written() {
    let text = one(&script(), &[]);
    let hold = text.lines().find(|line| line.starts_with("hold"));
    let hold = hold.expect("it is written");
    assert!(!hold.contains('#'), "{hold}");
}

#[test]
fn what_was_set_from_outside_is_of_the_command_line() {
    let text = one(&script(), &["lock.token.lease=3s", "clients.count=7"]);
    assert_line(&text, "lease = \"3s\"  # command line");
    assert_line(&text, "count = 7  # command line");
    assert_line(&text, "keys = 1  # default");
}

#[test]
fn a_comment_changes_nothing_of_what_is_read() {
    let text = one(&script(), &["clients.count=7"]);
    assert!(text.contains("# default"));
    let again = one(&text, &[]);
    assert!(!again.contains("# default"), "all is written now: {again}");
    let bare = |text: &str| {
        text.replace("  # default", "")
            .replace("  # command line", "")
    };
    assert_eq!(bare(&text), again);
}

#[test]
fn a_cell_tells_its_row_from_its_file_and_from_what_nobody_wrote() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(folder.path().join("one.toml"), script()).expect("it can be written");
    let matrix = folder.path().join("matrix.toml");
    let table = "name = \"table\"\n[matrix]\nscenarios = [\"one.toml\"]\n\
                 topologies = [{ single = {} }]\n\
                 locks = [{ token = { renew-every = \"500ms\" } }, { setnx = {} }]\n";
    fs::write(&matrix, table).expect("it can be written");
    let loaded = load(&matrix, &[]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let Expanded { cases, .. } = expand(&loaded).expect("two cells");
    let token = effective(&cases[0]);
    assert_line(&token, "renew-every = \"500ms\"  # comparison");
    assert_line(&token, "lease = \"2s\"");
    assert_line(&token, "wait = \"1s\"  # default");
    // What a file says of another lock counts where it means the same.
    assert_line(&effective(&cases[1]), "lease = \"2s\"");
}

#[test]
fn what_is_expected_of_one_kind_of_lock_was_written_too() {
    let expect = "expect-for.token.lost-lock = \"violated\"\n";
    let text = one(&format!("{expect}{}", script()), &[]);
    assert_line(&text, "lost-lock = \"violated\"");
}

#[test]
fn a_lock_in_a_situation_tells_what_was_typed_from_what_nobody_chose() {
    let text = "name = \"hit\"\nhazard = \"{hits} hit\"\n\
                description = \"\"\"\nSome are hit.\"\"\"\n\
                situation.tests = [\"exclusive\"]\nsituation.lease = \"7s\"\nsituation.hits = [2]\n\
                situation.topologies = [{ independent = { nodes = 3 } }]\n\
                step = [{ kill = { node = \"hit\" } }, { acquire = { client = \"a\" } }]\n";
    let loaded = load_str(text, "hit.toml", &[]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let lock = typed_lock("redlock={node-timeout=\"70ms\"}").expect("it is one of ours");
    let servers = &loaded
        .scenario
        .situation
        .as_ref()
        .expect("it is one")
        .topologies[0];
    let promised = [Promise::SurvivesFailover];
    let case = put_into(&loaded, &lock, servers, &promised, Some(2)).expect("it fits");
    let text = effective(&case);
    assert_line(&text, "lease = \"7s\"");
    assert_line(&text, "node-timeout = \"70ms\"  # command line");
    assert_line(&text, "retry-delay = \"10ms..50ms\"  # default");
    assert_line(&text, "nodes = 3");
    assert_line(&text, "persistence = \"none\"  # default");
    assert_line(&text, "promised = [\"survives-failover\"]  # command line");
    assert_line(&text, "node = \"n2\"");
    // The third step of the case is the second of the file.
    assert_line(&text, "client = \"a\"");
    assert_line(&text, "key = \"lock\"  # default");
}
