//! The rules on servers that someone else runs: how they are found, and what may be done to them.

use lockstorm_scenarios::{Topology, expand, load_str, to_toml};

const TOKEN: &str = "lock.token = {}\n";
const A_HOLDS: &str = "[[step]]\nacquire = { client = \"a\" }\n";
const ONE: &str = "urls = [\"redis://db.example\"]";
const WITH_A_REPLICA: &str =
    "urls = [\"redis://db.example\"], replicas = [\"redis://other.example\"]";

/// A script on servers of these options, whose steps are these.
fn script(options: &str, lock: &str, steps: &str) -> String {
    format!("name = \"rule\"\ntopology.external = {{ {options} }}\n{lock}{A_HOLDS}{steps}")
}

/// Mistakes found in such a script; nothing where it is right.
fn said(options: &str, lock: &str, steps: &str) -> String {
    let text = script(options, lock, steps);
    load_str(&text, "f", &[]).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
}

fn on(options: &str) -> String {
    said(options, TOKEN, "")
}

fn step_on(options: &str, fault: &str) -> String {
    said(options, TOKEN, &format!("[[step]]\n{fault}\n"))
}

#[test]
fn servers_are_named_by_what_they_are() {
    for (options, nodes, label) in [
        (ONE, vec!["primary"], "external (1 server)"),
        (
            WITH_A_REPLICA,
            vec!["primary", "replica-1"],
            "external (1 replica)",
        ),
        (
            "urls = [\"redis://a\", \"redis://b\", \"${THIRD}\"]",
            vec!["n1", "n2", "n3"],
            "external (3 masters)",
        ),
    ] {
        let lock = if nodes[0] == "n1" {
            "lock.redlock = {}\n"
        } else {
            TOKEN
        };
        let loaded = load_str(&script(options, lock, ""), "f", &[]);
        let topology = loaded.expect(options).scenario.topology;
        let topology = topology.expect("it names servers");
        assert_eq!(topology.nodes(), nodes);
        assert_eq!(topology.label(), label);
    }
}

#[test]
fn impossible_servers_are_refused_at_their_place_with_the_remedy() {
    for (options, wanted) in [
        ("urls = []", "there is no server"),
        ("urls = [\"http://host\"]", "neither redis:// nor rediss://"),
        (
            "urls = [\"redis://host:port\"]",
            "no number from 1 to 65535",
        ),
        ("urls = [\"redis://a\", \"redis://b\"]", "an even number"),
        (
            "urls = [\"redis://a\", \"redis://b\", \"redis://c\"], replicas = [\"redis://d\"]",
            "which of 3 masters",
        ),
        ("urls = [\"redis://a\"], prefix = \"\"", "keys of others"),
        ("urls = [\"redis://a\"], prefix = \"a b:\"", "a blank"),
        (
            "urls = [\"redis://a\"], prefix = \"{a}\"",
            "a sign that patterns use",
        ),
        (
            "urls = [\"redis://a\"], password-env = \"s3cret!\"",
            "must be the name of an environment",
        ),
        (
            "urls = [\"redis://a\"], tls = { ca = \"ca.pem\" }",
            "no url asks for TLS",
        ),
        (
            "urls = [\"rediss://a\"], tls = { cert = \"c.pem\" }",
            "add tls.key",
        ),
    ] {
        let said = on(options);
        assert!(said.contains(wanted), "{options}: {said}");
        assert!(said.starts_with("f:2:"), "{options}: {said}");
        assert!(!said.contains("s3cret"), "{said}");
    }
    assert_eq!(
        on("urls = [\"rediss://${USER}:${PASSWORD}@${HOST}:6380/1\"]"),
        ""
    );
    assert_eq!(
        on("urls = [\"${REDIS_URL}\"], tls = { ca = \"${CA}\" }"),
        ""
    );
}

#[test]
fn a_lock_suits_what_the_servers_are_like() {
    let said = said(ONE, "lock.redlock = {}\n", "");
    assert!(
        said.contains("redlock does not work on external servers"),
        "{said}"
    );
    let wait = "lock.token-wait = {}\n";
    assert!(
        self::said(ONE, wait, "").contains("does not work"),
        "there is no replica"
    );
    assert_eq!(self::said(WITH_A_REPLICA, wait, ""), "");
}

