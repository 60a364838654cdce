//! Faults of what a server holds, of its attention, its clock and its disk.

use std::collections::BTreeSet;
use std::time::Duration;

use lockstorm_checker::history::FaultPhase;
use lockstorm_scenarios::{
    BusyScript, Clock, ConnectionUse, DurationSpec, FaultSpec, FlushScripts, KillConnections,
    PauseCommands, PausedCommands, PowerCut, Sleep, SlowFsync,
};
use tokio::time::Instant;

use crate::faults::extras::Extras;
use crate::faults::fake::Fake;
use crate::faults::notes::stage;

const WHOLE_LIFE: &str = "requested injected observed healed";

fn node() -> String {
    "primary".to_owned()
}

fn ahead() -> FaultSpec {
    FaultSpec::Clock(Clock {
        node: Some(node()),
        client: None,
        forward: Some(DurationSpec::from_secs(2)),
        back: None,
        speed: None,
    })
}

fn flush_scripts() -> FaultSpec {
    FaultSpec::FlushScripts(FlushScripts { node: node() })
}

fn sleep_for(length: DurationSpec) -> FaultSpec {
    FaultSpec::Sleep(Sleep {
        node: node(),
        length,
    })
}

fn pause_commands(which: PausedCommands) -> FaultSpec {
    FaultSpec::PauseCommands(PauseCommands {
        node: node(),
        length: DurationSpec::from_secs(3),
        which,
    })
}

fn kill_connections() -> FaultSpec {
    FaultSpec::KillConnections(KillConnections {
        node: node(),
        of: ConnectionUse::Normal,
        client: None,
    })
}

fn power_cut() -> FaultSpec {
    FaultSpec::PowerCut(PowerCut { node: node() })
}

/// Gives the node three scripts and two connections.
fn furnish(fake: &Fake) {
    fake.extras("primary", |extras| {
        extras.scripts = 3;
        extras.connections.extend([5, 6]);
    });
}

/// Injects a fault into a deployment that does nothing: it must be found out and healed.
async fn expect_no_effect(fake: Fake, fault: FaultSpec, last: &str) {
    furnish(&fake);
    let (_fake, notes, mut nemesis) = stage(fake);
    let error = nemesis.inject(&fault).await.expect_err("it did nothing");
    assert!(error.to_string().contains("no observed effect"), "{error}");
    assert!(error.to_string().contains(last), "{error}");
    assert_eq!(notes.stages("F1"), "requested injected healed");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_shows_in_time_and_is_set_right() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(0));
    nemesis.inject(&ahead()).await.unwrap();
    let evidence = notes.evidence("F1", FaultPhase::Observed);
    assert!(evidence.starts_with("TIME is 2000 ms ahead"), "{evidence}");
    nemesis.heal("clock", "primary").await.unwrap();
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
    for phase in [FaultPhase::Observed, FaultPhase::Healed] {
        let off = notes.offset("F1", phase).expect("a clock was looked at");
        assert_eq!(off / 1_000_000, 2_000, "{phase:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_does_not_jump_is_reported() {
    expect_no_effect(
        Fake::replicated(0).inert(&["clock"]),
        ahead(),
        "TIME is right",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_disk_is_observed_once_something_is_synced() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0));
    let by = DurationSpec::from_millis(500);
    let slow = FaultSpec::SlowFsync(SlowFsync { node: node(), by });
    nemesis.inject(&slow).await.unwrap();
    assert_eq!(notes.stages("F1"), "requested injected");
    fake.extras("primary", Extras::sync);
    nemesis.observe_pending().await;
    nemesis.heal_kind("slow-fsync", None).await.unwrap();
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
    fake.extras("primary", Extras::sync);
    let healed = notes.evidence("F1", FaultPhase::Healed);
    assert!(healed.ends_with("slow synchronisations: 1"), "{healed}");
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_is_not_slow_stays_unobserved() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0).inert(&["slow"]));
    let by = DurationSpec::from_millis(500);
    let slow = FaultSpec::SlowFsync(SlowFsync { node: node(), by });
    nemesis.inject(&slow).await.unwrap();
    fake.extras("primary", Extras::sync);
    nemesis.observe_pending().await;
    assert!(nemesis.heal_all().await.is_empty());
    assert_eq!(notes.stages("F1"), "requested injected healed");
}

#[tokio::test(start_paused = true)]
async fn a_power_cut_takes_what_was_not_synced_and_starts_the_server() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0));
    fake.set_key("primary", "lock");
    nemesis.inject(&power_cut()).await.unwrap();
    assert!(!fake.has_key("primary", "lock") && fake.pid("primary").is_some());
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
}

