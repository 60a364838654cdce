//! Promises of the built-in locks, kept and broken: `make promises` writes them into
//! `docs/promises.md`. The tests that always run hold the page to what it says: one run for each
//! broken promise, and the literature on what must be broken.

mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::situations::{broken, shipped};
use crate::support::{crew, have_server, have_system, is_asked_for, lockstorm, root, stderr};
use lockstorm_reports::{Record, SuiteRecord, read_record};
use lockstorm_scenarios::{Case, LockKind, Promise, Step, System, Workload, put_into, typed_lock};
use page::{Place, Row, Rows};

/// Defects that the literature states of a kind of lock, whatever it promises: each must be broken
/// by some situation. The sources are in `docs/origin.md` and in the documentation of Redis.
const STATED: [(LockKind, Promise); 14] = [
    // A client that dies between SETNX and EXPIRE leaves a lock forever.
    (LockKind::Setnx, Promise::Obtainable),
    // A plain DEL removes another's lock.
    (LockKind::Setnx, Promise::OwnRelease),
    (LockKind::PlainDel, Promise::OwnRelease),
    (LockKind::PlainDel, Promise::Exclusive),
    // Replication is asynchronous.
    (LockKind::Token, Promise::SurvivesFailover),
    (LockKind::TokenFenced, Promise::SurvivesFailover),
    // WAIT says that a replica has it, and not that this one takes over.
    (LockKind::TokenWait, Promise::SurvivesFailover),
    // A lease that is looked at by nobody may be over when the answer comes.
    (LockKind::Token, Promise::ValidOnReturn),
    (LockKind::Redisson, Promise::ValidOnReturn),
    (LockKind::Redisson, Promise::SurvivesFailover),
    // MultiLock needs all of its masters.
    (LockKind::RedissonMulti, Promise::SurvivesMinority),
    // Its queue is ordered by the clocks of its clients.
    (LockKind::RedissonFair, Promise::Fair),
    // Nobody takes back the permits of the dead, and those that end do so by clients' clocks.
    (LockKind::RedissonSemaphore, Promise::Obtainable),
    (LockKind::RedissonPermits, Promise::Permits),
];

/// How many of the situations that broke a promise are tried until one does so again.
const PLACES_MAX: usize = 3;
/// In how many runs a promise has to be kept before the page says so.
const KEPT_MIN: usize = 20;

/// The locks of the page.
fn locks() -> impl Iterator<Item = LockKind> {
    let all = LockKind::ALL.into_iter();
    all.filter(|kind| ![LockKind::Adapter, LockKind::NoLock].contains(kind))
}

/// True if the servers of a lock can be started here; says loudly if not.
fn have_servers_of(lock: LockKind) -> bool {
    let all = [
        System::Redis,
        System::Etcd,
        System::Zookeeper,
        System::Mariadb,
        System::Postgres,
    ];
    all.into_iter()
        .any(|system| lock.is_of(system) && have_system(system))
}

fn path() -> PathBuf {
    root().join("docs/promises.md")
}

fn written() -> String {
    fs::read_to_string(path()).expect("docs/promises.md is there")
}

/// The case of a lock in the situation that the page names.
fn case(lock: LockKind, place: &Place) -> Case {
    let lock = typed_lock(lock.name()).expect("it is one of ours");
    let loaded = shipped(&place.situation);
    let situation = loaded
        .scenario
        .situation
        .clone()
        .expect("it is a situation");
    let servers = situation.topologies.iter();
    let mut servers = servers.filter(|servers| servers.label() == place.topology);
    let of_hazard = |case: &Case| case.labels.hazard == place.hazard;
    let found = servers.find_map(|servers| {
        let mut hits = situation.numbers_hit().into_iter();
        hits.find_map(|hits| {
            put_into(&loaded, &lock, servers, &[], hits)
                .ok()
                .filter(of_hazard)
        })
    });
    found.unwrap_or_else(|| panic!("{place:?} does not fit any more: run 'make promises'"))
}

