//! Programs that break the adapter protocol, each in its own way: the run says which and where,
//! ends, and leaves nothing behind.

use std::fs;
use std::path::Path;

use crate::support::{have_server, lockstorm, wait_until};
use serde_json::json;

/// The first two answers of a program, as it should be.
const INTRODUCTION: &str = r#"
read -r line; echo '{"id":1,"is":"hello","protocol":1,"name":"bad"}'
read -r line; echo '{"id":2,"is":"opened"}'
"#;
/// Script that introduces itself, takes the request that comes third, and goes on with `then`.
fn asked_to_acquire(then: &str) -> String {
    format!("{INTRODUCTION}read -r line\n{then}")
}

/// Runs a script of two clients, each of them this shell script, to its end: gives what is said.
fn said_of(script: &str) -> String {
    said_of_command(&["sh", "-c", script])
}

fn said_of_command(command: &[&str]) -> String {
    said_of_adapter(command, "")
}

/// Runs an adapter with more options, on a lock that is taken and given back: gives what is said.
fn said_of_adapter(command: &[&str], more: &str) -> String {
    let taken_and_given_back = "[[step]]\nacquire = { client = \"a\", expect = \"granted\" }\n\
         [[step]]\nrelease = { client = \"a\", expect = \"released\" }\n";
    said_of_steps(command, more, taken_and_given_back)
}

fn said_of_steps(command: &[&str], more: &str, steps: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let scenario = format!(
        "name = \"bad\"\ntopology.single = {{}}\n\
         lock.adapter = {{ name = \"bad\", command = {}, lease = \"1s\"{more} }}\n\
         checks.liveness-bound = \"100ms\"\n{steps}",
        json!(command)
    );
    let path = folder.path().join("bad.toml");
    fs::write(&path, scenario).expect("the file can be written");
    let output = lockstorm()
        .args(["run", "bad.toml", "--progress", "none", "--report", "none"])
        // Whatever the program leaves behind, it is in this folder.
        .current_dir(folder.path())
        .output()
        .expect("the program can be started");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    // What such a program says of locks may accuse the lock as well: then the code is 1.
    assert!(matches!(output.status.code(), Some(1 | 2)), "{text}");
    wait_until("nothing is left", || processes_in(folder.path()) == 0);
    for log in fs::read_dir(folder.path().join("runs/latest/clients")).expect("logs are kept") {
        let data = log.expect("it can be listed").metadata();
        let size = data.expect("it is there").len();
        assert!(size < 2 << 20, "a log of {size} bytes");
    }
    text
}

/// Living processes whose current folder this is.
fn processes_in(folder: &Path) -> usize {
    let here = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
    };
    let processes = fs::read_dir("/proc").expect("this is Linux");
    processes.flatten().filter(here).count()
}

/// Each script with what has to be said of it.
fn each_is_told(cases: &[(String, &str)]) {
    if !have_server() {
        return;
    }
    for (script, expected) in cases {
        let text = said_of(script);
        // The text for people is broken into lines.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(expected), "{script}\nsaid: {text}");
        assert!(text.contains("client 'a'"), "the client is named: {text}");
    }
}

#[test]
fn a_program_that_ends_by_itself_is_told_with_its_status() {
    each_is_told(&[
        ("exit 3".into(), "it ended by itself with exit status: 3"),
        (
            asked_to_acquire("kill -TERM $$"),
            "somebody else ended it with SIGTERM",
        ),
        (
            asked_to_acquire("printf '{\"id\":3,'"),
            "after line 2 of its output, it ended in the middle of a line",
        ),
        (
            asked_to_acquire("exec >&-; sleep 1000"),
            "it closed its standard output",
        ),
    ]);
}