#[tokio::test(start_paused = true)]
async fn a_power_cut_that_cannot_touch_the_files_fails_and_leaves_no_dead_server() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0).inert(&["lose"]));
    let error = nemesis.inject(&power_cut()).await.unwrap_err();
    assert!(error.to_string().contains("its disk is gone"), "{error}");
    assert!(fake.pid("primary").is_some());
    assert_eq!(notes.stages("F1"), "requested");
}

#[tokio::test(start_paused = true)]
async fn forgotten_scripts_are_proved_by_one_that_nobody_sends() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0));
    furnish(&fake);
    nemesis.inject(&flush_scripts()).await.unwrap();
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
    let evidence = notes.evidence("F1", FaultPhase::Observed);
    assert!(
        evidence.starts_with("3 scripts are forgotten"),
        "{evidence}"
    );
}

#[tokio::test(start_paused = true)]
async fn scripts_that_are_not_forgotten_are_reported() {
    let fake = Fake::replicated(0).inert(&["flush"]);
    expect_no_effect(fake, flush_scripts(), "still knows its scripts").await;
}

#[tokio::test(start_paused = true)]
async fn a_sleeping_server_is_waited_for_until_it_wakes() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(0));
    let start = Instant::now();
    nemesis
        .inject(&sleep_for(DurationSpec::from_secs(3)))
        .await
        .unwrap();
    nemesis.heal("sleep", "primary").await.unwrap();
    assert!(
        start.elapsed() >= Duration::from_secs(3),
        "by the test clock"
    );
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_sleep_is_reported() {
    let fake = Fake::replicated(0).inert(&["sleep"]);
    expect_no_effect(
        fake,
        sleep_for(DurationSpec::from_secs(3)),
        "answered after",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_puts_off_everything_goes_on_when_its_time_is_over() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(0));
    let start = Instant::now();
    let pause = pause_commands(PausedCommands::All);
    nemesis.inject(&pause).await.unwrap();
    nemesis.heal("pause-commands", "primary").await.unwrap();
    assert!(
        start.elapsed() >= Duration::from_secs(3),
        "by the test clock"
    );
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_puts_off_writes_goes_on_when_it_is_told() {
    let (_fake, notes, mut nemesis) = stage(Fake::replicated(0));
    let start = Instant::now();
    let pause = pause_commands(PausedCommands::Writes);
    nemesis.inject(&pause).await.unwrap();
    nemesis.heal("pause-commands", "primary").await.unwrap();
    assert!(
        start.elapsed() < Duration::from_secs(3),
        "by the test clock, nobody waits for the end of the pause"
    );
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_puts_off_nothing_is_reported() {
    for which in [PausedCommands::All, PausedCommands::Writes] {
        let fake = Fake::replicated(0).inert(&["pause-commands"]);
        expect_no_effect(fake, pause_commands(which), "answered all the same").await;
    }
}

#[tokio::test(start_paused = true)]
async fn connections_of_others_stay_open() {
    let fake = Fake::replicated(0);
    furnish(&fake);
    fake.extras("primary", |extras| extras.ours = Some(BTreeSet::from([5])));
    let (fake, notes, mut nemesis) = stage(fake);
    nemesis.inject(&kill_connections()).await.unwrap();
    let left = fake.extras("primary", |extras| extras.connections.clone());
    assert_eq!(
        left,
        BTreeSet::from([6]),
        "5 was ours, 6 is somebody else's"
    );
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
}

#[tokio::test(start_paused = true)]
async fn connections_that_are_closed_are_listed_no_more() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0));
    furnish(&fake);
    nemesis.inject(&kill_connections()).await.unwrap();
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
}

#[tokio::test(start_paused = true)]
async fn connections_that_stay_open_are_reported() {
    let fake = Fake::replicated(0).inert(&["close"]);
    expect_no_effect(fake, kill_connections(), "2 are still open").await;
}

fn busy() -> FaultSpec {
    FaultSpec::BusyScript(BusyScript { node: node() })
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_says_so_until_its_script_is_killed() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(0));
    nemesis.inject(&busy()).await.unwrap();
    let refused = fake.command("primary", &["GET", "lock"]).await.unwrap_err();
    assert!(refused.to_string().contains("BUSY"), "{refused}");
    nemesis.heal("busy-script", "primary").await.unwrap();
    assert_eq!(fake.command("primary", &["PING"]).await.unwrap(), "PONG");
    assert_eq!(notes.stages("F1"), WHOLE_LIFE);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_busy_is_reported() {
    let fake = Fake::replicated(0).inert(&["busy"]);
    expect_no_effect(fake, busy(), "it answers PING").await;
}
