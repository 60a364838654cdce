//! The page with the breaking numbers of the built-in locks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lockstorm_reports::{Endured, HuntRecord, HuntSummary, Hunted};
use lockstorm_scenarios::{LockKind, Mutant, Promise, typed_lock};

use super::known::{hunted, servers};
use super::literature::STATED;
use super::mutants::{Caught, WHY_NONE};

const HEAD: &str = "\
# How many faults break each built-in lock

Each of Lockstorm's own locks for Redis was hunted on a single server, a primary with a replica, or
independent masters, whichever it can have, and two of them on Sentinel and Cluster too, by
[`lockstorm hunt`](hunting.md): single faults of thirteen kinds at every message, then two at once,
as far as two minutes went; each list says how far that was. A number is the smallest number of
faults that break the promise, and leads to the smallest script that does so each time. `≥ 2` says
that every single fault was tried and every trial that tests the promise kept it; `≥ 1` that it was
kept where nothing went wrong, and that some single faults were not tried, could not tell, or broke
it without being confirmed; `none found` that the same is so of a promise that only faults put to
the test. What stands in brackets is not promised. Locks that are not here were not hunted yet. The
locks were hunted before hunts knew threads, lines with a newcomer, readers of unlike leases and
permits in one call, and while they waited a second for replicas: some of the mutants below were
hunted with all of that. `redisson`, `redisson-spin`, `redisson-fenced`, `redisson-fair` and
`redisson-rw` were hunted before they sent again what finds no server.

This page is written by `make breaking-numbers`, from real runs; `make test` repeats a script of
each lock.
";

const KNOWN_BAD: &str = "
## Mutants

These [mutants](mutants.md) were hunted by the same command, which knows nothing of their mistakes,
on a single server, on a primary with a replica, or on independent masters, whichever they can have.
The table has a promise that each breaks with the fewest faults, one that its lock makes before any
other, and the mistake is the reason: no hunt of the correct lock broke it with as few, or the same
script was run five times with the correct lock, which kept the promise each time. Some of those
that were not found out were hunted on one kind of these servers alone.

| mutant | promise | on | faults | which |
|---|---|---|---|---|";

/// The whole page.
pub fn page(all: &[(LockKind, HuntRecord)], mutants: &BTreeMap<String, Option<Caught>>) -> String {
    let mut page = HEAD.to_owned();
    put(&mut page, &format!("\n{}", total(all)));
    literature(&mut page, all);
    for (lock, record) in all {
        put(&mut page, &format!("\n## {}\n", lock.name()));
        put(&mut page, &format!("{}\n", lock.summary()));
        table(&mut page, record);
        details(&mut page, record);
    }
    known_bad(&mut page, mutants);
    page
}

/// The promise with which each mutant was caught.
fn known_bad(page: &mut String, mutants: &BTreeMap<String, Option<Caught>>) {
    if mutants.is_empty() {
        return;
    }
    put(page, KNOWN_BAD);
    for (name, caught) in mutants {
        let told = caught.as_ref().map_or_else(
            || {
                let mut reasons = WHY_NONE.iter();
                let why = reasons.find(|(mutant, _)| mutant.name() == name);
                let why = why.map_or("", |(_, why)| *why);
                format!("| – | | none found | {why} |")
            },
            |one| {
                let (promise, on) = (promise_of(name, one.promise), &one.topology);
                format!("| {promise} | {on} | {} | {} |", one.faults, one.plan)
            },
        );
        put(page, &format!("| `{name}` {told}"));
    }
}

/// Name of a promise that a mutant breaks, in brackets where its lock does not make it.
fn promise_of(mutant: &str, promise: Promise) -> String {
    let mut all = Mutant::ALL.into_iter();
    let known = all.find(|known| known.name() == mutant);
    let lock = known.map(|mutant| typed_lock(mutant.lock().name()));
    let is_promised = match lock {
        Some(Ok(lock)) => lock.promises().contains(&promise),
        Some(Err(_)) | None => false,
    };
    if is_promised {
        promise.name().to_owned()
    } else {
        format!("({})", promise.name())
    }
}

