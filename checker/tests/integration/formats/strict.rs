//! Histories of others, in which a word that is nearly ours would change the verdict in silence.

use lockstorm_checker::history::{Format, History, ReadError, ReadOptions, Reading, read_strictly};

fn try_read(text: &str) -> Result<Reading, ReadError> {
    let mut history = History::default();
    read_strictly(text.as_bytes(), "h", &ReadOptions::default(), &mut history)
}

fn refusal(text: &str) -> String {
    let error = try_read(text).expect_err("a word of it is nearly ours");
    error.to_string()
}

/// An invocation with these fields after those that each has.
fn invoke(function: &str, fields: &str) -> String {
    format!("{{\"time\":7000,\"type\":\"invoke\",\"process\":0,\"f\":\"{function}\"{fields}}}\n")
}

/// An operation that ends in `kind` with these fields.
fn operation(function: &str, kind: &str, fields: &str) -> String {
    let end = format!(
        "{{\"time\":9000,\"type\":\"{kind}\",\"process\":0,\"f\":\"{function}\"{fields}}}\n"
    );
    invoke(function, ",\"key\":\"k\",\"value\":{\"owner\":\"a\"}") + &end
}

#[test]
fn a_function_that_is_none_is_refused_with_the_one_that_is_meant() {
    for (word, told) in [
        (
            "lock",
            "h:1:46: a client has no function \"lock\"; did you mean \"acquire\"?",
        ),
        ("tryLock", "did you mean \"acquire\"?"),
        ("relase", "did you mean \"release\"?"),
        ("refresh", "did you mean \"renew\"?"),
        ("put", "did you mean \"write\"?"),
        (
            "weather",
            "write one of acquire, renew, release, read, write, cas, append",
        ),
        ("lost", "a client has no function \"lost\""),
        ("fault", "a client has no function \"fault\""),
    ] {
        let error = refusal(&invoke(word, ""));
        assert!(error.contains(told), "{error}");
    }
    let edn = refusal("{:type :invoke, :process 0, :f :txn, :value nil}");
    assert!(
        edn.starts_with("h:1:1: a client has no function \"txn\""),
        "{edn}"
    );
    let array = refusal(&format!(
        "[\n{},\n{}]",
        invoke("acquire", ""),
        invoke("lock", "").replace(":0", ":1")
    ));
    assert!(
        array.starts_with("h:4:46: a client has no function"),
        "{array}"
    );
}

#[test]
fn notes_are_those_that_there_are_and_what_a_nemesis_of_others_does_is_its_own_business() {
    let note = |process: &str, kind: &str, function: &str| {
        format!("{{\"type\":\"{kind}\",\"process\":{process},\"f\":\"{function}\"}}")
    };
    for (text, told) in [
        (
            note("0", "note", "acquire"),
            "a client has no note \"acquire\"",
        ),
        (note("0", "note", "loss"), "did you mean \"lost\"?"),
        (
            note("\"nemesis\"", "note", "Faults"),
            "did you mean \"fault\"?",
        ),
        (
            note("\"nemesis\"", "info", "fault"),
            "has the type \"info\"; write the type \"note\"",
        ),
    ] {
        let error = refusal(&text);
        assert!(error.contains(told), "{error}");
    }
    for text in [
        note("0", "note", "lost"),
        note("\"nemesis\"", "note", "phase"),
        note("\"nemesis\"", "note", "start-partition"),
        "{:type :info, :process :nemesis, :f :kill, :lock 3}".to_owned(),
    ] {
        assert!(try_read(&text).is_ok(), "{text}");
    }
}

