//! The shipped situations: each is in the program, and fits the locks that it can.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lockstorm_scenarios::{
    Case, Expected, Loaded, Lock, Promise, expand, load_shipped, load_str, put_into, situations,
    typed_lock,
};
use serde_json::json;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("library/situations")
}

fn shipped() -> Vec<Loaded> {
    let loaded = situations()
        .into_iter()
        .map(|shipped| match load_shipped(shipped, &[]) {
            Ok(loaded) => loaded,
            Err(mistakes) => panic!("{}", mistakes.render(false)),
        });
    loaded.collect()
}

#[test]
fn every_file_of_the_folder_is_in_the_program() {
    let files = fs::read_dir(folder()).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let shipped = situations().into_iter().map(|shipped| {
        let path = Path::new(shipped.path);
        path.file_name().unwrap().to_str().unwrap().to_owned()
    });
    assert_eq!(files, shipped.collect());
}

#[test]
fn a_situation_has_the_name_of_its_file() {
    for (loaded, shipped) in shipped().iter().zip(situations()) {
        assert_eq!(shipped.name(), loaded.scenario.name);
    }
}

/// Promises that are put to the test on servers of Redis only: to outlive a failover to a replica,
/// and a restart with what the disk has.
const OF_REDIS: [Promise; 2] = [Promise::SurvivesFailover, Promise::SurvivesRestart];

#[test]
fn every_promise_is_put_to_the_test_on_every_system() {
    let mut tested: BTreeMap<&str, BTreeSet<Promise>> = BTreeMap::new();
    for loaded in shipped() {
        let situation = loaded.scenario.situation.unwrap();
        let promises = situation.tests.into_iter();
        let promises: BTreeSet<_> = promises.chain(situation.tests_of_minority).collect();
        for topology in &situation.topologies {
            let known = tested.entry(topology.kind().system().name()).or_default();
            known.extend(&promises);
        }
    }
    let systems = ["Redis", "etcd", "ZooKeeper", "MariaDB", "PostgreSQL"];
    assert_eq!(
        tested.keys().copied().collect::<BTreeSet<_>>(),
        systems.into()
    );
    for (system, tested) in tested {
        let all = Promise::ALL.into_iter();
        let wanted = all.filter(|promise| system == "Redis" || !OF_REDIS.contains(promise));
        assert_eq!(tested, wanted.collect(), "{system}");
    }
}

#[test]
fn locks_fit_into_the_situations_or_the_reason_is_told() {
    let fits = |name: &str| {
        let lock = typed_lock(name).unwrap();
        let mut fits = 0;
        for loaded in shipped() {
            let situation = loaded.scenario.situation.as_ref().unwrap();
            for topology in &situation.topologies {
                for hits in situation.numbers_hit() {
                    match put_into(&loaded, &lock, topology, &[], hits) {
                        Ok(_) => fits += 1,
                        Err(reason) => assert!(!reason.is_empty()),
                    }
                }
            }
        }
        fits
    };
    // A lock on one master, one that cannot renew, and one that asks a majority.
    assert!(fits("token") > 100, "{}", fits("token"));
    assert!(fits("plain-del") > 80, "{}", fits("plain-del"));
    assert!(fits("redlock") > 20, "{}", fits("redlock"));
}

#[test]
fn a_situation_expects_what_the_lock_promises() {
    let all = shipped();
    let failover = all
        .iter()
        .find(|loaded| loaded.scenario.name == "failover-before-replication");
    let failover = failover.unwrap();
    let on = &failover.scenario.situation.as_ref().unwrap().topologies[0];
    let token = typed_lock("token").unwrap();
    let exclusion = lockstorm_checker::Property::MutualExclusion;
    let case = put_into(failover, &token, on, &[], None).unwrap();
    assert_eq!(case.expected(exclusion), Expected::Any);
    let case = put_into(failover, &token, on, &[Promise::SurvivesFailover], None).unwrap();
    assert_eq!(case.expected(exclusion), Expected::Valid);
}

/// A library's lock that makes these promises beside those of every lock.
fn library(promises: &[Promise]) -> Lock {
    let options = json!({ "name": "it", "command": ["it"], "promises": promises });
    Lock::Adapter(serde_json::from_value(options).expect("the options are right"))
}

