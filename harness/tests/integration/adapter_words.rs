//! Words of the adapter protocol for what a library leaves open, and for what is given up: each
//! stands in the history as what it is, and accuses nobody.

use std::fs;

use crate::support::{have_server, run_scenario, stderr, stdout};
use serde_json::{Value as Json, json};

/// A program in shell that answers each request with what its table says; `$id` is its number.
const PROGRAM: &str = r#"
say() { echo "{\"id\":$id,$1}"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/^{"id":\([0-9]*\).*/\1/')
  case "$line" in
    TABLE
    *'"do":"hello"'*) say '"is":"hello","protocol":2,"name":"words"' ;;
    *'"do":"open"'*) say '"is":"opened"' ;;
    *'"do":"alive"'*) say '"is":"held"' ;;
    *'"do":"release"'*) say '"is":"released"' ;;
    *) say '"is":"done"' ;;
  esac
done
"#;

/// Events of a run of a script, and what was said of it.
struct Run {
    events: Vec<Json>,
    told: String,
}

impl Run {
    fn of(head: &str, steps: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let text = format!("name = \"words\"\n{head}\nstep = [{}]\n", steps.join(", "));
        let path = folder.path().join("words.toml");
        fs::write(&path, text).expect("the file can be written");
        let out = folder.path().join("runs");
        let path = path.to_str().expect("a plain name");
        let output = run_scenario(path, &out, &["--report", "none"]);
        let history = fs::read_to_string(out.join("latest/history.jsonl")).unwrap_or_default();
        let events = history.lines().map(serde_json::from_str);
        Self {
            events: events.collect::<Result<_, _>>().expect("it is JSON"),
            told: format!("{}{}", stdout(&output), stderr(&output)),
        }
    }

    /// Clients of a program in shell, with lines for its table.
    fn of_program(table: &str, steps: &[&str]) -> Self {
        let command = json!(["sh", "-c", PROGRAM.replace("TABLE", table)]);
        let head = format!(
            "topology.single = {{}}\nchecks.liveness-bound = \"100ms\"\n\
             lock.adapter = {{ name = \"words\", command = {command}, lease = \"2s\" }}"
        );
        Self::of(&head, steps)
    }

    /// The last event of these type and function of the client.
    fn last(&self, kind: &str, function: &str, client: &str) -> &Json {
        let is_it = |event: &&Json| {
            event["type"] == kind && event["f"] == function && event["value"]["owner"] == client
        };
        let found = self.events.iter().rev().find(is_it);
        found.unwrap_or_else(|| panic!("no {kind} {function} of {client}: {}", self.told))
    }

    #[track_caller]
    fn went_to_its_end(&self) {
        assert!(!self.told.contains("stopped early"), "{}", self.told);
    }
}

const GRANTS: &str = r#"*'"do":"acquire"'*) say '"is":"granted"' ;;"#;

#[test]
fn a_refusal_for_an_unknown_reason_is_indeterminate_and_accuses_nobody() {
    if !have_server() {
        return;
    }
    let table = r#"*'"do":"acquire"'*) say '"is":"refused","reason":"unknown"' ;;"#;
    let run = Run::of_program(
        table,
        &["{ acquire = { client = \"a\", expect = \"not-granted\" } }"],
    );
    run.went_to_its_end();
    let error = &run.last("info", "acquire", "a")["error"];
    assert_eq!(error, "refused");
    let accused = "✗ spurious refusal: violated";
    assert!(!run.told.contains(accused), "{}", run.told);
}

#[test]
fn a_release_that_tells_nothing_says_so_in_the_history() {
    if !have_server() {
        return;
    }
    let release = r#"*'"do":"release"'*) say '"is":"released","ownership":"unknown"' ;;"#;
    let steps = [
        "{ acquire = { client = \"a\", expect = \"granted\" } }",
        "{ release = { client = \"a\", expect = \"released\" } }",
    ];
    let run = Run::of_program(&format!("{GRANTS}\n{release}"), &steps);
    run.went_to_its_end();
    let value = &run.last("ok", "release", "a")["value"];
    assert_eq!(value["ownership"], "unknown");
}

#[test]
fn a_client_whose_library_does_not_know_is_suspended_until_it_does() {
    if !have_server() {
        return;
    }
    let note = r#"echo '{"note":"WORD","key":"lock"}'"#;
    let alive = format!(
        "*'\"do\":\"touch\"'*) {}; {}; say '\"is\":\"done\"' ;;",
        note.replace("WORD", "suspended"),
        note.replace("WORD", "resumed")
    );
    let steps = [
        "{ acquire = { client = \"a\", expect = \"granted\" } }",
        "{ find-orders = { client = \"a\" } }",
        "{ work = { client = \"a\", for = \"10ms\" } }",
    ];
    let command = json!([
        "sh",
        "-c",
        PROGRAM.replace("TABLE", &format!("{GRANTS}\n{alive}"))
    ]);
    let head = format!(
        "topology.single = {{}}\nguarded-resource.orders = {{}}\n\
         checks.liveness-bound = \"100ms\"\n\
         lock.adapter = {{ name = \"words\", command = {command}, lease = \"2s\" }}"
    );
    let run = Run::of(&head, &steps);
    run.went_to_its_end();
    run.last("note", "suspended", "a");
    run.last("note", "resumed", "a");
}

