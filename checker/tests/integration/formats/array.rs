//! One JSON array of our own events, as `jq -s .` and exporters write it.

use lockstorm_checker::history::{Format, History, read, read_jsonl};
use lockstorm_checker::{Options, Property, Verdict, check};

use crate::formats::{refusal, try_read};

/// `a` and `b` hold the same lock inside their leases.
const LINES: [&str; 6] = [
    r#"{"format":"lockstorm-history","version":1,"seed":7}"#,
    concat!(
        r#"{"time":0,"type":"invoke","process":0,"f":"acquire","#,
        r#""key":"orders, ]}[{","value":{"owner":"a\"]","lease_ms":2000}}"#
    ),
    r#"{"time":1000000,"type":"ok","process":0,"f":"acquire","value":{"value":[1,{"b":"\\"}]}}"#,
    concat!(
        r#"{"time":500000000,"type":"invoke","process":1,"f":"acquire","#,
        r#""key":"orders, ]}[{","value":{"owner":"b","lease_ms":2000}}"#
    ),
    r#"{"time":501000000,"type":"ok","process":1,"f":"acquire"}"#,
    r#"{"time":900000000,"type":"fail","process":2,"f":"acquire","error":"refused"}"#,
];

/// The first `number` lines in one array, each piece of which is `glue` apart.
fn array(number: usize, glue: &str) -> String {
    let lines = LINES[..number].join(&format!("{glue},{glue}"));
    format!("{glue}[{glue}{lines}{glue}]{glue}")
}

fn by_lines(number: usize) -> History {
    read_jsonl(LINES[..number].join("\n").as_bytes(), "h").expect("they are events")
}

#[test]
fn an_array_is_read_as_the_same_events_are_line_by_line() {
    for number in 1..LINES.len() {
        for glue in ["", "\n", " \r\n\t"] {
            let text = array(number, glue);
            assert_eq!(Format::detect(text.as_bytes()), Some(Format::Json));
            let history = try_read(&text, Format::Json).expect("it is an array of events");
            assert_eq!(history, by_lines(number), "{text}");
        }
    }
    let marked = format!("\u{feff}{}", array(5, "\n"));
    assert_eq!(try_read(&marked, Format::Json).unwrap(), by_lines(5));
    assert_eq!(try_read("[]", Format::Json).unwrap(), History::default());
}

/// It was once taken for the format of `AtlasDB`, whose leases are of unknown length: nothing could
/// be violated then.
#[test]
fn a_violation_in_an_array_is_found() {
    let mut history = History::default();
    let reading = read(array(5, "\n").as_bytes(), "h", None, &mut history).unwrap();
    assert_eq!(reading.format, Some(Format::Json));
    let analysis = check(&history, &Options::default());
    let judgement = &analysis.properties[&Property::MutualExclusion];
    assert_eq!(judgement.verdict, Verdict::Violated);
}

#[test]
fn a_mistake_is_named_at_its_place_in_the_file() {
    for (text, told) in [
        (
            "[\n  {\"type\":\"invoke\",\n   \"process\":\"\"}]".to_owned(),
            "h:3:15: ",
        ),
        (
            format!("[{},{}]", LINES[1], LINES[1]),
            "h:1:117: process 0 invokes acquire while its acquire is pending",
        ),
        (format!("[{} {}]", LINES[1], LINES[2]), "do not alternate"),
        (format!("[{},]", LINES[1]), "do not alternate"),
        (format!("[,{}]", LINES[1]), "do not alternate"),
        (format!("[{}] {}", LINES[1], LINES[2]), "something follows"),
        ("[3]".to_owned(), "h:1:2: invalid type: integer `3`"),
        ("[tru]".to_owned(), "h:1:2: this is no event"),
        (LINES[1].to_owned(), "h:1:1: this is no array"),
    ] {
        let error = refusal(&text, Format::Json);
        assert!(error.contains(told), "{text}: {error}");
        assert!(error.contains("; "), "no remedy: {error}");
    }
}

#[test]
fn an_array_that_is_cut_anywhere_keeps_the_events_before_the_cut() {
    let whole = array(5, "\n");
    let ends: Vec<usize> = (1..5)
        .map(|number| whole.find(LINES[number]).expect("it is there") + LINES[number].len())
        .collect();
    for cut in whole.find('{').expect("it begins")..whole.trim_end().len() {
        let history = try_read(&whole[..cut], Format::Json).expect("what is there is good");
        let complete = ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(history.events.len(), complete, "cut at {cut}");
        assert!(history.torn.is_some(), "cut at {cut}");
    }
}

#[test]
fn an_event_without_end_is_refused_at_a_limit() {
    let endless = format!("[{{\"f\":\"{}", "x".repeat(17 * 1024 * 1024));
    let error = refusal(&endless, Format::Json);
    assert!(error.contains("longer than 16777216 bytes"), "{error}");
}
