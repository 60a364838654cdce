//! Slow links and partitions: who is concerned, the evidence, and the heal.

use lockstorm_checker::history::FaultPhase;
use lockstorm_scenarios::{
    CutMode, Delay, DurationSpec, FaultSpec, Lose, Partition, PartitionForm, Reorder, Throttle,
};

use crate::faults::fake::Fake;
use crate::faults::notes::stage;

fn delay(from: &str, to: &str) -> FaultSpec {
    FaultSpec::Delay(Delay {
        from: from.into(),
        to: to.into(),
        by: DurationSpec::from_millis(50),
        jitter: DurationSpec::default(),
    })
}

fn partition(sides: &[&[&str]], form: Option<PartitionForm>) -> FaultSpec {
    let side = |names: &&[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    FaultSpec::Partition(Partition {
        sides: sides.iter().map(side).collect(),
        form,
        clients: u32::from(form == Some(PartitionForm::IsolatePrimary)),
        mode: CutMode::Stall,
    })
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_proved_by_what_it_made_late_and_the_way_back_is_none() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&delay("primary", "replicas")).await.unwrap();
    assert!(fake.send("replica-1", "primary", 5));
    assert_eq!(
        notes.evidence("F1", FaultPhase::Observed),
        "30 bytes made late on primary→replica-1"
    );
    nemesis.heal_kind("delay", None).await.unwrap();
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
}

/// A storm has hundreds of links, and its stories are read.
#[tokio::test(start_paused = true)]
async fn of_many_links_the_evidence_names_a_few_and_counts_the_others() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(9));
    nemesis.inject(&delay("primary", "replicas")).await.unwrap();
    let evidence = notes.evidence("F1", FaultPhase::Observed);
    let named = evidence
        .matches("bytes made late on primary→replica-")
        .count();
    assert_eq!(named, 6, "{evidence}");
    assert!(evidence.ends_with(" on 3 more links"), "{evidence}");
    assert!(nemesis.heal_all().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_slow_link_that_is_as_fast_as_ever_is_never_observed() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1).inert(&["cut"]));
    nemesis.inject(&delay("primary", "replicas")).await.unwrap();
    let throttle = FaultSpec::Throttle(Throttle {
        from: "a".into(),
        to: "primary".into(),
        bytes_per_second: 1,
    });
    nemesis.inject(&throttle).await.unwrap();
    fake.send("a", "primary", 9);
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected healed");
    assert_eq!(notes.stages("F2"), "requested injected healed");
}

#[tokio::test(start_paused = true)]
async fn a_partition_cuts_both_ways_between_its_sides_and_nobody_else() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(2));
    let sides: [&[&str]; 2] = [&["primary", "a"], &["replica-1"]];
    nemesis.inject(&partition(&sides, None)).await.unwrap();
    assert!(!fake.send("replica-1", "a", 1));
    assert!(fake.send("a", "primary", 1), "one side");
    assert!(fake.send("replica-2", "replica-1", 1), "on no side");
    assert_eq!(
        notes.evidence("F1", FaultPhase::Observed),
        "30 held back (bytes and connections) on primary→replica-1"
    );
    nemesis.heal_kind("partition", None).await.unwrap();
    assert!(fake.cuts_in_force().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_isolated_primary_keeps_one_client_and_loses_all_others() {
    let (fake, _notes, mut nemesis) = stage(Fake::replicated(2));
    let isolated = partition(&[], Some(PartitionForm::IsolatePrimary));
    nemesis.inject(&isolated).await.unwrap();
    assert!(fake.send("a", "primary", 1));
    assert!(!fake.send("b", "primary", 1));
    assert!(fake.send("b", "replica-1", 1));
    assert!(!fake.send("replica-2", "primary", 1));
}

#[tokio::test(start_paused = true)]
async fn sides_that_part_nobody_are_refused() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    let sides: [&[&str]; 2] = [&["primary", "a"], &["a", "primary"]];
    let error = nemesis.inject(&partition(&sides, None)).await.unwrap_err();
    assert!(error.to_string().contains("different sides"), "{error}");
    assert!(fake.cuts_in_force().is_empty());
    assert_eq!(notes.stages("F1"), "requested");
}

/// The fake carries streams, as the fabric does.
#[tokio::test(start_paused = true)]
async fn where_there_are_no_packets_none_is_lost_or_overtaken_and_the_remedy_is_named() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(1));
    let (from, to, percent) = ("primary".to_owned(), "replicas".to_owned(), 10);
    let lose = FaultSpec::Lose(Lose {
        from: from.clone(),
        to: to.clone(),
        percent,
    });
    let reorder = FaultSpec::Reorder(Reorder {
        from,
        to,
        percent,
        by: DurationSpec::from_millis(5),
    });
    for (fault, action) in [(lose, "lose"), (reorder, "reorder")] {
        let error = nemesis.inject(&fault).await.unwrap_err().to_string();
        assert!(
            error.contains(&format!("no packets to {action}")),
            "{error}"
        );
        assert!(error.contains("--network kernel"), "{error}");
    }
    assert_eq!(notes.stages("F1"), "requested");
}
