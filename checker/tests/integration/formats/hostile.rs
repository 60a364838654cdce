//! Bytes that no honest writer wrote: every reader ends, in events or in an error.
//!
//! These run everywhere; `checker/fuzz` searches further.

use lockstorm_checker::history::{
    Event, EventSink, Format, Header, ReadOptions, TimeUnit, read, read_strictly,
};
use proptest::prelude::*;

/// Keeps nothing.
#[derive(Default)]
struct Count(usize);

impl EventSink for Count {
    fn header(&mut self, _: Header) {}

    fn event(&mut self, _: Event) {
        self.0 += 1;
    }
}

/// Reads `bytes` in every format.
fn feed(bytes: &[u8]) {
    for format in Format::ALL.map(Some).into_iter().chain([None]) {
        let mut count = Count::default();
        match read(bytes, "h", format, &mut count) {
            Ok(reading) => assert_eq!(reading.events as usize, count.0, "all are handed on"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        for time_unit in [None, Some(TimeUnit::Millis)] {
            feed_strictly(bytes, ReadOptions { format, time_unit });
        }
    }
}

/// Reads `bytes` as the history of others: what is not refused is read without the guard as well.
fn feed_strictly(bytes: &[u8], options: ReadOptions) {
    let mut count = Count::default();
    match read_strictly(bytes, "h", &options, &mut count) {
        Ok(reading) => {
            assert_eq!(reading.events as usize, count.0, "all are handed on");
            let mut plain = Count::default();
            let read = read(bytes, "h", reading.format, &mut plain);
            assert!(read.is_ok(), "the guard lets through what cannot be read");
            assert_eq!(plain.0, count.0, "the guard leaves nothing out");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Whole histories, to be damaged; the long search begins with them too.
pub(crate) const SAMPLES: [(Format, &str); 6] = [
    (Format::Jsonl, include_str!("../../../fuzz/seeds/jsonl")),
    (Format::Json, include_str!("../../../fuzz/seeds/json")),
    (Format::Edn, include_str!("../../../fuzz/seeds/edn")),
    (
        Format::JepsenLog,
        include_str!("../../../fuzz/seeds/jepsen_log"),
    ),
    (
        Format::Porcupine,
        include_str!("../../../fuzz/seeds/porcupine"),
    ),
    (Format::AtlasDb, include_str!("../../../fuzz/seeds/atlasdb")),
];

#[test]
fn the_samples_are_whole_and_told_by_their_content() {
    for (format, sample) in SAMPLES {
        assert_eq!(Format::detect(sample.as_bytes()), Some(format));
        let mut count = Count::default();
        let reading = read(sample.as_bytes(), "h", None, &mut count).unwrap();
        assert!(count.0 >= 5 && reading.torn.is_none(), "{format}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        feed(&bytes);
    }

    #[test]
    fn arbitrary_brackets_and_words_never_panic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "{", "}", "[", "]", "(", ")", "#", "#_", "\"", "\\", ":", ";", "\n", " ", "nil",
                ":type", ":invoke", ":ok", ":process", ":f", "0", "-1", "é", "##", ":value", ",",
            ]),
            0..60,
        )
    ) {
        feed(words.concat().as_bytes());
    }

    #[test]
    fn damaged_histories_never_panic(
        sample in prop::sample::select(SAMPLES.to_vec()),
        wounds in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = sample.1.as_bytes().to_vec();
        for (place, byte) in wounds {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        feed(&bytes);
    }
}

/// Each of these once made some reader of this kind of notation overflow its stack.
#[test]
fn deep_nesting_is_refused_and_not_followed() {
    for open in [
        "[", "{:a ", "#_", "#a ", "(", "#{", "[{:a [", "{\"a\":", "[[",
    ] {
        feed(open.repeat(100_000).as_bytes());
        let within = format!("{{:value {}", open.repeat(100_000));
        feed(within.as_bytes());
        feed(format!("0 :invoke :write {}\n", open.repeat(100_000)).as_bytes());
    }
    let mut count = Count::default();
    let deep = format!("{{:value {}", "[".repeat(100_000));
    let error = read(deep.as_bytes(), "h", Some(Format::Edn), &mut count).unwrap_err();
    assert!(
        error.to_string().contains("nested more than 160 deep"),
        "{error}"
    );
}

/// A missing brace must not pull a file of any size into memory.
#[test]
fn an_event_without_end_is_refused_at_a_limit() {
    let mut count = Count::default();
    let endless = format!("{{:value [{}", "1 ".repeat(1_000_000));
    let error = read(endless.as_bytes(), "h", Some(Format::Edn), &mut count).unwrap_err();
    assert!(
        error.to_string().contains("more than 1048576 bytes"),
        "{error}"
    );
    let line = format!("0 :invoke :write \"{}\"\n", "a".repeat(2_000_000));
    let error = read(line.as_bytes(), "h", Some(Format::JepsenLog), &mut count).unwrap_err();
    assert!(
        error.to_string().contains("1048576 bytes or more"),
        "{error}"
    );
}

/// A quarter of a megabyte of each shape that invites a reader to look at the same bytes again and
/// again: one that did so once for each byte would take minutes for each.
#[test]
fn reading_takes_each_byte_once() {
    let many = |unit: &str| unit.repeat(250_000 / unit.len());
    let shapes = [
        many(" "),
        many("\n"),
        many(";"),
        many("; \n"),
        many("#_1 "),
        many(":ok "),
        many("0 :ok\n"),
        many("- 0 "),
        format!("[{}", many("{}")),
        format!(
            "{{:type :invoke :process 0 :f :a :value \"{}\"}}",
            many("\\n")
        ),
        format!(
            "{{:type :invoke :process 0 :f :a {}}}",
            many(":a 1 ").replace(":a", ":b")
        ),
        format!("0 :invoke :write [{}]\n", many("1 ")),
        format!("[{{\"f\":\"{}\"", many("\\n")),
    ];
    for shape in shapes {
        feed(shape.as_bytes());
    }
    let maps: Vec<_> = (0..15_000).map(|n| format!(":x{n} {n} ")).collect();
    let maps = maps.concat();
    feed(format!("{{:type :invoke :process 0 :f :a {maps} :value {{{maps}}}}}").as_bytes());
    let processes: Vec<_> = (0..10_000)
        .map(|process| format!("{{:type :invoke :process {process} :f :acquire :key {process}}}"))
        .collect();
    feed(processes.concat().as_bytes());
}

/// Text for pages and pictures has a bound, whoever wrote the history.
#[test]
fn a_huge_note_or_header_is_refused_by_its_size() {
    let huge = "x".repeat(300_000);
    let target = format!(r#""target":{{"node":"{huge}"}}"#);
    let fault = format!(r#"{{"id":"F1","kind":"pause","phase":"injected",{target}}}"#);
    let note = r#""type":"note","process":"nemesis","f":"fault""#;
    let fault = format!(r#"{{{note},"value":{{"fault":{fault}}}}}"#);
    let alive = r#"{"type":"note","process":1,"f":"alive","key":"KEY"}"#.replace("KEY", &huge);
    let kept = read(
        alive.as_bytes(),
        "h",
        Some(Format::Jsonl),
        &mut Count::default(),
    );
    assert!(kept.is_ok(), "a huge key is shown short");
    let header = format!(r#"{{"format":"lockstorm-history","version":2,"scenario":"{huge}"}}"#);
    let edn = format!(r#"{{:type :info, :process :nemesis, :f :fault, :value "{huge}"}}"#);
    for (format, history, what) in [
        (
            Format::Jsonl,
            &fault,
            "a note must have at most 262144 bytes",
        ),
        (
            Format::Json,
            &format!("[{fault}]"),
            "a note must have at most 262144 bytes",
        ),
        (
            Format::Jsonl,
            &header,
            "a header must have at most 262144 bytes",
        ),
        (Format::Edn, &edn, "a note must have at most 262144 bytes"),
    ] {
        let refused = read(history.as_bytes(), "h", Some(format), &mut Count::default());
        let error = refused.expect_err("it is too long").to_string();
        assert!(error.contains(what), "{error:.200}");
        assert!(error.len() < 1_000, "{} bytes", error.len());
    }
}
