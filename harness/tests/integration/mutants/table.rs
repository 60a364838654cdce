//! The page with what breaks each mutant: how it is written, and how it is read.

use std::fmt::Write as _;

use lockstorm_scenarios::{LockKind, Mutant, Promise};

const HEAD: &str = "\
# Mutants

Known-bad locks: each is one of Lockstorm's own with one mistake, as authors of locks make it.
`lockstorm list mutants` lists them, and any scenario with that lock takes one, as `assess` does:

```sh
lockstorm assess 'redisson-fair={mutant=\"nobody-is-woken\"}' --only waiter-is-woken
```

In a file it is `lock.redisson-fair = { lease = \"30s\", mutant = \"nobody-is-woken\" }`.

The tables show by which promise and in which of the shipped situations `lockstorm assess` finds
each mistake: the first three that do, of those on other servers than Sentinel and Cluster, in the
order in which `assess` runs them. No situation knows of any mutant. A promise counts only if the
correct lock did not break it in the same situation.

This page is written by `make mutants`, from real runs; `make test` repeats a catch of each mutant.
";

/// A situation that broke a mutant, and the promises that the correct lock did not break there.
pub struct Catch {
    pub situation: String,
    pub broken: Vec<Promise>,
}

/// Mutants of one lock, with what was seen of them.
pub struct Section {
    pub lock: LockKind,
    pub mutants: Vec<(Mutant, Vec<Catch>)>,
}

impl Section {
    fn write(&self, page: &mut String) {
        line(page, &format!("\n## {}\n", self.lock.name()));
        line(page, "| mutant | mistake | broken promises |");
        line(page, "|---|---|---|");
        for (mutant, catches) in &self.mutants {
            let cells: Vec<String> = catches.iter().map(cell).collect();
            let (name, mistake) = (mutant.name(), mutant.summary());
            line(
                page,
                &format!("| `{name}` | {mistake} | {} |", cells.join("; ")),
            );
        }
    }
}

fn cell(catch: &Catch) -> String {
    let names: Vec<&str> = catch.broken.iter().map(|promise| promise.name()).collect();
    let situation = &catch.situation;
    let place = format!("../scenarios/library/situations/{situation}.toml");
    format!("{}: [{situation}]({place})", names.join(", "))
}

fn line(page: &mut String, text: &str) {
    writeln!(page, "{text}").expect("a string takes all");
}

/// The whole page.
pub fn page(sections: &[Section]) -> String {
    let mut page = HEAD.to_owned();
    for section in sections {
        section.write(&mut page);
    }
    page
}

/// Catches of a mutant that the page names, in its order.
pub fn catches(page: &str, mutant: Mutant) -> Vec<Catch> {
    let begin = format!("| `{}` |", mutant.name());
    let row = page.lines().find(|line| line.starts_with(&begin));
    let row = row.unwrap_or_else(|| panic!("the page has no row for {}", mutant.name()));
    let cells = row
        .trim_end_matches(" |")
        .rsplit(" | ")
        .next()
        .unwrap_or_default();
    cells.split("; ").map(read).collect()
}

fn read(cell: &str) -> Catch {
    let (names, link) = cell
        .split_once(": [")
        .expect("a cell is promises: [situation](place)");
    let broken = names.split(", ").map(|name| {
        let known = Promise::ALL
            .into_iter()
            .find(|promise| promise.name() == name);
        known.unwrap_or_else(|| panic!("{name} is no promise"))
    });
    let situation = link.split(']').next().unwrap_or_default().to_owned();
    Catch {
        situation,
        broken: broken.collect(),
    }
}
