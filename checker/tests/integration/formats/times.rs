//! Units of the times in a history, and processes that have a name instead of a number.

use std::fmt::Write as _;

use lockstorm_checker::history::{
    Format, History, Nanos, Process, ReadError, ReadOptions, Reading, TimeUnit, read_strictly,
};
use lockstorm_checker::{Options, Property, Verdict, check};

fn try_read(text: &str, time_unit: Option<TimeUnit>) -> Result<(History, Reading), ReadError> {
    let mut history = History::default();
    let options = ReadOptions {
        time_unit,
        ..ReadOptions::default()
    };
    let reading = read_strictly(text.as_bytes(), "h", &options, &mut history)?;
    Ok((history, reading))
}

fn refusal(text: &str, time_unit: Option<TimeUnit>) -> String {
    let error = try_read(text, time_unit).expect_err("the times cannot be right");
    error.to_string()
}

/// Two clients take the lock in turn: each gets it when the lease of the other is over. `time`
/// writes a time, given in microseconds.
fn in_turn(time: impl Fn(u64) -> String) -> String {
    let mut text = String::new();
    for turn in 0..5_u64 {
        let process = turn % 2;
        for (kind, after) in [("invoke", 0), ("ok", 2_000)] {
            let time = time(turn * 2_200_000 + after);
            let _ = writeln!(
                text,
                "{{\"time\":{time},\"type\":\"{kind}\",\"process\":{process},\"f\":\"acquire\",\
                 \"key\":\"k\",\"value\":{{\"owner\":\"c{process}\",\"lease_ms\":2000}}}}"
            );
        }
    }
    text
}

fn nanos(micros: u64) -> u64 {
    micros * 1000
}

/// Writes a history in which two clients hold a lock at once, for nearly two seconds.
fn doubly(time: impl Fn(u64) -> String) -> String {
    let mut text = String::new();
    for (process, at) in [(0, 0), (1, 500_000)] {
        for (kind, after) in [("invoke", 0), ("ok", 1_000)] {
            let time = time(at + after);
            let _ = writeln!(
                text,
                "{{\"time\":{time},\"type\":\"{kind}\",\"process\":{process},\"f\":\"acquire\",\
                 \"value\":{{\"owner\":\"c{process}\",\"lease_ms\":2000}}}}"
            );
        }
    }
    text
}

fn verdict(history: &History) -> Verdict {
    check(history, &Options::default()).properties[&Property::MutualExclusion].verdict
}

#[test]
fn milliseconds_and_microseconds_are_not_taken_for_nanoseconds_but_read_as_what_they_are() {
    let right = try_read(&in_turn(|at| nanos(at).to_string()), None)
        .expect("nanoseconds")
        .0;
    assert_ne!(verdict(&right), Verdict::Violated);
    for (unit, divisor, told) in [
        (
            TimeUnit::Millis,
            1000,
            "it lasts 8.8 µs in all and a call 2 ns, but the shortest lease 2 s; say what they \
             count with --time-unit ms",
        ),
        (TimeUnit::Micros, 1, "--time-unit us (which fits)"),
    ] {
        let text = in_turn(|at| (at / divisor).to_string());
        let error = refusal(&text, None);
        assert!(error.contains(told), "{error}");
        let (history, reading) = try_read(&text, Some(unit)).expect("they are told");
        assert_eq!(history.events, right.events);
        assert_eq!(reading.time_unit, Some(unit));
        assert!(
            try_read(&text, Some(TimeUnit::Nanos)).is_ok(),
            "who insists"
        );
    }
    let seconds = in_turn(|at| format!("{}.{:06}", at / 1_000_000, at % 1_000_000));
    assert!(refusal(&seconds, None).contains("h:1:2: `time` has a fraction"));
    let (history, _) = try_read(&seconds, Some(TimeUnit::Seconds)).expect("they are told");
    assert_eq!(history.events, right.events);
}

#[test]
fn times_since_1970_tell_their_unit_and_count_from_the_first() {
    let first = 1_763_800_000_000_000;
    let right = try_read(&doubly(|at| nanos(at).to_string()), None)
        .expect("nanoseconds")
        .0;
    assert_eq!(verdict(&right), Verdict::Violated);
    for (unit, scale) in [
        (Some(TimeUnit::Millis), (1, 1000)),
        (Some(TimeUnit::Micros), (1, 1)),
        (None, (1000, 1)),
    ] {
        let text = doubly(|at| ((first + at) * scale.0 / scale.1).to_string());
        let (history, reading) = try_read(&text, None).expect("they tell it");
        assert_eq!(history.events, right.events, "{unit:?}");
        assert_eq!(reading.time_unit, unit);
        assert_eq!(reading.began, Some(nanos(first)));
    }
    // As large, but nothing else speaks for milliseconds: a machine that runs for half an hour.
    let uptime = doubly(|at| (1_763_800_000_000 + nanos(at)).to_string());
    let (history, reading) = try_read(&uptime, None).expect("nanoseconds");
    assert_eq!(reading.time_unit, None);
    assert_eq!(verdict(&history), Verdict::Violated);
}

