//! Jepsen's EDN.

use lockstorm_checker::history::{Event, Format, Function, Kind, Mode, Nanos, Process, Value};
use serde_json::json;

use crate::formats::try_read;

fn events(text: &str) -> Vec<Event> {
    crate::formats::events(text, Format::Edn)
}

fn refusal(text: &str) -> String {
    crate::formats::refusal(text, Format::Edn)
}

/// The one event that a text holds.
fn event(text: &str) -> Event {
    let mut events = events(text);
    assert_eq!(events.len(), 1, "{text}");
    events.remove(0)
}

#[test]
fn maps_in_a_row_in_a_vector_in_a_list_and_as_records_are_the_same_history() {
    let maps = "{:type :invoke, :process 0, :f :acquire, :value nil}\n\
                {:type :ok, :process 0, :f :acquire, :value nil}";
    let plain = events(maps);
    assert_eq!(plain.len(), 2);
    assert_eq!(events(&format!("[{maps}]")), plain);
    assert_eq!(events(&format!("; by hand\n ({maps}) ; the end")), plain);
    let records = maps.replace('{', "#jepsen.history.Op{");
    assert_eq!(events(&records), plain);
    assert_eq!(
        events(&format!("\u{feff}#_{{:type 3}} {maps} #_ [1 2]")),
        plain
    );
    assert_eq!(events("[]"), []);
    assert_eq!(events("; nothing"), []);
}

#[test]
fn nil_values_are_the_plain_mutex_and_positions_stand_in_for_times_and_indices() {
    let events = events(
        "{:process 4 :type :invoke :f :acquire :value nil}
         {:process 4 :type :ok :f :acquire :value nil}
         {:process 4 :type :invoke :f :release}
         {:process 4 :type :fail :f :release :error :not-owner}",
    );
    let last = &events[3];
    assert_eq!((last.index, last.time), (3, Nanos(3)));
    assert_eq!(last.process, Process::Client(4));
    assert_eq!(last.error.as_deref(), Some(Event::NOT_OWNER));
    assert!(events.iter().all(|event| event.value == Value::default()));
    let timed = event("{:index 7 :time 900 :process 0 :type :invoke :f :acquire}");
    assert_eq!((timed.index, timed.time), (7, Nanos(900)));
}

#[test]
fn the_fields_of_a_lock_are_taken_by_name_and_others_are_kept() {
    let acquire = event(
        r#"{:process 0 :type "invoke" :f :acquire :node "n1" :key :orders
            :value {:owner "a" :mode :read :permits 2 :lease-ms 2000 :wait-ms 5 :why [1 {:b c}]}}"#,
    );
    assert_eq!(&*acquire.key, "orders");
    let value = &acquire.value;
    assert_eq!(value.owner.as_deref(), Some("a"));
    assert_eq!((value.mode, value.permits), (Some(Mode::Read), Some(2)));
    assert_eq!((value.lease_ms, value.wait_ms), (Some(2000), Some(5)));
    assert_eq!(value.extra.as_ref().unwrap()["why"], json!([1, {"b": "c"}]));
    assert_eq!(acquire.extra.unwrap()["node"], "n1");
    let invoke = "{:process 0 :type :invoke :f :acquire}";
    let granted = format!("{invoke} {{:process 0 :type :ok :f :acquire :value {{:fence 17}}}}");
    assert_eq!(
        events(&granted)[1].value.token,
        Some(17),
        "Hazelcast's word for a token"
    );
}

#[test]
fn the_lock_may_be_named_in_key_in_value_or_in_a_pair() {
    let key = |rest: &str| {
        let text = format!("{{:process 0 :type :invoke :f :acquire {rest}}}");
        String::from(&*event(&text).key)
    };
    assert_eq!(key(":key \"k\""), "k");
    assert_eq!(key(":value \"k\""), "k");
    assert_eq!(key(":value :k"), "k");
    assert_eq!(
        key(":value 3"),
        "3",
        "numbered locks must not be taken for one"
    );
    assert_eq!(key(":value {:lock :k}"), "k");
    assert_eq!(key(":value [:k nil]"), "k");
    assert_eq!(key(":value [3 {:owner :a}]"), "3");
    assert_eq!(key(":value nil"), "");
}

