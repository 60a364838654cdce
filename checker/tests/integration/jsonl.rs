//! The reader and the writer of `history.jsonl`.
//!
//! Method: every rule of the format has a text that keeps it and one that breaks it; random events
//! must come back as they were written, and random bytes must never end in a panic.

use lockstorm_checker::DigestBuilder;
use lockstorm_checker::history::{
    self, CommandNote, DataLoss, Event, ExpiredNote, FailureKind, FailureNote, FaultClass,
    FaultNote, FaultPhase, FaultTarget, Format, Function, Giver, Givers, Header, History, Kind,
    Mode, Name, Nanos, NodeView, Ownership, PhaseNote, Process, ReadError, RoleNote, RouteNote,
    StallNote, Until, Value, ViewNote, read_jsonl, write_event, write_header,
};
use proptest::prelude::*;
use serde_json::json;

fn read(text: &str) -> Result<History, ReadError> {
    read_jsonl(text.as_bytes(), "h.jsonl")
}

fn refusal(text: &str) -> String {
    read(text).expect_err("the text is malformed").to_string()
}

const INVOKE: &str = concat!(
    r#"{"index":0,"time":5,"type":"invoke","process":1,"f":"acquire","key":"k","#,
    r#""value":{"owner":"a","lease_ms":2000},"error":null}"#
);
const OK: &str = concat!(
    r#"{"index":1,"time":9,"type":"ok","process":1,"f":"acquire","key":"k","#,
    r#""value":{"token":17},"error":null}"#
);

