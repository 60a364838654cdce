//! From a matrix to its cells: which are run, which are left out and why, and what is refused.

use std::fs;

use lockstorm_checker::Property;
use lockstorm_scenarios::{
    Diagnostics, DurationSpec, Expanded, Expected, LockKind, Mutant, expand, load, load_str,
};
use tempfile::TempDir;

/// A folder with scenario files and a matrix `m.toml` over them.
struct Files(TempDir);

impl Files {
    fn new(matrix: &str) -> Self {
        let files = Self(tempfile::tempdir().expect("a temporary folder"));
        files.put("m.toml", &format!("name = \"m\"\n[matrix]\n{matrix}"));
        files
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("it can be written");
    }

    /// A litmus whose first client acquires, with `rest` after its head.
    fn litmus(self, name: &str, hazard: &str, head: &str, rest: &str) -> Self {
        let text = format!(
            "name = \"{name}\"\nhazard = \"{hazard}\"\n{head}\n\
             [[step]]\nacquire.client = \"a\"\n{rest}"
        );
        self.put(&format!("{name}.toml"), &text);
        self
    }

    fn expand(&self) -> Result<Expanded, Diagnostics> {
        load(&self.0.path().join("m.toml"), &[]).and_then(|loaded| expand(&loaded))
    }

    /// The mistakes, without the path of the temporary folder.
    fn mistakes(&self) -> String {
        let folder = format!("{}/", self.0.path().display());
        let mistakes = self.expand().expect_err("it is wrong");
        mistakes.to_string().replace(&folder, "")
    }
}

const SINGLE: &str = "topology.single = {}\nlock.token = {}";
const INDEPENDENT: &str = "topology.independent = {}\nlock.redlock = {}";
const BOTH: &str = "locks = [{ token.lease = \"1s\" }, { redlock = {} }]\n\
                    topologies = [{ single = {} }, { independent.nodes = 3 }]\n";

#[test]
fn a_scenario_without_a_matrix_is_one_case_named_by_its_parts() {
    let text = format!("name = \"alone\"\n{SINGLE}\n[[step]]\nacquire.client = \"a\"\n");
    let expanded = expand(&load_str(&text, "f", &[]).expect("it loads")).expect("it expands");
    let labels = &expanded.cases[0].labels;
    assert_eq!(expanded.cases.len(), 1);
    assert_eq!(
        (
            labels.lock.as_str(),
            labels.topology.as_str(),
            labels.hazard.as_str()
        ),
        ("token", "single", "alone")
    );
}

#[test]
fn a_cell_takes_lock_and_topology_from_the_matrix_and_the_rest_from_the_file() {
    let files = Files::new(&format!("{BOTH}scenarios = [\"s.toml\", \"i.toml\"]\n"))
        .litmus("s", "x", SINGLE, "[expect]\nliveness = \"any\"\n")
        .litmus("i", "x", INDEPENDENT, "");
    let expanded = files.expand().expect("it expands");
    let cells: Vec<_> = expanded
        .cases
        .iter()
        .map(|case| {
            (
                case.name.as_str(),
                case.lock.lease().map(DurationSpec::as_millis),
                case.topology.label(),
            )
        })
        .collect();
    assert_eq!(
        cells,
        [
            ("s", Some(1000), "single".to_owned()),
            ("i", Some(2000), "independent (3 nodes)".to_owned())
        ]
    );
    assert_eq!(expanded.cases[0].expect.len(), 1);
    assert!(expanded.left_out.is_empty(), "{:?}", expanded.left_out);
}

/// Lock and topology of each cell as they will run, and the row that they stand in.
fn rows(expanded: &Expanded) -> Vec<String> {
    let cases = expanded.cases.iter();
    cases
        .map(|case| {
            let (labels, lease) = (&case.labels, case.lock.lease().expect("it has a lease"));
            format!(
                "{}: {} for {lease} on {}",
                case.name, labels.lock, labels.topology
            )
        })
        .collect()
}