#[test]
fn the_value_of_a_register_is_its_contents_whatever_it_looks_like() {
    let cas = event("{:process 0 :type :invoke :f :cas :value [1 2]}");
    assert_eq!(
        (&*cas.key, cas.value.value),
        ("", Some(Box::new(json!([1, 2]))))
    );
    let both = events(
        "{:process 0 :type :invoke :f :read :value nil} {:process 0 :type :ok :f :read :value nil}",
    );
    assert_eq!(both[0].value.value, None, "nobody asks to read nil");
    assert_eq!(
        both[1].value.value,
        Some(Box::new(json!(null))),
        "but nil can be read"
    );
    let map = event("{:process 0 :type :invoke :f :write :value {:token 3 :a #{1}}}");
    assert_eq!(map.value.token, None);
    assert_eq!(
        map.value.value,
        Some(Box::new(json!({"token": 3, "a": [1]})))
    );
}

/// The digest takes a failed compare-and-set without error for an observation; with an error it
/// never executed. Both must reach it as they were meant.
#[test]
fn a_fail_repeats_its_invocation_and_only_an_error_is_one() {
    let after = |kind: &str, f: &str, rest: &str| {
        let text = format!(
            "{{:process 0 :type :invoke :f {f} :value [1 2]}} \
             {{:process 0 :type {kind} :f {f} {rest}}}"
        );
        events(&text).remove(1)
    };
    let failed = after(":fail", ":cas", ":value [1 2]");
    assert_eq!((failed.kind, failed.error), (Kind::Fail, None));
    assert_eq!(failed.value.value, None, "it says nothing new");
    let error = |event: Event| event.error.unwrap().to_string();
    assert_eq!(
        error(after(":fail", ":cas", ":value :timed-out")),
        "timed-out"
    );
    assert_eq!(
        error(after(":info", ":write", ":value [1 2] :error :timeout")),
        "timeout"
    );
    assert_eq!(
        error(after(":fail", ":cas", ":error [:http 500]")),
        "[\"http\",500]"
    );
}

#[test]
fn a_refused_release_is_one_whether_it_is_written_as_fail_or_as_ok() {
    let release = |answer: &str| {
        let text =
            format!("{{:process 0 :type :invoke :f :release}} {{:process 0 :f :release {answer}}}");
        let event = events(&text).remove(1);
        (event.kind, event.error.map(|error| error.to_string()))
    };
    let refused = (Kind::Fail, Some(Event::NOT_OWNER.to_owned()));
    assert_eq!(release(":type :fail :error :not-owner"), refused);
    assert_eq!(release(":type :fail :error :not-lock-owner"), refused);
    assert_eq!(release(":type :ok :error :not-owner"), refused);
    // Without a word from the server nothing is known of who holds the lock.
    assert_eq!(release(":type :fail"), (Kind::Fail, None));
    assert_eq!(release(":type :ok"), (Kind::Ok, None));
}

#[test]
fn what_the_nemesis_does_is_a_note_and_never_an_operation() {
    let events = events(
        r#"{:process :nemesis :type :info :f :start-partition :value {"n1" #{"n2"}} :time 1}
           {:process -1 :type :invoke :f :kill}
           {:process :nemesis :type :info :f :fault :value "theirs"}
           {:process :nemesis :type :info :f :lost :value {:client 3 :owner "a"}}
           {:process :nemesis :type :info :f :fault
            :value {:fault {:id "F1" :kind "kill" :phase :injected :target "n1"}}}
           {:process :nemesis :type :info :f :routed :value "theirs"}
           {:process :nemesis :type :info :f :routed
            :value {:client 3 :route {:to "n2" :why "first use"}}}"#,
    );
    assert!(events.iter().all(|event| event.kind == Kind::Note));
    assert_eq!(
        events[0].function,
        Function::Other("start-partition".into())
    );
    assert_eq!(events[0].value.value, Some(Box::new(json!({"n1": ["n2"]}))));
    assert_eq!(events[1].process, Process::Nemesis);
    assert_eq!(
        events[2].value.fault, None,
        "what others call a fault stays theirs"
    );
    assert_eq!(events[3].process, Process::Client(3), "a client's note");
    assert_eq!(
        events[4].value.fault.as_ref().map(|fault| &*fault.id),
        Some("F1")
    );
    assert_eq!(events[5].value.route, None);
    let route = events[6].value.route.as_ref();
    assert_eq!(
        route.map(|route| (&route.from, &*route.to)),
        Some((&None, "n2"))
    );
}

