//! The schedule: a function of the seed, one fault at a time, healed whatever happens.

use std::sync::Arc;
use std::time::Duration;

use lockstorm_nemesis::{Deployment, FaultError, Plan, Schedule};
use lockstorm_scenarios::{
    Cut, CutMode, DurationSpec, FaultSpec, Kill, KillClient, Memory, NemesisEntry, PauseClient,
    Promote, Restart,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::faults::fake::Fake;
use crate::faults::notes::{Notes, stage};

fn entry(fault: FaultSpec, every_ms: u64, lasts_ms: u64) -> NemesisEntry {
    NemesisEntry {
        fault,
        every: DurationSpec::from_millis(every_ms),
        lasts: DurationSpec::from_millis(lasts_ms),
        package: "main".to_owned(),
    }
}

fn kill(node: &str) -> FaultSpec {
    FaultSpec::Kill(Kill { node: node.into() })
}

fn restart(node: &str) -> FaultSpec {
    FaultSpec::Restart(Restart {
        node: node.into(),
        memory: Memory::Kept,
    })
}

fn pause_one_client() -> FaultSpec {
    let client = "one".into();
    FaultSpec::PauseClient(PauseClient { client })
}

fn seed(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Runs the entries for a minute of the test clock.
async fn storm(fake: Fake, entries: &[NemesisEntry], rng: ChaCha8Rng) -> (Arc<Fake>, Arc<Notes>) {
    let (fake, notes, mut nemesis) = stage(fake);
    let stop = CancellationToken::new();
    let mut schedule = Schedule::new(entries, None, &rng);
    let (errors, ()) = tokio::join!(schedule.run(&mut nemesis, stop.clone()), async {
        sleep(Duration::from_secs(60)).await;
        stop.cancel();
    });
    assert!(errors.is_empty(), "{errors:?}");
    (fake, notes)
}

#[test]
fn a_plan_is_a_function_of_its_seed() {
    let entries = [
        entry(kill("one"), 3000, 1000),
        entry(pause_one_client(), 2000, 500),
    ];
    let plan = |number| Plan::new(&entries, seed(number)).take(500).collect();
    let (one, again, other): (Vec<_>, Vec<_>, Vec<_>) = (plan(1), plan(1), plan(2));
    assert_eq!(one, again);
    assert_ne!(one, other);
    let of_first = one.iter().filter(|planned| planned.entry == 0).count();
    assert!(
        (1..500).contains(&of_first),
        "both entries have their turns"
    );
}

#[test]
fn quiet_times_lie_between_half_and_one_and_a_half_of_the_mean() {
    let entries = [entry(kill("one"), 1000, 300)];
    let quiet: Vec<_> = Plan::new(&entries, seed(3))
        .take(1000)
        .map(|planned| planned.quiet)
        .collect();
    let (min, max) = (quiet.iter().min().unwrap(), quiet.iter().max().unwrap());
    assert!(*min >= Duration::from_millis(500) && *max <= Duration::from_millis(1500));
    // Spread over the whole range, not stuck somewhere within it.
    assert!(*min < Duration::from_millis(550) && *max > Duration::from_millis(1450));
}

#[test]
fn what_is_over_at_once_has_no_length_in_the_plan() {
    let entries = [entry(restart("one"), 1000, 300)];
    let planned = Plan::new(&entries, seed(3)).next().unwrap();
    assert_eq!(planned.lasts, Duration::ZERO);
}

#[test]
fn no_entries_make_an_empty_plan() {
    assert_eq!(Plan::new(&[], seed(1)).next(), None);
}

#[tokio::test(start_paused = true)]
async fn a_storm_breaks_and_heals_one_thing_after_the_other() {
    let entries = [
        entry(kill("one"), 3000, 1000),
        entry(pause_one_client(), 2000, 500),
        entry(restart("one"), 4000, 1),
    ];
    let (fake, notes) = storm(Fake::independent(3), &entries, seed(5)).await;
    let lines = notes.lines();
    for kind in ["kill", "pause-client", "restart"] {
        let injected = format!(" {kind} ");
        assert!(lines.iter().any(|line| line.contains(&injected)), "{kind}");
    }
    // One at a time: each fault's four notes stand together.
    for life in lines.chunks(4) {
        let id = life[0].split(' ').next().unwrap();
        assert_eq!(notes.stages(id), "requested injected observed healed");
        let start = format!("{id} ");
        assert!(life.iter().all(|line| line.starts_with(&start)), "{life:?}");
    }
    assert!(fake.nodes().iter().all(|node| fake.pid(node).is_some()));
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_hits_the_same_targets() {
    let entries = [
        entry(kill("minority"), 2000, 500),
        entry(pause_one_client(), 2000, 500),
    ];
    let (_, one) = storm(Fake::independent(5), &entries, seed(8)).await;
    let (_, again) = storm(Fake::independent(5), &entries, seed(8)).await;
    let (_, other) = storm(Fake::independent(5), &entries, seed(9)).await;
    assert_eq!(one.lines(), again.lines());
    assert_ne!(one.lines(), other.lines());
}

#[tokio::test(start_paused = true)]
async fn words_for_targets_mean_as_many_nodes_as_they_say() {
    let words = [
        ("one", 1),
        ("primary", 1),
        ("minority", 2),
        ("majority", 3),
        ("all", 5),
    ];
    for (word, nodes) in words {
        let entries = [entry(kill(word), 40_000, 1000)];
        let (_, notes) = storm(Fake::independent(5), &entries, seed(2)).await;
        let before_the_first_heal = notes
            .lines()
            .iter()
            .take_while(|line| !line.ends_with("healed"))
            .filter(|line| line.ends_with("requested"))
            .count();
        assert_eq!(before_the_first_heal, nodes, "{word}");
    }
}

/// After a promotion the word `primary` means the new one: it is a role, not a name.
#[tokio::test(start_paused = true)]
async fn the_word_primary_follows_the_role() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    let promoted = FaultSpec::Promote(Promote {
        node: "replica-1".into(),
    });
    nemesis.inject(&promoted).await.unwrap();
    let stop = CancellationToken::new();
    let mut schedule = Schedule::new(&[entry(kill("primary"), 100, 1000)], None, &seed(1));
    let (errors, ()) = tokio::join!(schedule.run(&mut nemesis, stop.clone()), async {
        sleep(Duration::from_millis(500)).await;
        stop.cancel();
    });
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(notes.lines()[3], "F2 kill replica-1: requested");
    assert!(fake.pid("replica-1").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_stop_heals_at_once() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    let hour = 3_600_000;
    let mut schedule = Schedule::new(&[entry(kill("primary"), 1000, hour)], None, &seed(1));
    let stop = CancellationToken::new();
    let start = Instant::now();
    tokio::join!(schedule.run(&mut nemesis, stop.clone()), async {
        sleep(Duration::from_secs(10)).await;
        stop.cancel();
    });
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
    assert!(fake.pid("primary").is_some());
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "by the test clock"
    );
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_fails_does_not_end_the_storm() {
    let (_fake, notes, mut nemesis) = stage(Fake::independent(3));
    let entries = [
        entry(kill("nobody"), 1000, 100),
        entry(kill("n1"), 1000, 100),
    ];
    let stop = CancellationToken::new();
    let mut schedule = Schedule::new(&entries, None, &seed(1));
    let (errors, ()) = tokio::join!(schedule.run(&mut nemesis, stop.clone()), async {
        sleep(Duration::from_secs(20)).await;
        stop.cancel();
    });
    let lines = notes.lines();
    let nobody = lines.iter().filter(|line| line.contains("kill nobody"));
    assert_eq!(nobody.count(), errors.len(), "requested, and no more");
    assert!(!errors.is_empty());
    assert!(lines.iter().any(|line| line.ends_with("kill n1: healed")));
}

#[tokio::test(start_paused = true)]
async fn a_storm_whose_clients_are_all_dead_says_so() {
    let (_fake, _notes, mut nemesis) = stage(Fake::independent(3));
    let kill = FaultSpec::KillClient(KillClient {
        client: "one".into(),
        after_commands: None,
    });
    let stop = CancellationToken::new();
    let mut schedule = Schedule::new(&[entry(kill, 1000, 100)], None, &seed(1));
    let (errors, ()) = tokio::join!(schedule.run(&mut nemesis, stop.clone()), async {
        sleep(Duration::from_secs(20)).await;
        stop.cancel();
    });
    let none_runs = |error: &FaultError| matches!(error, FaultError::NoClientRuns);
    assert!(!errors.is_empty());
    assert!(errors.iter().all(none_runs), "{errors:?}");
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_shows_during_the_storm_is_noted_then() {
    let (fake, notes, mut nemesis) = stage(Fake::replicated(1));
    let cut = FaultSpec::Cut(Cut {
        from: "clients".into(),
        to: "primary".into(),
        mode: CutMode::Stall,
    });
    let mut schedule = Schedule::new(&[entry(cut, 1000, 30_000)], None, &seed(1));
    let stop = CancellationToken::new();
    tokio::join!(schedule.run(&mut nemesis, stop.clone()), async {
        sleep(Duration::from_secs(5)).await;
        fake.send("a", "primary", 9);
        sleep(Duration::from_secs(1)).await;
        assert_eq!(notes.stages("F1"), "requested injected observed");
        stop.cancel();
    });
    assert_eq!(notes.stages("F1"), "requested injected observed healed");
}