#[test]
fn dates_are_read_and_count_from_the_first() {
    let right = try_read(&doubly(|at| nanos(at).to_string()), None)
        .expect("nanoseconds")
        .0;
    let text = doubly(|at| format!("\"2026-01-01T00:00:00.{at:06}Z\""));
    let (history, reading) = try_read(&text, None).expect("they are dates");
    assert_eq!(history.events, right.events);
    assert_eq!(reading.began, Some(1_767_225_600_000_000_000));
    let backwards = text.replacen("00:00:00.000000", "00:00:09.000000", 1);
    assert!(refusal(&backwards, None).contains("earlier than the first; sort the events by time"));
    let none = refusal(&doubly(|_| "\"noon\"".to_owned()), None);
    assert!(
        none.contains("expected a time: a number from 0, or as in 2026-01-31T"),
        "{none}"
    );
}

#[test]
fn short_and_quick_histories_in_nanoseconds_are_not_doubted() {
    for (call, gap) in [(60_000, 100_000), (300_000, 1_000), (6_000, 30_000_000)] {
        let text = doubly(|at| match at {
            0 => "9".to_owned(),
            1_000 => (9 + call).to_string(),
            500_000 => (9 + call + gap).to_string(),
            _ => (9 + call + gap + call).to_string(),
        });
        assert!(try_read(&text, None).is_ok(), "{text}");
    }
    let undated = doubly(|_| "null".to_owned());
    assert!(
        try_read(&undated, None).is_ok(),
        "positions stand for times"
    );
    let recorded = "{\"format\":\"lockstorm-history\",\"version\":1,\"scenario\":\"s\",\"seed\":1,\
                    \"started\":\"2026-01-01T00:00:00Z\"}\n";
    let text = format!("{recorded}{}", doubly(|at| (at / 1000).to_string()));
    assert!(
        try_read(&text, None).is_ok(),
        "who recorded it knows its times"
    );
}

#[test]
fn the_times_of_other_formats_are_guarded_too() {
    let lock = |time: u64| {
        format!(
            "{{:time {time}, :process 0, :type :invoke, :f :acquire, :value {{:lease-ms 2000}}}}\n\
             {{:time {}, :process 0, :type :ok, :f :acquire, :value nil}}\n",
            time + 2
        )
    };
    let text = lock(1) + &lock(2500);
    let error = refusal(&text, None);
    assert!(error.contains("--time-unit ms"), "{error}");
    let (history, reading) = try_read(&text, Some(TimeUnit::Millis)).expect("they are told");
    assert_eq!(reading.format, Some(Format::Edn));
    assert_eq!(history.events[1].time, Nanos(3_000_000));
}

/// A thread of others goes on after a call whose end it did not learn.
#[test]
fn a_process_with_a_name_owns_what_it_takes_and_goes_on_after_an_info() {
    let event = |kind: &str, function: &str, more: &str| {
        format!("{{\"type\":\"{kind}\",\"process\":\"worker-1\",\"f\":\"{function}\"{more}}}\n")
    };
    let text = [
        event("invoke", "acquire", ""),
        event("info", "acquire", ""),
        event("invoke", "acquire", ",\"value\":{\"owner\":\"b\"}"),
        event("note", "alive", ""),
        event("invoke", "acquire", "").replace("worker-1", "7"),
    ]
    .concat();
    let events = try_read(&text, None).expect("it is in order").0.events;
    let owners: Vec<_> = events
        .iter()
        .map(|event| event.value.owner.as_deref())
        .collect();
    let name = Some("worker-1");
    assert_eq!(owners, [name, None, Some("b"), name, None]);
    assert_eq!(events[0].process, events[1].process);
    assert_ne!(events[1].process, events[2].process);
    assert_eq!(events[4].process, Process::Client(7));
    for near in ["", "Nemesis", "nemsis"] {
        let error = refusal(&text.replace("worker-1", near), None);
        assert!(
            error.contains("a process: a number from 0, the name"),
            "{error}"
        );
    }
}

#[test]
fn dates_of_a_history_in_edn_are_times() {
    let event = |date: &str, kind: &str| {
        format!("{{:time {date}, :type {kind}, :process 0, :f :acquire, :key \"k\"}}\n")
    };
    let first = event("#inst \"2026-01-31T23:59:59.250Z\"", ":invoke");
    for date in [
        "#inst \"2026-02-01T00:00:00.000-00:00\"",
        "\"2026-02-01T01:00:00+01:00\"",
    ] {
        let (history, _) =
            try_read(&(first.clone() + &event(date, ":ok")), None).expect("it is a history in EDN");
        let times = history.events.iter().map(|event| event.time);
        assert_eq!(
            times.collect::<Vec<_>>(),
            [Nanos(0), Nanos(750_000_000)],
            "{date}"
        );
    }
    let refused = refusal(&(first + &event("#inst \"yesterday\"", ":ok")), None);
    let remedy = "a whole number from 0, or a date as in #inst \"2026-01-31T23:59:59.123Z\"";
    assert!(
        refused.contains("h:2:") && refused.contains(remedy),
        "{refused}"
    );
}
