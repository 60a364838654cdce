//! Histories written as a few lines of text, for tests that can be read at a glance.
//!
//! ```text
//! a acquire 0..10 ok lease 2000 token 1      owner, action, sent..answered in ms, outcome
//! a acquire 0..10 ok lease 2000 granted 1900 the lease that it was told it has
//! b acquire 20..30 refused
//! c acquire 30..90 ok waited 50              granted to a try that was sent 50 ms later
//! a renew 50..? pending                      no completion
//! a release 60..90 info                      indeterminate from 90 ms on
//! a read 20..30 ok saw 5                     the reply of the resource
//! a write 40..50 ok value 6                  what it was asked
//! a lost 70                                  a note of the client
//! a routed 70 n2                             its first connection goes there
//! a routed 70 n1 n2 no reply                 it turns from one to the other, with the reason
//! view 80 n1:primary:a:1200 n2:replica:-     what servers know: held by a for 1200 ms, no such key
//! look 70..80 n1:primary:-                   the same, asked at 70 ms
//! view 80 n1:!killed n2:primary:?v           no answer, and content that names nobody
//! role 80 n2 replica primary              a server was promoted
//! expired 40..80 n1 3                        a server counts leases that it has ended
//! stall 40..80                               the harness stood still
//! a hang 90 acquire 50                       it did not answer this call within so many ms
//! a hang 90 acquire 50 own 60                the same by its library's own word, given so many
//! a crash 90 release                         its process ended by itself in a call, `-` for none
//! told 90 n1 a SET lock x                    a command that a server was sent by a client
//! replied 90 n1 a                            a reply of a server to a client
//! fault F1 kill n1 injected 40 gone          a note of the nemesis, with evidence
//! final 500 bound 100                        the final phase; its bound may be left out
//! ```
//!
//! Every operation gets a process of its own, so that owners may do several things at once, but for
//! those that name one: `process 1000`.

use lockstorm_checker::history::{
    CommandNote, Event, ExpiredNote, FailureKind, FailureNote, Function, History, Kind, Mode,
    NodeView, Ownership, PhaseNote, Process, RoleNote, RouteNote, StallNote, Until, Value,
    ViewNote,
};
use lockstorm_checker::{Analysis, Drift, Nanos, Options, Property, Verdict, check};
use serde_json::json;

/// Parses a history. The key is `lock`, unless a line says `key K`.
pub(crate) fn history(text: &str) -> History {
    let mut events = Vec::new();
    for (process, line) in (1..).zip(text.lines().map(str::trim).filter(|line| !line.is_empty())) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["fault", id, kind, target, phase, time, ref evidence @ ..] => {
                events.push(fault(
                    id,
                    kind,
                    target,
                    phase,
                    ms(time),
                    &evidence.join(" "),
                ));
            }
            ["final", time, ref bound @ ..] => events.push(final_phase(ms(time), bound)),
            [owner, "queued", time, "by", line] => {
                let line = number(line);
                let mut event = event(line, Kind::Note, "queued", ms(time));
                event.value.owner = Some(owner.into());
                events.push(event);
            }
            [
                owner,
                note @ ("lost" | "suspended" | "resumed" | "ended" | "alive"),
                time,
            ] => {
                let mut event = event(process, Kind::Note, note, ms(time));
                event.value.owner = Some(owner.into());
                events.push(event);
            }
            ["expired", span, node, leases] => {
                events.push(expired(span, node, number(leases)));
            }
            ["stall", span] => events.push(stall(span)),
            [owner, "hang", time, call, bound, ref more @ ..] => {
                let call = (FailureKind::Hang, call);
                let mut hang = failed(process, owner, ms(time), call, Some(ms(bound)));
                if let Some(note) = &mut hang.value.failure {
                    note.is_own_bound = more.first() == Some(&"own");
                    note.waited = more.get(1).map(|waited| ms(waited));
                }
                events.push(hang);
            }
            [owner, "crash", at, call] => {
                events.push(failed(
                    process,
                    owner,
                    ms(at),
                    (FailureKind::Crash, call),
                    None,
                ));
            }
            [owner, "routed", time, to] => {
                events.push(routed(process, owner, ms(time), (None, to), "first use"));
            }
            [owner, "routed", time, from, to, ref why @ ..] => {
                let way = (Some(from), to);
                events.push(routed(process, owner, ms(time), way, &why.join(" ")));
            }
            ["view", time, ref nodes @ ..] => events.push(view((time, time), nodes)),
            ["look", span, ref nodes @ ..] => {
                let span = span.split_once("..").expect("a span is asked..answered");
                events.push(view(span, nodes));
            }
            ["role", time, node, was, role] => {
                let mut event = nemesis(ms(time), "role");
                event.value.role = Some(Box::new(RoleNote {
                    node: node.into(),
                    role: role.into(),
                    was: was.into(),
                }));
                events.push(event);
            }
            ["replied", time, node, client] => events.push(replied(ms(time), node, client)),
            ["told", time, node, from, ref text @ ..] => {
                events.push(told(ms(time), node, from, text));
            }
            [owner, action, span, outcome, ref options @ ..] => {
                operation(
                    &mut events,
                    process,
                    (owner, action),
                    span,
                    outcome,
                    options,
                );
            }
            _ => panic!("no such line: {line}"),
        }
    }
    // Stable: what is written first comes first at equal times.
    events.sort_by_key(|event| event.time);
    for (index, event) in (0..).zip(&mut events) {
        event.index = index;
    }
    History {
        events,
        ..History::default()
    }
}

