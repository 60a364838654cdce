//! `--set path=value`: what it replaces, and how it is told that it is wrong.

use lockstorm_scenarios::{Diagnostics, DurationSpec, Loaded, Lock, Override, Step, load_str};

const STORM: &str = r#"
name = "overridden"
topology.single = {}
lock.token = { lease = "2s" }
storm.duration = "5s"
"#;

const LITMUS: &str = r#"
name = "overridden"
topology.single = {}
lock.token = {}
[[step]]
acquire = { client = "a" }
"#;

fn with(text: &str, sets: &[&str]) -> Result<Loaded, Diagnostics> {
    let overrides: Vec<Override> = sets
        .iter()
        .map(|set| set.parse().expect("it is path=value"))
        .collect();
    load_str(text, "file.toml", &overrides)
}

#[test]
fn a_number_a_quoted_string_and_a_bare_word_replace_values() {
    let sets = [
        "clients.count=10",
        "lock.token.lease=\"1s\"",
        "storm.duration=250ms",
    ];
    let scenario = with(STORM, &sets).expect("all fit").scenario;
    assert_eq!(scenario.clients.count, 10);
    assert_eq!(
        scenario.lock.and_then(|lock| lock.lease()),
        Some(DurationSpec::from_secs(1))
    );
    assert_eq!(
        scenario.storm.map(|storm| storm.duration),
        Some(DurationSpec::from_millis(250))
    );
}

#[test]
fn a_whole_table_is_replaced_by_an_inline_table() {
    let sets = ["lock={ setnx = { lease = \"3s\" } }"];
    let scenario = with(STORM, &sets).expect("it fits").scenario;
    let Some(Lock::Setnx(setnx)) = scenario.lock else {
        panic!("it is the lock of the override")
    };
    assert_eq!(setnx.lease, DurationSpec::from_secs(3));
}

#[test]
fn an_index_reaches_into_a_list() {
    let scenario = with(LITMUS, &["step.0.acquire.client=b"])
        .expect("it fits")
        .scenario;
    assert!(matches!(&scenario.step[0], Step::Acquire(acquire) if acquire.client == "b"));
}

#[test]
fn a_later_override_wins() {
    let scenario = with(STORM, &["clients.count=3", "clients.count=4"])
        .expect("both fit")
        .scenario;
    assert_eq!(scenario.clients.count, 4);
}

#[test]
fn an_error_in_an_override_names_the_override() {
    let sets = [
        "clients.cuont=3",
        "clients.hold=soon",
        "lock.token.lease=0s",
        "step.4.acquire.client=b",
        "name.first=x",
    ];
    let text = format!("{STORM}step = []\n");
    insta::assert_snapshot!(with(&text, &sets).expect_err("all are wrong").render(false));
}

#[test]
fn what_is_no_override_says_so() {
    for (text, reason) in [
        ("clients.count", "has no '='"),
        ("=3", "is no path"),
        ("a..b=3", "is no path"),
        ("lock.token.lease=\"1s", "is not TOML"),
        ("matrix.locks=[{", "is not TOML"),
    ] {
        let error = text.parse::<Override>().expect_err(text).to_string();
        assert!(error.contains(reason), "{error}");
    }
}
