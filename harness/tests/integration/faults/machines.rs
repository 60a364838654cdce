//! Faults of clocks and disks.

use std::time::Duration;

use lockstorm_checker::history::FaultPhase;
use lockstorm_scenarios::{
    Clock, DurationSpec, FaultSpec, Memory, Persistence, PowerCut, Restart, SlowFsync,
};
use tokio::time::{Instant, sleep};

use crate::faults::test_bed::{
    TestBed, WHOLE_LIFE, bed, bed_with_shim, kill, replicated, restart, single,
};
use crate::support::have_server;

const NODE: &str = "primary";

fn clock(
    forward: Option<DurationSpec>,
    back: Option<DurationSpec>,
    speed: Option<u32>,
) -> FaultSpec {
    FaultSpec::Clock(Clock {
        node: Some(NODE.to_owned()),
        client: None,
        forward,
        back,
        speed,
    })
}

const DAY: DurationSpec = DurationSpec::from_secs(86_400);

async fn seconds(bed: &TestBed, node: &str) -> i64 {
    let time = bed.ask(node, &["TIME"]).await.expect("it tells the time");
    let seconds = time.lines().next().expect("two lines");
    seconds.parse().expect("a number")
}

/// The deadline of a day shows in PTTL: no test waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_jump_forward_ends_a_lease_and_a_jump_back_draws_it_out() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::None)).await;
    let lease = "43200000"; // half a day
    bed.ask(NODE, &["SET", "lock", "a", "PX", lease])
        .await
        .expect("set");
    bed.inject(clock(Some(DAY), None, None)).await;
    assert_eq!(bed.ask(NODE, &["EXISTS", "lock"]).await.as_deref(), Ok("0"));
    bed.nemesis
        .heal("clock", NODE)
        .await
        .expect("the clock is right again");
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);

    bed.ask(NODE, &["SET", "lock", "a", "PX", lease])
        .await
        .expect("set");
    bed.inject(clock(None, Some(DAY), None)).await;
    let left = bed.ask(NODE, &["PTTL", "lock"]).await.expect("it is there");
    let left: u64 = left.parse().expect("a number");
    assert!(
        left > 86_400_000,
        "a day and a half less what the test took: {left}"
    );
    assert!(bed.nemesis.heal_all().await.is_empty());
    let left = bed.ask(NODE, &["PTTL", "lock"]).await.expect("it is there");
    assert!(
        left.parse::<u64>().expect("a number") <= 43_200_000,
        "{left}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_clock_is_wrong_and_no_other() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(replicated()).await;
    bed.inject(clock(Some(DAY), None, None)).await;
    let ahead = seconds(&bed, NODE).await - seconds(&bed, "replica-1").await;
    assert!((86_000..87_000).contains(&ahead), "{ahead}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_stands_still_lets_no_lease_end() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::None)).await;
    bed.inject(clock(None, None, Some(0))).await;
    bed.ask(NODE, &["SET", "lock", "a", "PX", "50"])
        .await
        .expect("set");
    let then = bed.ask(NODE, &["TIME"]).await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(bed.ask(NODE, &["TIME"]).await, then);
    assert_eq!(bed.ask(NODE, &["EXISTS", "lock"]).await.as_deref(), Ok("1"));
    bed.nemesis
        .heal("clock", NODE)
        .await
        .expect("it goes again");
    bed.until(NODE, &["EXISTS", "lock"], |n| n == "0").await;
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fast_clock_ends_a_long_lease_soon() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::None)).await;
    bed.inject(clock(None, None, Some(6000))).await;
    let start = Instant::now();
    bed.ask(NODE, &["SET", "lock", "a", "EX", "60"])
        .await
        .expect("set");
    bed.until(NODE, &["EXISTS", "lock"], |n| n == "0").await;
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "a minute took a minute"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_stays_wrong_over_a_restart_and_is_not_put_wrong_twice() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(replicated()).await;
    bed.inject(clock(Some(DAY), None, None)).await;
    bed.inject(restart(Memory::Kept)).await;
    let ahead = seconds(&bed, NODE).await - seconds(&bed, "replica-1").await;
    assert!(ahead > 86_000, "{ahead}");
    let twice = bed.nemesis.inject(&clock(Some(DAY), None, None)).await;
    let error = twice.expect_err("it is wrong already").to_string();
    assert!(error.contains("it is wrong already"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clocks_and_disks_are_out_of_reach_without_the_shim() {
    if !have_server() {
        return;
    }
    let mut bed = bed(single(Persistence::None), false).await;
    let node = NODE.to_owned();
    let by = DurationSpec::from_millis(1);
    for fault in [
        clock(Some(DAY), None, None),
        FaultSpec::PowerCut(PowerCut { node: node.clone() }),
        FaultSpec::SlowFsync(SlowFsync { node, by }),
    ] {
        let error = bed.nemesis.inject(&fault).await.expect_err("no shim");
        assert!(error.to_string().contains("without the shim"), "{error}");
    }
    assert!(bed.servers.pid(NODE).is_some(), "nothing was broken");
    assert!(!bed.notes.phases().contains(&FaultPhase::Injected));
}

fn slow(by: DurationSpec) -> FaultSpec {
    let node = NODE.to_owned();
    FaultSpec::SlowFsync(SlowFsync { node, by })
}

fn power_cut() -> FaultSpec {
    let node = NODE.to_owned();
    FaultSpec::PowerCut(PowerCut { node })
}

async fn keeps(bed: &TestBed, key: &str) -> bool {
    bed.ask(NODE, &["EXISTS", key]).await.as_deref() == Ok("1")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_synced_before_each_reply_survives_a_power_cut() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::AofAlways)).await;
    for key in ["lock", "another", "third"] {
        bed.ask(NODE, &["SET", key, "a"]).await.expect("set");
        bed.inject(power_cut()).await;
        assert!(keeps(&bed, "lock").await && keeps(&bed, key).await, "{key}");
    }
}