#[test]
fn a_loss_is_dated_to_when_the_library_told_of_it() {
    if !have_server() {
        return;
    }
    let lost = r#"*'"do":"release"'*) sleep 0.2
      echo "{\"note\":\"lost\",\"key\":\"lock\"MOMENT}"; say '"is":"released"' ;;"#;
    let steps = [
        "{ acquire = { client = \"a\", expect = \"granted\" } }",
        "{ release = { client = \"a\" } }",
    ];
    let since_asked = |moment: &str| {
        let table = format!("{GRANTS}\n{}", lost.replace("MOMENT", moment));
        let run = Run::of_program(&table, &steps);
        run.went_to_its_end();
        let time = |event: &Json| event["time"].as_u64().expect("a time");
        let [asked, told] = [("invoke", "release"), ("note", "lost")]
            .map(|(kind, function)| time(run.last(kind, function, "a")));
        i128::from(told) - i128::from(asked)
    };
    let told = since_asked(r#",\"after\":$id,\"after_us\":100000"#);
    assert!(told >= 100_000_000, "{told} ns after the request");
    let untold = since_asked("");
    assert!(
        untold <= 0,
        "all that is known is that it was after the answer before"
    );
}

#[test]
fn a_program_that_cannot_give_a_request_up_leaves_the_script_undecided() {
    if !have_server() {
        return;
    }
    let steps = [
        "{ acquire = { client = \"a\", under-way = true } }",
        "{ cancel = { client = \"a\" } }",
    ];
    let run = Run::of_program(GRANTS, &steps);
    let told = run.told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("step 2 (cancel): the program of 'a' cannot give up a request"),
        "{told}"
    );
}

/// Holds for two leases, and is not asked to renew.
const HELD_FOR_LONG: [&str; 4] = [
    "{ acquire = { client = \"a\", expect = \"granted\" } }",
    "{ work = { client = \"a\", for = \"4s\" } }",
    "{ acquire = { client = \"b\", expect = \"not-granted\" } }",
    "{ release = { client = \"a\", expect = \"released\" } }",
];

/// The first client has the lock whatever its lease is, and the second one never gets it.
const ONE_HAS_IT: &str = r#"
    *'"do":"open"'*'"client":"b"'*) has_it=no; say '"is":"opened"CAN' ;;
    *'"do":"open"'*) has_it=yes; say '"is":"opened"CAN' ;;
    *'"do":"acquire"'*)
      if [ $has_it = yes ]; then say '"is":"granted"'; else say '"is":"refused"'; fi ;;
"#;

#[test]
fn a_library_that_always_renews_is_not_accused_of_who_is_refused_after_the_lease() {
    if !have_server() {
        return;
    }
    for (can, is_accused) in [("", true), (r#","can":["always-renews"]"#, false)] {
        let run = Run::of_program(&ONE_HAS_IT.replace("CAN", can), &HELD_FOR_LONG);
        run.went_to_its_end();
        let accused = run.told.contains("✗ spurious refusal: violated");
        assert_eq!(accused, is_accused, "{can}: {}", run.told);
    }
}

/// The server has granted the lock, and its client gives the try up.
const CANCELLED: [&str; 7] = [
    "{ hold-message = { client = \"a\", operation = \"acquire\", message = \"reply\" } }",
    "{ acquire = { client = \"a\", under-way = true, expect = \"unknown\" } }",
    "{ await = { held = \"a\" } }",
    "{ cancel = { client = \"a\" } }",
    "{ await = { answer-to = \"a\" } }",
    "{ heal = { fault = \"hold-message\" } }",
    "{ acquire = { client = \"a\", wait = \"10s\", expect = \"granted\" } }",
];

#[test]
fn an_acquire_is_given_up_by_tasks_and_by_processes_and_they_go_on() {
    if !have_server() {
        return;
    }
    for kind in ["task", "process"] {
        let head = format!(
            "topology.single = {{}}\nlock.token = {{ lease = \"1s\" }}\nclients.kind = \"{kind}\""
        );
        let run = Run::of(&head, &CANCELLED);
        run.went_to_its_end();
        let error = &run.last("info", "acquire", "a")["error"];
        assert_eq!(error, "cancelled by its caller", "{kind}");
        run.last("ok", "acquire", "a");
    }
}

#[test]
fn a_wait_is_given_up_between_two_tries_and_by_who_stands_in_a_queue() {
    if !have_server() {
        return;
    }
    // Redisson's fair lock keeps the place of who was interrupted, and so does ours.
    for (lock, next) in [("token", "granted"), ("redisson-fair", "not-granted")] {
        for kind in ["task", "process"] {
            let head = format!(
                "topology.single = {{}}\nlock.{lock} = {{ lease = \"20s\" }}\n\
                 clients.kind = \"{kind}\""
            );
            let last =
                format!("{{ acquire = {{ client = \"c\", wait = \"1s\", expect = \"{next}\" }} }}");
            let steps = [
                "{ acquire = { client = \"a\", expect = \"granted\" } }",
                "{ acquire = { client = \"b\", wait = \"20s\", under-way = true } }",
                "{ work = { client = \"a\", for = \"200ms\" } }",
                "{ cancel = { client = \"b\" } }",
                "{ await = { answer-to = \"b\", within = \"5s\" } }",
                "{ release = { client = \"a\" } }",
                &last,
            ];
            Run::of(&head, &steps).went_to_its_end();
        }
    }
}
