//! `AtlasDB`'s JSON array.

use lockstorm_checker::history::{Event, Format, Function, History, Kind, Nanos, Process};
use lockstorm_checker::{Options, Property, Verdict, check};

use crate::formats::{events, refusal, try_read};

/// One event of process 0 or 1, in milliseconds.
fn line(process: i64, time: u64, kind: &str, f: &str, value: &str) -> String {
    format!(
        "{{\"f\":\"{f}\",\"process\":{process},\"query-params\":\"\",\"time\":{},\
         \"type\":\"{kind}\",\"value\":{value}}}",
        time * 1_000_000
    )
}

/// An operation that takes a millisecond.
fn operation(process: i64, time: u64, f: &str, answer: &str) -> [String; 2] {
    [
        line(process, time, "invoke", f, "\"bob\""),
        line(process, time + 1, "ok", f, answer),
    ]
}

fn array(lines: &[String]) -> String {
    format!("[{}]", lines.join(",\n"))
}

fn verdict(lines: &[String], property: Property) -> Option<Verdict> {
    let history = try_read(&array(lines), Format::AtlasDb).expect("the text is well-formed");
    let analysis = check(&history, &Options::default());
    Some(analysis.properties.get(&property)?.verdict)
}

#[test]
fn its_calls_are_acquires_renewals_and_releases_of_the_lock_that_is_named() {
    let lines = [
        operation(0, 1, "lock", "\"token 7\""),
        operation(0, 3, "refresh", "\"token 7\""),
        operation(0, 5, "unlock", "\"true\""),
    ];
    let events = events(&array(&lines.concat()), Format::AtlasDb);
    let functions: Vec<_> = events.iter().map(|event| &event.function).collect();
    let (acquire, renew, release) = (&Function::Acquire, &Function::Renew, &Function::Release);
    assert_eq!(
        functions,
        [acquire, acquire, renew, renew, release, release]
    );
    assert_eq!((&*events[0].key, events[0].time), ("bob", Nanos(1_000_000)));
    assert_eq!(events[0].value.owner.as_deref(), Some("0"));
    assert_eq!(
        (events[0].value.lease_ms, events[4].value.lease_ms),
        (Some(0), None)
    );
    assert!(events.iter().all(|event| event.error.is_none()));
}

#[test]
fn an_empty_or_false_answer_is_a_refusal() {
    for answer in ["\"\"", "\"false\"", "false", "null", "[]"] {
        let lines = [
            operation(0, 1, "lock", answer),
            operation(0, 3, "unlock", answer),
        ];
        let events = events(&array(&lines.concat()), Format::AtlasDb);
        assert_eq!(events[1].kind, Kind::Fail, "{answer}");
        assert_eq!(events[1].error.as_deref(), Some(Event::REFUSED), "{answer}");
        assert_eq!(
            events[3].error.as_deref(),
            Some(Event::NOT_OWNER),
            "{answer}"
        );
    }
}

#[test]
fn a_fail_is_a_timeout_and_the_client_goes_on_as_another_process_of_the_same_owner() {
    let lines = [
        line(0, 1, "invoke", "lock", "\"bob\""),
        line(0, 2, "fail", "lock", "\"bob\""),
        line(0, 3, "invoke", "lock", "\"bob\""),
    ];
    let events = events(&array(&lines), Format::AtlasDb);
    assert_eq!(events[1].kind, Kind::Info);
    assert_ne!(events[2].process, events[0].process);
    assert_eq!(events[2].value.owner, events[0].value.owner);
    let nemesis = array(&[line(-1, 1, "info", "start", "\"Cut off n1\"")]);
    let note = crate::formats::events(&nemesis, Format::AtlasDb).remove(0);
    assert_eq!((note.process, note.kind), (Process::Nemesis, Kind::Note));
}

/// Its locks run out, and nobody knows when: only what a refresh proves may be held against the
/// service, and nobody can have overrun such a lease.
#[test]
fn a_lock_counts_as_held_only_as_far_as_a_refresh_proves_it() {
    let lapsed = [
        operation(0, 10, "lock", "\"a\""),
        operation(1, 50, "lock", "\"b\""),
        operation(0, 60, "refresh", "\"\""),
        operation(1, 70, "refresh", "\"b\""),
    ]
    .concat();
    for property in Property::ALL {
        let verdict = verdict(&lapsed, property);
        assert_ne!(
            verdict,
            Some(Verdict::Violated),
            "{property:?}: the lock of 0 ran out"
        );
    }
    let twice = [
        operation(0, 10, "lock", "\"a\""),
        operation(1, 50, "lock", "\"b\""),
        operation(0, 60, "refresh", "\"a\""),
        operation(1, 70, "refresh", "\"b\""),
    ]
    .concat();
    let verdict = verdict(&twice, Property::MutualExclusion);
    assert_eq!(verdict, Some(Verdict::Violated), "both were refreshed");
}

/// Own events in an array were once read as these, without their leases and their keys.
#[test]
fn what_its_service_does_not_have_is_refused() {
    for (function, value, told) in [
        ("acquire", "\"bob\"", "has no function \"acquire\""),
        ("Lock", "\"bob\"", "has no function \"Lock\""),
        ("read", "null", "has no function \"read\""),
        (
            "lock",
            "{\"owner\":\"a\"}",
            "the value of lock is not the name of a lock",
        ),
        (
            "unlock",
            "null",
            "the value of unlock is not the name of a lock",
        ),
    ] {
        let lines = [
            line(0, 1, "invoke", "lock", "\"bob\""),
            line(1, 2, "invoke", function, value),
        ];
        let error = refusal(&array(&lines), Format::AtlasDb);
        assert!(error.starts_with("h:2:") && error.contains(told), "{error}");
        assert!(error.contains("--from json"), "{error}");
    }
    let nemesis = array(&[line(-1, 1, "info", "start", "{\"n1\":\"down\"}")]);
    assert_eq!(events(&nemesis, Format::AtlasDb).len(), 1);
}

#[test]
fn mistakes_are_named_with_line_and_column_and_a_cut_tail_is_torn() {
    let invoke = line(0, 1, "invoke", "lock", "\"bob\"");
    let stray = refusal(&format!("[{invoke},\n{invoke}]"), Format::AtlasDb);
    assert!(
        stray.starts_with("h:2:") && stray.contains("while its acquire is pending"),
        "{stray}"
    );
    let data = refusal("[{\"f\":3}]", Format::AtlasDb);
    assert!(
        data.starts_with("h:1:8: invalid type: integer `3`, expected a string"),
        "{data}"
    );
    let object = refusal("{}", Format::AtlasDb);
    assert!(object.contains("expected an array of events"), "{object}");
    let after = refusal("[] []", Format::AtlasDb);
    assert!(after.starts_with("h:1:4: trailing"), "{after}");
    let cut: History = try_read(&format!("[{invoke},\n{{\"f\":\"lo"), Format::AtlasDb).unwrap();
    assert_eq!((cut.events.len(), cut.torn.unwrap().line), (1, 2));
}