#[test]
fn what_a_row_leaves_out_is_what_the_file_says() {
    let file = "topology.sentinel.replicas = 2\n\
                lock.token = { lease = \"7s\", renew-every = \"1s\" }";
    let files = Files::new(
        "locks = [{ token.renew-every = \"1500ms\" }, { plain-del = {} }, \
                  { redisson.lease = \"1s\" }]\n\
         topologies = [{ sentinel = {} }]\nscenarios = [\"s.toml\"]\n",
    )
    .litmus("s", "x", file, "");
    let expanded = files.expand().expect("it expands");
    assert_eq!(
        rows(&expanded),
        [
            "s: token + renewal for 7s on sentinel (2 replicas)",
            "s: plain-del for 7s on sentinel (2 replicas)",
            "s: redisson for 1s on sentinel (2 replicas)",
        ]
    );
    assert_eq!(
        expanded.cases[0]
            .lock
            .renew_every()
            .map(DurationSpec::as_millis),
        Some(1500)
    );
}

#[test]
fn files_of_different_options_make_rows_of_their_own() {
    let files = Files::new(
        "locks = [{ token = {} }]\ntopologies = [{ sentinel = {} }]\n\
         scenarios = [\"s.toml\", \"t.toml\"]\n",
    )
    .litmus(
        "s",
        "x",
        "topology.sentinel.replicas = 2\nlock.token = {}",
        "",
    )
    .litmus(
        "t",
        "x",
        "topology.sentinel = {}\nlock.token.lease = \"5s\"",
        "",
    );
    assert_eq!(
        rows(&files.expand().expect("it expands")),
        [
            "s: token for 2s on sentinel (2 replicas)",
            "t: token for 5s on sentinel (1 replica)"
        ]
    );
}

#[test]
fn a_file_with_a_matrix_of_its_own_stands_for_what_it_names() {
    let own = "[matrix]\nlocks = [{ token.lease = \"7s\" }, { plain-del = {} }]\n\
               topologies = [{ single = {} }, { replicated.replicas = 2 }]\n";
    let files = Files::new(
        "locks = [{ token = {} }, { redisson.lease = \"1s\" }]\n\
         topologies = [{ replicated = {} }, { sentinel = {} }]\nscenarios = [\"s.toml\"]\n",
    )
    .litmus("s", "x", "", own);
    let expanded = files.expand().expect("it expands");
    assert_eq!(
        rows(&expanded),
        ["s: token for 7s on replicated (2 replicas)"]
    );
    let reasons: Vec<_> = expanded.left_out.iter().map(|(_, reason)| reason).collect();
    let written_for = "this hazard is written for single and replicated servers only";
    assert_eq!(
        reasons,
        [written_for, "'s' does not apply to redisson", written_for]
    );
}

#[test]
fn the_mistake_of_another_lock_is_left_to_that_lock() {
    let mutant = Mutant::of(LockKind::Token).next().expect("there is one");
    let head = format!(
        "topology.single = {{}}\nlock.token.mutant = \"{}\"",
        mutant.name()
    );
    let files = Files::new(
        "locks = [{ token = {} }, { plain-del = {} }]\ntopologies = [{ single = {} }]\n\
         scenarios = [\"s.toml\"]\n",
    )
    .litmus("s", "x", &head, "");
    let expanded = files.expand().expect("it expands");
    let mutants: Vec<_> = expanded
        .cases
        .iter()
        .map(|case| case.lock.mutant())
        .collect();
    assert_eq!(mutants, [Some(mutant), None]);
}

/// EXPIRE counts seconds: what suits `token` does not suit `setnx`.
#[test]
fn an_option_of_the_file_that_the_lock_of_the_row_cannot_have_is_shown() {
    let files = Files::new(
        "locks = [{ setnx = {} }]\ntopologies = [{ single = {} }]\nscenarios = [\"s.toml\"]\n",
    )
    .litmus(
        "s",
        "x",
        "topology.single = {}\nlock.token.lease = \"1500ms\"",
        "",
    );
    insta::assert_snapshot!(files.mistakes());
}

