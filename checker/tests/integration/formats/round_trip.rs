//! Events that are written in EDN read back as they were.
//!
//! Where EDN cannot say a thing (the header, a reply that repeats its request), the histories here
//! do not have it; the last test pins down what a model of others is given instead.

use lockstorm_checker::history::{
    CommandNote, DataLoss, EdnStyle, EdnWriter, Event, FaultClass, FaultNote, FaultPhase,
    FaultTarget, Format, Function, Giver, Givers, Kind, Mode, Name, Nanos, NodeView, Ownership,
    Process, RefusedRelease, Until, Value, ViewNote, read_jsonl, write_event,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::formats::events;

fn edn(events: &[Event], style: EdnStyle) -> String {
    let mut out = Vec::new();
    let mut writer = EdnWriter::new(style);
    for event in events {
        writer.write(&mut out, event);
    }
    String::from_utf8(out).expect("EDN is text")
}

fn jsonl(events: &[Event]) -> Vec<u8> {
    let mut out = Vec::new();
    for event in events {
        write_event(&mut out, event);
    }
    out
}

fn name() -> impl Strategy<Value = Name> {
    "[a-z]{1,3}|[ -~é\n]{0,6}".prop_map(Name::from)
}

fn contents() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<bool>().prop_map(Json::from),
        "[ -~é\n\u{7f}]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let entries = prop::collection::btree_map("[a-z -]{0,5}", inner.clone(), 0..3);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Json::from),
            entries.prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

/// A value of an operation on a lock.
fn lock_value() -> impl Strategy<Value = Value> {
    let mode = prop::option::of(prop_oneof![Just(Mode::Read), Just(Mode::Write)]);
    let numbers = prop::collection::vec(prop::option::of(any::<u64>()), 3);
    let small = prop::collection::vec(prop::option::of(any::<u32>()), 2);
    let texts = prop::collection::vec(prop::option::of(name()), 2);
    let names = "x[a-z ]{0,3}|lock|client|fence|lease-ms|wait-ms|reply";
    let others = prop::collection::btree_map(names, contents(), 0..3);
    let parts = (
        mode,
        numbers,
        small,
        texts,
        prop::option::of(contents()),
        others,
    );
    parts.prop_map(|(mode, numbers, small, texts, contents, others)| Value {
        owner: texts[0].clone(),
        mode,
        permits: small[0],
        lease_ms: numbers[0],
        wait_ms: numbers[1],
        until: numbers[0].is_none().then_some(Until::SessionEnd),
        token: numbers[2],
        count: small[1],
        by_library: small[1].is_some_and(|count| count % 2 == 0),
        by_harness: small[0].is_some_and(|permits| permits % 2 == 0),
        ownership: small[1].map(|_| Ownership::Unknown),
        by: texts[0]
            .clone()
            .map(|node| Box::new(Givers(vec![Giver { node, role: None }]))),
        resource: texts[1].clone(),
        value: contents.map(Box::new),
        extra: (!others.is_empty()).then(|| Box::new(others.into_iter().collect())),
        ..Value::default()
    })
}

/// One operation of a process of its own, with a note beside it.
fn operation(process: u64) -> impl Strategy<Value = Vec<Event>> {
    let function = prop::sample::select(vec![
        Function::Acquire,
        Function::Renew,
        Function::Release,
        Function::Read,
        Function::Write,
        Function::Cas,
    ]);
    let kind = prop::sample::select(vec![Kind::Ok, Kind::Fail, Kind::Info]);
    let error = prop::sample::select(vec!["refused", "not-owner", "timeout", "odd: \"error\""]);
    let value = (lock_value(), lock_value(), contents(), contents());
    (function, kind, name(), prop::option::of(error), value).prop_map(
        move |(function, kind, key, error, (mut asked, mut replied, first, second))| {
            let on_resource = matches!(function, Function::Read | Function::Write | Function::Cas);
            if on_resource {
                let of = |contents: Json, like: &Value| Value {
                    value: Some(Box::new(contents)),
                    resource: like.resource.clone(),
                    token: like.token,
                    ..Value::default()
                };
                asked = of(first, &asked);
                // What else a server says when it refuses goes its own way.
                if kind == Kind::Ok {
                    replied = of(second, &replied);
                }
            }
            let event = |kind, value: &Value, error: Option<&str>| Event {
                index: 0,
                time: Nanos(0),
                kind,
                process: Process::Client(process),
                function: function.clone(),
                key: Name::clone(&key),
                value: value.clone(),
                error: error.map(Name::from),
                extra: value.extra.clone(),
            };
            let error = error.filter(|_| kind != Kind::Ok);
            let mut note = event(Kind::Note, &Value::default(), None);
            note.function = Function::Queued;
            vec![
                event(Kind::Invoke, &asked, None),
                note,
                event(kind, &replied, error),
            ]
        },
    )
}

fn fault() -> Event {
    Event {
        index: 0,
        time: Nanos(0),
        kind: Kind::Note,
        process: Process::Nemesis,
        function: Function::Fault,
        key: "".into(),
        value: Value {
            fault: Some(Box::new(FaultNote {
                id: "F1".into(),
                kind: "cut".into(),
                class: FaultClass::Cut,
                phase: FaultPhase::Observed,
                target: FaultTarget::Link {
                    from: vec!["n1".into(), "a".into()],
                    to: vec!["n2".into()],
                },
                evidence: Some("PING \"fails\"".into()),
                offset_ns: Some(-2_000_000_000),
                lost: Some(DataLoss::Bytes(7)),
            })),
            ..Value::default()
        },
        error: None,
        extra: None,
    }
}

/// Notes of what servers knew, and of a command that one of them was sent.
fn trace() -> [Event; 2] {
    let holder = NodeView {
        node: "n1".into(),
        role: Some("primary".into()),
        held_by: vec!["a".into()],
        left_ms: Some(1200),
        ..NodeView::default()
    };
    let silent = NodeView {
        node: "n2".into(),
        error: Some("no reply".into()),
        ..NodeView::default()
    };
    let of = |function, value| Event {
        function,
        value,
        key: "orders".into(),
        ..fault()
    };
    let view = Value {
        view: Some(Box::new(ViewNote {
            since: Some(Nanos(17)),
            nodes: vec![holder, silent],
        })),
        ..Value::default()
    };
    let command = Value {
        command: Some(Box::new(CommandNote {
            node: "n1".into(),
            from: None,
            text: "SET orders \"x y\"".into(),
            is_reply: false,
        })),
        ..Value::default()
    };
    [of(Function::View, view), of(Function::Command, command)]
}

fn history() -> impl Strategy<Value = Vec<Event>> {
    (operation(0), operation(1), operation(2)).prop_map(|(a, b, c)| {
        let mut events: Vec<Event> = [a, vec![fault()], trace().to_vec(), b, c].concat();
        for (index, event) in events.iter_mut().enumerate() {
            event.index = 3 * index as u64;
            event.time = Nanos(event.index * 1_000_000_007);
        }
        events
    })
}

proptest! {
    #[test]
    fn events_come_back_from_edn_as_they_were_written(history in history()) {
        let text = edn(&history, EdnStyle::default());
        let back = events(&text, Format::Edn);
        for (back, event) in back.iter().zip(&history) {
            prop_assert_eq!(back, event, "{}", text);
        }
        prop_assert_eq!(back.len(), history.len());
    }

    #[test]
    fn our_own_lines_come_back_byte_for_byte_through_edn(history in history()) {
        let own = read_jsonl(jsonl(&history).as_slice(), "h").unwrap().events;
        let text = edn(&own, EdnStyle::default());
        let back = String::from_utf8(jsonl(&events(&text, Format::Edn))).unwrap();
        prop_assert_eq!(back, String::from_utf8(jsonl(&own)).unwrap(), "{}", text);
    }
}

/// A refused release, a write whose reply is empty, and a renewal.
const OWN: &str = r#"{"type":"invoke","process":0,"f":"acquire","key":"k","value":{"lease_ms":9}}
{"type":"ok","process":0,"f":"acquire","key":"k","value":{"token":17}}
{"type":"invoke","process":0,"f":"write","key":"k","value":{"value":[1,null],"token":17}}
{"type":"ok","process":0,"f":"write","key":"k"}
{"type":"invoke","process":0,"f":"read","key":"k"}
{"type":"ok","process":0,"f":"read","key":"k"}
{"type":"invoke","process":0,"f":"release","key":"k","value":{"owner":"a"}}
{"type":"fail","process":0,"f":"release","key":"k","value":{"count":0},"error":"not-owner"}
"#;

#[test]
fn the_lines_are_what_jepsen_writes_and_a_fail_repeats_what_was_asked() {
    let own = read_jsonl(OWN.as_bytes(), "h").unwrap().events;
    let expected = concat!(
        r#"{:index 0, :time 0, :type :invoke, :process 0, :f :acquire, "#,
        r#":key "k", :value {:lease-ms 9}}"#,
        "\n",
        r#"{:index 1, :time 1, :type :ok, :process 0, :f :acquire, "#,
        r#":key "k", :value {:token 17}}"#,
        "\n",
        r#"{:index 2, :time 2, :type :invoke, :process 0, :f :write, "#,
        r#":key "k", :value [1 nil], :token 17}"#,
        "\n",
        r#"{:index 3, :time 3, :type :ok, :process 0, :f :write, :key "k", :value [1 nil]}"#,
        "\n",
        r#"{:index 4, :time 4, :type :invoke, :process 0, :f :read, :key "k", :value nil}"#,
        "\n",
        r#"{:index 5, :time 5, :type :ok, :process 0, :f :read, :key "k"}"#,
        "\n",
        r#"{:index 6, :time 6, :type :invoke, :process 0, :f :release, "#,
        r#":key "k", :value {:owner "a"}}"#,
        "\n",
        r#"{:index 7, :time 7, :type :fail, :process 0, :f :release, "#,
        r#":key "k", :value {:owner "a"}, :reply {:count 0}, :error :not-owner}"#,
        "\n",
    );
    assert_eq!(edn(&own, EdnStyle::default()), expected);
    let back = events(expected, Format::Edn);
    assert_eq!(
        back[5].value.value, None,
        "a read of nobody knows what is not a read of nil"
    );
    assert_eq!(back[7].value.count, Some(0));
    assert_eq!(back[3].value.value, Some(Box::new(json!([1, null]))));
}

#[test]
fn bare_events_are_those_that_the_mutex_model_knows() {
    let own = read_jsonl(OWN.as_bytes(), "h").unwrap().events;
    let style = EdnStyle {
        bare: true,
        refused_release: RefusedRelease::Ok,
    };
    let expected = "{:index 0, :time 0, :type :invoke, :process 0, :f :acquire, :value nil}
{:index 1, :time 1, :type :ok, :process 0, :f :acquire, :value nil}
{:index 6, :time 6, :type :invoke, :process 0, :f :release, :value nil}
{:index 7, :time 7, :type :ok, :process 0, :f :release, :value nil, :error :not-owner}
";
    assert_eq!(edn(&own, style), expected);
}
