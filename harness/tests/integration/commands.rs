//! The commands of a hand-over, as the server tells them: the evidence that the origin gives for
//! how Redisson's lock works.

use std::collections::BTreeMap;
use std::fs;

use crate::support::{have_server, run_scenario, stderr};

const SCENARIO: &str = "scenarios/library/origin/o16-the-commands.toml";
/// The commands that make the story; the others look after the connection or tidy up.
const TOLD: [&str; 3] = ["EVAL", "SUBSCRIBE", "UNSUBSCRIBE"];
/// Deeds that tell scripts apart: one takes the lock, answers how long it has to live, or gives it
/// back and says so.
const DEEDS: [&str; 3] = ["PEXPIRE", "PTTL", "PUBLISH"];

/// A line of a MONITOR: who sent it (a script of the server's says `lua`), and the command.
fn read(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(" [")?;
    let (sender, command) = rest.split_once("] ")?;
    let (_, sender) = sender.split_once(' ')?;
    // One client has several connections, all from one address.
    let address = sender
        .rsplit_once(':')
        .map_or(sender, |(address, _)| address);
    Some((address, command.split('"').nth(1)?))
}

/// Tells who did what, in order; clients are named A, B, ... as they appear.
fn story(log: &str) -> Vec<String> {
    let mut names: BTreeMap<&str, char> = BTreeMap::new();
    let mut story: Vec<String> = Vec::new();
    for (sender, command) in log.lines().filter_map(read) {
        if sender == "lua" {
            if let (true, Some(last)) = (DEEDS.contains(&command), story.last_mut()) {
                *last = format!("{last} {command}");
            }
        } else if TOLD.contains(&command) {
            let next = char::from(b'A' + names.len() as u8);
            let name = names.entry(sender).or_insert(next);
            story.push(format!("{name} {command}"));
        }
    }
    story
}

#[test]
fn a_hand_over_shows_the_commands_that_the_origin_describes_and_no_others() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let output = run_scenario(SCENARIO, out.path(), &["--report", "none"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let log = out.path().join("latest/nodes/primary/monitor.log");
    let log = fs::read_to_string(log).expect("the scenario asks for it");
    let probe = ["C EVAL PEXPIRE", "C EVAL PUBLISH"];
    let expected = [
        "A EVAL PEXPIRE",
        "B EVAL PTTL",
        "B SUBSCRIBE",
        "B EVAL PTTL",
        "A EVAL PUBLISH",
        "B EVAL PEXPIRE",
        "B UNSUBSCRIBE",
        "B EVAL PUBLISH",
    ];
    assert_eq!(story(&log), [&expected[..], &probe].concat(), "{log}");
}

#[test]
fn a_run_that_does_not_ask_for_it_keeps_nothing_of_the_kind() {
    if !have_server() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let args = ["--report", "none", "--set", "trace=[]"];
    let output = run_scenario(SCENARIO, out.path(), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let node = out.path().join("latest/nodes/primary");
    assert!(node.join("log").is_file(), "the run has left its node");
    assert!(!node.join("monitor.log").exists());
}
