//! Faults of nodes: kill, restart, pause, promote, delete-key.

use lockstorm_checker::history::{DataLoss, FaultPhase};
use lockstorm_nemesis::{Deployment, FaultError};
use lockstorm_scenarios::{
    DeleteKey, Failover, FailoverMode, FaultSpec, Kill, Memory, Pause, Promote, Restart, Stop,
};

use crate::faults::fake::Fake;
use crate::faults::notes::stage;

fn kill(node: &str) -> FaultSpec {
    FaultSpec::Kill(Kill { node: node.into() })
}

fn stop(node: &str) -> FaultSpec {
    FaultSpec::Stop(Stop { node: node.into() })
}

fn restart(node: &str, memory: Memory) -> FaultSpec {
    let node = node.into();
    FaultSpec::Restart(Restart { node, memory })
}

fn pause(node: &str) -> FaultSpec {
    FaultSpec::Pause(Pause { node: node.into() })
}

fn promote(node: &str) -> FaultSpec {
    FaultSpec::Promote(Promote { node: node.into() })
}

fn delete(key: &str, node: Option<&str>) -> FaultSpec {
    FaultSpec::DeleteKey(DeleteKey {
        key: key.into(),
        node: node.map(Into::into),
    })
}

/// Injects into a deployment that leaves something undone, and expects to be told so.
async fn expect_no_effect(fake: Fake, fault: FaultSpec, last: &str) {
    let (_fake, notes, mut nemesis) = stage(fake);
    let error = nemesis.inject(&fault).await.unwrap_err();
    assert!(matches!(error, FaultError::NoEffect { .. }), "{error}");
    assert!(error.to_string().contains(last), "{error}");
    assert_eq!(notes.stages("F1"), "requested injected healed");
}

#[tokio::test(start_paused = true)]
async fn a_killed_node_is_gone_until_it_is_healed() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    fake.set_key("primary", "lock");
    let id = nemesis.inject(&kill("primary")).await.unwrap();
    assert_eq!(fake.pid("primary"), None);
    nemesis.heal_id(&id).await.unwrap();
    assert!(fake.command("primary", &["PING"]).await.is_ok());
    assert!(fake.has_key("primary", "lock"), "healed with its memory");
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
    assert!(
        notes
            .evidence("F1", FaultPhase::Observed)
            .ends_with("is gone and PING gets no answer")
    );
}

#[tokio::test(start_paused = true)]
async fn a_kill_that_does_nothing_is_reported() {
    let fake = Fake::replicated(1).inert(&["kill"]);
    expect_no_effect(fake, kill("primary"), "is still there").await;
}

#[tokio::test(start_paused = true)]
async fn a_stopped_node_is_gone_until_it_is_healed() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    fake.set_key("primary", "lock");
    let id = nemesis.inject(&stop("primary")).await.unwrap();
    assert_eq!(fake.pid("primary"), None, "it is buried");
    assert!(
        notes
            .evidence("F1", FaultPhase::Observed)
            .ends_with("is gone and PING gets no answer")
    );
    nemesis.heal_id(&id).await.unwrap();
    assert!(fake.has_key("primary", "lock"), "healed with its memory");
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
}

/// A process that stands still is not reached by a SIGTERM.
#[tokio::test(start_paused = true)]
async fn a_stop_that_the_server_does_not_follow_is_reported() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&pause("primary")).await.unwrap();
    let error = nemesis.inject(&stop("primary")).await.unwrap_err();
    assert!(error.to_string().contains("is still there"), "{error}");
    assert_eq!(notes.stages("F2"), "requested injected healed");
}

#[tokio::test(start_paused = true)]
async fn a_killed_primary_that_was_replaced_stays_dead() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&kill("primary")).await.unwrap();
    nemesis.inject(&promote("replica-1")).await.unwrap();
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(fake.pid("primary"), None);
    assert_eq!(
        notes.evidence("F1", FaultPhase::Healed),
        "stays dead: replica-1 has taken its place"
    );
    assert_eq!(notes.stages("F2"), "requested injected observed");
}