/// While one synchronisation is under way, a server with `everysec` begins no other: so what it
/// writes meanwhile is lost, and no test has to be quick.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_set_since_the_last_sync_is_lost_with_the_power_and_not_with_the_process() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::AofEverysec)).await;
    // Each write is told to the disk a second later at most; the first is waited for.
    bed.ask(NODE, &["SET", "early", "a"]).await.expect("set");
    bed.inject(slow(DurationSpec::from_secs(600))).await;
    let deadline = Instant::now() + crate::support::WITHIN;
    while !bed.notes.phases().contains(&FaultPhase::Observed) {
        assert!(Instant::now() < deadline, "no synchronisation began");
        bed.ask(NODE, &["INCR", "writes"]).await.expect("it writes");
        sleep(crate::faults::test_bed::POLL).await;
        bed.nemesis.observe_pending().await;
    }
    bed.ask(NODE, &["SET", "lock", "a"]).await.expect("set");
    bed.inject(power_cut()).await;
    assert!(!keeps(&bed, "lock").await, "it was on no disk");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_death_of_a_process_alone_loses_nothing_that_was_written() {
    if !have_server() {
        return;
    }
    for persistence in [Persistence::AofEverysec, Persistence::AofAlways] {
        let mut bed = bed_with_shim(single(persistence)).await;
        bed.ask(NODE, &["SET", "lock", "a"]).await.expect("set");
        bed.inject(restart(Memory::Kept)).await;
        assert!(keeps(&bed, "lock").await, "{persistence:?}");
    }
}

/// A snapshot is taken a second after a change at the earliest, so a server that keeps only
/// snapshots forgets what was set since. What was in a snapshot is safe.
#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_survives_a_power_cut_and_nothing_that_came_after_it() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::Rdb)).await;
    bed.ask(NODE, &["SET", "early", "a"]).await.expect("set");
    bed.ask(NODE, &["SAVE"]).await.expect("saved");
    bed.ask(NODE, &["CONFIG", "SET", "save", ""])
        .await
        .expect("no further snapshots");
    bed.ask(NODE, &["SET", "lock", "a"]).await.expect("set");
    bed.inject(power_cut()).await;
    assert!(keeps(&bed, "early").await);
    assert!(!keeps(&bed, "lock").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_keeps_nothing_on_disk_forgets_all_with_its_power() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::None)).await;
    bed.ask(NODE, &["SET", "lock", "a"]).await.expect("set");
    bed.inject(power_cut()).await;
    assert!(!keeps(&bed, "lock").await);
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

/// Keys lost with all files must not count as safe when a new file gets an old one's inode.
#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_after_a_loss_of_memory_keeps_what_is_safe_by_then() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::AofAlways)).await;
    bed.ask(NODE, &["SET", "early", "a"]).await.expect("set");
    bed.inject(restart(Memory::Lost)).await;
    bed.ask(NODE, &["SET", "lock", "a"]).await.expect("set");
    bed.inject(power_cut()).await;
    assert!(keeps(&bed, "lock").await);
    assert!(!keeps(&bed, "early").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_disk_holds_the_reply_back_where_each_write_is_synced() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::AofAlways)).await;
    let by = Duration::from_millis(200);
    bed.inject(slow(DurationSpec(by))).await;
    assert!(
        !bed.notes.phases().contains(&FaultPhase::Observed),
        "nothing was written yet"
    );
    let start = Instant::now();
    bed.ask(NODE, &["SET", "lock", "a"]).await.expect("set");
    assert!(start.elapsed() >= by, "it did not wait for its disk");
    bed.nemesis
        .heal("slow-fsync", NODE)
        .await
        .expect("the disk is fast again");
    assert_eq!(bed.notes.phases(), WHOLE_LIFE);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_power_of_a_dead_server_cannot_be_cut() {
    if !have_server() {
        return;
    }
    let mut bed = bed_with_shim(single(Persistence::AofAlways)).await;
    bed.inject(kill(NODE)).await;
    let error = bed
        .nemesis
        .inject(&power_cut())
        .await
        .expect_err("it is dead");
    assert!(error.to_string().contains("it is dead"), "{error}");
    let again = FaultSpec::Restart(Restart {
        node: NODE.to_owned(),
        memory: Memory::Kept,
    });
    bed.inject(again).await;
}
