//! One history out of two: ours, and the events of the Java program.
//!
//! Both sides read this machine's monotonic clock, each from a zero of its own. An exchange bounds
//! how far apart the zeros are: the Java clock is read after the request was sent and before the
//! reply was seen. What remains uncertain is read in favour of the lock: an operation of the Java
//! side may have begun as early and ended as late as the bounds allow.

use std::collections::HashMap;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Event, History, Kind, Process};
use lockstorm_harness::clock::RunClock;
use serde_json::json;

use super::peer::Peer;

/// Exchanges until the bounds are close enough; a busy machine needs some.
const EXCHANGES_MAX: usize = 2_000;
/// Close enough to stop measuring, in nanoseconds.
const CLOSE_ENOUGH: i128 = 200_000;
/// Shorter than any critical section of the Java side and any pause after it, in nanoseconds, so
/// that the order of its own events is never in doubt.
const WIDTH_MAX: i128 = 900_000;

/// How much more the Java clock reads than ours: at least and at most, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Offset {
    min: i128,
    max: i128,
}

impl Offset {
    /// Measures it.
    pub async fn measure(peer: &Peer, clock: RunClock) -> Self {
        let mut offset = Self {
            min: i128::MIN,
            max: i128::MAX,
        };
        for _ in 0..EXCHANGES_MAX {
            let before = clock.now();
            let reply = peer.ask(json!({ "act": "clock" })).await;
            let after = clock.now();
            let java = i128::from(reply["nanos"].as_i64().expect("it is a number"));
            offset = offset.and(Self {
                min: java - i128::from(after.0),
                max: java - i128::from(before.0),
            });
            if offset.width() <= CLOSE_ENOUGH {
                break;
            }
        }
        assert!(
            offset.width() <= WIDTH_MAX,
            "no exchange was quick: {offset:?}"
        );
        offset
    }

    /// Intersects both. That something is left proves that the clocks run alike.
    pub fn and(self, other: Self) -> Self {
        let both = Self {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
        };
        assert!(both.min <= both.max, "the clocks drift: {self:?} {other:?}");
        both
    }

    /// How far apart the bounds are, in nanoseconds.
    pub fn width(self) -> i128 {
        self.max.saturating_sub(self.min)
    }

    /// A time of the Java side as one of ours: as early as may be for what begins, as late as may
    /// be for what ends.
    fn translate(self, event: &Event) -> Nanos {
        let shift = match event.kind {
            Kind::Invoke => self.max,
            Kind::Ok | Kind::Fail | Kind::Info | Kind::Note => self.min,
        };
        let time = i128::from(event.time.0) - shift;
        Nanos(u64::try_from(time).expect("it happened after the start of the run"))
    }
}

/// Both in the order of time.
pub fn merge(mut ours: History, theirs: Vec<Event>, offset: Offset) -> History {
    let mut last: HashMap<Process, Nanos> = HashMap::new();
    for mut event in theirs {
        event.time = offset.translate(&event);
        let last = last.entry(event.process).or_default();
        assert!(*last <= event.time, "out of order: {event:?}");
        *last = event.time;
        ours.events.push(event);
    }
    // The sort is stable: events of one process stay in their order.
    ours.events.sort_by_key(|event| event.time);
    for (index, event) in ours.events.iter_mut().enumerate() {
        event.index = index as u64;
    }
    ours
}
