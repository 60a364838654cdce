//! Cost of a lock for its clients in one run: the latency of its grants, and the round trips.
//!
//! For: the figures of a run that only its history tells, worked out once and stored with the
//! record. Not for: cycles and times without a grant, which the checker counts; nor for comparing
//! locks, see `price`.

use std::collections::HashMap;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Event, Function, History, Kind, Name, Process};
use serde::{Deserialize, Serialize};

/// Fewer grants have no 99th percentile: it would be the slowest of them.
const GRANTS_FOR_P99: usize = 100;
/// Name of the phase in which probes ask, which are none of the load.
const FINAL_PHASE: &str = "final";

/// Cost of a lock for its clients, before the final phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Acquires that were granted.
    pub grants: u64,
    /// Time from the call to the grant, waiting included, that half of them kept to. Absent where
    /// none was granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquire_p50: Option<Nanos>,
    /// Time within which 99 in a hundred were granted. Absent where there were fewer than a
    /// hundred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquire_p99: Option<Nanos>,
    /// Requests of the clients to servers whose reply they waited for: tries, renewals, releases
    /// and subscriptions. What is sent side by side to several servers counts for each. Absent
    /// where the clients are programs of somebody else, which nobody has counted for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<u64>,
}

impl Cost {
    /// Reads the figures off a history; `round_trips` is what was counted beside it.
    pub fn of(history: &History, round_trips: Option<u64>) -> Self {
        let mut latencies = latencies(&history.events);
        latencies.sort_unstable();
        let grants = latencies.len();
        Self {
            grants: grants as u64,
            acquire_p50: quantile(&latencies, 50),
            acquire_p99: quantile(&latencies, 99).filter(|_| grants >= GRANTS_FOR_P99),
            round_trips,
        }
    }
}

/// From call to grant, for each grant before the final phase. A lock that is asked again and again
/// while its client waits has an operation for each try: the call is the first of them.
fn latencies(events: &[Event]) -> Vec<Nanos> {
    let mut called: HashMap<u64, Nanos> = HashMap::new();
    let mut waits: HashMap<(Name, Name), Nanos> = HashMap::new();
    let mut latencies = Vec::new();
    for event in events {
        if is_final(event) {
            break;
        }
        let Process::Client(process) = event.process else {
            continue;
        };
        match event.kind {
            Kind::Invoke if event.function == Function::Acquire => {
                let since = waits.entry(waiting(event, process)).or_insert(event.time);
                let wait = event.value.wait_ms.map_or(Nanos(0), Nanos::from_millis);
                if event.time - *since > wait {
                    *since = event.time;
                }
                called.insert(process, *since);
            }
            Kind::Ok => {
                if let Some(since) = called.remove(&process) {
                    waits.remove(&waiting(event, process));
                    latencies.push(event.time - since);
                }
            }
            Kind::Invoke | Kind::Fail | Kind::Info => {
                called.remove(&process);
            }
            Kind::Note => {}
        }
    }
    latencies
}

/// The client and the lock of an event.
fn waiting(event: &Event, process: u64) -> (Name, Name) {
    let owner = event.value.owner.clone();
    let owner = owner.unwrap_or_else(|| process.to_string().into());
    (owner, event.key.clone())
}

fn is_final(event: &Event) -> bool {
    let phase = event.value.phase.as_ref();
    phase.is_some_and(|phase| &*phase.name == FINAL_PHASE)
}

/// The least value that so many in a hundred do not exceed; `sorted` goes upwards.
fn quantile(sorted: &[Nanos], hundredths: usize) -> Option<Nanos> {
    let rank = (sorted.len() * hundredths).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::history::read_jsonl;

    use super::*;
    use crate::sample;

    fn history(lines: &str) -> History {
        read_jsonl(lines.as_bytes(), "test").unwrap()
    }

    #[test]
    fn only_grants_before_the_final_phase_are_measured() {
        let history = history(
            r#"{"time":10,"type":"invoke","process":1,"f":"acquire"}
{"time":20,"type":"invoke","process":2,"f":"acquire"}
{"time":25,"type":"ok","process":1,"f":"acquire"}
{"time":30,"type":"fail","process":2,"f":"acquire","error":"refused"}
{"time":40,"type":"invoke","process":1,"f":"release"}
{"time":90,"type":"ok","process":1,"f":"release"}
{"time":95,"type":"note","process":"nemesis","f":"phase","value":{"phase":{"name":"final"}}}
{"time":100,"type":"invoke","process":3,"f":"acquire"}
{"time":900,"type":"ok","process":3,"f":"acquire"}
"#,
        );
        let cost = Cost::of(&history, Some(7));
        let expected = Cost {
            grants: 1,
            acquire_p50: Some(Nanos(15)),
            acquire_p99: None,
            round_trips: Some(7),
        };
        assert_eq!(cost, expected);
    }

    #[test]
    fn the_tries_of_one_wait_are_one_call() {
        let event = |ms: u64, kind: &str, waits: &str| {
            format!(
                r#"{{"time":{ms}000000,"type":"{kind}","process":1,"f":"acquire",
"value":{{"owner":"a"{waits}}}}}"#
            )
            .replace('\n', "")
        };
        let tries = |waits: &str| {
            [
                event(1, "invoke", waits),
                event(2, "fail", ""),
                event(8, "invoke", waits),
                event(9, "ok", ""),
            ]
            .join("\n")
        };
        let p50 = |waits| Cost::of(&history(&tries(waits)), None).acquire_p50;
        assert_eq!(p50(r#","wait_ms":20"#), Some(Nanos::from_millis(8)));
        assert_eq!(p50(""), Some(Nanos::from_millis(1)), "two calls");
        assert_eq!(
            p50(r#","wait_ms":5"#),
            Some(Nanos::from_millis(1)),
            "two waits"
        );
    }

    #[test]
    fn a_hundred_grants_have_a_ninety_ninth_percentile_and_fewer_have_none() {
        let sorted: Vec<Nanos> = (1..=100).map(Nanos).collect();
        assert_eq!(quantile(&sorted, 50), Some(Nanos(50)));
        assert_eq!(quantile(&sorted, 99), Some(Nanos(99)));
        assert_eq!(quantile(&[], 50), None);
        let few = read_jsonl(sample::FAILOVER_HISTORY.as_bytes(), "failover").unwrap();
        let cost = Cost::of(&few, None);
        assert_eq!((cost.grants, cost.acquire_p99), (2, None));
    }
}
