//! Rules on what a fault asks for beside its targets.

use lockstorm_scenarios::load_str;

/// Mistakes that are found in a script whose one fault is this.
fn said(fault: &str) -> String {
    said_with("task", fault)
}

/// Mistakes that are found where the clients are processes.
fn said_of_processes(fault: &str) -> String {
    said_with("process", fault)
}

fn said_with(kind: &str, fault: &str) -> String {
    let text = format!(
        "name = \"rule\"\ntopology.single = {{}}\nlock.token = {{}}\n\
         clients.kind = \"{kind}\"\n\
         [[step]]\nacquire = {{ client = \"a\" }}\n[[step]]\n{fault}\n"
    );
    load_str(&text, "f", &[]).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
}

#[test]
fn a_clock_has_to_be_wrong_in_one_way_that_can_be_seen() {
    let clock = |rest: &str| said(&format!("clock = {{ node = \"primary\"{rest} }}"));
    assert!(clock("").contains("`forward`, `back` or `speed` must be given"));
    assert!(clock(", forward = \"0s\"").contains("`forward` must be greater than 0"));
    assert!(
        clock(", forward = \"1s\", back = \"1s\"").contains("only one of `forward` and `back`")
    );
    assert!(clock(", speed = 100").contains("the true speed"));
    assert!(clock(", speed = 6001").contains("at most 6000"));
    assert!(clock(", sped = 50").contains("did you mean 'speed'?"));
    for right in [
        ", forward = \"2s\"",
        ", back = \"2s\"",
        ", speed = 0",
        ", back = \"1s\", speed = 50",
    ] {
        assert_eq!(clock(right), "", "{right}");
    }
}

#[test]
fn a_clock_is_a_servers_or_a_clients_and_not_both() {
    assert!(said("clock = { forward = \"1s\" }").contains("`node` or `client` must be given"));
    let both = "clock = { node = \"primary\", client = \"a\", forward = \"1s\" }";
    assert!(said(both).contains("only one of `node` and `client`"));
}

#[test]
fn only_a_client_that_is_a_process_has_a_clock_of_its_own() {
    let clock = "clock = { client = \"a\", forward = \"1s\" }";
    let told = said(clock);
    assert!(
        told.contains("a client that is a task has no clock of its own"),
        "{told}"
    );
    assert!(told.contains("add clients.kind = \"process\""), "{told}");
    assert_eq!(said_of_processes(clock), "");
    let ended = |end: &str| said_of_processes(&format!("{clock}\n[[step]]\nheal = {end}"));
    assert_eq!(ended("{ fault = \"clock\", client = \"a\" }"), "");
    let stranger = ended("{ fault = \"clock\", client = \"z\" }");
    assert!(stranger.contains("there is no client 'z'"), "{stranger}");
    let both = ended("{ fault = \"clock\", client = \"a\", node = \"primary\" }");
    assert!(
        both.contains("only one of a server, a client and a link"),
        "{both}"
    );
}

#[test]
fn only_a_lock_that_renews_has_a_watchdog_to_stall() {
    let kill = said("kill-thread = { client = \"a\" }");
    assert!(kill.contains("renews nothing"), "{kill}");
    let stall = "stall-watchdog = { client = \"a\" }";
    let told = said(stall);
    assert!(
        told.contains("lock.token as it is here renews nothing"),
        "{told}"
    );
    let text = format!(
        "name = \"rule\"\ntopology.single = {{}}\nlock.token.renew-every = \"500ms\"\n\
         [[step]]\nacquire = {{ client = \"a\" }}\n[[step]]\n{stall}\n"
    );
    assert!(load_str(&text, "f", &[]).is_ok());
}

#[test]
fn a_thread_that_is_dead_does_nothing_more_and_no_storm_kills_one() {
    let renewing = "name = \"rule\"\ntopology.single = {}\nlock.token.renew-every = \"500ms\"\n";
    let kill = "kill-thread = { client = \"a\" }";
    let told = load_str(
        &format!(
            "{renewing}[[step]]\nacquire = {{ client = \"a\" }}\n[[step]]\n{kill}\n\
             [[step]]\nrelease = {{ client = \"a\" }}\n"
        ),
        "f",
        &[],
    );
    let told = told.expect_err("the dead release nothing").to_string();
    assert!(told.contains("'a' is dead"), "{told}");
    let storm = format!(
        "{renewing}[storm]\nduration = \"1s\"\n[[nemesis]]\nevery = \"1s\"\n\
         fault.kill-thread = {{ client = \"c0\" }}\nlasts = \"1s\"\n"
    );
    let told = load_str(&storm, "f", &[]).expect_err("nothing undoes it");
    assert!(told.to_string().contains("a storm cannot kill a thread"));
}

#[test]
fn a_slow_disk_and_a_sleep_take_some_time() {
    assert!(
        said("slow-fsync = { node = \"primary\", by = \"0s\" }")
            .contains("`by` must be greater than 0")
    );
    assert!(said("sleep = { node = \"primary\", for = \"0s\" }").contains("cannot sleep"));
    assert!(said("sleep = { node = \"primary\", for = \"61s\" }").contains("at most 1m"));
    assert_eq!(said("sleep = { node = \"primary\", for = \"1m\" }"), "");
    assert_eq!(said("slow-fsync = { node = \"primary\", by = \"1s\" }"), "");
}