/// Leases that a server counts as ended.
fn expired(span: &str, node: &str, leases: u64) -> Event {
    let (since, until) = span.split_once("..").expect("a span is from..to");
    let mut event = nemesis(ms(until), "expired");
    event.value.expired = Some(Box::new(ExpiredNote {
        node: node.into(),
        leases,
        since: ms(since),
    }));
    event
}

/// A standstill of the harness.
fn stall(span: &str) -> Event {
    let (since, until) = span.split_once("..").expect("a span is from..to");
    let mut event = nemesis(ms(until), "stall");
    event.value.stall = Some(Box::new(StallNote { since: ms(since) }));
    event
}

/// A command that a server was sent by `from`, or by a script.
fn told(time: Nanos, node: &str, from: &str, text: &[&str]) -> Event {
    let mut event = nemesis(time, "command");
    event.key = "lock".into();
    event.value.command = Some(Box::new(CommandNote {
        node: node.into(),
        from: (from != "script").then(|| from.into()),
        text: text.join(" ").into(),
        is_reply: false,
    }));
    event
}

/// A reply of a server to a client.
fn replied(time: Nanos, node: &str, client: &str) -> Event {
    let mut reply = told(time, node, client, &["a", "reply"]);
    if let Some(note) = &mut reply.value.command {
        note.is_reply = true;
    }
    reply
}

fn operation(
    events: &mut Vec<Event>,
    process: u64,
    (owner, action): (&str, &str),
    span: &str,
    outcome: &str,
    options: &[&str],
) {
    let (sent, answered) = span.split_once("..").expect("a span is sent..answered");
    let mut invoke = event(process, Kind::Invoke, action, ms(sent));
    invoke.value.owner = Some(owner.into());
    let mut replied = None;
    let (mut count, mut waited, mut granted, mut ownership) = (None, None, None, None);
    for option in options.chunks(2) {
        match *option {
            ["lease", lease] => invoke.value.lease_ms = Some(number(lease)),
            ["granted", lease] => granted = Some(number(lease)),
            ["wait", wait] => invoke.value.wait_ms = Some(number(wait)),
            ["token", token] => invoke.value.token = Some(number(token)),
            ["count", told] => count = Some(number(told) as u32),
            ["waited", time] => waited = Some(ms(time).0),
            ["until", "session-end"] => invoke.value.until = Some(Until::SessionEnd),
            ["ownership", "unknown"] => ownership = Some(Ownership::Unknown),
            ["by", "library"] => invoke.value.by_library = true,
            ["permits", permits] => invoke.value.permits = Some(number(permits) as u32),
            ["mode", "read"] => invoke.value.mode = Some(Mode::Read),
            ["mode", "write"] => invoke.value.mode = Some(Mode::Write),
            ["key", key] => invoke.key = key.into(),
            ["process", process] => invoke.process = Process::Client(number(process)),
            ["resource", resource] => invoke.value.resource = Some(resource.into()),
            ["value", value] => invoke.value.value = Some(Box::new(json(value))),
            ["saw", value] => replied = Some(Box::new(json(value))),
            _ => panic!("no such option: {option:?}"),
        }
    }
    let (kind, error) = match outcome {
        "ok" => (Some(Kind::Ok), None),
        "refused" => (Some(Kind::Fail), Some(Event::REFUSED)),
        "not-owner" => (Some(Kind::Fail), Some(Event::NOT_OWNER)),
        "failed" => (Some(Kind::Fail), Some("connection refused")),
        "info" => (Some(Kind::Info), Some("timeout")),
        "told-no" => (Some(Kind::Info), Some(Event::REFUSED)),
        "pending" => (None, None),
        _ => panic!("no such outcome: {outcome}"),
    };
    let (key, client) = (invoke.key.clone(), invoke.process);
    events.push(invoke);
    if let Some(kind) = kind {
        let mut completion = event(process, kind, action, ms(answered));
        (completion.key, completion.process) = (key, client);
        completion.error = error.map(Into::into);
        completion.value.value = replied;
        completion.value.count = count;
        completion.value.waited_ns = waited;
        completion.value.lease_ms = granted;
        completion.value.ownership = ownership;
        events.push(completion);
    }
}

/// A value without blanks: `5`, `"five"`, `[1,2]`.
fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("a JSON value")
}

