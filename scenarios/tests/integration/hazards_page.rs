//! The pages that say what each shipped situation does to a lock, `docs/hazards.md` and those of
//! `docs/field-guide`: they are written from the situations, and from what is on record of locks in
//! them (`UPDATE_HAZARDS=1 cargo test -p lockstorm-scenarios`).

mod sufferers;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use lockstorm_checker::history::FaultClass;
use lockstorm_scenarios::{
    FaultSpec, Loaded, LockKind, Role, Scenario, Shipped, Situation, Step, Topology, load_shipped,
    numbered_by_all, put_into, situations, typed_lock,
};

use self::sufferers::Sufferers;

const HEAD: &str = "\
# Hazards

What can go wrong with a distributed lock: the situations into which
[`lockstorm assess`](assess.md) puts one, on real servers. None of them knows the lock. Each has a
page in the field guide: what happens, step by step, which locks and libraries it has broken, and
what helps.

This page and the field guide are written from the files in `scenarios/library/situations`, by
`UPDATE_HAZARDS=1 cargo test -p lockstorm-scenarios`.
";

/// Folder of the field guide in `docs`.
const GUIDE: &str = "field-guide";

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

/// The words of a situation, with the number of servers that are hit where it has them.
fn told(text: &str, situation: &Situation) -> String {
    let text = numbered_by_all(text, &situation.hits);
    text.trim().replace('\n', " ")
}

/// Name of a situation for people.
fn title(scenario: &Scenario, situation: &Situation) -> String {
    told(
        scenario.hazard.as_deref().unwrap_or(&scenario.name),
        situation,
    )
}

fn entry(page: &mut String, scenario: &Scenario, situation: &Situation) {
    let link = format!("{GUIDE}/{}.md", scenario.name);
    let (title, about) = (
        title(scenario, situation),
        told(&scenario.description, situation),
    );
    put(page, &format!("- [{title}]({link}): {about}"));
}

fn names(promises: &[lockstorm_scenarios::Promise]) -> String {
    let names: Vec<&str> = promises.iter().map(|promise| promise.name()).collect();
    names.join(", ")
}

/// The page of one situation.
fn guide(shipped: &Shipped, loaded: &Loaded, sufferers: &Sufferers) -> String {
    let scenario = &loaded.scenario;
    let situation = scenario.situation.as_ref().expect("it is a situation");
    let title = title(scenario, situation);
    let mut page = format!("# {}\n", capitalized(&title));
    put(&mut page, "\n## What happens\n");
    put(&mut page, &told(&scenario.description, situation));
    let picture = format!("{}.svg", scenario.name);
    if root().join("docs/pictures/hazards").join(&picture).exists() {
        let caption = sufferers.caption(&scenario.name);
        put(
            &mut page,
            &format!("\n![{caption}](../pictures/hazards/{picture})\n\n*{caption}*"),
        );
    }
    put(&mut page, "\n## The script\n\n```toml");
    put(&mut page, script(shipped.text));
    put(&mut page, "```\n");
    let servers: Vec<String> = situation.topologies.iter().map(Topology::label).collect();
    put(
        &mut page,
        &format!(
            "The [whole file](../../{}) gives the lock a lease, and says on which servers it means \
             the same: {}.",
            shipped.path,
            servers.join(", ")
        ),
    );
    put(&mut page, "\n## Who is hurt\n");
    put(
        &mut page,
        &format!("It puts to the test: {}.", names(&situation.tests)),
    );
    if !situation.tests_of_minority.is_empty() {
        let more = names(&situation.tests_of_minority);
        put(
            &mut page,
            &format!("Where a minority of the servers is hit, also: {more}."),
        );
    }
    page.push('\n');
    page.push_str(&sufferers.of(shipped, &title));
    put(&mut page, "\n## What helps\n");
    page.push_str(&remedies(situation));
    put(&mut page, "\n## Try it\n\n```sh");
    let lock = match tried(loaded, situation) {
        Some(kind) => kind.name(),
        // No built-in lock can be there; a library of a program's own may.
        None => "--adapter COMMAND",
    };
    put(
        &mut page,
        &format!("lockstorm assess {lock} --only {}\n```", scenario.name),
    );
    page
}

