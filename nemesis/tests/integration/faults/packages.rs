//! Packages of a storm: side by side, out of each other's way, and quiet together.

use std::collections::BTreeSet;
use std::time::Duration;

use lockstorm_nemesis::Schedule;
use lockstorm_scenarios::{DurationSpec, FaultSpec, Kill, NemesisEntry, Pause, Quiet};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::faults::fake::Fake;
use crate::faults::notes::stage;

fn entry(package: &str, fault: FaultSpec, ms: u64) -> NemesisEntry {
    NemesisEntry {
        fault,
        every: DurationSpec::from_millis(ms),
        lasts: DurationSpec::from_millis(ms),
        package: package.to_owned(),
    }
}

fn kill(node: &str) -> FaultSpec {
    FaultSpec::Kill(Kill { node: node.into() })
}

fn pause(node: &str) -> FaultSpec {
    FaultSpec::Pause(Pause { node: node.into() })
}

/// A line of the notes: `F1 kill n2: injected`.
fn parts(line: &str) -> (&str, &str, &str) {
    let (id, rest) = line.split_once(' ').unwrap();
    let (what, phase) = rest.split_once(": ").unwrap();
    (id, what.split_once(' ').unwrap().1, phase)
}

#[tokio::test(start_paused = true)]
async fn packages_overlap_and_never_strike_the_same_node() {
    let (_fake, notes, mut nemesis) = stage(Fake::independent(3));
    let entries = [
        entry("kills", kill("one"), 700),
        entry("pauses", pause("one"), 900),
    ];
    let stop = CancellationToken::new();
    let rng = ChaCha8Rng::seed_from_u64(4);
    let mut schedule = Schedule::new(&entries, None, &rng);
    let (errors, ()) = tokio::join!(schedule.run(&mut nemesis, stop.clone()), async {
        sleep(Duration::from_secs(60)).await;
        stop.cancel();
    });
    assert!(errors.is_empty(), "{errors:?}");
    let (mut hit, mut most) = (BTreeSet::new(), 0);
    for line in notes.lines() {
        let (_, node, phase) = parts(&line);
        match phase {
            "injected" => assert!(hit.insert(node.to_owned()), "{line}: hit twice"),
            "healed" => assert!(hit.remove(node), "{line}"),
            _ => {}
        }
        most = most.max(hit.len());
    }
    assert_eq!(most, 2, "both packages are at work at once");
    assert!(hit.is_empty(), "all is healed in the end");
}

#[tokio::test(start_paused = true)]
async fn a_package_waits_while_another_has_the_only_node() {
    let (_fake, notes, mut nemesis) = stage(Fake::independent(1));
    let entries = [
        entry("kills", kill("one"), 1000),
        entry("pauses", pause("n1"), 1000),
    ];
    let stop = CancellationToken::new();
    let rng = ChaCha8Rng::seed_from_u64(4);
    let mut schedule = Schedule::new(&entries, None, &rng);
    let (errors, ()) = tokio::join!(schedule.run(&mut nemesis, stop.clone()), async {
        sleep(Duration::from_secs(60)).await;
        stop.cancel();
    });
    assert!(errors.is_empty(), "{errors:?}");
    let lines = notes.lines();
    for kind in ["kill", "pause"] {
        let injected = format!(" {kind} n1: injected");
        assert!(lines.iter().any(|line| line.contains(&injected)), "{kind}");
    }
    for life in lines.chunks(4) {
        let (id, ..) = parts(&life[0]);
        assert!(life.iter().all(|line| parts(line).0 == id), "{life:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_broken_in_a_quiet_period_and_things_are_again_after_it() {
    let (_fake, notes, mut nemesis) = stage(Fake::independent(3));
    let entries = [
        entry("kills", kill("one"), 300),
        entry("pauses", pause("one"), 400),
    ];
    let quiet = Quiet {
        every: DurationSpec::from_secs(5),
        lasts: DurationSpec::from_secs(5),
    };
    let stop = CancellationToken::new();
    let rng = ChaCha8Rng::seed_from_u64(4);
    let mut schedule = Schedule::new(&entries, Some(quiet), &rng);
    // Looks at the notes all the time: how long nothing was in force and nothing was noted.
    let (mut calm, mut since, mut before) = (Vec::new(), Instant::now(), 0);
    let (errors, ()) = tokio::join!(schedule.run(&mut nemesis, stop.clone()), async {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            sleep(Duration::from_millis(10)).await;
            let lines = notes.lines();
            let count = |phase| lines.iter().filter(|line| parts(line).2 == phase).count();
            if lines.len() > before || count("requested") > count("healed") {
                calm.push(since.elapsed());
                (since, before) = (Instant::now(), lines.len());
            }
        }
        stop.cancel();
    });
    assert!(errors.is_empty(), "{errors:?}");
    // Each fault comes after three fifths of a second at the most, but for quiet periods.
    let long = Duration::from_secs(1);
    calm.retain(|&length| length > long);
    let lasts = quiet.lasts.0.mul_f64(0.99);
    assert!(calm.len() > 2, "they come again and again: {calm:?}");
    assert!(calm.iter().all(|&length| length >= lasts), "{calm:?}");
}
