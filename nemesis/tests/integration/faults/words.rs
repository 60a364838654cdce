//! Words for nodes: what they mean in a script, and that a fault so named is healed so named.

use std::collections::BTreeSet;

use lockstorm_nemesis::Deployment as _;
use lockstorm_scenarios::{Cut, CutMode, FaultSpec, Kill, Pause, Promote};

use crate::faults::fake::Fake;
use crate::faults::notes::stage;

fn kill(node: &str) -> FaultSpec {
    FaultSpec::Kill(Kill { node: node.into() })
}

#[tokio::test(start_paused = true)]
async fn the_holder_of_a_key_is_every_master_that_has_it() {
    let (fake, notes, mut nemesis) = stage(Fake::independent(3));
    fake.set_key("n1", "lock");
    fake.set_key("n3", "lock");
    nemesis.inject_step(&kill("holder-of:lock")).await.unwrap();
    let dead: Vec<_> = fake
        .nodes()
        .into_iter()
        .filter(|n| fake.pid(n).is_none())
        .collect();
    assert_eq!(dead, ["n1", "n3"]);
    assert_eq!(notes.lines()[0], "F1 kill n1: requested");
}

#[tokio::test(start_paused = true)]
async fn a_replica_with_a_copy_of_the_key_does_not_hold_it() {
    let (fake, _notes, mut nemesis) = stage(Fake::replicated(1));
    fake.set_key("primary", "lock");
    fake.set_key("replica-1", "lock");
    nemesis.inject_step(&kill("holder-of:lock")).await.unwrap();
    assert!(fake.pid("primary").is_none());
    assert!(fake.pid("replica-1").is_some());
}

#[tokio::test(start_paused = true)]
async fn nobody_holds_a_key_that_is_gone() {
    let (_fake, notes, mut nemesis) = stage(Fake::independent(3));
    let error = nemesis
        .inject_step(&kill("holder-of:lock"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no node is 'holder-of:lock' at this moment"
    );
    assert_eq!(notes.lines(), ["F1 kill holder-of:lock: requested"]);
}

#[tokio::test(start_paused = true)]
async fn a_fault_is_healed_by_the_word_or_by_the_name() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(2));
    let pause = FaultSpec::Pause(Pause {
        node: "replicas".into(),
    });
    nemesis.inject_step(&pause).await.unwrap();
    nemesis.heal("pause", "replica-2").await.unwrap();
    assert_eq!(notes.stages("F1"), "requested injected observed");
    nemesis.heal("pause", "replicas").await.unwrap();
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
    assert!(
        nemesis.heal("pause", "replicas").await.is_err(),
        "none is left"
    );
    assert!(fake.pid("primary").is_some());
}

#[tokio::test(start_paused = true)]
async fn all_of_a_kind_end_together() {
    let (fake, _notes, mut nemesis) = stage(Fake::independent(3));
    nemesis.inject_step(&kill("n1")).await.unwrap();
    nemesis.inject_step(&kill("n2")).await.unwrap();
    nemesis.heal_kind("kill", None).await.unwrap();
    assert!(fake.nodes().iter().all(|node| fake.pid(node).is_some()));
}

/// In a script, which says what happens one thing after the other, `primary` is a node's name.
#[tokio::test(start_paused = true)]
async fn a_script_that_says_primary_means_the_node_of_that_name() {
    let (fake, _notes, mut nemesis) = stage(Fake::replicated(1));
    let promoted = FaultSpec::Promote(Promote {
        node: "replica-1".into(),
    });
    nemesis.inject_step(&promoted).await.unwrap();
    nemesis.inject_step(&kill("primary")).await.unwrap();
    assert!(fake.pid("primary").is_none());
    assert!(fake.pid("replica-1").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_script_may_break_any_minority_and_heals_the_one_that_it_broke() {
    let (servers, told, mut nemesis) = stage(Fake::independent(5));
    nemesis.inject_step(&kill("minority")).await.unwrap();
    let down = |servers: &Fake| {
        let nodes = servers.nodes().into_iter();
        nodes.filter(|node| servers.pid(node).is_none()).count()
    };
    assert_eq!(down(&servers), 2);
    nemesis.heal("kill", "minority").await.unwrap();
    assert_eq!(down(&servers), 0);
    assert_eq!(told.stages("F2"), "requested injected observed healed");
}

#[tokio::test(start_paused = true)]
async fn a_script_may_cut_a_majority_off() {
    let (fake, _notes, mut nemesis) = stage(Fake::independent(5));
    let cut = FaultSpec::Cut(Cut {
        from: "clients".into(),
        to: "majority".into(),
        mode: CutMode::Stall,
    });
    nemesis.inject_step(&cut).await.unwrap();
    let cuts = fake.cuts_in_force().into_iter();
    let cut_off: BTreeSet<_> = cuts.map(|(_, to)| to).collect();
    assert_eq!(cut_off.len(), 3);
}