/// Says what no lock prevents, with the reason and what does; of all else, that a lock does.
fn remedies(situation: &Situation) -> String {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (property, reason) in &situation.inherent {
        reasons.entry(reason).or_default().push(property.name());
    }
    if reasons.is_empty() {
        return "A lock that keeps the promises above: none of this is inherent.\n".to_owned();
    }
    let mut text = String::new();
    for (reason, properties) in reasons {
        let inherent = properties.join(", ");
        put(
            &mut text,
            &format!(
                "- No lock prevents {inherent} here. {}",
                told(reason, situation)
            ),
        );
    }
    put(
        &mut text,
        "- A lock that keeps the promises above prevents everything else.",
    );
    text
}

/// The built-in lock that most is tested of in a situation, if any can be put into it; of equals
/// the usual one, or else the simplest.
fn tried(loaded: &Loaded, situation: &Situation) -> Option<LockKind> {
    let hits = situation.hits.first().copied();
    let tested = |kind: &LockKind| {
        let lock = typed_lock(kind.name()).ok()?;
        let mut topologies = situation.topologies.iter();
        topologies.find_map(|topology| {
            let case = put_into(loaded, &lock, topology, &[], hits).ok()?;
            Some(case.situation?.tests.len())
        })
    };
    let usual = LockKind::ALL.into_iter().rev().chain([LockKind::Token]);
    let fitting = usual.filter_map(|kind| Some((kind, tested(&kind)?)));
    fitting
        .max_by_key(|(_, tests)| *tests)
        .map(|(kind, _)| kind)
}

/// The part of a file that is played.
fn script(text: &str) -> &str {
    let begins = ["step = ", "[[step]]", "[storm]", "[clients]"];
    let at = begins
        .iter()
        .filter_map(|begin| text.find(&format!("\n{begin}")))
        .min();
    at.map_or("", |at| text[at..].trim())
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Every page, by its path below `docs`.
fn pages() -> BTreeMap<String, String> {
    let sufferers = Sufferers::read(&root());
    let mut groups: BTreeMap<Befallen, String> = BTreeMap::new();
    let mut pages = BTreeMap::new();
    for shipped in situations() {
        let loaded = loaded(shipped);
        let scenario = &loaded.scenario;
        let situation = scenario.situation.as_ref().expect("it is a situation");
        let group = groups.entry(Befallen::of(scenario)).or_default();
        entry(group, scenario, situation);
        let path = format!("{GUIDE}/{}.md", scenario.name);
        pages.insert(path, guide(shipped, &loaded, &sufferers));
    }
    let mut page = HEAD.to_owned();
    for (group, entries) in groups {
        put(&mut page, &format!("\n## {}\n", group.title()));
        page.push_str(&entries);
    }
    pages.insert("hazards.md".to_owned(), page);
    pages
}

#[test]
fn the_pages_of_hazards_say_what_the_situations_do() {
    let docs = root().join("docs");
    let pages = pages();
    if std::env::var_os("UPDATE_HAZARDS").is_some() {
        let _ = fs::remove_dir_all(docs.join(GUIDE));
        fs::create_dir_all(docs.join(GUIDE)).expect("docs/ can be written");
        for (path, page) in &pages {
            fs::write(docs.join(path), page).expect("docs/ can be written");
        }
    }
    let there = fs::read_dir(docs.join(GUIDE)).expect("docs/field-guide is there");
    assert_eq!(there.count() + 1, pages.len(), "a page for each situation");
    for (path, page) in pages {
        let written = fs::read_to_string(docs.join(&path)).unwrap_or_default();
        assert!(
            written == page,
            "docs/{path} is out of date: UPDATE_HAZARDS=1 cargo test -p lockstorm-scenarios"
        );
    }
}