#[test]
fn a_program_that_does_not_exist_is_told_by_its_name() {
    if !have_server() {
        return;
    }
    let text = said_of_command(&["./no-such-program"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("client 'a' cannot be started: cannot start './no-such-program'"),
        "{text}"
    );
}

#[test]
fn a_program_that_cannot_take_part_is_told_why() {
    each_is_told(&[
        (
            "read -r line; echo '{\"id\":1,\"is\":\"hello\",\"protocol\":3,\"name\":\"bad\"}'; \
             sleep 1000"
                .into(),
            "it answered hello with version 3 of the adapter protocol, which must be 1 to 2",
        ),
        (
            "read -r line; echo '{\"id\":1,\"is\":\"hello\",\"protocol\":1,\"name\":\"bad\"}'\n\
             read -r line; echo '{\"id\":2,\"is\":\"unsupported\",\"text\":\"no such servers\"}'\n\
             sleep 1000"
                .into(),
            "it cannot do what the scenario asks for: no such servers",
        ),
        (
            asked_to_acquire(r#"echo '{"id":3,"is":"unsupported","text":"keys"}'; sleep 1000"#),
            "it does not support 'acquire': keys",
        ),
    ]);
}

#[test]
fn a_program_that_lies_is_told_with_the_line() {
    each_is_told(&[
        (
            "echo Starting up ...; sleep 1000".into(),
            "line 1 of its output: no JSON: expected value at line 1 column 1: \
             'Starting up ...'",
        ),
        (
            asked_to_acquire(r#"echo '{"id":3,"is":"perhaps"}'; sleep 1000"#),
            "line 3 of its output: no line of the protocol: unknown variant `perhaps`",
        ),
        (
            asked_to_acquire(r#"echo '{"id":3,"is":"granted","token":-1}'; sleep 1000"#),
            "line 3 of its output: no line of the protocol",
        ),
        (
            asked_to_acquire(r#"echo '{"id":99,"is":"granted"}'; sleep 1000"#),
            "there was no request 99",
        ),
        (
            asked_to_acquire(
                r#"echo '{"id":3,"is":"granted"}'; echo '{"id":3,"is":"granted"}'; sleep 1000"#,
            ),
            "line 4 of its output: request 3 was answered before",
        ),
        (
            asked_to_acquire(r#"echo '{"id":3,"is":"released"}'; sleep 1000"#),
            "it answered 'acquire' with 'released'",
        ),
        (
            asked_to_acquire(r#"echo '{"note":"lost","key":"lock"}'; sleep 1000"#),
            "it was never granted this lock",
        ),
        (
            asked_to_acquire(
                r#"echo '{"note":"renewed","number":1,"outcome":{"is":"renewed"}}'; sleep 1000"#,
            ),
            "it answers renewal 1, which is not under way",
        ),
    ]);
}

#[test]
fn a_library_that_crashes_in_a_call_is_found_with_its_last_words() {
    if !have_server() {
        return;
    }
    for (script, expected) in [
        ("exit 4", "(exit status: 4)"),
        ("kill -SEGV $$", "(signal: 11"),
        (
            "yes >&2 & head -c 9000000 /dev/zero >&2; exit 5",
            "(exit status: 5)",
        ),
    ] {
        let text = said_of(&asked_to_acquire(script));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let claim = "in the call 'acquire' on \"lock\"";
        assert!(text.contains("✗ progress: violated"), "{text}");
        assert!(text.contains("the process of a ended by itself"), "{text}");
        assert!(text.contains(expected) && text.contains(claim), "{text}");
    }
    let text = said_of(&asked_to_acquire("echo 'no more room' >&2; exit 4"));
    assert!(
        text.contains("a failed; its last words: no more room"),
        "{text}"
    );
}

/// A program that grants, renews and releases whatever it is asked for.
fn grants_to_all() -> String {
    format!(
        r#"{INTRODUCTION}
        n=2
        while read -r line; do
            n=$((n + 1))
            case $line in
                *acquire*) is=granted ;;
                *renew*) is=renewed ;;
                *) is=released ;;
            esac
            echo "{{\"id\":$n,\"is\":\"$is\"}}"
        done"#
    )
}

/// Renewals that the harness sent for a library without a watchdog are not told as the library's.
#[test]
fn a_renewal_that_the_harness_sent_is_told_as_its_own() {
    if !have_server() {
        return;
    }
    let steps = "[[step]]\nacquire = { client = \"a\", expect = \"granted\" }\n\
         [[step]]\nwork = { client = \"a\", for = \"1500ms\" }\n\
         [[step]]\nacquire = { client = \"b\", expect = \"granted\" }\n";
    let command = ["sh", "-c", &grants_to_all()];
    let said = said_of_steps(&command, ", renew-every = \"300ms\"", steps);
    let text = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("the harness renewed for a \"lock\""),
        "{said}"
    );
    assert!(!text.contains("a renewed"), "{said}");
}

/// Locks that the harness goes on renewing are kept by no watchdog of the library.
#[test]
fn the_faults_of_a_watchdog_are_refused_where_the_harness_renews() {
    if !have_server() {
        return;
    }
    let grants = grants_to_all();
    for (fault, told) in [
        ("kill-thread", "cannot kill the thread of client 'a'"),
        ("stall-watchdog", "cannot stall the watchdog of client 'a'"),
    ] {
        let steps = format!(
            "[[step]]\nacquire = {{ client = \"a\", expect = \"granted\" }}\n\
             [[step]]\n{fault} = {{ client = \"a\" }}\n"
        );
        let said = said_of_steps(&["sh", "-c", &grants], ", renew-every = \"900ms\"", &steps);
        let text = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let told = format!("{told}: its library has no watchdog: the harness renews for it");
        assert!(text.contains(&told), "{fault}: {said}");
        assert!(text.contains("UNDECIDED"), "{fault}: {said}");
    }
}

#[test]
fn a_program_that_floods_is_told_and_fills_neither_memory_nor_disk() {
    each_is_told(&[
        (
            asked_to_acquire("head -c 100000000 /dev/zero | tr '\\0' x; sleep 1000"),
            "after line 2 of its output, it has a line of more than 65536 bytes",
        ),
        (
            asked_to_acquire("yes '{\"note\":\"queued\",\"key\":\"lock\"}'"),
            "more than 1000 notes between two answers",
        ),
        (asked_to_acquire("yes"), "line 3 of its output: no JSON"),
    ]);
}

#[test]
fn a_program_that_keeps_silent_is_given_up_after_the_limit() {
    if !have_server() {
        return;
    }
    let silent = asked_to_acquire("sleep 1000");
    for (more, limit) in [
        ("", "within 10.000 s"),
        (", answers-within = \"2s\"", "within 2.000 s"),
    ] {
        let text = said_of_adapter(&["sh", "-c", &silent], more);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Where the harness stood still meanwhile, it is the final phase that accuses it.
        let expected = format!(" did not answer 'acquire' on \"lock\" {limit}");
        assert!(text.contains("✗ progress: violated"), "{text}");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn a_request_without_an_answer_breaks_what_its_step_says_and_one_of_the_dead_does_not() {
    if !have_server() {
        return;
    }
    let steps = "situation.tests = [\"obtainable\", \"settles\"]\n\
         [[step]]\nacquire = { client = \"a\", expect = \"granted\", breaks = \"obtainable\" }\n";
    for (then, broken) in [
        ("sleep 1000", "broken: obtainable, settles"),
        ("exit 4", "broken: settles"),
    ] {
        let script = asked_to_acquire(then);
        let more = ", answers-within = \"2s\"";
        let text = said_of_steps(&["sh", "-c", &script], more, steps);
        assert!(text.contains(broken), "{then}: {text}");
    }
}
