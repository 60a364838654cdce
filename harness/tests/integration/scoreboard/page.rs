//! The page of all libraries.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lockstorm_reports::{Answer, RunRecord, SuiteRecord, TerminalOptions, terminal_run};
use lockstorm_scenarios::Promise;

use super::evidence::{Confirmed, Evidence, TIMES};
use super::list::Library;
use crate::support::root;

/// Words in the place of a reason that nobody has looked up.
pub const NO_WHY: &str = "Why is not known yet.";

const HEAD: &str = "\
# Scoreboard

Lock libraries that people use, each pinned and unmodified, with its own defaults, put into every
[situation](hazards.md) that fits it by `lockstorm assess`. No situation knows any of them. A
promise is called broken if one scenario broke it five times out of five; that scenario is kept, and
repeats it on any machine. What is kept was kept in every run that could tell, which proves nothing
about other runs.

A promise that a library does not make is not counted against it. Whether a finding matters depends
on the use: most locks with a lease, for instance, do not look at how long the answer took, and for
short work under a long lease that may never be seen.

Each row stands for the servers that its section names; others were not tried.

This page is written by `make scoreboard`, from real runs. To repeat a finding, run the `setup` of
the adapter, and the command below it, in the checkout.
";

/// Reasons that the page gives for what could not be told.
const REASONS_MAX: usize = 15;

/// Fate of a promise of a library.
#[derive(Default)]
struct Row {
    is_promised: bool,
    kept: usize,
    broken: usize,
}

type Rows = BTreeMap<Promise, Row>;

fn rows(suite: &SuiteRecord) -> Rows {
    let mut rows = Rows::new();
    for outcome in suite.runs.iter().flat_map(|run| run.record.outcomes()) {
        let row = rows.entry(outcome.promise).or_default();
        row.is_promised |= outcome.is_promised;
        match outcome.seen {
            Answer::Kept => row.kept += 1,
            Answer::Broken => row.broken += 1,
            Answer::CouldNotTell | Answer::NotPromised => {}
        }
    }
    rows
}

/// The whole page.
pub fn page(all: &[(Library, Evidence)]) -> String {
    let mut page = HEAD.to_owned();
    let head: Vec<&str> = Promise::OF_EVERY_LOCK.map(Promise::name).to_vec();
    put(
        &mut page,
        &format!("\n| library | {} | beyond |", head.join(" | ")),
    );
    put(
        &mut page,
        &format!("|---|{}", "---|".repeat(head.len() + 1)),
    );
    for (library, evidence) in all {
        put(&mut page, &line(library, evidence));
    }
    put(
        &mut page,
        "\n✓ kept, ✗ broken, ? could not tell, · not promised",
    );
    put(&mut page, &totals(all));
    for (library, evidence) in all {
        section(&mut page, library, evidence);
    }
    untold(&mut page, all);
    page
}

fn line(library: &Library, evidence: &Evidence) -> String {
    let rows = rows(&evidence.suite);
    let every = Promise::OF_EVERY_LOCK.iter();
    let every = every.map(|promise| mark(rows.get(promise), *promise, evidence));
    let beyond = rows
        .iter()
        .filter(|(promise, row)| row.is_promised && !Promise::OF_EVERY_LOCK.contains(promise));
    let beyond = beyond.map(|(promise, row)| {
        format!("{} {}", promise.name(), mark(Some(row), *promise, evidence))
    });
    let every: Vec<&str> = every.collect();
    let beyond: Vec<String> = beyond.collect();
    let name = format!("[{}](#{})", name(evidence), library.slug());
    format!("| {name} | {} | {} |", every.join(" | "), beyond.join(", "))
}

/// Name of the library, with its version.
pub fn name(evidence: &Evidence) -> &str {
    let first = evidence.suite.runs.first();
    first.map_or("", |run| run.record.labels.lock.as_str())
}

fn mark(row: Option<&Row>, promise: Promise, evidence: &Evidence) -> &'static str {
    let is_confirmed = |found: &Confirmed| found.promise == promise && found.times == TIMES;
    match row {
        Some(row) if !row.is_promised => "·",
        Some(_) if evidence.confirmed.iter().any(is_confirmed) => "✗",
        Some(row) if row.broken > 0 || row.kept == 0 => "?",
        Some(_) => "✓",
        None => "·",
    }
}

fn totals(all: &[(Library, Evidence)]) -> String {
    let runs: usize = all
        .iter()
        .map(|(_, evidence)| evidence.suite.runs.len())
        .sum();
    let confirmed = all.iter().flat_map(|(_, evidence)| &evidence.confirmed);
    let confirmed = confirmed.filter(|found| found.times == TIMES).count();
    let reasons = reasons(all);
    let untold: usize = reasons.values().sum();
    format!(
        "\n{} ways to use a library, {runs} runs, {confirmed} broken promises, each confirmed \
         {TIMES} of {TIMES} times; {untold} answers could not be told.",
        all.len()
    )
}