#[test]
fn the_example_of_the_format_reads_and_writes_back_to_the_same_bytes() {
    let text = format!("{{\"format\":\"lockstorm-history\",\"version\":1}}\n{INVOKE}\n{OK}\n");
    let history = read(&text).unwrap();
    assert_eq!(history.events.len(), 2);
    assert_eq!(history.events[1].value.token, Some(17));
    assert_eq!(history.torn, None);

    let mut out = Vec::new();
    write_header(&mut out, &history.header);
    for event in &history.events {
        write_event(&mut out, event);
    }
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

#[test]
fn absent_fields_take_their_defaults() {
    let history = read(
        "{\"type\":\"invoke\",\"process\":3,\"f\":\"acquire\"}\n\
         {\"type\":\"ok\",\"process\":3,\"f\":\"acquire\",\"value\":null}",
    )
    .unwrap();
    let event = &history.events[1];
    assert_eq!((event.index, event.time), (1, Nanos(1)));
    assert_eq!((&*event.key, &event.error), ("", &None));
    assert_eq!(event.value, Value::default());
    assert_eq!(history.header, Header::new());
    assert_eq!(
        history.torn, None,
        "a last line that parses needs no line end"
    );
}

#[test]
fn what_editors_leave_behind_is_passed_over() {
    let plain = read(&format!("{INVOKE}\n{OK}\n")).unwrap();
    let header = "{\"format\":\"lockstorm-history\",\"version\":2}";
    for text in [
        format!("\u{feff}{INVOKE}\n{OK}\n"),
        format!("\u{feff}{header}\r\n{INVOKE}\r\n{OK}\r\n"),
        format!("{header}\n{INVOKE}\n{OK}  \n\n \t\r\n\n"),
        format!("{INVOKE}\n{OK}\n   "),
    ] {
        assert_eq!(read(&text).unwrap(), plain, "{text:?}");
    }
    let late = refusal(&format!("{INVOKE}\n\u{feff}{OK}\n"));
    assert!(late.starts_with("h.jsonl:2:1"), "only at the start: {late}");
}

#[test]
fn an_empty_file_and_a_lone_header_are_empty_histories() {
    assert_eq!(read("").unwrap(), History::default());
    let header = "{\"format\":\"lockstorm-history\",\"version\":1,\"seed\":7,\"team\":\"x\"}\n";
    let history = read(header).unwrap();
    assert_eq!(history.header.seed, Some(7));
    assert_eq!(history.header.extra["team"], "x");
    assert!(history.events.is_empty());
}

#[test]
fn unknown_fields_are_kept() {
    let text = concat!(
        r#"{"index":0,"time":5,"type":"note","process":"nemesis","f":"weather","key":"","#,
        r#""value":{"rain":true},"error":null,"node":"n1"}"#
    );
    let history = read(text).unwrap();
    let event = &history.events[0];
    assert_eq!(event.function, Function::Other("weather".into()));
    assert_eq!(event.value.extra.as_ref().unwrap()["rain"], true);
    assert_eq!(event.extra.as_ref().unwrap()["node"], "n1");
    let mut out = Vec::new();
    write_event(&mut out, event);
    assert_eq!(String::from_utf8(out).unwrap(), format!("{text}\n"));
}

#[test]
fn a_last_line_that_is_cut_anywhere_is_reported_and_dropped() {
    // Every proper prefix: whatever the crash left, the events before it must stay readable.
    for cut in 1..OK.len() {
        let history = read(&format!("{INVOKE}\n{}", &OK[..cut])).unwrap();
        assert_eq!(history.events.len(), 1, "cut at {cut}");
        let torn = history.torn.expect("the torn line is reported");
        assert_eq!((torn.line, torn.bytes), (2, cut));
    }
    // Room that was made in the file and never used.
    for (part, torn) in [("", None), (&OK[..20], Some((2, 20)))] {
        let mut history = History::default();
        let text = format!("{INVOKE}\n{part}\0\0\0\0");
        let jsonl = Some(Format::Jsonl);
        let reading = history::read(text.as_bytes(), "h", jsonl, &mut history).unwrap();
        assert_eq!((history.events.len(), reading.unused), (1, 4));
        let found = reading.torn.map(|torn| (torn.line, torn.bytes));
        assert_eq!(found, torn, "{part}");
    }
    let ended = format!("{INVOKE}\n{{\"index\":1,\"ti\n");
    assert!(
        read(&ended).unwrap().torn.is_some(),
        "a line end came after"
    );
}

#[test]
fn a_line_that_is_cut_before_the_last_is_an_error() {
    let error = refusal(&format!("{}\n{OK}\n", &INVOKE[..40]));
    assert!(
        error.starts_with("h.jsonl:1:40: EOF while parsing"),
        "{error}"
    );
}

#[test]
fn a_malformed_line_names_file_line_column_reason_and_remedy() {
    for (line, place, reason) in [
        ("not json", "h.jsonl:2:2", "expected ident"),
        ("", "h.jsonl:2: ", "the line is blank"),
        ("[1,2]", "h.jsonl:2: ", "invalid type: sequence"),
        (
            r#"{"type":"done","process":1,"f":"x"}"#,
            "h.jsonl:2:14",
            "unknown variant `done`",
        ),
        (
            r#"{"type":"ok","process":-1,"f":"x"}"#,
            "h.jsonl:2:25",
            "a process",
        ),
        (
            r#"{"type":"ok","process":"nemsis","f":"x"}"#,
            "h.jsonl:2:24",
            "a process",
        ),
        (
            r#"{"type":"ok","f":"x"}"#,
            "h.jsonl:2:21",
            "missing field `process`",
        ),
        (
            r#"{"process":1,"f":"x"}"#,
            "h.jsonl:2:21",
            "missing field `type`",
        ),
        (
            r#"{"index":0.5,"type":"ok"}"#,
            "h.jsonl:2:12",
            "floating point `0.5`",
        ),
        (
            r#"{"time":-7,"type":"ok"}"#,
            "h.jsonl:2:10",
            "invalid value: integer `-7`",
        ),
        (
            r#"{"time":1e999,"type":"ok"}"#,
            "h.jsonl:2:13",
            "number out of range",
        ),
        (
            r#"{"index":1,"index":2}"#,
            "h.jsonl:2:21",
            "duplicate field `index`",
        ),
        (
            r#"{"value":{"token":1,"token":2}}"#,
            "h.jsonl:2:30",
            "duplicate field `token`",
        ),
        (
            r#"{"value":[]}"#,
            "h.jsonl:2:11",
            "a value: a JSON object or null",
        ),
        (
            r#"{"value":{"permits":4294967296}}"#,
            "h.jsonl:2:30",
            "expected u32",
        ),
        (
            r#"{"value":{"mode":"shared"}}"#,
            "h.jsonl:2:25",
            "unknown variant `shared`",
        ),
    ] {
        let error = refusal(&format!("{INVOKE}\n{line}\n{OK}\n"));
        assert!(error.contains(reason), "{line}: {error}");
        assert!(error.starts_with(place), "{line}: {error}");
        assert!(error.contains("; "), "no remedy: {error}");
    }
}

#[test]
fn events_out_of_order_are_refused_at_their_line() {
    let invoke = r#"{"type":"invoke","process":1,"f":"acquire"}"#;
    let info = r#"{"type":"info","process":1,"f":"acquire"}"#;
    for (lines, reason) in [
        (vec![OK], "completes an operation that it did not invoke"),
        (vec![INVOKE, OK, OK], "index 1 comes after"),
        (
            vec![invoke, invoke],
            "invokes acquire while its acquire is pending",
        ),
        (vec![invoke, info, invoke], "invokes again after an info"),
        (
            vec![
                INVOKE,
                r#"{"time":4,"type":"ok","process":1,"f":"acquire"}"#,
            ],
            "time runs backwards in process 1: 4 ns after 5 ns",
        ),
        (
            vec![
                INVOKE,
                r#"{"time":9,"type":"ok","process":1,"f":"release"}"#,
            ],
            "completes release of \"\", but has invoked acquire of \"k\"",
        ),
        (
            vec![
                INVOKE,
                r#"{"time":9,"type":"ok","process":1,"f":"acquire","key":"other"}"#,
            ],
            "completes acquire of \"other\"",
        ),
        (
            vec![r#"{"index":18446744073709551615,"type":"invoke","process":1,"f":"x"}"#],
            "is too large",
        ),
    ] {
        let error = refusal(&lines.join("\n"));
        assert!(error.contains(reason), "{error}");
        assert!(
            error.starts_with(&format!("h.jsonl:{}:", lines.len())),
            "{error}"
        );
    }
}

#[test]
fn clocks_of_different_processes_need_not_agree_with_the_order_of_lines() {
    let text = r#"{"time":9,"type":"invoke","process":1,"f":"acquire"}
{"time":5,"type":"invoke","process":2,"f":"acquire"}"#;
    assert_eq!(read(text).unwrap().events.len(), 2);
}

#[test]
fn foreign_and_newer_headers_are_refused_with_a_remedy() {
    let newer = refusal("{\"format\":\"lockstorm-history\",\"version\":3}\n");
    assert!(
        newer.contains("version 3 of the format is not supported"),
        "{newer}"
    );
    assert!(newer.contains("use the version of lockstorm"), "{newer}");
    let foreign = refusal("{\"format\":\"tape\",\"version\":1}\n");
    assert!(foreign.contains("the format is \"tape\""), "{foreign}");
    let partial = refusal("{\"format\":\"lockstorm-history\"}\n");
    assert!(partial.contains("missing field `version`"), "{partial}");
}

#[test]
fn hostile_bytes_are_errors_and_never_panics() {
    let nested = format!("{INVOKE}\n{{\"value\":{{\"value\":{}", "[".repeat(100_000));
    assert!(refusal(&(nested + "\n" + OK)).contains("recursion limit"));
    let latin = b"{\"type\":\"invoke\",\"process\":1,\"f\":\"\xff\"}\n{}\n";
    assert!(read_jsonl(latin.as_slice(), "h").is_err());
    let endless = vec![b' '; lockstorm_checker::history::jsonl::LINE_BYTES_MAX + 1];
    let error = read_jsonl(endless.as_slice(), "h").unwrap_err().to_string();
    assert!(error.contains("longer than"), "{error}");
    let nul = read("{\"type\":\"invoke\",\"process\":1,\"f\":\"acquire\",\"key\":\"a\\u0000b\"}");
    assert_eq!(&*nul.unwrap().events[0].key, "a\0b");
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof!["[a-z]{1,4}", any::<String>()].prop_map(Name::from)
}

fn function() -> impl Strategy<Value = Function> {
    prop_oneof![
        Just("acquire".to_owned()),
        Just("fault".to_owned()),
        Just("cas".to_owned()),
        any::<String>()
    ]
    .prop_map(|word| Function::from(word.as_str()))
}

/// Each form of a target in turn.
fn target(word: &Name, turn: u64) -> FaultTarget {
    let (word, other) = (word.clone(), Name::from("n2"));
    match turn % 7 {
        0 => FaultTarget::Node(word),
        1 => FaultTarget::Client(word),
        2 => FaultTarget::Key {
            key: word,
            node: (turn.is_multiple_of(2)).then_some(other),
        },
        3 => FaultTarget::Link {
            from: vec![word],
            to: vec![other],
        },
        4 => FaultTarget::Sides(vec![vec![word], Vec::new(), vec![other]]),
        5 => FaultTarget::Connections {
            client: word,
            node: other,
        },
        _ => FaultTarget::Words(word),
    }
}

/// The servers of a grant, with and without a role.
fn given(word: Option<&Name>) -> Option<Box<Givers>> {
    let giver = |node: &str, role: Option<&Name>| Giver {
        node: node.into(),
        role: role.cloned(),
    };
    word.map(|word| Box::new(Givers(vec![giver(word, None), giver("n2", Some(word))])))
}

fn became(word: Option<&Name>) -> Option<Box<RoleNote>> {
    word.map(|word| {
        Box::new(RoleNote {
            node: word.clone(),
            role: "primary".into(),
            was: "replica".into(),
        })
    })
}

fn value() -> impl Strategy<Value = Value> {
    let lock = (
        proptest::option::of(name()),
        proptest::option::of(prop_oneof![Just(Mode::Read), Just(Mode::Write)]),
        proptest::option::of(any::<u32>()),
        proptest::option::of(any::<u64>()),
        proptest::option::of(any::<u64>()),
        proptest::option::of(any::<u64>()),
    );
    let content = prop_oneof![
        Just(json!(null)),
        Just(json!({"a": [1, "x"]})),
        any::<i64>().prop_map(|n| json!(n))
    ];
    let notes = (name(), any::<u64>()).prop_map(|(word, bound)| {
        let fault = FaultNote {
            id: "F1".into(),
            kind: word.clone(),
            class: FaultClass::Other,
            phase: FaultPhase::Observed,
            target: target(&word, bound),
            evidence: (bound % 2 == 0).then(|| word.clone()),
            offset_ns: (bound % 3 == 0).then_some(-bound.cast_signed()),
            lost: bound.is_multiple_of(7).then_some(DataLoss::All),
        };
        let route = RouteNote {
            from: (bound % 5 == 0).then(|| word.clone()),
            to: "n2".into(),
            why: word.clone(),
        };
        let (view, command) = trace(&word, bound);
        let phase = PhaseNote {
            name: word,
            bound: (bound % 3 == 0).then_some(Nanos(bound)),
        };
        let route = (Box::new(route), (Box::new(view), Box::new(command)));
        (route, (Box::new(fault), Box::new(phase)))
    });
    (
        lock,
        proptest::option::of(name()),
        proptest::option::of(content),
        proptest::option::of(notes),
        any::<bool>(),
    )
        .prop_map(|(lock, resource, content, notes, extra)| {
            let (owner, mode, permits, lease_ms, wait_ms, token) = lock;
            let count = permits.map(|permits| permits / 2);
            let (route, notes) = notes.unzip();
            let (route, trace) = route.unzip();
            let (view, command) = trace.unzip();
            let (by, role) = (given(owner.as_ref()), became(owner.as_ref()));
            let failure = owner.as_ref().map(failed).map(Box::new);
            let (fault, phase) = notes.unzip();
            let extra = extra.then(|| json!({"z": {"deep": [null]}}).as_object().cloned());
            Value {
                owner,
                mode,
                permits,
                lease_ms,
                wait_ms,
                until: token.map(|_| Until::SessionEnd),
                token,
                by,
                by_harness: extra.is_some(),
                by_library: extra.is_some(),
                ownership: extra.is_some().then_some(Ownership::Unknown),
                role,
                waited_ns: token.map(|token| token / 3),
                count,
                resource,
                value: content.map(Box::new),
                route,
                view,
                command,
                failure,
                expired: token.map(|token| {
                    Box::new(ExpiredNote {
                        node: "n1".into(),
                        leases: token,
                        since: Nanos(token),
                    })
                }),
                stall: token.map(|token| {
                    Box::new(StallNote {
                        since: Nanos(token),
                    })
                }),
                fault,
                phase,
                extra: extra.flatten().map(Box::new),
            }
        })
}

/// Kind of failure of a client.
fn failed(word: &Name) -> FailureNote {
    FailureNote {
        kind: FailureKind::Hang,
        during: Some(word.clone()),
        is_own_bound: true,
        bound: Some(Nanos(7)),
        waited: Some(Nanos(12)),
        status: None,
        last_lines: vec![word.clone()],
    }
}

/// Notes of what a server knew, and of a command that it was sent.
fn trace(word: &Name, number: u64) -> (ViewNote, CommandNote) {
    let node = NodeView {
        node: word.clone(),
        role: number.is_multiple_of(2).then(|| word.clone()),
        held_by: vec![word.clone(); (number % 3) as usize],
        content: number.is_multiple_of(5).then(|| word.clone()),
        left_ms: number.is_multiple_of(7).then_some(number),
        until: number.is_multiple_of(13).then_some(Until::SessionEnd),
        error: number.is_multiple_of(11).then(|| word.clone()),
    };
    let view = ViewNote {
        since: Some(Nanos(5)),
        nodes: vec![node; (number % 4) as usize],
    };
    let command = CommandNote {
        node: word.clone(),
        from: number.is_multiple_of(2).then(|| word.clone()),
        text: word.clone(),
        is_reply: number.is_multiple_of(3),
    };
    (view, command)
}

fn event() -> impl Strategy<Value = Event> {
    (
        any::<u64>(),
        function(),
        name(),
        value(),
        proptest::option::of(name()),
    )
        .prop_map(|(time, function, key, value, error)| Event {
            index: 0,
            time: Nanos(time),
            kind: Kind::Note,
            process: if time % 2 == 0 {
                Process::Nemesis
            } else {
                Process::Client(time)
            },
            function,
            key,
            value,
            error,
            extra: None,
        })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(mut events in proptest::collection::vec(event(), 0..8)) {
        let mut out = Vec::new();
        write_header(&mut out, &Header::new());
        for (index, event) in (0..).zip(&mut events) {
            event.index = index;
            write_event(&mut out, event);
        }
        let history = read_jsonl(out.as_slice(), "h").unwrap();
        prop_assert_eq!(history.events, events);
        prop_assert_eq!(history.torn, None);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_jsonl(bytes.as_slice(), "h");
    }

    #[test]
    fn no_change_of_a_byte_makes_the_reader_panic(at in 0..INVOKE.len(), to in any::<u8>()) {
        let mut bytes = format!("{INVOKE}\n{OK}\n").into_bytes();
        bytes[at] = to;
        let _ = read_jsonl(bytes.as_slice(), "h");
    }
}

#[test]
fn a_history_is_told_by_its_content_and_handed_on_event_by_event() {
    let text = "{\"format\":\"lockstorm-history\",\"version\":1,\"seed\":7}\n\
                {\"type\":\"invoke\",\"process\":0,\"f\":\"acquire\"}\n{\"type\":\"ok\",\"pro";
    let mut builder = DigestBuilder::default();
    let reading = history::read(text.as_bytes(), "h", None, &mut builder).unwrap();
    let digest = builder.finish();
    assert_eq!(reading.events, 1);
    assert_eq!(reading.torn.expect("the last line is cut short").line, 3);
    assert_eq!(digest.header.seed, Some(7), "the header reaches the sink");
    assert_eq!(digest.operations.len(), 1, "and so does the event");
}

#[test]
fn content_that_no_format_begins_with_is_refused_with_the_formats_that_there_are() {
    let mut history = History::default();
    let error = history::read("Dear diary\n".as_bytes(), "h", None, &mut history).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("\"Dear diary\\n\"") && text.contains("--from (jsonl"),
        "{text}"
    );
    let named: Format = "jsonl".parse().unwrap();
    let error = history::read("Dear diary\n".as_bytes(), "h", Some(named), &mut history);
    assert!(
        error.unwrap_err().to_string().starts_with("h:1:1: "),
        "named, it is read as such"
    );
    assert!(
        "xml"
            .parse::<Format>()
            .unwrap_err()
            .to_string()
            .contains("jsonl")
    );
}