fn event(process: u64, kind: Kind, function: &str, time: Nanos) -> Event {
    Event {
        index: 0,
        time,
        kind,
        process: Process::Client(process),
        function: Function::from(function),
        key: "lock".into(),
        value: Value::default(),
        error: None,
        extra: None,
    }
}

fn fault(id: &str, kind: &str, target: &str, phase: &str, time: Nanos, evidence: &str) -> Event {
    let mut event = nemesis(time, "fault");
    // A target in words, as version 1 writes it, is taken apart by the reader.
    let mut note = json!({ "id": id, "kind": kind, "target": target, "phase": phase });
    if !evidence.is_empty() {
        note["evidence"] = json!(evidence);
    }
    event.value.fault = Some(serde_json::from_value(note).expect("it is a note of version 1"));
    event
}

fn final_phase(time: Nanos, bound: &[&str]) -> Event {
    let mut event = nemesis(time, "phase");
    event.value.phase = Some(Box::new(PhaseNote {
        name: "final".into(),
        bound: match *bound {
            ["bound", bound] => Some(ms(bound)),
            _ => None,
        },
    }));
    event
}

fn nemesis(time: Nanos, function: &str) -> Event {
    Event {
        process: Process::Nemesis,
        ..event(0, Kind::Note, function, time)
    }
}

fn routed(process: u64, owner: &str, time: Nanos, way: (Option<&str>, &str), why: &str) -> Event {
    let mut event = event(process, Kind::Note, "routed", time);
    event.value.owner = Some(owner.into());
    event.value.route = Some(Box::new(RouteNote {
        from: way.0.map(Into::into),
        to: way.1.into(),
        why: why.into(),
    }));
    event
}

/// A client that failed in a call, or in none: `-`.
fn failed(
    process: u64,
    owner: &str,
    time: Nanos,
    (kind, call): (FailureKind, &str),
    bound: Option<Nanos>,
) -> Event {
    let mut event = event(process, Kind::Note, "failure", time);
    event.value.owner = Some(owner.into());
    event.value.failure = Some(Box::new(FailureNote {
        is_own_bound: false,
        kind,
        during: Some(call).filter(|call| *call != "-").map(Into::into),
        bound,
        waited: None,
        status: (kind == FailureKind::Crash).then(|| "exit status: 1".into()),
        last_lines: vec!["Traceback".into(), "ConnectionError: closed".into()],
    }));
    event
}

/// Nodes as `name:role:holder:left`, `name:role:holder:session`,
/// `name:role:-`, `name:role:?content`,
/// `name:role:holder?content` or `name:!error`.
fn view((since, time): (&str, &str), nodes: &[&str]) -> Event {
    let node = |text: &&str| {
        let parts: Vec<&str> = text.split(':').collect();
        let mut view = NodeView {
            node: parts[0].into(),
            ..NodeView::default()
        };
        match *parts.as_slice() {
            [_, error] => view.error = Some(error.trim_start_matches('!').into()),
            [_, role, what, ref left @ ..] => {
                view.role = Some(role.into());
                match left.first() {
                    Some(&"session") => view.until = Some(Until::SessionEnd),
                    left => view.left_ms = left.map(|left| number(left)),
                }
                let (owner, content) = match what.split_once('?') {
                    Some((owner, content)) => (owner, Some(content)),
                    None => (what.trim_start_matches('-'), None),
                };
                view.content = content.map(Into::into);
                let owner = Some(owner).filter(|owner| !owner.is_empty());
                view.held_by = owner.into_iter().map(Into::into).collect();
            }
            _ => panic!("no such view: {text}"),
        }
        view
    };
    let mut event = nemesis(ms(time), "view");
    event.value.view = Some(Box::new(ViewNote {
        since: Some(ms(since)),
        nodes: nodes.iter().map(node).collect(),
    }));
    event
}

/// Milliseconds, as in `17`.
pub(crate) fn ms(text: &str) -> Nanos {
    Nanos::from_millis(number(text))
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

/// Options without drift, so that leases end at round times.
pub(crate) fn exact() -> Options {
    Options {
        drift: Some(Drift {
            ppm: 0,
            fixed: Nanos(0),
        }),
        ..Options::default()
    }
}

/// Judges a history without drift.
pub(crate) fn judge(text: &str) -> Analysis {
    check(&history(text), &exact())
}

/// The answer for one property, asked for by name.
pub(crate) fn verdict(property: Property, text: &str) -> (Verdict, u64) {
    let options = Options {
        only: Some([property].into()),
        ..exact()
    };
    let analysis = check(&history(text), &options);
    let judgement = &analysis.properties[&property];
    (judgement.verdict, judgement.count)
}

/// The reason for an `unknown`.
pub(crate) fn reason(property: Property, text: &str) -> String {
    let analysis = judge(text);
    let judgement = &analysis.properties[&property];
    assert_eq!(judgement.verdict, Verdict::Unknown);
    judgement.reason.clone().expect("unknown has a reason")
}