#[test]
fn numbers_characters_and_escapes_are_read_as_clojure_writes_them() {
    let value = |text: &str| {
        let text = format!("{{:process 0 :type :invoke :f :write :value {text}}}");
        *event(&text).value.value.unwrap()
    };
    assert_eq!(
        value("[-3 +4 7N 2.5 1e3 0.5M]"),
        json!([-3, 4, 7, 2.5, 1000.0, 0.5])
    );
    assert_eq!(value("18446744073709551615"), json!(u64::MAX));
    let huge = "18446744073709551616";
    assert_eq!(
        value(huge),
        json!(huge),
        "no rounding may make two values equal"
    );
    assert_eq!(value("3/4"), json!("3/4"));
    assert_eq!(value(r"[\a \newline \u]"), json!(["a", "\n", "u"]));
    assert_eq!(value(r#""a\n\"\\\u00e9\t""#), json!("a\n\"\\é\t"));
    assert_eq!(value(r#"#inst "2026-01-01""#), json!("2026-01-01"));
    assert_eq!(
        value("[true false nil ##NaN a/b]"),
        json!([true, false, null, "##NaN", "a/b"])
    );
    assert_eq!(value("{[1] 2, 3 4}"), json!({"[1]": 2, "3": 4}));
}

#[test]
fn mistakes_are_named_with_line_column_reason_and_remedy() {
    let table = [
        (
            "{:process 0 :f :acquire}",
            "h:1:1: the event has no :type; every event",
        ),
        (
            "\n  {:type :invoke :process 0}",
            "h:2:3: the event has no :f",
        ),
        (
            "{:type :dance}",
            "h:1:8: a keyword cannot be the :type of an event; write :invoke",
        ),
        ("{:process \"3\"", "h:1:11: a string cannot be the :process"),
        ("{:process -2}", "h:1:11: a number cannot be the :process"),
        ("{:time\n -5}", "h:2:2: a number cannot be the :time"),
        (
            "{:time 1 :time 2}",
            "h:1:16: the event has :time twice; delete one",
        ),
        ("{:type}", "h:1:1: the map has a key without a value"),
        ("{:value {:a}}", "h:1:9: the map has a key without a value"),
        ("{:type :ok ]", "h:1:12: ']' closes nothing"),
        ("{:value (1 2]", "h:1:13: ']' closes nothing"),
        ("{:value \"\\q\"}", "h:1:11: there is no such escape"),
        ("[] {}", "h:1:4: something follows the vector"),
        ("nil ", "h:1:1: this is no event"),
        ("{:process 0\n:type", "h:1:1: the event has no end"),
        (
            "{:type :invoke :process 0 :f :acquire :value {:lease-ms :long}}",
            "h:1:46: a keyword cannot be the :lease-ms of an event; write a whole number",
        ),
        (
            "{:type :ok :process 0 :f :acquire}",
            "h:1:1: process 0 completes an operation that it did not invoke",
        ),
        (
            "{:type :invoke :process 0 :f :a}\n{:type :info :process 0 :f :a}\n\
             {:type :invoke :process 0 :f :a}",
            "h:3:1: process 0 invokes again after an info",
        ),
    ];
    for (text, message) in table {
        let refusal = refusal(text);
        assert!(
            refusal.starts_with(message),
            "{text:?}:\n{refusal}\n{message}"
        );
    }
}

#[test]
fn an_event_that_is_cut_short_on_the_last_line_is_torn_and_the_rest_is_kept() {
    let whole = "{:process 0 :type :invoke :f :acquire}\n";
    for (end, bytes) in [
        ("{:process 0 :type :o", 20),
        ("{", 1),
        ("{:process 0 \"a\n", 15),
    ] {
        let history = try_read(&format!("{whole}{end}"), Format::Edn).unwrap();
        let torn = history.torn.expect("the last event is cut short");
        assert_eq!(
            (history.events.len(), torn.line, torn.bytes),
            (1, 2, bytes),
            "{end}"
        );
    }
    let open = try_read(&format!("[{whole}"), Format::Edn).unwrap();
    assert_eq!(open.events.len(), 1);
    assert!(open.torn.unwrap().reason.contains("not closed"));
}