#[test]
fn faults_that_take_a_hold_on_servers_or_harm_others_are_refused_at_their_line() {
    for (fault, reason) in [
        (
            "kill = { node = \"primary\" }",
            "a hold on the server's process",
        ),
        (
            "restart = { node = \"primary\" }",
            "a hold on the server's process",
        ),
        (
            "pause = { node = \"primary\" }",
            "a hold on the server's process",
        ),
        (
            "clock = { node = \"primary\", back = \"1s\" }",
            "a hold on the server's process",
        ),
        (
            "power-cut = { node = \"primary\" }",
            "a hold on the server's process",
        ),
        (
            "slow-fsync = { node = \"primary\", by = \"1s\" }",
            "a hold on the server's process",
        ),
        (
            "cut = { from = \"a\", to = \"primary\" }",
            "not Lockstorm's to break",
        ),
        (
            "delay = { from = \"a\", to = \"primary\", by = \"9ms\" }",
            "not Lockstorm's to break",
        ),
        (
            "promote = { node = \"replica-1\" }",
            "failover has the servers",
        ),
        ("flush-all = { node = \"primary\" }", "the keys of others"),
        (
            "evict = { node = \"primary\", key = \"lock\" }",
            "the keys of others",
        ),
        (
            "migrate-slot = { key = \"lock\", to = \"primary\" }",
            "no servers of a Cluster",
        ),
        (
            "kill-connections = { node = \"primary\", of = \"replica\" }",
            "the run's own clients",
        ),
    ] {
        let said = step_on(WITH_A_REPLICA, fault);
        let word = fault.split(' ').next().expect("a fault has a word");
        let wanted = format!("f:7:1: {word} is impossible on external servers");
        assert!(said.starts_with(&wanted), "{fault}: {said}");
        assert!(said.contains(reason), "{fault}: {said}");
        assert_eq!(said.lines().count(), 1, "one mistake, told once: {said}");
    }
}

#[test]
fn faults_that_everybody_feels_need_a_permission_of_their_own() {
    for fault in [
        "flush-scripts = { node = \"primary\" }",
        "sleep = { node = \"primary\", for = \"1s\" }",
        "pause-commands = { node = \"primary\", for = \"1s\", which = \"writes\" }",
        "failover = { node = \"replica-1\" }",
    ] {
        let word = fault.split(' ').next().expect("a fault has a word");
        let said = step_on(WITH_A_REPLICA, fault);
        assert!(said.contains("is felt by everybody"), "{said}");
        assert!(said.contains(&format!("allow = [\"{word}\"]")), "{said}");
        let allowed = format!("{WITH_A_REPLICA}, allow = [\"{word}\"]");
        assert_eq!(step_on(&allowed, fault), "");
    }
}

#[test]
fn faults_of_our_own_clients_and_keys_need_no_permission() {
    for fault in [
        "kill-connections = { node = \"primary\", client = \"a\" }",
        "delete-key = { key = \"lock\" }",
        "pause-client = { client = \"a\" }",
        "kill-client = { client = \"a\" }",
    ] {
        assert_eq!(step_on(ONE, fault), "");
    }
}

#[test]
fn what_others_have_and_do_is_not_looked_at() {
    let text = format!("trace = [\"probe\"]\n{}", script(ONE, TOKEN, ""));
    let said = load_str(&text, "f", &[]).expect_err("KEYS looks at all keys");
    assert!(
        said.to_string().starts_with("f:1:1: a trace takes KEYS"),
        "{said}"
    );
}

#[test]
fn a_password_in_a_file_is_shown_by_no_mistake_in_it_and_written_nowhere() {
    let url = "urls = [\"redis://app:s3cret@db.example:6379\"]";
    let text = script(&format!("{url}, prefx = \"a:\""), TOKEN, "");
    let mistakes = load_str(&text, "f", &[]).expect_err("a key is misspelt");
    let shown = format!("{}{}{mistakes:?}", mistakes.render(false), mistakes);
    assert!(shown.contains("did you mean 'prefix'"), "{shown}");
    assert!(!shown.contains("s3cret"), "{shown}");
    let set = "topology.external.urls=[\"redis://app:s3cret@db.example:0\"]";
    let set = [set.parse().expect("it is an override")];
    let mistakes = load_str(&script(url, TOKEN, ""), "f", &set).expect_err("there is no port 0");
    let shown = format!("{}{mistakes}", mistakes.render(false));
    assert!(!shown.contains("s3cret"), "{shown}");
    let loaded = load_str(&script(url, TOKEN, ""), "f", &[]).expect("it is right");
    let case = expand(&loaded).expect("it is one case").cases.remove(0);
    let written = to_toml(&case.to_scenario());
    assert!(
        written.contains("redis://app:${LOCKSTORM_PASSWORD}@db.example:6379"),
        "{written}"
    );
    assert!(!format!("{written}{case:?}").contains("s3cret"), "{case:?}");
}

#[test]
fn a_hazard_of_one_server_fits_external_servers_that_are_like_it() {
    let external = format!("external = {{ {ONE} }}");
    let text = format!(
        "name = \"rule\"\n[matrix]\nlocks = [{{ token = {{}} }}, {{ redlock = {{}} }}]\n\
         topologies = [{{ {external} }}, {{ independent = {{}} }}]\n{A_HOLDS}"
    );
    let loaded = load_str(&text, "f", &[]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let cases = expand(&loaded).expect("it expands").cases;
    let rows: Vec<_> = cases
        .iter()
        .map(|case| {
            (
                case.lock.kind().name(),
                matches!(case.topology, Topology::External(_)),
            )
        })
        .collect();
    assert_eq!(rows, [("token", true), ("redlock", false)]);
}