/// Reasons why a run could not tell of a promise of its library, and how often each was given. They
/// are the same but for numbers and for what is said of them after a colon.
fn reasons(all: &[(Library, Evidence)]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    let runs = all.iter().flat_map(|(_, evidence)| &evidence.suite.runs);
    for outcome in runs.flat_map(|run| run.record.outcomes()) {
        let reason = outcome.reason.unwrap_or_default();
        if outcome.is_promised && outcome.seen == Answer::CouldNotTell {
            *reasons.entry(without_numbers(&reason)).or_default() += 1;
        }
    }
    reasons
}

/// The words of a reason up to its second colon, with `N` for each number.
fn without_numbers(reason: &str) -> String {
    let words = reason.split_inclusive(": ").take(2).collect::<String>();
    let mut out = String::new();
    for c in words.trim_end_matches([':', ' ']).chars() {
        let c = if c.is_ascii_digit() { 'N' } else { c };
        if c != 'N' || !out.ends_with('N') {
            out.push(c);
        }
    }
    out
}

/// Table of the commonest reasons.
fn untold(page: &mut String, all: &[(Library, Evidence)]) {
    let reasons = reasons(all);
    let mut commonest: Vec<(&String, usize)> = reasons.iter().map(|(r, n)| (r, *n)).collect();
    commonest.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let rest: usize = commonest.iter().skip(REASONS_MAX).map(|(_, n)| n).sum();
    put(page, "\n## What could not be told\n");
    put(page, "| answers | reason |\n|---|---|");
    for (reason, times) in commonest.iter().take(REASONS_MAX) {
        put(page, &format!("| {times} | {reason} |"));
    }
    if rest > 0 {
        put(page, &format!("| {rest} | other reasons |"));
    }
}

fn section(page: &mut String, library: &Library, evidence: &Evidence) {
    let suite = &evidence.suite;
    put(page, &format!("\n<a id=\"{}\"></a>\n", library.slug()));
    put(page, &format!("## {}\n", name(evidence)));
    let on = library.topologies.join(", ");
    let date = suite.started.split('T').next().unwrap_or_default();
    let environment = suite.runs.first().map(|run| &run.record.environment);
    let server = environment.map_or_else(String::new, |known| known.server.clone());
    put(
        page,
        &format!(
            "{} runs on {on} servers ({server}), {date}. [About the adapter]({}).\n",
            suite.runs.len(),
            library.readme()
        ),
    );
    let command = format!(
        "lockstorm assess --adapter '{}' --topology {}",
        library.command(),
        library.topologies.join(",")
    );
    put(page, &format!("```sh\n{command}\n```"));
    for found in &evidence.confirmed {
        put(page, &format!("\n{}", finding(library, found)));
        if let Some(story) = story(suite, found) {
            put(page, &format!("\n```text\n{story}\n```"));
        }
    }
}

fn finding(library: &Library, found: &Confirmed) -> String {
    let (promise, hazard) = (found.promise.name(), &found.hazard);
    let why = library.why(found.promise);
    if found.times < TIMES {
        let why = why.map_or_else(String::new, |why| format!(" {why}"));
        return format!(
            "**{promise}**, not confirmed: broken in the assessment by *{hazard}*, and {} of \
             {TIMES} times when it was run again.{why}",
            found.times
        );
    }
    let (file, why) = (&found.file, why.unwrap_or(NO_WHY));
    format!("**{promise}** is broken by *{hazard}*. {why}\n\n```sh\nlockstorm run {file}\n```")
}

/// Story of the finding, as the terminal tells it of the run in the assessment; or the answer that
/// broke the promise.
fn story(suite: &SuiteRecord, found: &Confirmed) -> Option<String> {
    let runs = suite.runs.iter().map(|run| &run.record);
    let mut of_hazard = runs.filter(|run| run.labels.hazard == found.hazard);
    of_hazard.find_map(|run| {
        let breaks = format!(", breaks {}", found.promise.name());
        let text = terminal_run(&of_any_checkout(run), TerminalOptions::default());
        let lines = text.lines().skip_while(|line| !line.ends_with(&breaks));
        let story: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        if !story.is_empty() {
            return Some(story.join("\n"));
        }
        let by_answer = run.situation.as_ref()?.broken_by_answer == Some(found.promise);
        run.stopped.clone().filter(|_| by_answer)
    })
}

/// The run with the files of this checkout named as from its root.
fn of_any_checkout(run: &RunRecord) -> RunRecord {
    let text = serde_json::to_string(run).expect("it can be written as JSON");
    let root = format!("{}/", root().display());
    serde_json::from_str(&text.replace(&root, "")).expect("it was just written")
}

/// The findings that a page names: each promise with the scenario that breaks it.
pub fn found(page: &str) -> Vec<(Promise, &str)> {
    let mut found = Vec::new();
    let mut broken = None;
    for line in page.lines() {
        let named = line
            .strip_prefix("**")
            .and_then(|rest| rest.split_once("** is broken"));
        if let Some((name, _)) = named {
            broken = Promise::ALL
                .into_iter()
                .find(|promise| promise.name() == name);
        }
        let file = line.strip_prefix("lockstorm run ");
        if let (Some(promise), Some(file)) = (broken, file) {
            found.push((promise, file));
            broken = None;
        }
    }
    found
}

fn put(page: &mut String, line: &str) {
    writeln!(page, "{line}").expect("a string takes all");
}
