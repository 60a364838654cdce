//! A run in which every text from outside is an attack: it is shown, and does nothing.

use serde_json::Value;

use crate::driver::{Page, Scheme};
use crate::report::{HISTORY, RESULTS, Report};

/// Markup that would run, ends of scripts and of attributes, control characters, and a sign that
/// turns the direction of what follows.
pub const ATTACK: &str = concat!(
    "</script><script>globalThis.pwned=1</script>",
    "<img src=x onerror=globalThis.pwned=1>\"'><svg onload=globalThis.pwned=1>",
    "javascript:globalThis.pwned=1//${globalThis.pwned=1}",
    "\u{1b}[2J\u{0}\u{7}\r\n\u{2028}\u{202e}]]>-->"
);

/// Members of the files whose texts are words of ours: another would be refused when it is read.
const OURS: [&str; 12] = [
    "property", "verdict", "expected", "actual", "outcome", "phase", "format", "type", "f",
    "process", "error", "version",
];

/// Puts the attack before every text that is not a word of ours, at any depth. Different texts
/// stay different, and equal ones equal, so that the story is still the same.
fn poison(value: &mut Value, member: &str, in_step: bool) {
    match value {
        Value::String(text) => {
            let is_ours = OURS.contains(&member) || (in_step && member == "kind");
            if !is_ours {
                *text = format!("{ATTACK}{text}");
            }
        }
        Value::Array(items) => {
            for item in items {
                poison(item, member, member == "story");
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                poison(item, name, in_step);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A file of JSON with the attack in every text.
pub fn poisoned(json: &str) -> String {
    let mut value: Value = serde_json::from_str(json).expect("the fixture is JSON");
    poison(&mut value, "", false);
    value.to_string()
}

fn hostile() -> Report {
    let history: Vec<String> = HISTORY.lines().map(poisoned).collect();
    Report::of_run(&poisoned(RESULTS), &history.join("\n"), ATTACK)
}

/// Fails if a text became anything but text.
pub fn nothing_came_alive(page: &Page) {
    assert_eq!(page.evaluate("typeof globalThis.pwned"), "undefined");
    assert_eq!(page.count("img"), 0);
    assert_eq!(page.count("[onload], [onerror]"), 0);
    let elsewhere = page.evaluate(
        "[...document.querySelectorAll('a[href]')]
           .map((a) => a.protocol).filter((p) => p !== 'file:')",
    );
    assert_eq!(elsewhere, Value::Array(Vec::new()), "no link leads out");
    let raw =
        page.evaluate("/[\\u0000-\\u0008\\u001b\\u202e\\u2028]/.test(document.body.textContent)");
    assert_eq!(raw, false, "signs that cannot be seen are written out");
}

#[test]
fn a_hostile_history_is_shown_and_does_nothing() {
    let report = hostile();
    let Some(page) = Page::new() else { return };
    for scheme in [Scheme::Light, Scheme::Dark] {
        page.prefers(scheme, false);
        page.visit(&report.file, "");
        page.wait_until("document.documentElement.dataset.timeline === 'ready'");
        let shown = page.text("document.body.innerText");
        let attack = "</script><script>globalThis.pwned=1</script><img src=x";
        assert!(shown.contains(attack), "it is shown as what it is");
        assert!(page.text("document.title").contains(attack));
        nothing_came_alive(&page);
    }
    report.was_quiet(&page);
}

#[test]
fn the_details_of_a_hostile_operation_and_a_hostile_address_do_nothing() {
    let report = hostile();
    let Some(page) = Page::new() else { return };
    page.visit(&report.file, "event=14");
    let details = "document.querySelector('#timeline-details')";
    page.wait_until(&format!("!{details}.hidden"));
    let said = page.text(&format!("{details}.innerText"));
    assert!(said.contains("</script><script>"), "it is shown: {said}");
    nothing_came_alive(&page);

    let attack = "<img src=x onerror=globalThis.pwned=1>";
    for hash in [
        format!("#event={attack}"),
        format!("#t={attack}..{attack}&axis={attack}"),
        "#t=1..0&event=99999999999999999999&axis=order".to_owned(),
        format!("#filter={attack}"),
        "#%E0%A4%A&filter=%".to_owned(),
    ] {
        page.evaluate(&format!("location.hash = {hash:?}"));
        nothing_came_alive(&page);
    }
    let status = page.text("document.querySelector('#timeline-status').textContent");
    assert!(!status.is_empty(), "the timeline is still there");
    report.was_quiet(&page);
}

/// Nothing gets in; should anything ever, it does not run.
#[test]
fn a_script_that_got_into_the_page_does_not_run() {
    let report = hostile();
    let Some(page) = Page::new() else { return };
    let text = std::fs::read_to_string(&report.file).expect("it was written");
    let intruder = "<script>globalThis.pwned=1</script><p onclick=\"globalThis.pwned=1\">x</p>\
                    <base href=\"https://elsewhere.example/\">";
    let text = text.replacen("<main>", &format!("<main id=\"open\">{intruder}"), 1);
    assert!(
        text.contains("id=\"open\""),
        "the test must get in, or it proves nothing"
    );
    std::fs::write(&report.file, text).expect("it can be written");
    page.visit(&report.file, "");
    page.evaluate("document.querySelector('[onclick]').click()");
    assert_eq!(page.evaluate("typeof globalThis.pwned"), "undefined");
    let ours = page.evaluate("document.querySelector('button.theme').hidden");
    assert_eq!(ours, false, "the script of the page runs all the same");
    let base = page.evaluate("document.baseURI.startsWith('file:')");
    assert_eq!(base, true, "links of the page stay what they are");
}