#[test]
fn a_cell_that_no_file_fits_is_left_out_with_a_reason() {
    let files = Files::new(&format!("{BOTH}scenarios = [\"s.toml\", \"t.toml\"]\n"))
        .litmus("s", "x", SINGLE, "")
        .litmus("t", "y", &format!("applies-to = [\"token\"]\n{SINGLE}"), "");
    let files = {
        let locks = "locks = [{ token = {} }, { setnx = {} }]\ntopologies = [{ single = {} }]\n";
        files.put(
            "n.toml",
            &format!("name = \"n\"\n[matrix]\n{locks}scenarios = [\"t.toml\"]\n"),
        );
        files
    };
    let reasons = |expanded: Expanded| -> Vec<String> {
        let left_out = expanded.left_out.into_iter();
        left_out
            .map(|(labels, reason)| format!("{}/{}: {reason}", labels.lock, labels.hazard))
            .collect()
    };
    assert_eq!(
        reasons(files.expand().expect("it expands")),
        [
            "redlock/x: this hazard is written for single servers only",
            "redlock/y: this hazard is written for single servers only"
        ]
    );
    let other = load(&files.0.path().join("n.toml"), &[]).expect("it loads");
    assert_eq!(
        reasons(expand(&other).expect("it expands")),
        ["setnx/y: 't' does not apply to setnx"]
    );
}

#[test]
fn a_matrix_without_files_runs_its_own_workload_in_every_row() {
    let locks = "locks = [{ token = {} }, { token.renew-every = \"500ms\" }]";
    let text = format!(
        "name = \"own\"\nstorm.duration = \"1s\"\n[matrix]\n{locks}\n\
         topologies = [{{ single = {{}} }}, {{ replicated = {{}} }}]\n"
    );
    let expanded = expand(&load_str(&text, "f", &[]).expect("it loads")).expect("it expands");
    let rows: Vec<_> = expanded
        .cases
        .iter()
        .map(|case| format!("{} on {}", case.labels.lock, case.labels.topology))
        .collect();
    assert_eq!(
        rows,
        [
            "token on single",
            "token on replicated (1 replica)",
            "token + renewal on single",
            "token + renewal on replicated (1 replica)"
        ]
    );
}

#[test]
fn two_files_for_one_cell_are_refused() {
    let files = Files::new(&format!("{BOTH}scenarios = [\"s.toml\", \"t.toml\"]\n"))
        .litmus("s", "x", SINGLE, "")
        .litmus("t", "x", SINGLE, "");
    insta::assert_snapshot!(files.mistakes());
}

#[test]
fn two_rows_of_one_name_are_refused() {
    let locks = "locks = [{ token.lease = \"1s\" }, { token.lease = \"2s\" }]";
    let files = Files::new(&format!(
        "{locks}\ntopologies = [{{ single = {{}} }}]\nscenarios = [\"s.toml\"]\n"
    ))
    .litmus("s", "x", SINGLE, "");
    insta::assert_snapshot!(files.mistakes());
}

/// The file alone is right, for it has five nodes; the matrix gives it three.
#[test]
fn a_step_that_does_not_fit_the_servers_of_its_row_is_shown_in_its_own_file() {
    let files = Files::new(&format!("{BOTH}scenarios = [\"i.toml\"]\n")).litmus(
        "i",
        "x",
        INDEPENDENT,
        "[[step]]\nkill.node = \"n5\"\n",
    );
    insta::assert_snapshot!(files.mistakes());
}

#[test]
fn missing_and_broken_files_are_all_shown_each_by_its_name() {
    let files = Files::new(&format!(
        "{BOTH}scenarios = [\"gone.toml\", \"b.toml\", \"n.toml\"]\nlocsk = 1\n"
    ))
    .litmus(
        "b",
        "x",
        "topology.single = {}\nlock.tokn = {}",
        "[[step]]\nkill.node = \"n1\"\n",
    );
    files.put(
        "n.toml",
        "name = \"n\"\n[matrix]\nlocks = []\ntopologies = []\n",
    );
    insta::assert_snapshot!(files.mistakes());
}

