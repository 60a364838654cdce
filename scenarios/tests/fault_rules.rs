//! Rules on what a fault asks for beside its targets.

use lockstorm_scenarios::load_str;

/// What is said of a script whose one fault is this.
fn said(fault: &str) -> String {
    let text = format!(
        "name = \"rule\"\ntopology.single = {{}}\nlock.token = {{}}\n\
         [[step]]\nacquire = {{ client = \"a\" }}\n[[step]]\n{fault}\n"
    );
    load_str(&text, "f", &[]).map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
}

#[test]
fn a_clock_has_to_be_wrong_in_one_way_that_can_be_seen() {
    let clock = |rest: &str| said(&format!("clock = {{ node = \"primary\"{rest} }}"));
    assert!(clock("").contains("nothing is wrong with this clock"));
    assert!(clock(", forward = \"0s\"").contains("stays where it is"));
    assert!(clock(", forward = \"1s\", back = \"1s\"").contains("not both at once"));
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
fn a_slow_disk_and_a_sleep_take_some_time() {
    assert!(said("slow-fsync = { node = \"primary\", by = \"0s\" }").contains("no longer"));
    assert!(said("sleep = { node = \"primary\", for = \"0s\" }").contains("cannot sleep"));
    assert!(said("sleep = { node = \"primary\", for = \"61s\" }").contains("at most 1m"));
    assert_eq!(said("sleep = { node = \"primary\", for = \"1m\" }"), "");
    assert_eq!(said("slow-fsync = { node = \"primary\", by = \"1s\" }"), "");
}
