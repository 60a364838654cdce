//! The page that says which file shows which hazard on which servers, `docs/hazards.md`: it is
//! written from the files (`UPDATE_HAZARDS=1 cargo test -p lockstorm-scenarios`), and no hazard
//! lacks the servers that it is to be shown on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_scenarios::TopologyKind::{self, Cluster, Independent, Replicated, Sentinel, Single};
use lockstorm_scenarios::{Case, Expected, expand, list, load};

/// One row of the table: what goes wrong, the servers on which a file has to show it, and the
/// `hazard` of the files that do.
type Recipe = (
    &'static str,
    &'static [TopologyKind],
    &'static [&'static str],
);

/// Servers that Lockstorm starts itself: those of others are like some of them.
const STARTED: [TopologyKind; 5] = [Single, Replicated, Sentinel, Independent, Cluster];
const EVERYWHERE: &[TopologyKind] = &STARTED;
const ONE_LEADER: &[TopologyKind] = &[Single, Replicated, Sentinel, Cluster];
const WITH_REPLICAS: &[TopologyKind] = &[Replicated, Sentinel, Cluster];

const RECIPES: &[Recipe] = &[
    (
        "a. A failover loses the lock",
        WITH_REPLICAS,
        &[
            "failover",
            "takeover",
            "takeover out of step",
            "planned failover",
            "planned failover, stock timers",
            "nodes lost",
            "nodes lost, short lease",
            "one node lost",
            "minority out of reach",
        ],
    ),
    (
        "b. A client stands still while it holds the lock",
        EVERYWHERE,
        &[
            "client pause",
            "client pause in the middle of the job",
            "client pause in the middle of the job, fenced",
        ],
    ),
    (
        "b2. A client stands still before it has the answer",
        EVERYWHERE,
        &["client pause before the answer"],
    ),
    (
        "c. A server's clock jumps",
        EVERYWHERE,
        &["clock jumps", "clock drifts"],
    ),
    (
        "c2. The clock of a replica is ahead",
        WITH_REPLICAS,
        &["clock ahead, failover"],
    ),
    (
        "d. A server forgets",
        EVERYWHERE,
        &[
            "amnesia",
            "late amnesia",
            "amnesia after WAIT",
            "restart",
            "stop",
            "power cut",
        ],
    ),
    (
        "e. Two sides, two leaders",
        &[Sentinel, Cluster, Independent],
        &[
            "partition",
            "split brain",
            "primary pause",
            "primary pause, stock timers",
        ],
    ),
    (
        "f. WAIT, then a failover",
        WITH_REPLICAS,
        &[
            "failover after WAIT",
            "failover after WAIT for one of two",
            "failover after WAIT for all",
            "failover in step",
        ],
    ),
    (
        "f2. WAIT fails",
        WITH_REPLICAS,
        &[
            "WAIT fails",
            "WAIT fails, nothing is taken back",
            "WAIT fails, client dies",
        ],
    ),
    (
        "g. min-replicas-to-write",
        WITH_REPLICAS,
        &["window of min-replicas", "split brain with min-replicas"],
    ),
    (
        "h. A release deletes another's lock",
        ONE_LEADER,
        &["late release"],
    ),
    (
        "i. SETNX, then EXPIRE",
        ONE_LEADER,
        &["crash before EXPIRE"],
    ),
    (
        "j. Work outlasts the lease",
        EVERYWHERE,
        &["work outlasts lease", "work outlasts lease, renewed"],
    ),
    (
        "k. The watchdog of a client stalls",
        EVERYWHERE,
        &[
            "watchdog stalls: client pause",
            "watchdog stalls: link cut",
            "watchdog stalls: timer blocked",
            "client pause, client death",
            "waits for a second lock",
        ],
    ),
    (
        "k2. The watchdog of a client never stops",
        EVERYWHERE,
        &["watchdog never stops"],
    ),
    (
        "l. Replies get lost",
        EVERYWHERE,
        &["replies lost", "unlock sent again", "connection closed"],
    ),
    (
        "m. Readers and writers",
        ONE_LEADER,
        &[
            "readers and a writer",
            "read unlock inside a write hold",
            "downgrade with a waiting reader",
            "stale reader",
            "reader dies",
            "reader dies, own holds kept",
            "writer enters again and dies",
            "upgrade",
            "overlapping readers",
        ],
    ),
    (
        "n. The head of a fair queue dies",
        ONE_LEADER,
        &["a waiter dies"],
    ),
    (
        "o. A client's clock is wrong",
        EVERYWHERE,
        &["client's clock jumps"],
    ),
    ("p. The memory is full", EVERYWHERE, &["eviction"]),
    (
        "q. Scripts are forgotten",
        EVERYWHERE,
        &["scripts forgotten"],
    ),
    (
        "r. A slot moves",
        &[Cluster],
        &["slot moves", "slot half-way"],
    ),
    ("s. The vote is split", &[Independent], &["vote split"]),
    (
        "t. A SET arrives after the release",
        &[Independent],
        &["late SET"],
    ),
    (
        "u. A renewal does not heal the quorum",
        &[Independent],
        &["amnesia after a renewal"],
    ),
    (
        "v. A renewal takes a free lock",
        ONE_LEADER,
        &["renewal takes a free lock"],
    ),
];

