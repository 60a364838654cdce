//! Jepsen's log lines.

use lockstorm_checker::history::{Event, Format, Function, Kind, Nanos, Process};
use serde_json::json;

use crate::formats::{refusal, try_read};

fn events(text: &str) -> Vec<Event> {
    crate::formats::events(text, Format::JepsenLog)
}

#[test]
fn operations_are_found_among_other_lines_with_tabs_or_blanks() {
    let events = events(
        "INFO  jepsen.core - Running test\n\
         INFO  jepsen.util - 3\t:invoke\t:read\tnil\n\
         WARN  something : went :ok today\n\
         \n\
         INFO [2026-01-01 10:00:00,001] jepsen worker 1 - jepsen.util 1  :invoke :write 4\n\
         INFO  jepsen.util - 3 :ok :read nil\r\n\
         1\t:info\t:write\t4\t:timeout\n",
    );
    let short: Vec<_> = events
        .iter()
        .map(|event| {
            (
                event.process,
                event.kind,
                event.function.as_str(),
                event.time,
            )
        })
        .collect();
    let (three, one) = (Process::Client(3), Process::Client(1));
    assert_eq!(
        short,
        [
            (three, Kind::Invoke, "read", Nanos(0)),
            (one, Kind::Invoke, "write", Nanos(1)),
            (three, Kind::Ok, "read", Nanos(2)),
            (one, Kind::Info, "write", Nanos(3)),
        ]
    );
    assert_eq!(events[2].value.value, Some(Box::new(json!(null))));
    assert_eq!(events[3].error.as_deref(), Some("timeout"));
}

#[test]
fn a_failed_compare_and_set_is_an_observation_and_a_timed_out_read_never_executed() {
    let events = events(
        "INFO  jepsen.util - 0\t:invoke\t:cas\t[1 2]\n\
         INFO  jepsen.util - 0\t:fail\t:cas\t[1 2]\n\
         INFO  jepsen.util - 0\t:invoke\t:read\tnil\n\
         INFO  jepsen.util - 0\t:fail\t:read\t:timed-out\n\
         INFO  jepsen.util - 0\t:invoke\t:cas\t[2 0]\n\
         INFO  jepsen.util - 0\t:info\t:cas\t:timed-out\n",
    );
    assert_eq!(events[0].value.value, Some(Box::new(json!([1, 2]))));
    assert_eq!((events[1].kind, &events[1].error), (Kind::Fail, &None));
    assert_eq!(events[3].error.as_deref(), Some("timed-out"));
    assert_eq!(
        (events[5].kind, events[5].error.as_deref()),
        (Kind::Info, Some("timed-out"))
    );
}

#[test]
fn what_the_nemesis_says_need_not_be_edn() {
    let events = events(
        "INFO  jepsen.util - :nemesis\t:info\t:start\t\"Cut off {n1\"\n\
         INFO  jepsen.util - :nemesis\t:info\t:stop\t{half a map\n\
         INFO  jepsen.util - nemesis :info :kill nil\n",
    );
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|event| event.kind == Kind::Note));
    assert!(events.iter().all(|event| event.process == Process::Nemesis));
    assert_eq!(events[0].function, Function::Other("start".into()));
    assert_eq!(events[1].extra.as_ref().unwrap()["said"], "{half a map");
}

#[test]
fn mistakes_are_named_with_line_and_column() {
    let log = |text: &str| refusal(text, Format::JepsenLog);
    let open = log("INFO  jepsen.util - 0\t:invoke\t:read\tnil\n0 :ok :read [1\n");
    assert!(open.starts_with("h:2:13: the value has no end"), "{open}");
    let stray = log("INFO  jepsen.util - 7\t:ok\t:read\tnil\n");
    assert!(stray.starts_with("h:1:21: process 7 completes"), "{stray}");
    let huge = log("99999999999999999999 :invoke :read nil\n");
    assert!(huge.contains("cannot be the :process"), "{huge}");
}

/// `:ok :read 12` that was cut after the 1 reads as another value.
#[test]
fn a_last_line_without_its_end_is_torn() {
    let text = "0 :invoke :read nil\n0 :ok :read 1";
    let history = try_read(text, Format::JepsenLog).unwrap();
    assert_eq!(history.events.len(), 1);
    assert_eq!(history.torn.unwrap().line, 2);
}
