//! Every command line of the documentation is one that the program takes.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use lockstorm_harness::cli::Arguments;

use super::pages::{code_spans, fenced_lines, pages};

/// Placeholders in running text, each with something that it may stand for.
const PLACEHOLDERS: [(&str, &str); 2] = [("PROPERTY", "liveness"), ("...", "")];

/// The words of a command line as a shell would part them; a remark and a redirection end it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ') if !word.is_empty() => words.push(std::mem::take(&mut word)),
            (None, ' ') => {}
            (Some(_) | None, _) => word.push(c),
        }
    }
    let end = words
        .iter()
        .position(|word| word == "#" || word == ">" || word == "|");
    words.truncate(end.unwrap_or(words.len()));
    for (shown, meant) in PLACEHOLDERS {
        for word in words.iter_mut().filter(|word| *word == shown) {
            meant.clone_into(word);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Reason why the program would refuse it; an argument that running text leaves out is no mistake.
fn mistake(line: &str) -> Option<String> {
    let error = Arguments::try_parse_from(words(line)).err()?;
    let is_left_out = match error.kind() {
        ErrorKind::MissingRequiredArgument => true,
        // A flag is spoken of, without a value.
        ErrorKind::InvalidValue => matches!(
            error.get(ContextKind::InvalidValue),
            Some(ContextValue::String(value)) if value.is_empty()
        ),
        _ => false,
    };
    (!is_left_out).then(|| error.to_string())
}

#[test]
fn every_command_line_is_one_that_the_program_takes() {
    let mut found = 0;
    let mut broken = Vec::new();
    for (page, text) in pages() {
        let lines = code_spans(&text).into_iter().chain(fenced_lines(&text));
        for line in lines.filter(|line| line.starts_with("lockstorm ")) {
            found += 1;
            broken.extend(mistake(&line).map(|mistake| format!("{page}: {line}\n{mistake}")));
        }
    }
    assert!(found > 30, "only {found} command lines were found");
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

/// The examples that a command's help ends with.
fn examples(command: &clap::Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string);
    let lines = help.unwrap_or_default();
    let lines = lines
        .lines()
        .filter_map(|line| line.find("lockstorm ").map(|at| line[at..].to_owned()));
    lines.collect()
}

#[test]
fn every_example_of_a_help_is_one_that_the_program_takes() {
    let program = Arguments::command();
    let with_examples: Vec<Vec<String>> = std::iter::once(&program)
        .chain(program.get_subcommands())
        .map(examples)
        .filter(|examples| !examples.is_empty())
        .collect();
    assert!(with_examples.len() > 10, "{with_examples:?}");
    for line in with_examples.concat() {
        let parsed = Arguments::try_parse_from(words(&line));
        assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
    }
}

#[test]
fn a_wrong_command_line_is_noticed() {
    for wrong in [
        "lockstorm rum x.toml",
        "lockstorm run x.toml --sead 7",
        "lockstorm list lokcs",
        "lockstorm run x.toml --format xml",
    ] {
        assert!(mistake(wrong).is_some(), "{wrong}");
    }
    let right = "lockstorm run a.toml --set 'lock.token.lease=1s' --format junit > x # so";
    assert_eq!(mistake(right), None);
}