const HEAD: &str = "\
# Hazards

What can go wrong with a distributed lock, and the files of `scenarios/library/hazards/` that show
it on real servers, by the topology on which they do. Beside each file stands what it expects to be
violated (✗); where nothing does, the lock is expected to keep its promises there. `lockstorm run`
says of each whether it came out so.

This page is written from the files, by `UPDATE_HAZARDS=1 cargo test -p lockstorm-scenarios`.
";

/// For each hazard, what its files expect on which servers: lines of cells.
type Cells = BTreeMap<String, BTreeMap<TopologyKind, Vec<String>>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn cells() -> Cells {
    let mut cells = Cells::new();
    let files = list(&root().join("scenarios/library/hazards")).expect("the library is there");
    for file in files {
        let loaded = load(&file.path, &[]).expect("shipped files load");
        for case in expand(&loaded).expect("shipped files expand").cases {
            let hazard = cells.entry(case.labels.hazard.clone()).or_default();
            let cell = hazard.entry(case.topology.kind()).or_default();
            let line = line(&case);
            if !cell.contains(&line) {
                cell.push(line);
            }
        }
    }
    cells
}

/// A file, with what it expects to be violated.
fn line(case: &Case) -> String {
    let path = format!("../scenarios/library/hazards/{}.toml", case.name);
    let violated = case
        .expect
        .iter()
        .filter(|(_, what)| **what == Expected::Violated);
    let violated: Vec<_> = violated.map(|(property, _)| property.name()).collect();
    let cross = if violated.is_empty() { "" } else { " ✗ " };
    format!("[{}]({path}){cross}{}", case.name, violated.join(", "))
}

fn row(page: &mut String, title: &str, hazards: &[&str], cells: &Cells) {
    write!(page, "| {title} |").expect("a string takes all");
    for kind in STARTED {
        let of = |hazard: &&str| cells.get(*hazard)?.get(&kind);
        let lines: Vec<_> = hazards.iter().filter_map(of).flatten().cloned().collect();
        write!(page, " {} |", lines.join("<br>")).expect("a string takes all");
    }
    page.push('\n');
}

fn head_of_table(page: &mut String, first: &str) {
    let kinds = STARTED.map(TopologyKind::name);
    let rule = "---|".repeat(kinds.len());
    writeln!(page, "\n| {first} | {} |\n|---|{rule}", kinds.join(" | "))
        .expect("a string takes all");
}

fn page(cells: &Cells) -> String {
    let mut page = HEAD.to_owned();
    head_of_table(&mut page, "what goes wrong");
    for (title, _, hazards) in RECIPES {
        row(&mut page, title, hazards, cells);
    }
    page.push_str("\n## Others\n\nFurther hazards, and controls that accuse nobody.\n");
    head_of_table(&mut page, "hazard");
    for hazard in cells.keys() {
        if !RECIPES
            .iter()
            .any(|(.., hazards)| hazards.contains(&&**hazard))
        {
            row(&mut page, hazard, &[hazard], cells);
        }
    }
    page
}

#[test]
fn the_page_of_hazards_says_what_the_files_show() {
    let page = page(&cells());
    let path = root().join("docs/hazards.md");
    if std::env::var_os("UPDATE_HAZARDS").is_some() {
        fs::write(&path, &page).expect("docs/ can be written");
    }
    let written = fs::read_to_string(&path).expect("docs/hazards.md is there");
    assert!(
        written == page,
        "docs/hazards.md is out of date: UPDATE_HAZARDS=1 cargo test -p lockstorm-scenarios"
    );
}

#[test]
fn each_hazard_is_shown_on_all_servers_that_it_can_meet() {
    let cells = cells();
    let mut missing = Vec::new();
    for (title, kinds, hazards) in RECIPES {
        for hazard in *hazards {
            if !cells.contains_key(*hazard) {
                missing.push(format!("{title}: no file has the hazard '{hazard}'"));
            }
        }
        for kind in *kinds {
            let on = |hazard: &&str| cells.get(*hazard).is_some_and(|on| on.contains_key(kind));
            if !hazards.iter().any(on) {
                missing.push(format!("{title}: nothing on {}", kind.name()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