#[test]
fn each_broken_promise_is_broken_again_as_the_page_says() {
    if !have_server() {
        return;
    }
    let broken_promises = page::broken(&written());
    assert!(
        broken_promises.len() >= STATED.len(),
        "the page must name what is broken"
    );
    let wrong = crew::all(&broken_promises, |(lock, promise, places)| {
        // What a storm breaks is a matter of luck, and so are a few of the scripts.
        let is_storm = |place: &&Place| place.situation.starts_with("storm-");
        let mut scripts = places.iter().filter(|place| !is_storm(place)).peekable();
        scripts.peek().filter(|_| have_servers_of(*lock))?;
        let mut tried = scripts.take(PLACES_MAX);
        let is_broken = tried.any(|place| broken(&case(*lock, place)).contains(promise));
        let (lock, name) = (lock.name(), promise.name());
        (!is_broken).then(|| format!("{lock} did not break {name}: {places:?}"))
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A situation in which the holder renews, and nobody else has its lock.
const RENEWED: &str = "reply-to-renewal-lost";

/// A renewal of a lock that never ends tells its owner of no loss either.
#[test]
fn a_lock_that_its_holder_renews_is_not_lost() {
    let loaded = shipped(RENEWED);
    let situation = loaded.scenario.situation.clone();
    let servers = situation.expect("it is a situation").topologies;
    let all: Vec<LockKind> = locks().collect();
    let renewed = crew::all(&all, |lock| {
        let mut on = servers.iter();
        let servers = on.find(|servers| lock.supports(servers.kind()))?;
        let typed = typed_lock(lock.name()).expect("it is one of ours");
        let mut case = put_into(&loaded, &typed, servers, &[], None).ok()?;
        if let Workload::Litmus(steps) = &mut case.workload {
            steps.retain(|step| match step {
                Step::Acquire(step) => step.client == "a",
                Step::Renew(_) | Step::Release(_) => true,
                _ => false,
            });
            steps.truncate(3);
        }
        let broken = have_servers_of(*lock).then(|| broken(&case))?;
        Some((lock.name(), broken))
    });
    let renewed: Vec<_> = renewed.into_iter().flatten().collect();
    let is_there = |name| renewed.iter().any(|(lock, _)| *lock == name);
    assert_eq!(is_there("token"), have_servers_of(LockKind::Token));
    let wrong: Vec<_> = renewed.iter().filter(|one| !one.1.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_the_literature_denies_a_lock_is_broken_by_a_situation() {
    let broken = page::broken(&written());
    for (lock, promise) in STATED {
        let is_broken = broken
            .iter()
            .any(|found| (found.0, found.1) == (lock, promise));
        assert!(
            is_broken,
            "nothing breaks {} of {}",
            promise.name(),
            lock.name()
        );
    }
}

#[test]
fn what_is_called_kept_was_kept_in_many_runs() {
    let kept = page::kept(&written());
    assert!(!kept.is_empty(), "no promise is kept by any lock");
    for (lock, promise, runs) in kept {
        assert!(runs >= KEPT_MIN, "{lock} kept {promise} in {runs} runs");
    }
}

/// Assesses every built-in lock on all servers, with `LOCKSTORM_ONLY` those that it names, or adds
/// up the assessments whose folders are in `LOCKSTORM_ASSESSED`, with commas between them; and
/// repeats what was not kept often enough to say so. Holds the page to what comes of it. With
/// `UPDATE_PROMISES` set, writes the page.
#[test]
#[ignore = "takes two hours; make promises"]
fn what_every_built_in_lock_keeps_and_breaks() {
    assert!(have_server(), "without a server nothing is found");
    let mut rows = Rows::new();
    if let Ok(folders) = std::env::var("LOCKSTORM_ASSESSED") {
        for folder in folders.split(',').map(Path::new) {
            page::add(&mut rows, &assessment(folder));
        }
    } else {
        let names = locks().map(LockKind::name);
        let names: Vec<&str> = names.filter(|name| is_asked_for(name)).collect();
        page::add(&mut rows, &assess(&names));
    }
    for (lock, place) in seldom_kept(&rows) {
        let repeated = assess(&[
            lock.name(),
            "--only",
            &place.situation,
            "--topology",
            place.topology.split(' ').next().unwrap_or_default(),
            "--repeat",
            &KEPT_MIN.to_string(),
        ]);
        page::add(&mut rows, &repeated);
    }
    assert_eq!(seldom_kept(&rows), BTreeSet::new());
    let text = page::page(&rows, &written());
    if std::env::var_os("UPDATE_PROMISES").is_some() {
        fs::write(path(), &text).expect("docs/ can be written");
    }
    assert_eq!(page::words(&text), page::words(&written()));
}

/// Promises that were kept, but in fewer runs than it takes to say so: of each lock, a few
/// situations that tell of all of them.
fn seldom_kept(rows: &Rows) -> BTreeSet<(LockKind, Place)> {
    let mut places = BTreeSet::new();
    for (lock, promises) in rows {
        let kept = promises.values().filter(|row| row.is_kept());
        let mut seldom: Vec<&Row> = kept.filter(|row| row.kept.len() < KEPT_MIN).collect();
        let tells_of = |seldom: &[&Row], place: &Place| {
            let of_it = seldom.iter().filter(|row| row.kept.contains(place));
            of_it.count()
        };
        while let Some(row) = seldom.first() {
            let most = row.kept.iter().max_by_key(|place| tells_of(&seldom, place));
            let place = most.expect("it was kept").clone();
            seldom.retain(|row| !row.kept.contains(&place));
            places.insert((*lock, place));
        }
    }
    places
}

/// The assessment that is in this folder.
fn assessment(folder: &Path) -> SuiteRecord {
    match read_record(folder) {
        Ok(Record::Suite(suite)) => *suite,
        Ok(Record::Run(_)) => panic!("{} is no assessment", folder.display()),
        Err(error) => panic!("{error}"),
    }
}

/// An assessment that is made now.
fn assess(args: &[&str]) -> SuiteRecord {
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = lockstorm();
    command.arg("assess").args(args);
    command.args(["--jobs", "4", "--report", "none"]);
    command.args(["--progress", "none", "--out"]);
    let output = command.arg(out.path()).output();
    let output = output.expect("it can be started");
    let folders = fs::read_dir(out.path().join("assess"));
    let folder = folders.ok().and_then(|mut folders| folders.next()?.ok());
    let folder = folder.unwrap_or_else(|| panic!("{}", stderr(&output)));
    assessment(&folder.path())
}
