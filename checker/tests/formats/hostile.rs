//! Bytes that no honest writer wrote: every reader ends, in events or in an error.
//!
//! These run everywhere; `checker/fuzz` searches further.

use lockstorm_checker::history::{Event, EventSink, Format, Header, read};
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

/// A reader that counts how often it is asked: reading is linear if every byte is had once.
fn feed(bytes: &[u8]) {
    for format in Format::ALL.map(Some).into_iter().chain([None]) {
        let mut count = Count::default();
        match read(bytes, "h", format, &mut count) {
            Ok(reading) => assert_eq!(reading.events as usize, count.0, "all are handed on"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Whole histories, to be damaged.
const SAMPLES: [&str; 5] = [
    "{\"format\":\"lockstorm-history\",\"version\":1}\n\
     {\"index\":0,\"time\":1,\"type\":\"invoke\",\"process\":1,\"f\":\"acquire\",\"value\":{}}\n",
    "[{:type :invoke, :process 0, :f :cas, :value [1 {:a \"b\\n\"}], :time 3} ; c\n\
     {:type :fail, :process 0, :f :cas, :value #{1 2}, :error :x} #_ 3]",
    "INFO  jepsen.util - 0\t:invoke\t:cas\t[1 2]\nnoise\nINFO  jepsen.util - 0\t:fail\t:cas\t3\n",
    "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x 0 0 y\"}\n\
     {:process 0, :type :ok, :f :append, :key \"0\", :value \"x 0 0 y\"}\n",
    "[{\"f\":\"lock\",\"process\":0,\"time\":1,\"type\":\"invoke\",\"value\":\"bob\"},\
     {\"f\":\"lock\",\"process\":0,\"time\":2,\"type\":\"ok\",\"value\":\"t\"}]",
];

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
        let mut bytes = sample.as_bytes().to_vec();
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
        error.to_string().contains("nested more than 64 deep"),
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