/// Users who run a matrix may be allowed to read more than its author.
#[test]
fn nothing_is_shown_of_a_file_that_is_no_scenario() {
    let secret = "root:x9Jk2:19000:0:99999:7:::";
    let files = Files::new(&format!(
        "{BOTH}scenarios = [\"shadow\", \"linked.toml\", \"table.toml\", \"/dev/zero\"]\n"
    ));
    files.put("shadow", &format!("{secret}\n"));
    let folder = files.0.path();
    std::os::unix::fs::symlink(folder.join("shadow"), folder.join("linked.toml"))
        .expect("it can be linked");
    files.put("table.toml", &format!("secret = \"{secret}\"\n"));
    let said = files.mistakes();
    let shown = files.expand().expect_err("it is wrong").render(false);
    assert!(
        !said.contains("x9Jk2") && !shown.contains("x9Jk2"),
        "{shown}"
    );
    for told in [
        "'shadow' is no scenario file: its name does not end with .toml",
        "linked.toml: is no scenario file: it cannot be read as TOML, from line 1 on",
        "table.toml: is no scenario file: it has no `name`",
        "'/dev/zero' is no scenario file",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[test]
fn a_file_that_is_named_again_is_read_once() {
    let named = vec!["\"s.toml\""; 100].join(", ");
    let files = Files::new(&format!("{BOTH}scenarios = [{named}]\n")).litmus(
        "s",
        "x",
        "topology.single = {}\nlock.tokn = {}",
        "",
    );
    let said = files.mistakes();
    assert_eq!(said.matches("tokn").count(), 1, "{said}");
    assert!(said.contains("'s.toml' is named twice"), "{said}");
}

#[test]
fn a_matrix_has_no_more_cells_than_anybody_looks_at() {
    let locks: Vec<String> = (1..=101)
        .map(|n| format!("{{ token.lease = \"{n}s\" }}"))
        .collect();
    let topologies: Vec<String> = (1..=100)
        .map(|n| format!("{{ replicated.replicas = {n} }}"))
        .collect();
    let (locks, topologies) = (locks.join(","), topologies.join(","));
    let files = Files::new(&format!("locks = [{locks}]\ntopologies = [{topologies}]\n"));
    let said = files.mistakes();
    let told = "m.toml:2:2: the matrix has 10100 cells (101 locks on 100 topologies, 1 columns), \
                and a comparison has at most 10000";
    assert!(said.contains(told), "{said}");
}

#[test]
fn what_a_matrix_takes_from_elsewhere_must_not_be_said_in_it() {
    let files =
        Files::new(&format!("{BOTH}scenarios = [\"s.toml\"]\n")).litmus("s", "x", SINGLE, "");
    files.put(
        "m.toml",
        &format!(
            "name = \"m\"\n{SINGLE}\nexpect.liveness = \"valid\"\n[matrix]\n{BOTH}\
             scenarios = [\"s.toml\"]\n"
        ),
    );
    insta::assert_snapshot!(files.mistakes());
}

#[test]
fn rows_that_can_never_be_are_refused() {
    let files = Files::new(
        "locks = [{ redlock = {} }, { token.lease = \"0s\" }]\n\
         topologies = [{ single = {} }]\nscenarios = [\"s.toml\"]\n",
    )
    .litmus("s", "x", SINGLE, "");
    insta::assert_snapshot!(files.mistakes());
    let empty = Files::new("locks = []\ntopologies = []\nscenarios = [\"s.toml\"]\n")
        .litmus("s", "x", SINGLE, "");
    insta::assert_snapshot!("an_empty_matrix", empty.mistakes());
}

#[test]
fn expect_for_adds_to_what_is_expected_of_a_lock_and_has_the_last_word() {
    let head = "[expect]\nmutual-exclusion = \"violated\"\nlost-lock = \"violated\"\n\
                [expect-for.plain-del]\nlost-lock = \"any\"\nownership = \"violated\"\n";
    let files = Files::new(
        "locks = [{ token = {} }, { plain-del = {} }]\ntopologies = [{ single = {} }]\n\
         scenarios = [\"s.toml\"]\n",
    )
    .litmus("s", "x", SINGLE, head);
    let expanded = files.expand().expect("it expands");
    let expects: Vec<_> = expanded.cases.iter().map(|case| &case.expect).collect();
    assert_eq!(
        *expects[0],
        [
            (Property::MutualExclusion, Expected::Violated),
            (Property::LostLock, Expected::Violated)
        ]
        .into()
    );
    assert_eq!(
        *expects[1],
        [
            (Property::MutualExclusion, Expected::Violated),
            (Property::LostLock, Expected::Any),
            (Property::Ownership, Expected::Violated)
        ]
        .into()
    );
}

#[test]
fn expect_for_a_lock_that_the_file_leaves_out_is_refused() {
    let text = format!(
        "name = \"alone\"\napplies-to = [\"token\"]\nchecks.only = [\"liveness\"]\n\
         expect-for.setnx.fencing = \"any\"\n{SINGLE}\n[[step]]\nacquire.client = \"a\"\n"
    );
    let mistakes = load_str(&text, "f", &[])
        .expect_err("it is wrong")
        .to_string();
    insta::assert_snapshot!(mistakes);
}