#[test]
fn a_field_that_is_nearly_ours_is_refused_where_ours_is_absent() {
    for (fields, told) in [
        (
            ",\"lock\":\"k\"",
            "h:1:56: an event has no field \"lock\"; did you mean \"key\"?",
        ),
        (",\"lockName\":\"k\"", "did you mean \"key\"?"),
        (
            ",\"owner\":\"a\"",
            "put it into the value: \"value\":{\"owner\": …}",
        ),
        (",\"ttl\":3", "did you mean \"lease_ms\", in its value"),
        (",\"args\":{}", "did you mean \"value\"?"),
        (
            ",\"value\":{\"key\":\"k\"}",
            "name it in the event: \"key\": …",
        ),
        (
            ",\"value\":{\"lock\":\"k\"}",
            "name it in the event: \"key\": …",
        ),
        (",\"value\":{\"lease\":2000}", "did you mean \"lease_ms\"?"),
        (
            ",\"value\":{\"leaseMs\":2000}",
            "did you mean \"lease_ms\"?",
        ),
        (",\"value\":{\"client\":\"a\"}", "did you mean \"owner\"?"),
        (",\"value\":{\"shared\":true}", "did you mean \"mode\"?"),
        (",\"value\":{\"permits\":0}", "`permits` is 0"),
    ] {
        let error = refusal(&invoke("acquire", fields));
        assert!(error.contains(told), "{fields}: {error}");
    }
    let token = refusal(&operation("acquire", "ok", ",\"value\":{\"fence\":7}"));
    assert!(
        token.starts_with("h:2:") && token.contains("\"token\""),
        "{token}"
    );
    let undated = "{\"ts\":5,\"type\":\"invoke\",\"process\":0,\"f\":\"acquire\"}";
    assert!(refusal(undated).contains("did you mean \"time\"?"));
    let nobody = "{\"type\":\"invoke\",\"client\":0,\"f\":\"acquire\"}";
    assert!(refusal(nobody).contains("missing field `process`: did you mean it by \"client\"?"));
}

#[test]
fn what_cannot_be_mistaken_is_counted_once() {
    let answer = concat!(
        r#"{"time":7500,"type":"ok","process":0,"f":"acquire","#,
        r#""value":{"holder":"a"},"pid":3}"#,
        "\n"
    );
    let asked = r#","key":"k","lock":"redlock","value":{"owner":"a","host":"h1"}"#;
    let left = r#","key":"k","value":{"owner":"a","ttl":3}"#;
    let text = [
        invoke("acquire", asked),
        answer.to_owned(),
        invoke("release", left).replace(":0,", ":1,"),
    ]
    .concat();
    let unread = try_read(&text)
        .expect("nothing of it can be mistaken")
        .unread;
    let fields: Vec<_> = unread.fields.iter().map(String::as_str).collect();
    assert_eq!(unread.events, 3);
    assert_eq!(fields, ["holder", "host", "lock", "pid", "ttl"]);
}

#[test]
fn only_the_two_words_for_a_servers_answer_are_understood_and_others_like_them_refused() {
    for (function, kind, word, told) in [
        (
            "release",
            "fail",
            "NOT_OWNER",
            "did you mean \"not-owner\"?",
        ),
        ("renew", "fail", "expired", "did you mean \"not-owner\"?"),
        ("release", "fail", "refused", "did you mean \"not-owner\"?"),
        ("acquire", "fail", "Refused", "did you mean \"refused\"?"),
        (
            "acquire",
            "fail",
            "already locked",
            "did you mean \"refused\"?",
        ),
        ("acquire", "fail", "not-owner", "did you mean \"refused\"?"),
        (
            "acquire",
            "ok",
            "refused",
            "write the type \"fail\" with the error \"refused\"",
        ),
        (
            "release",
            "ok",
            "not held",
            "write the type \"fail\" with the error \"not-owner\"",
        ),
    ] {
        let text = operation(function, kind, &format!(",\"error\":\"{word}\""));
        let error = refusal(&text);
        let end = text.lines().nth(1).expect("there are two lines");
        let column = 1 + end.rfind(&format!("\"{word}\"")).expect("it is there");
        assert!(error.starts_with(&format!("h:2:{column}: ")), "{error}");
        assert!(error.contains(told), "{error}");
        // What the locks say that were run here is known, whatever their libraries call it.
        let header = concat!(
            r#"{"format":"lockstorm-history","version":1,"scenario":"s","seed":1,"#,
            r#""started":"2026-01-01T00:00:00Z"}"#,
            "\n"
        );
        assert!(try_read(&format!("{header}{text}")).is_ok(), "{text}");
    }
    for (function, word) in [
        ("acquire", "refused"),
        ("acquire", "connection reset"),
        ("release", "not-owner"),
        ("release", "timeout"),
    ] {
        let text = operation(function, "fail", &format!(",\"error\":\"{word}\""));
        assert!(try_read(&text).is_ok(), "{text}");
    }
}

#[test]
fn the_samples_of_every_format_are_read_without_a_remark() {
    for (format, sample) in crate::formats::hostile::SAMPLES {
        if matches!(format, Format::Jsonl | Format::Json) {
            continue;
        }
        let read = try_read(sample);
        assert!(read.is_ok(), "{format}: {read:?}");
    }
}
