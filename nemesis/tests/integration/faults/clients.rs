//! Faults of clients: pause-client, kill-client, kill-thread, stall-watchdog and clock.

use lockstorm_checker::history::FaultPhase;
use lockstorm_nemesis::{ClientState, Clients, FaultError};
use lockstorm_scenarios::{
    Clock, DurationSpec, FaultSpec, KillClient, KillThread, PauseClient, StallWatchdog,
};

use crate::faults::extras::Extras;
use crate::faults::fake::Fake;
use crate::faults::notes::stage;

fn pause(client: &str) -> FaultSpec {
    let client = client.into();
    FaultSpec::PauseClient(PauseClient { client })
}

fn kill(client: &str, after_commands: Option<u32>) -> FaultSpec {
    FaultSpec::KillClient(KillClient {
        client: client.into(),
        after_commands,
    })
}

#[tokio::test(start_paused = true)]
async fn a_paused_client_stands_still_until_it_is_healed() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    fake.client_sends("a");
    nemesis.inject(&pause("a")).await.unwrap();
    assert_eq!(fake.state("a"), Some(ClientState::Paused));
    assert_eq!(
        notes.evidence("F1", FaultPhase::Observed),
        "paused; commands sent so far: 1, and no more"
    );
    nemesis.heal("pause-client", "a").await.unwrap();
    assert_eq!(fake.state("a"), Some(ClientState::Running));
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_not_paused_or_not_still_is_reported() {
    for (undone, last) in [("pause-client", "it is running"), ("stillness", "sends")] {
        let (_fake, _notes, mut nemesis) = stage(Fake::replicated(1).inert(&[undone]));
        let error = nemesis.inject(&pause("a")).await.unwrap_err();
        assert!(matches!(error, FaultError::NoEffect { .. }), "{error}");
        assert!(error.to_string().contains(last), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_killed_client_is_dead_for_good() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&kill("a", None)).await.unwrap();
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(fake.state("a"), Some(ClientState::Dead));
    assert_eq!(notes.stages("F1"), "requested injected observed");
    let again = nemesis.inject(&kill("a", None)).await.unwrap_err();
    assert_eq!(
        again.to_string(),
        "cannot kill client 'a': it is dead already"
    );
}

#[tokio::test(start_paused = true)]
async fn a_kill_of_a_client_that_does_nothing_is_reported() {
    let fake = Fake::replicated(1).inert(&["kill-client"]);
    let (_fake, _notes, mut nemesis) = stage(fake);
    let error = nemesis.inject(&kill("a", None)).await.unwrap_err();
    assert!(matches!(error, FaultError::NoEffect { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_client_due_to_die_is_observed_when_it_dies() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&kill("a", Some(2))).await.unwrap();
    fake.client_sends("a");
    nemesis.observe_pending().await;
    assert_eq!(notes.stages("F1"), "requested injected");
    assert!(nemesis.has_pending());
    fake.client_sends("a");
    nemesis.observe_pending().await;
    nemesis.observe_pending().await;
    assert_eq!(notes.stages("F1"), "requested injected observed");
    assert!(!nemesis.has_pending());
    assert_eq!(
        notes.evidence("F1", FaultPhase::Observed),
        "dead; commands sent in all: 2"
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_due_to_die_that_never_died_stays_unobserved() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&kill("a", Some(2))).await.unwrap();
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_client_is_an_error() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(1));
    for fault in [pause("z"), kill("z", None)] {
        let error = nemesis.inject(&fault).await.unwrap_err();
        assert!(matches!(error, FaultError::UnknownClient(name) if name == "z"));
    }
    assert_eq!(notes.stages("F1"), "requested");
}

/// The clock of `client`, behind by two seconds.
fn behind(client: &str) -> FaultSpec {
    FaultSpec::Clock(Clock {
        node: None,
        client: Some(client.to_owned()),
        forward: None,
        back: Some(DurationSpec::from_secs(2)),
        speed: None,
    })
}

#[tokio::test(start_paused = true)]
async fn a_clients_clock_is_observed_once_the_client_looks_at_it() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0));
    nemesis.inject(&behind("a")).await.unwrap();
    assert_eq!(notes.stages("F1"), "requested injected");
    fake.extras("a", Extras::look_at_the_clock);
    nemesis.observe_pending().await;
    let evidence = notes.evidence("F1", FaultPhase::Observed);
    assert_eq!(
        evidence,
        "it was told the time 1 time, at last 2000 ms behind"
    );
    assert_eq!(
        notes.offset("F1", FaultPhase::Observed),
        Some(-2_000_000_000)
    );
    nemesis.heal("clock", "a").await.unwrap();
    fake.extras("a", Extras::look_at_the_clock);
    assert_eq!(notes.stages("F1"), "requested injected observed healed");

    // What was told before is no proof of another fault.
    nemesis.inject(&behind("a")).await.unwrap();
    nemesis.observe_pending().await;
    assert_eq!(notes.stages("F2"), "requested injected");
}