/// All trials in a sentence.
fn total(all: &[(LockKind, HuntRecord)]) -> String {
    let hunts = || all.iter().flat_map(|(_, record)| &record.hunts);
    let sizes = || hunts().flat_map(|hunted| &hunted.sizes);
    let tried: u64 = sizes().map(|size| size.tried).sum();
    let told: u64 = sizes().map(|size| size.told).sum();
    let seconds = hunts().map(|hunted| hunted.trials_ms).sum::<u64>() / 1000;
    let minutes = seconds / 60;
    format!("{tried} trials in {minutes} minutes, of which {told} were conclusive.")
}

/// The statements of the literature beside what was found.
fn literature(page: &mut String, all: &[(LockKind, HuntRecord)]) {
    put(page, "\n## Beside the literature\n");
    put(page, "| stated | lock | promise | found |");
    put(page, "|---|---|---|---|");
    for stated in &STATED {
        let found = hunted(all, stated.lock, stated.topology)
            .and_then(|hunt| super::known::endured(hunt, stated.promise));
        let number = found.as_ref().map_or("–".to_owned(), Endured::number);
        let by = found.and_then(|one| one.broken_by);
        let by = by.map_or_else(String::new, |by| format!(": {by}"));
        let (lock, on) = (stated.lock.name(), stated.topology.name());
        let promise = stated.promise.name();
        put(
            page,
            &format!(
                "| {} | {lock} on {on} | {promise} | {number}{by} |",
                stated.says
            ),
        );
    }
}

/// The numbers of a lock: promises down, servers across.
fn table(page: &mut String, record: &HuntRecord) {
    let summaries: Vec<HuntSummary> = record
        .hunts
        .iter()
        .map(|hunted| HuntSummary::of(hunted, ""))
        .collect();
    let servers: Vec<&str> = record
        .hunts
        .iter()
        .map(|one| one.topology.as_str())
        .collect();
    put(page, &format!("| promise | {} |", servers.join(" | ")));
    put(page, &format!("|---|{}", "---|".repeat(servers.len())));
    for promise in Promise::ALL {
        let of = |summary: &HuntSummary| {
            let mut promises = summary.promises.iter();
            promises.find(|one| one.promise == promise).cloned()
        };
        let told: Vec<Option<Endured>> = summaries.iter().map(of).collect();
        if told.iter().all(Option::is_none) {
            continue;
        }
        let cells = told.iter().zip(&record.hunts);
        let cells: Vec<String> = cells
            .map(|(one, hunted)| cell(one.as_ref(), hunted))
            .collect();
        put(
            page,
            &format!("| {} | {} |", promise.name(), cells.join(" | ")),
        );
    }
}

fn cell(endured: Option<&Endured>, hunted: &Hunted) -> String {
    let Some(endured) = endured else {
        return "–".to_owned();
    };
    let number = endured.number();
    let number = if endured.is_promised {
        number
    } else {
        format!("({number})")
    };
    let mut scripts = hunted.found.iter();
    let script = scripts.find(|found| found.promise == endured.promise);
    let number = script.map_or(number.clone(), |found| {
        format!("[{number}](../{})", found.file)
    });
    let inherent = endured
        .inherent_with
        .map_or_else(String::new, |faults| format!(", by nature with {faults}"));
    format!("{number}{inherent}")
}

/// The faults that break each promise, and how much was tried.
fn details(page: &mut String, record: &HuntRecord) {
    put(page, "");
    for hunted in &record.hunts {
        let on = servers(hunted);
        for found in &hunted.found {
            let promised = if found.is_promised {
                ""
            } else {
                ", not promised,"
            };
            put(
                page,
                &format!(
                    "- {}{promised} on {on}: {}",
                    found.promise.name(),
                    found.plan
                ),
            );
        }
        let tried = hunted.sizes.iter().skip(1).map(|size| {
            let possible = size.all.saturating_sub(size.impossible);
            format!("{} of {possible} with {}", size.tried, faults(size.faults))
        });
        let tried: Vec<String> = tried.collect();
        put(page, &format!("- tried on {on}: {}", tried.join(", ")));
    }
}

fn faults(count: usize) -> String {
    if count == 1 {
        "one fault".to_owned()
    } else {
        format!("{count} faults")
    }
}

fn put(page: &mut String, line: &str) {
    let _ = writeln!(page, "{line}");
}