#[tokio::test(start_paused = true)]
async fn a_restart_ends_an_earlier_kill_of_the_same_node() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&kill("primary")).await.unwrap();
    let restarted = restart("primary", Memory::Kept);
    nemesis.inject(&restarted).await.unwrap();
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
    assert_eq!(notes.stages("F2"), "requested injected observed healed");
    let pid = fake.pid("primary");
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(fake.pid("primary"), pid, "there was nothing left to heal");
}

#[tokio::test(start_paused = true)]
async fn nobody_can_be_killed_twice_or_without_existing() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&kill("primary")).await.unwrap();
    let again = nemesis.inject(&kill("primary")).await.unwrap_err();
    assert_eq!(again.to_string(), "cannot kill 'primary': it is dead");
    let nobody = nemesis.inject(&kill("n9")).await.unwrap_err();
    assert!(matches!(nobody, FaultError::UnknownNode(name) if name == "n9"));
    assert_eq!(notes.stages("F2"), "requested");
    assert_eq!(notes.stages("F3"), "requested");
}

#[tokio::test(start_paused = true)]
async fn a_restart_is_another_run_and_heals_by_itself() {
    let (fake, notes, mut nemesis) = stage(Fake::independent(3));
    fake.set_key("n1", "lock");
    let before = fake.pid("n1");
    nemesis.inject(&restart("n1", Memory::Kept)).await.unwrap();
    assert_ne!(fake.pid("n1"), before);
    assert!(fake.has_key("n1", "lock"));
    nemesis.inject(&restart("n1", Memory::Lost)).await.unwrap();
    assert!(!fake.has_key("n1", "lock"));
    for id in ["F1", "F2"] {
        assert_eq!(notes.stages(id), "requested injected observed healed");
    }
    assert_eq!(notes.loss("F1", FaultPhase::Observed), None);
    let lost = notes.loss("F2", FaultPhase::Observed);
    assert_eq!(lost, Some(DataLoss::Disk));
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_does_nothing_is_reported() {
    let fake = Fake::independent(3).inert(&["kill", "start"]);
    let fault = restart("n1", Memory::Kept);
    expect_no_effect(fake, fault, "still answers as run").await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_should_forget_and_does_not_is_reported() {
    let fake = Fake::independent(3).inert(&["forget"]);
    fake.set_key("n1", "lock");
    let fault = restart("n1", Memory::Lost);
    expect_no_effect(fake, fault, "with 1 keys").await;
}

/// In real time: that a signal arrives is the system's business, not the test clock's.
#[tokio::test]
async fn a_paused_node_is_stopped_and_silent_until_it_is_healed() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&pause("primary")).await.unwrap();
    assert!(fake.command("primary", &["PING"]).await.is_err());
    let again = nemesis.inject(&pause("primary")).await.unwrap_err();
    assert!(again.to_string().contains("paused already"), "{again}");
    nemesis.heal("pause", "primary").await.unwrap();
    assert!(fake.command("primary", &["PING"]).await.is_ok());
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
}

#[tokio::test(start_paused = true)]
async fn a_stopped_node_that_still_answers_is_reported() {
    let fake = Fake::replicated(1).inert(&["stop"]);
    let (_fake, _notes, mut nemesis) = stage(fake);
    let error = nemesis.inject(&pause("primary")).await.unwrap_err();
    assert!(matches!(error, FaultError::NoEffect { .. }), "{error}");
}

#[tokio::test]
async fn a_restart_ends_a_pause_whose_process_is_gone() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    nemesis.inject(&pause("primary")).await.unwrap();
    let restarted = restart("primary", Memory::Lost);
    nemesis.inject(&restarted).await.unwrap();
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
    assert!(fake.command("primary", &["PING"]).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_promotion_shows_in_the_role_and_never_heals() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(2));
    let id = nemesis.inject(&promote("replica-2")).await.unwrap();
    assert_eq!(fake.writable().await, ["replica-2"]);
    nemesis.heal_id(&id).await.unwrap();
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected observed");
    let again = nemesis.inject(&promote("replica-2")).await.unwrap_err();
    assert!(again.to_string().contains("it is no replica"), "{again}");
}

