//! The page that says what each shipped situation does to a lock, `docs/hazards.md`: it is written
//! from the situations (`UPDATE_HAZARDS=1 cargo test -p lockstorm-scenarios`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use lockstorm_checker::history::FaultClass;
use lockstorm_scenarios::{
    FaultSpec, Loaded, Role, Scenario, Shipped, Situation, Step, Topology, load_shipped, situations,
};

const HEAD: &str = "\
# Hazards

What can go wrong with a distributed lock: the situations into which
[`lockstorm assess`](assess.md) puts one, on real servers. None of them knows the lock. Each says
which promises it puts to the test, and what no lock of any kind can prevent there.

This page is written from the files in `scenarios/library/situations`, by
`UPDATE_HAZARDS=1 cargo test -p lockstorm-scenarios`.
";

/// Part of a system that the faults of a situation befall, in the order of the page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Befallen {
    Nothing,
    Clients,
    Messages,
    Servers,
    Leadership,
    Load,
}

impl Befallen {
    const fn title(self) -> &'static str {
        match self {
            Self::Nothing => "Without a fault",
            Self::Clients => "Clients",
            Self::Messages => "Messages and connections",
            Self::Servers => "Servers",
            Self::Leadership => "Servers that take over",
            Self::Load => "Storms",
        }
    }

    fn of(scenario: &Scenario) -> Self {
        if scenario.storm.is_some() {
            return Self::Load;
        }
        let faults = scenario.step.iter().filter_map(|step| match step {
            Step::Fault(fault) => Some(Self::by(fault)),
            _ => None,
        });
        faults.fold(Self::Nothing, |so_far, one| match (so_far, one) {
            // A client that stands still is the matter, and the link only a means to it.
            (Self::Clients, Self::Messages) | (Self::Messages, Self::Clients) => Self::Clients,
            (so_far, one) => so_far.max(one),
        })
    }

    fn by(fault: &FaultSpec) -> Self {
        let of_a_node = fault.names().iter().any(|named| named.role == Role::Node);
        match fault.kind().class() {
            FaultClass::Promotion | FaultClass::Migration => Self::Leadership,
            FaultClass::Cut | FaultClass::Packet => Self::Messages,
            FaultClass::Data | FaultClass::Scripts => Self::Servers,
            _ if of_a_node => Self::Servers,
            _ => Self::Clients,
        }
    }
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn loaded(shipped: &Shipped) -> Loaded {
    load_shipped(shipped, &[]).expect("shipped situations load")
}

fn put(page: &mut String, line: &str) {
    writeln!(page, "{line}").expect("a string takes all");
}

fn entry(page: &mut String, path: &str, scenario: &Scenario, situation: &Situation) {
    let hazard = scenario.hazard.as_deref().unwrap_or(&scenario.name);
    let hits: Vec<String> = situation.hits.iter().map(u32::to_string).collect();
    let number = hits.join(" or ");
    let told = |text: &str| text.replace("{hits}", &number).trim().replace('\n', " ");
    put(page, &format!("\n### [{}](../{path})\n", told(hazard)));
    put(page, &format!("{}\n", told(&scenario.description)));
    let tests: Vec<&str> = situation
        .tests
        .iter()
        .map(|promise| promise.name())
        .collect();
    let mut tests = format!("- Puts to the test: {}", tests.join(", "));
    if !situation.tests_of_minority.is_empty() {
        let more = situation
            .tests_of_minority
            .iter()
            .map(|promise| promise.name());
        let more: Vec<&str> = more.collect();
        write!(tests, "; of a minority also {}", more.join(", ")).expect("a string takes all");
    }
    put(page, &format!("{tests}."));
    let servers: Vec<String> = situation.topologies.iter().map(Topology::label).collect();
    put(page, &format!("- Servers: {}.", servers.join(", ")));
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (property, reason) in &situation.inherent {
        reasons.entry(reason).or_default().push(property.name());
    }
    for (reason, properties) in reasons {
        put(
            page,
            &format!("- Inherent is {}: {}", properties.join(", "), told(reason)),
        );
    }
}

fn page() -> String {
    let mut groups: BTreeMap<Befallen, String> = BTreeMap::new();
    for shipped in situations() {
        let scenario = loaded(shipped).scenario;
        let situation = scenario.situation.clone().expect("it is a situation");
        let group = groups.entry(Befallen::of(&scenario)).or_default();
        entry(group, shipped.path, &scenario, &situation);
    }
    let mut page = HEAD.to_owned();
    for (group, entries) in groups {
        put(&mut page, &format!("\n## {}", group.title()));
        page.push_str(&entries);
    }
    page
}

#[test]
fn the_page_of_hazards_says_what_the_situations_do() {
    let page = page();
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