/// The case of a lock in the situation of this name, on the first servers of the file.
fn case(name: &str, lock: &Lock) -> Result<Case, String> {
    let all = shipped();
    let loaded = all.iter().find(|loaded| loaded.scenario.name == name);
    let loaded = loaded.expect("it is shipped");
    let situation = loaded
        .scenario
        .situation
        .as_ref()
        .expect("it is a situation");
    put_into(loaded, lock, &situation.topologies[0], &[], None)
}

#[test]
fn a_library_is_put_into_what_its_promises_name() {
    let every = library(&[]);
    for (name, promise) in [
        ("permits-are-counted", Promise::Permits),
        ("permits-of-the-dead", Promise::Permits),
        ("readers-share", Promise::SharedReaders),
        ("reader-outlives-its-lease", Promise::SharedReaders),
    ] {
        assert!(case(name, &every).is_err(), "{name}");
        let case = case(name, &library(&[promise]));
        assert!(case.is_ok(), "{name}: {case:?}");
    }
}

#[test]
fn a_lock_without_a_lease_is_put_into_none_where_one_has_to_end() {
    let endless = json!({ "name": "mine", "command": ["mine"], "expires": false });
    let endless = Lock::Adapter(serde_json::from_value(endless).unwrap());
    let why = case("client-pause", &endless).unwrap_err();
    assert_eq!(why, "its locks have no lease, and one has to end here");
    assert!(case("plain-use", &endless).is_ok());
    assert!(case("client-pause", &library(&[])).is_ok());
}

#[test]
fn a_semaphore_counts_permits_where_a_mutex_is_exclusive() {
    let semaphore = library(&[Promise::Permits]);
    let tests = |case: &Case| case.situation.clone().unwrap().tests;
    let of_one = case("plain-use", &semaphore).unwrap();
    assert_eq!(of_one.lock.permits(), 1);
    assert!(tests(&of_one).contains(&Promise::Permits));
    assert!(!tests(&of_one).contains(&Promise::Exclusive));
    let of_two = case("permits-are-counted", &semaphore).unwrap();
    assert_eq!(of_two.lock.permits(), 2);
    // Redisson's plain semaphore says that anybody may give a permit back.
    let ownerless = typed_lock("redisson-semaphore").unwrap();
    let misused = case("release-twice", &ownerless).map(|case| tests(&case));
    assert!(!misused.is_ok_and(|tests| tests.contains(&Promise::Permits)));
}

#[test]
fn a_run_of_a_situation_is_stored_as_a_scenario_of_its_own() {
    for loaded in shipped() {
        let situation = loaded.scenario.situation.as_ref().unwrap();
        for name in ["token", "redlock"] {
            let lock = typed_lock(name).unwrap();
            for topology in &situation.topologies {
                let Ok(case) = put_into(&loaded, &lock, topology, &[], None) else {
                    continue;
                };
                let text = lockstorm_scenarios::effective(&case);
                let again = match load_str(&text, "stored.toml", &[]) {
                    Ok(again) => expand(&again).unwrap().cases.remove(0),
                    Err(mistakes) => panic!("{}\n{text}", mistakes.render(false)),
                };
                assert_eq!(again.lock, case.lock);
                assert_eq!(again.workload, case.workload);
                assert_eq!(again.expect, case.expect);
            }
        }
    }
}

#[test]
fn a_situation_alone_is_nothing_to_run_and_says_what_is() {
    let loaded = &shipped()[0];
    let error = expand(loaded).unwrap_err().render(false);
    assert!(error.contains("lockstorm assess token"), "{error}");
}

#[test]
fn mistakes_in_a_situation_are_told_at_their_place() {
    let wrong = r#"
name = "wrong"
situation.tests = ["exclusive"]
situation.lease = "0s"
situation.inherent.mutual-exclusion = "no"
situation.inherent.lease-overrun = ""
expect = { mutual-exclusion = "valid" }
lock.token = {}
step = [{ acquire = { client = "a" } }]
"#;
    let error = load_str(wrong, "wrong.toml", &[]).unwrap_err();
    insta::assert_snapshot!(error.render(false));
}