#[tokio::test(start_paused = true)]
async fn a_promotion_that_does_nothing_is_reported() {
    let fake = Fake::replicated(1).inert(&["promote"]);
    expect_no_effect(fake, promote("replica-1"), "role:slave").await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_key_is_gone_from_every_node_that_takes_writes() {
    let (fake, notes, mut nemesis) = stage(Fake::independent(3));
    for node in ["n1", "n3"] {
        fake.set_key(node, "lock");
    }
    nemesis.inject(&delete("lock", None)).await.unwrap();
    assert!(!fake.has_key("n1", "lock") && !fake.has_key("n3", "lock"));
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
    assert_eq!(
        notes.evidence("F1", FaultPhase::Observed),
        "removed on n1 (1 entry, gone since), n3 (1 entry, gone since)"
    );
}

#[tokio::test(start_paused = true)]
async fn a_key_can_be_deleted_on_one_node_alone() {
    let (fake, notes, mut nemesis) = stage(Fake::independent(3));
    for node in ["n1", "n2"] {
        fake.set_key(node, "lock");
    }
    nemesis.inject(&delete("lock", Some("n2"))).await.unwrap();
    assert!(fake.has_key("n1", "lock") && !fake.has_key("n2", "lock"));
    assert!(notes.lines()[0].starts_with("F1 delete-key lock on n2:"));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_removes_nothing_is_reported() {
    let fake = Fake::independent(3);
    fake.set_key("n1", "another");
    expect_no_effect(fake, delete("lock", None), "no server has the key 'lock'").await;
}

#[tokio::test(start_paused = true)]
async fn healing_goes_on_after_a_failure_and_can_be_tried_again() {
    let (fake, notes, mut nemesis) = stage(Fake::independent(3));
    nemesis.inject(&kill("n1")).await.unwrap();
    nemesis.inject(&kill("n2")).await.unwrap();
    fake.break_start("n2", true);
    let errors = nemesis.heal_all().await;
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "cannot start 'n2': its disk is full");
    assert!(fake.pid("n1").is_some(), "the other one is healed");
    fake.break_start("n2", false);
    assert!(nemesis.heal_all().await.is_empty());
    assert!(fake.pid("n2").is_some());
    assert!(nemesis.heal_all().await.is_empty());
    for id in ["F1", "F2"] {
        assert_eq!(notes.stages(id), "requested injected observed healed");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_broken_cannot_be_healed() {
    let (_fake, _notes, mut nemesis) = stage(Fake::independent(3));
    let error = nemesis.heal("pause", "n1").await.unwrap_err();
    assert_eq!(error.to_string(), "no active pause of n1 to heal");
}

fn failover(node: &str) -> FaultSpec {
    FaultSpec::Failover(Failover {
        node: node.to_owned(),
        mode: FailoverMode::Agreed,
    })
}

#[tokio::test(start_paused = true)]
async fn a_failover_shows_in_who_takes_writes_and_never_heals() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(2));
    nemesis.inject(&failover("replica-2")).await.unwrap();
    assert_eq!(fake.writable().await, ["replica-2"]);
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected observed");
    let again = nemesis.inject(&failover("replica-2")).await.unwrap_err();
    assert!(
        again.to_string().contains("takes writes already"),
        "{again}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_failover_that_nobody_follows_has_no_effect() {
    let (_, notes, mut nemesis) = stage(Fake::replicated(1).inert(&["failover"]));
    let error = nemesis.inject(&failover("replica-1")).await.unwrap_err();
    assert!(
        error.to_string().contains("writes go to primary"),
        "{error}"
    );
    assert_eq!(notes.stages("F1"), "requested injected healed");
}
