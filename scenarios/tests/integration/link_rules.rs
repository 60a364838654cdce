//! The rules on slow links and partitions, each by a file that breaks it.

use lockstorm_scenarios::load_str;

/// The mistakes that are found in a script with this step.
fn mistakes(step: &str) -> String {
    let text = format!(
        "name = \"rule\"\ntopology.replicated = {{}}\nlock.token = {{}}\n\
         [[step]]\nacquire = {{ client = \"a\" }}\n[[step]]\n{step}\n"
    );
    load_str(&text, "f", &[]).expect_err(step).to_string()
}

#[test]
fn a_slow_link_is_slow_and_passes_something() {
    let delay = mistakes("delay = { from = \"a\", to = \"primary\", by = \"0s\" }");
    assert!(
        delay.contains("`by` or `jitter` must be greater than 0"),
        "{delay}"
    );
    let shut = "throttle = { from = \"a\", to = \"primary\", bytes-per-second = 0 }";
    let throttle = mistakes(shut);
    assert!(
        throttle.contains("`bytes-per-second` must be greater than 0"),
        "{throttle}"
    );
}

#[test]
fn a_partition_has_sides_of_places_that_are_there() {
    let none = mistakes("partition = {}");
    assert!(none.contains("`sides` or `form` must be given"), "{none}");
    let one = mistakes("partition = { sides = [[\"a\", \"z\"]] }");
    assert!(one.contains("needs at least two sides"), "{one}");
    assert!(one.contains("no node, client or group 'z'"), "{one}");
}

#[test]
fn a_partition_is_made_by_its_sides_or_by_a_form() {
    let sides = "sides = [[\"a\"], [\"primary\"]]";
    let both = mistakes(&format!("partition = {{ {sides}, form = \"halves\" }}"));
    assert!(both.contains("only one of `form` and `sides`"), "{both}");
    let clients = mistakes("partition = { form = \"bridge\", clients = 1 }");
    assert!(
        clients.contains("only the form isolate-primary"),
        "{clients}"
    );
}

#[test]
fn only_a_partition_that_began_can_be_ended() {
    let end = mistakes("heal = { fault = \"partition\" }");
    assert!(end.contains("was not injected"), "{end}");
}

#[test]
fn some_packets_are_lost_or_overtaken_but_not_all_and_not_none() {
    for percent in [0, 100] {
        let lose = format!("lose = {{ from = \"a\", to = \"primary\", percent = {percent} }}");
        let wrong = mistakes(&lose);
        assert!(wrong.contains("must be from 1 to"), "{wrong}");
    }
    let still = "reorder = { from = \"a\", to = \"primary\", percent = 9, by = \"0s\" }";
    let wrong = mistakes(still);
    assert!(wrong.contains("nothing is overtaken"), "{wrong}");
}