#[tokio::test(start_paused = true)]
async fn a_clients_clock_that_is_not_wrong_stays_unobserved() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0).inert(&["clock"]));
    nemesis.inject(&behind("a")).await.unwrap();
    fake.extras("a", Extras::look_at_the_clock);
    nemesis.observe_pending().await;
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected healed");
}

#[tokio::test(start_paused = true)]
async fn a_clients_clock_is_not_put_wrong_twice_nor_that_of_the_dead() {
    let (_fake, _notes, mut nemesis) = stage(Fake::replicated(0));
    nemesis.inject(&behind("a")).await.unwrap();
    let twice = nemesis.inject(&behind("a")).await.unwrap_err();
    assert!(twice.to_string().contains("wrong already"), "{twice}");
    nemesis.inject(&kill("b", None)).await.unwrap();
    let dead = nemesis.inject(&behind("b")).await.unwrap_err();
    assert!(dead.to_string().ends_with("it is dead"), "{dead}");
    let nobody = nemesis.inject(&behind("z")).await.unwrap_err();
    assert!(matches!(nobody, FaultError::UnknownClient(name) if name == "z"));
}

fn stall(client: &str) -> FaultSpec {
    let client = client.into();
    FaultSpec::StallWatchdog(StallWatchdog { client })
}

#[tokio::test(start_paused = true)]
async fn a_stalled_watchdog_is_observed_once_a_renewal_is_not_sent() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0));
    nemesis.inject(&stall("a")).await.unwrap();
    nemesis.observe_pending().await;
    assert_eq!(notes.stages("F1"), "requested injected");
    fake.client_renews("a");
    nemesis.observe_pending().await;
    let evidence = notes.evidence("F1", FaultPhase::Observed);
    assert_eq!(evidence, "renewals that were due and have not been sent: 1");
    nemesis.heal("stall-watchdog", "a").await.unwrap();
    fake.client_renews("a");
    assert_eq!(fake.commands("a"), Some(1), "it goes on");
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
}

#[tokio::test(start_paused = true)]
async fn a_watchdog_that_is_not_stalled_stays_unobserved() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0).inert(&["stall"]));
    nemesis.inject(&stall("a")).await.unwrap();
    fake.client_renews("a");
    nemesis.observe_pending().await;
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected healed");
}

#[tokio::test(start_paused = true)]
async fn a_watchdog_is_not_stalled_twice_nor_that_of_the_dead() {
    let (_fake, _notes, mut nemesis) = stage(Fake::replicated(0));
    nemesis.inject(&stall("a")).await.unwrap();
    let twice = nemesis.inject(&stall("a")).await.unwrap_err();
    assert!(twice.to_string().contains("stalled already"), "{twice}");
    nemesis.inject(&kill("b", None)).await.unwrap();
    let dead = nemesis.inject(&stall("b")).await.unwrap_err();
    assert!(dead.to_string().ends_with("it is dead"), "{dead}");
}

fn kill_thread(client: &str) -> FaultSpec {
    let client = client.into();
    FaultSpec::KillThread(KillThread { client })
}

#[tokio::test(start_paused = true)]
async fn a_dead_thread_is_observed_once_its_watchdog_renews_without_it() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0));
    fake.client_renews("a");
    nemesis.inject(&kill_thread("a")).await.unwrap();
    nemesis.observe_pending().await;
    assert_eq!(notes.stages("F1"), "requested injected");
    fake.client_renews("a");
    nemesis.observe_pending().await;
    let evidence = notes.evidence("F1", FaultPhase::Observed);
    assert!(evidence.ends_with("renewals sent since: 1"), "{evidence}");
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected observed");
    let twice = nemesis.inject(&kill_thread("a")).await.unwrap_err();
    assert!(twice.to_string().ends_with("it is dead already"), "{twice}");
}

#[tokio::test(start_paused = true)]
async fn a_thread_that_lives_on_is_reported() {
    let fake = Fake::replicated(0).inert(&["kill-thread"]);
    let (_fake, _notes, mut nemesis) = stage(fake);
    let error = nemesis.inject(&kill_thread("a")).await.unwrap_err();
    assert!(matches!(error, FaultError::NoEffect { .. }), "{error}");
}
