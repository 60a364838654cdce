//! Cuts of links: groups, evidence at once or later, and healing by every way there is.

use lockstorm_checker::history::FaultPhase;
use lockstorm_nemesis::FaultError;
use lockstorm_scenarios::{Cut, CutMode, FaultSpec, Link};

use crate::faults::fake::Fake;
use crate::faults::notes::stage;

fn cut(from: &str, to: &str) -> FaultSpec {
    FaultSpec::Cut(Cut {
        from: from.into(),
        to: to.into(),
        mode: CutMode::Stall,
    })
}

fn link(from: &str, to: &str) -> Link {
    Link {
        from: from.into(),
        to: to.into(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_of_replication_is_proved_by_what_the_primary_is_made_to_say() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(2));
    nemesis.inject(&cut("primary", "replicas")).await.unwrap();
    assert!(!fake.send("primary", "replica-1", 1));
    assert!(!fake.send("primary", "replica-2", 1));
    assert!(fake.send("replica-1", "primary", 1), "the way back is open");
    assert_eq!(
        notes.evidence("F1", FaultPhase::Observed),
        "30 held back (bytes and connections) on primary→replica-1, \
         30 held back (bytes and connections) on primary→replica-2"
    );
    let healed = link("primary", "replicas");
    nemesis.heal_link(&healed).await.unwrap();
    assert!(fake.send("primary", "replica-1", 1));
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
}

#[tokio::test(start_paused = true)]
async fn a_cut_of_a_silent_client_is_observed_when_it_next_speaks() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    let fault = cut("clients", "primary");
    let id = nemesis.inject(&fault).await.unwrap();
    nemesis.observe_pending().await;
    assert_eq!(notes.stages("F1"), "requested injected");
    fake.send("b", "primary", 7);
    nemesis.observe_pending().await;
    assert_eq!(
        notes.evidence("F1", FaultPhase::Observed),
        "7 held back (bytes and connections) on b→primary"
    );
    nemesis.heal_id(&id).await.unwrap();
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_shows_just_before_the_heal_is_still_noted() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&cut("a", "primary")).await.unwrap();
    fake.send("a", "primary", 1);
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
}

#[tokio::test(start_paused = true)]
async fn a_cut_that_does_nothing_is_never_observed() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1).inert(&["cut"]));
    nemesis.inject(&cut("primary", "replicas")).await.unwrap();
    assert!(fake.send("primary", "replica-1", 1), "it does nothing");
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected healed");
}

#[tokio::test(start_paused = true)]
async fn groups_mean_who_is_there_and_never_a_link_of_a_place_to_itself() {
    let (fake, _notes, mut nemesis) = stage(Fake::independent(2));
    nemesis.inject(&cut("nodes", "nodes")).await.unwrap();
    nemesis.inject(&cut("n1", "clients")).await.unwrap();
    let pairs = [("n1", "n2"), ("n2", "n1"), ("n1", "a"), ("n1", "b")];
    let pairs = pairs.map(|(from, to)| (from.to_owned(), to.to_owned()));
    assert_eq!(fake.cuts_in_force(), pairs);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_nemesis_heals_its_cuts() {
    let (fake, _notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&cut("primary", "replicas")).await.unwrap();
    assert_eq!(fake.cuts_in_force().len(), 1);
    drop(nemesis);
    assert!(fake.cuts_in_force().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cut_needs_a_network_and_two_places() {
    let (_fake, _notes, mut nemesis) = stage(Fake::replicated(1).without_network());
    let error = nemesis.inject(&cut("a", "primary")).await.unwrap_err();
    assert!(matches!(error, FaultError::NoNetwork), "{error}");

    let (fake, notes, mut nemesis) = stage(Fake::independent(2));
    let unknown = nemesis.inject(&cut("z", "n1")).await.unwrap_err();
    assert!(matches!(unknown, FaultError::UnknownClient(_)), "{unknown}");
    let empty = nemesis.inject(&cut("n1", "replicas")).await.unwrap_err();
    assert!(empty.to_string().contains("no link"), "{empty}");
    assert!(fake.cuts_in_force().is_empty());
    assert_eq!(notes.stages("F1"), "requested");
    assert_eq!(notes.stages("F2"), "requested");
}
