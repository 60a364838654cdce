//! The page of all libraries.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lockstorm_reports::{HuntRecord, HuntSummary};
use lockstorm_scenarios::Promise;

use super::known::{Fate, Finding, Known, TIMES};
use super::list::Library;
use crate::breaking_numbers::known as hunts;

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

Each row stands for the servers that its section names, and for the situations that there were on
its day; others were not tried.

This page is written by `make scoreboard`, from real runs. To repeat a finding, run the `setup` of
the adapter, and the command below it, in the checkout.
";

/// Reasons that the page gives for what could not be told.
const REASONS_MAX: usize = 15;

/// The whole page.
pub fn page(all: &[(Library, Known)]) -> String {
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
    for (library, known) in all {
        put(&mut page, &line(library, known));
    }
    put(
        &mut page,
        "\n✓ kept, ✗ broken, ? could not tell, · not promised",
    );
    put(&mut page, &totals(all));
    for (library, known) in all {
        section(&mut page, library, known);
    }
    untold(&mut page, all);
    page
}

fn line(library: &Library, known: &Known) -> String {
    let every = Promise::OF_EVERY_LOCK.iter();
    let every = every.map(|promise| known.promises.get(promise).map_or("·", |fate| mark(*fate)));
    let beyond = known.promises.iter().filter(|(promise, fate)| {
        **fate != Fate::NotPromised && !Promise::OF_EVERY_LOCK.contains(promise)
    });
    let beyond = beyond.map(|(promise, fate)| format!("{} {}", promise.name(), mark(*fate)));
    let every: Vec<&str> = every.collect();
    let beyond: Vec<String> = beyond.collect();
    let name = format!("[{}](#{})", known.name, library.slug());
    format!("| {name} | {} | {} |", every.join(" | "), beyond.join(", "))
}

fn mark(fate: Fate) -> &'static str {
    match fate {
        Fate::NotPromised => "·",
        Fate::Kept => "✓",
        Fate::CouldNotTell => "?",
        Fate::Broken => "✗",
    }
}

fn totals(all: &[(Library, Known)]) -> String {
    let runs: usize = all.iter().map(|(_, known)| known.runs).sum();
    let confirmed = all.iter().map(|(_, known)| known.confirmed().count());
    format!(
        "\n{} ways to use a library, {runs} runs, {} broken promises, each confirmed {TIMES} of \
         {TIMES} times.",
        all.len(),
        confirmed.sum::<usize>()
    )
}

/// Reasons why a run could not tell of a promise of its library, and how often each was given.
fn reasons(all: &[(Library, Known)]) -> BTreeMap<&str, usize> {
    let mut reasons = BTreeMap::new();
    for (reason, times) in all
        .iter()
        .filter_map(|(_, known)| known.untold.as_ref())
        .flatten()
    {
        *reasons.entry(reason.as_str()).or_default() += times;
    }
    reasons
}

fn counted(all: &[(Library, Known)]) -> usize {
    let counted = all.iter().filter(|(_, known)| known.untold.is_some());
    counted.count()
}

/// Table of the commonest reasons.
fn untold(page: &mut String, all: &[(Library, Known)]) {
    let reasons = reasons(all);
    let mut commonest: Vec<(&str, usize)> = reasons.iter().map(|(r, n)| (*r, *n)).collect();
    commonest.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let rest: usize = commonest.iter().skip(REASONS_MAX).map(|(_, n)| n).sum();
    let (counted, answers) = (counted(all), reasons.values().sum::<usize>());
    put(page, "\n## What was undecided\n");
    put(
        page,
        &format!("{answers} answers of the {counted} ways whose reasons were counted:\n"),
    );
    put(page, "| answers | reason |\n|---|---|");
    for (reason, times) in commonest.iter().take(REASONS_MAX) {
        put(page, &format!("| {times} | {reason} |"));
    }
    if rest > 0 {
        put(page, &format!("| {rest} | other reasons |"));
    }
}

fn section(page: &mut String, library: &Library, known: &Known) {
    put(page, &format!("\n<a id=\"{}\"></a>\n", library.slug()));
    put(page, &format!("## {}\n", known.name));
    let on = library.topologies.join(", ");
    put(
        page,
        &format!(
            "{} runs on {on} servers ({}), {}. [About the adapter]({}).\n",
            known.runs,
            known.server,
            known.date,
            library.readme()
        ),
    );
    let command = format!(
        "lockstorm assess --adapter '{}' --topology {}",
        library.command(),
        library.topologies.join(",")
    );
    put(page, &format!("```sh\n{command}\n```"));
    for found in &known.findings {
        put(page, &format!("\n{}", finding(library, found)));
        if let Some(story) = &found.story {
            put(page, &format!("\n```text\n{story}\n```"));
        }
    }
    for promise in known.undecided() {
        let why = library.why(promise).unwrap_or(NO_WHY);
        put(
            page,
            &format!("\n**{}** could not be told. {why}", promise.name()),
        );
    }
    if let Some(record) = hunts::read(&library.slug()) {
        hunted(page, &record);
    }
}

/// The fewest faults that break it, as a hunt has found.
fn hunted(page: &mut String, record: &HuntRecord) {
    for hunted in &record.hunts {
        let summary = HuntSummary::of(hunted, "");
        let trials: u64 = hunted.sizes.iter().map(|size| size.tried).sum();
        let (on, sentences) = (&hunted.topology, summary.sentences());
        // The line begins with the same word.
        let sentences = sentences
            .iter()
            .map(|sentence| sentence.replacen("Hunted, it", "It", 1));
        let sentences: Vec<String> = sentences.collect();
        put(
            page,
            &format!(
                "\n[Hunted](hunting.md) on {on}, {trials} trials. {}.",
                sentences.join(". ")
            ),
        );
        let found = hunted.found.iter().filter(|one| one.is_promised);
        let commands: Vec<String> = found
            .map(|one| format!("lockstorm run {}", one.file))
            .collect();
        if !commands.is_empty() {
            put(page, &format!("\n```sh\n{}\n```", commands.join("\n")));
        }
    }
}

fn finding(library: &Library, found: &Finding) -> String {
    let (promise, hazard) = (found.promise.name(), &found.hazard);
    let why = library.why(found.promise);
    if !found.is_confirmed() {
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
