//! Renders a run or a suite as Markdown, for pull requests and CI summaries.

mod assessment;
mod hunt;
mod table;

use std::fmt::Write as _;

use lockstorm_checker::history::FaultPhase;

use crate::assessment::is_assessment;
use crate::finding::{Finding, Findings};
use crate::grid::Grid;
use crate::head::{self, Head, Standing};
use crate::inert::visible;
use crate::model::{Changes, RunRecord, SuiteRecord};
use crate::{story, words};

pub use hunt::markdown_hunt;

/// `text` as inert inline Markdown: no markup, no HTML, no link comes out of it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' => {
                out.push('\\');
                out.push(c);
            }
            plain => out.push(plain),
        }
    }
    out
}

/// `text` as inline code; the fence is longer than any run of backticks inside.
fn code(text: &str) -> String {
    let text = visible(text);
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // A blank inside keeps backticks at the ends apart from the fence.
    if longest == 0 {
        format!("{fence}{text}{fence}")
    } else {
        format!("{fence} {text} {fence}")
    }
}

/// A run as Markdown.
pub fn markdown_run(run: &RunRecord) -> String {
    markdown_of(run, None)
}

/// Renders a run like [`markdown`], with a word on why the history that the verdict is of cannot be
/// read, if it cannot.
pub(crate) fn markdown_of(run: &RunRecord, unread: Option<&str>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "# {}\n", escaped(&run.scenario));
    if !run.description.is_empty() {
        let _ = writeln!(text, "{}\n", escaped(&run.description));
    }
    push_head(&mut text, &Head::of_run(run));
    let _ = writeln!(
        text,
        "{}, seed {}.\n",
        escaped(&words::cell_name(&run.labels)),
        run.seed
    );
    if let Some(reason) = &run.stopped {
        let _ = writeln!(text, "Stopped early: {}\n", escaped(reason));
    }
    if let Some(reason) = unread {
        let _ = writeln!(text, "{}: {}\n", words::UNCHECKED, escaped(reason));
    }
    push_changes(&mut text, run.changed.as_ref());
    push_verdicts(&mut text, run);
    push_findings(&mut text, &Findings::of_run(run));
    push_faults(&mut text, run);
    push_ending(&mut text, &run.rerun);
    text
}

/// A suite as Markdown.
pub fn markdown_suite(suite: &SuiteRecord) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "# {}\n", escaped(&suite.name));
    if !suite.description.is_empty() {
        let _ = writeln!(text, "{}\n", escaped(&suite.description));
    }
    push_head(&mut text, &Head::of_suite(suite));
    let _ = writeln!(text, "Seed {}.\n", suite.seed);
    push_changes(&mut text, suite.changed.as_ref());
    if is_assessment(suite) {
        assessment::push(&mut text, suite);
    } else {
        table::push(&mut text, &Grid::new(suite));
    }
    push_findings(&mut text, &Findings::of_suite(suite));
    push_ending(&mut text, &suite.rerun);
    text
}

fn push_head(text: &mut String, head: &Head) {
    let (sign, word) = (head.standing.sign().glyph(), head.standing.word());
    let _ = writeln!(text, "**{sign} {word}** · {}.\n", escaped(&head.found));
}

/// Rows of the table of changes; `results.json` has them all.
const CHANGES_MAX: usize = 50;

fn push_changes(text: &mut String, changes: Option<&Changes>) {
    let Some(changes) = changes else {
        return;
    };
    let baseline = escaped(&changes.baseline);
    let _ = writeln!(
        text,
        "## What changed\n\nAgainst {baseline}: {}.\n",
        changes.summary()
    );
    if changes.findings.is_empty() {
        return;
    }
    text.push_str("| change | property | finding | now | before |\n|---|---|---|---|---|\n");
    for change in changes.findings.iter().take(CHANGES_MAX) {
        let _ = writeln!(
            text,
            "| {} | {} | {}<br>{} | {} | {} |",
            change.words(),
            words::property(change.property),
            escaped(&change.claim),
            escaped(&words::cell_name(&change.labels)),
            change.now.words(),
            change.before.words(),
        );
    }
    if changes.findings.len() > CHANGES_MAX {
        let all = changes.findings.len();
        let _ = writeln!(
            text,
            "\nShowing only the first {CHANGES_MAX} of {all} findings; `results.json` has more."
        );
    }
    text.push('\n');
}

