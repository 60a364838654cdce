//! The page with the matrix: how it is written, and how it is read.

use std::fmt::Write as _;

use lockstorm_checker::Property;
use lockstorm_scenarios::{LockKind, Mutant};

const HEAD: &str = "\
# Mutants

Known-bad locks: each is one of Lockstorm's own with one mistake, as authors of locks make it.
`lockstorm list mutants` lists them, and any scenario with that lock takes one:

```sh
lockstorm run scenarios/library/mutants/the-next-in-turn-is-woken.toml \\
  --set lock.redisson-fair.mutant=nobody-is-woken
```

In a file it is `lock.redisson-fair = { lease = \"30s\", mutant = \"nobody-is-woken\" }`.

The tables show which shipped scenario, of those that need no Sentinel and no Cluster, catches
which mutant, and by which property: one that the scenario expects the correct lock to keep, and
that is violated with the mutant. The first column of each is the correct lock, which none of these
scenarios accuses. Where load is random (storms), a mutant that was caught may get away in another
run; `make test` repeats a catch of each mutant.

This page is written by `make mutants`, from real runs.
";

/// What was seen of the mutants of one lock.
pub struct Section {
    pub lock: LockKind,
    /// Scenarios that have a case for the lock, in order.
    scenarios: Vec<String>,
    /// Mutant, position of the scenario, what was violated.
    catches: Vec<(Mutant, usize, Vec<Property>)>,
}

impl Section {
    /// Nothing seen yet.
    pub fn of(lock: LockKind) -> Self {
        Self {
            lock,
            scenarios: Vec::new(),
            catches: Vec::new(),
        }
    }

    /// Notes what one run showed.
    pub fn note(&mut self, mutant: Mutant, scenario: &str, violated: Vec<Property>) {
        let known = self.scenarios.iter().position(|known| known == scenario);
        let at = known.unwrap_or_else(|| {
            self.scenarios.push(scenario.to_owned());
            self.scenarios.len() - 1
        });
        if !violated.is_empty() {
            self.catches.push((mutant, at, violated));
        }
    }

    /// The mutants that nothing caught.
    pub fn missed(&self) -> impl Iterator<Item = Mutant> {
        Mutant::of(self.lock).filter(|mutant| !self.catches.iter().any(|catch| catch.0 == *mutant))
    }

    fn write(&self, page: &mut String) {
        let caught = |at: usize| self.catches.iter().any(|catch| catch.1 == at);
        let (shown, idle): (Vec<usize>, Vec<usize>) =
            (0..self.scenarios.len()).partition(|&at| caught(at));
        let mutants: Vec<Mutant> = Mutant::of(self.lock).collect();
        let names: Vec<_> = mutants.iter().map(|mutant| code(*mutant)).collect();
        line(page, &format!("\n## {}\n", self.lock.name()));
        line(page, &format!("| | correct | {} |", names.join(" | ")));
        line(page, &format!("|---|---|{}", "---|".repeat(mutants.len())));
        for &at in &shown {
            let cells: Vec<_> = mutants
                .iter()
                .map(|mutant| self.cell(*mutant, at))
                .collect();
            let scenario = link(&self.scenarios[at]);
            line(page, &format!("| {scenario} | ✓ | {} |", cells.join(" | ")));
        }
        if !idle.is_empty() {
            let links: Vec<_> = idle.iter().map(|&at| link(&self.scenarios[at])).collect();
            line(
                page,
                &format!("\nThese catch none of them: {}.", links.join(", ")),
            );
        }
    }

    fn cell(&self, mutant: Mutant, at: usize) -> String {
        let catch = self.catches.iter().find(|c| (c.0, c.1) == (mutant, at));
        let names = catch.map(|(.., violated)| violated.iter().map(|property| property.name()));
        names.map_or_else(String::new, |names| names.collect::<Vec<_>>().join(", "))
    }
}

fn line(page: &mut String, text: &str) {
    writeln!(page, "{text}").expect("a string takes all");
}

fn link(scenario: &str) -> String {
    let name = scenario.rsplit('/').next().unwrap_or(scenario);
    format!("[{name}](../scenarios/library/{scenario}.toml)")
}

/// The whole page.
pub fn page(sections: &[Section]) -> String {
    let mut page = HEAD.to_owned();
    for section in sections {
        section.write(&mut page);
    }
    page
}

/// What the page shows as catching a mutant: the scenarios in order, each with what is violated.
pub fn catches(page: &str, mutant: Mutant) -> Vec<(String, Vec<Property>)> {
    let heading = format!("\n## {}\n", mutant.lock().name());
    let section = page.split_once(&heading).map_or("", |(_, rest)| rest);
    let section = section.split("\n## ").next().unwrap_or(section);
    let mut rows = section.lines().filter(|line| line.starts_with("| "));
    let name = code(mutant);
    let column = rows
        .next()
        .and_then(|names| cells(names).position(|cell| cell == name))
        .unwrap_or_else(|| panic!("the table of {} names {name}", mutant.lock().name()));
    rows.map(|row| (scenario(row), cells(row).nth(column).unwrap_or_default()))
        .filter(|(_, cell)| !cell.is_empty())
        .map(|(scenario, cell)| (scenario, properties(cell)))
        .collect()
}

fn code(mutant: Mutant) -> String {
    format!("`{}`", mutant.name())
}

fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.split('|').map(str::trim)
}

/// The scenario of a row.
fn scenario(row: &str) -> String {
    let link = row.split_once("(../scenarios/library/");
    link.and_then(|(_, rest)| rest.split_once(".toml)"))
        .expect("each row begins with a link to its scenario")
        .0
        .to_owned()
}

fn properties(cell: &str) -> Vec<Property> {
    let names = cell.split(", ");
    names
        .map(|name| name.parse().expect("the page names known properties"))
        .collect()
}