fn push_verdicts(text: &mut String, run: &RunRecord) {
    text.push_str(
        "| outcome | property | verdict | violations | expected |\n|---|---|---|---|---|\n",
    );
    for result in &run.expectations {
        let judged = run.analysis.properties.get(&result.property);
        let reason = judged.and_then(|judgement| judgement.reason.as_ref());
        let reason = reason.map_or_else(String::new, |reason| format!(": {}", escaped(reason)));
        let standing = Standing::of_result(run, result);
        let _ = writeln!(
            text,
            "| {} {} | {} | {}{reason} | {} | {} |",
            standing.sign().glyph(),
            standing.word(),
            words::property(result.property),
            head::verdict(run, result),
            judged.map_or(0, |judgement| judgement.count),
            words::expected(result.expected),
        );
    }
    for sentence in words::measured(&run.analysis) {
        let _ = write!(text, "\n{}\n", escaped(&sentence));
    }
    text.push('\n');
}

fn push_findings(text: &mut String, findings: &Findings) {
    if findings.total > 0 {
        text.push_str("## Findings\n\n");
    }
    for finding in &findings.told {
        push_finding(text, finding);
    }
    if findings.left_out() > 0 {
        let _ = writeln!(
            text,
            "Showing only the first {} of {} findings; `results.json` has more.\n",
            findings.told.len(),
            findings.total
        );
    }
}

fn push_finding(text: &mut String, finding: &Finding) {
    let name = words::property(finding.property);
    let place = escaped(&words::cell_name(&finding.run.labels));
    let _ = writeln!(text, "### ✗ {name}, {}: {place}\n", finding.against());
    let _ = writeln!(text, "{}\n", escaped(&finding.witness.claim));
    for line in story::lines(finding.witness) {
        let _ = write!(
            text,
            "{}. {} — {}",
            line.number,
            line.time,
            escaped(&line.text)
        );
        if !line.change.is_empty() {
            let _ = write!(text, "; {}", escaped(&line.change));
        }
        if !line.evidence.is_empty() {
            let _ = write!(text, " ({})", line.evidence);
        }
        text.push('\n');
    }
    text.push('\n');
    if let Some(sentence) = story::blame(&finding.scene()) {
        let _ = writeln!(text, "{}\n", escaped(&sentence));
    }
    for (sentence, evidence) in story::remedies(&finding.scene()) {
        let _ = writeln!(
            text,
            "{}: {} ({})\n",
            story::CURES,
            escaped(&sentence),
            words::evidence(&evidence)
        );
    }
    if let Some(counted) = finding.counted() {
        let _ = writeln!(text, "{counted}\n");
    }
}

fn push_faults(text: &mut String, run: &RunRecord) {
    if run.analysis.faults.is_empty() {
        return;
    }
    text.push_str("## Faults\n\n| fault | kind | target | injected | effect | healed |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for fault in &run.analysis.faults {
        let at = |phase| {
            fault
                .at(phase)
                .map_or_else(|| "–".to_owned(), words::instant)
        };
        let effect = match fault.at(FaultPhase::Observed) {
            Some(time) => words::instant(time),
            None => "**no observed effect**".to_owned(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {effect} | {} |",
            escaped(&fault.id),
            escaped(&fault.kind),
            escaped(&fault.target.to_string()),
            at(FaultPhase::Injected),
            at(FaultPhase::Healed),
        );
    }
    text.push('\n');
}

fn push_ending(text: &mut String, rerun: &str) {
    let _ = writeln!(text, "Repeat it with {}", code(rerun));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Record;
    use crate::sample;

    #[test]
    fn a_run_is_verdicts_findings_and_faults() {
        insta::assert_snapshot!(markdown_run(&sample::failover_run()));
    }

    #[test]
    fn a_suite_is_a_table_and_its_findings() {
        insta::assert_snapshot!(markdown_suite(&sample::suite()));
    }

    #[test]
    fn changes_against_a_baseline_are_a_table() {
        let mut run = sample::failover_run();
        let before = Record::Run(Box::new(sample::control_run()));
        run.changed = Some(Changes::of_run(&run, &before));
        let text = markdown_run(&run);
        assert!(text.contains("no cell in common"), "{text}");
        let before = Record::Suite(Box::new(sample::suite()));
        run.changed = Some(Changes::of_run(&run, &before));
        let text = markdown_run(&run);
        let row = "| ongoing | mutual exclusion | a and b both held \"orders\" for 1.078 s";
        assert!(text.contains("2 ongoing, 2 not judged this time"), "{text}");
        assert!(text.contains(row), "{text}");
        assert!(text.contains("| 1 of 1 run | 2 of 2 runs |"), "{text}");
    }

    #[test]
    fn code_with_backticks_gets_a_longer_fence() {
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(code("a``b"), "``` a``b ```");
    }

    #[test]
    fn hostile_text_makes_no_markup() {
        let run = markdown_run(&sample::hostile_run());
        let suite = markdown_suite(&sample::hostile_suite());
        for text in [run, suite] {
            let body = text.split("Repeat it with").next().unwrap();
            assert!(!body.contains("<img"), "{body}");
            assert!(!body.contains("</script"), "{body}");
            assert!(!text.contains('\u{1b}'));
        }
    }
}
