//! What a run and a suite say in a terminal.

use std::fmt::Write as _;

use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::FaultSummary;
use unicode_width::UnicodeWidthStr;

use super::paint::{Paint, Tone};
use super::table::{Lines, Table, wrap, wrapped};
use crate::finding::{Finding, Findings};
use crate::grid::{Cell, Grid};
use crate::inert::visible;
use crate::model::{Outcome, RunRecord, SuiteRecord};
use crate::story::{self, Line};
use crate::words;

/// Narrowest width that is respected; below it lines are longer than asked for.
const WIDTH_MIN: usize = 60;
/// Stories told in a terminal; the report tells the others.
const STORIES_MAX: usize = 12;
/// Where the sentence of a step begins: number, blanks, time, blanks.
const STEP_INDENT: usize = 18;

/// How text for a terminal is laid out.
#[derive(Clone, Copy, Debug)]
pub struct TerminalOptions {
    /// Whether to use colours. They never say anything that the words do not.
    pub color: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for TerminalOptions {
    /// No colour, 100 columns: a log file.
    fn default() -> Self {
        Self {
            color: false,
            width: 100,
        }
    }
}

/// A run as text: its verdicts, the story of each violation, and the verdict line last.
pub fn terminal_run(run: &RunRecord, options: TerminalOptions) -> String {
    let mut text = Text::new(options);
    let title = format!("{} · {}", run.scenario, words::cell_name(&run.labels));
    text.line(Tone::Heading, &title);
    text.line(Tone::Plain, &run.description);
    text.blank();
    text.verdicts(run);
    let findings = Findings::of_run(run);
    text.findings(&findings);
    text.idle_faults(&run.analysis.faults);
    if let Some(reason) = &run.stopped {
        text.line(Tone::Unknown, &format!("stopped early: {reason}"));
        text.blank();
    }
    let verdict = run.analysis.verdict;
    let sentence = format!("{} {}", words::glyph(verdict), words::sentence(run));
    text.ending("verdict", Tone::of(verdict), &sentence);
    text.outcome(run.outcome);
    text.ending("repeat", Tone::Plain, &run.rerun);
    text.done()
}

/// A suite as text: the table of locks and hazards, the stories, and the verdict line last.
pub fn terminal_suite(suite: &SuiteRecord, options: TerminalOptions) -> String {
    let mut text = Text::new(options);
    let title = format!("{} · seed {}", suite.name, suite.seed);
    text.line(Tone::Heading, &title);
    text.line(Tone::Plain, &suite.description);
    text.blank();
    let grid = Grid::new(suite);
    let table = table(&grid);
    text.push(&table.render(text.width, text.paint));
    text.blank();
    text.line(
        Tone::Quiet,
        "✗ violated in k of n runs, ✓ no violation found, ? unknown, · not applicable or not run, \
         ! not as expected",
    );
    text.blank();
    text.findings(&Findings::of_suite(suite));
    let met = suite
        .runs
        .iter()
        .filter(|run| run.record.outcome == Outcome::AsExpected)
        .count();
    let runs = words::count(suite.runs.len() as u64, "run");
    text.ending(
        "verdict",
        Tone::Plain,
        &format!("{met} of {runs} as expected"),
    );
    text.outcome(suite.outcome());
    text.ending("repeat", Tone::Plain, &suite.rerun);
    text.done()
}

/// The table of locks on topologies and hazards.
fn table(grid: &Grid) -> Table {
    let hazards = grid
        .hazards
        .iter()
        .map(|hazard| wrapped(Tone::Heading, &visible(hazard)));
    let rows = grid.rows.iter().map(|row| {
        let mut name = wrapped(Tone::Heading, &visible(row.lock));
        name.extend(wrapped(Tone::Quiet, &visible(row.topology)));
        std::iter::once(name)
            .chain(row.cells.iter().map(cell))
            .collect()
    });
    Table {
        header: std::iter::once(vec![(Tone::Heading, "lock".to_owned())])
            .chain(hazards)
            .collect(),
        rows: rows.collect(),
    }
}

fn cell(cell: &Cell) -> Lines {
    let mark = if cell.is_unexpected() { " !" } else { "" };
    let tone = match cell {
        Cell::Ran(tally) => Tone::of(tally.verdict),
        Cell::NotApplicable(_) | Cell::NotRun => Tone::Quiet,
    };
    let headline = format!("{} {}{mark}", cell.glyph(), cell.headline());
    let mut lines = vec![(tone, headline)];
    let detail = cell.detail();
    if !detail.is_empty() {
        lines.push((Tone::Plain, format!("  {detail}")));
    }
    lines
}

/// Text under construction.
struct Text {
    paint: Paint,
    width: usize,
    out: String,
}

impl Text {
    fn new(options: TerminalOptions) -> Self {
        Self {
            paint: Paint {
                color: options.color,
            },
            width: options.width.max(WIDTH_MIN),
            out: String::new(),
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn blank(&mut self) {
        self.out.push('\n');
    }

    /// `text` made inert, wrapped, in one tone; nothing at all for an empty text.
    fn line(&mut self, tone: Tone, text: &str) {
        self.indented(0, tone, text);
    }

    fn indented(&mut self, indent: usize, tone: Tone, text: &str) {
        if text.is_empty() {
            return;
        }
        for line in wrap(&visible(text), self.width - indent) {
            self.out.push_str(&" ".repeat(indent));
            self.out.push_str(&self.paint.paint(tone, &line));
            self.out.push('\n');
        }
    }

    /// One line for each judged property.
    fn verdicts(&mut self, run: &RunRecord) {
        for result in &run.expectations {
            let tone = Tone::of(result.actual);
            let glyph = words::glyph(result.actual);
            let mark = if result.met { "" } else { " !" };
            let sentence = format!("{glyph} {}{mark}", words::expectation(result));
            self.indented(2, tone, &sentence);
            let judged = run.analysis.properties.get(&result.property);
            if let Some(reason) = judged.and_then(|judgement| judgement.reason.as_ref()) {
                self.indented(4, Tone::Plain, reason);
            }
        }
        self.blank();
    }

    fn findings(&mut self, findings: &Findings) {
        for finding in findings.told.iter().take(STORIES_MAX) {
            self.finding(finding);
        }
        let shown = findings.told.len().min(STORIES_MAX);
        if shown < findings.total {
            let note = format!(
                "Showing only the first {shown} of {} findings; the report and results.json have \
                 more.",
                findings.total
            );
            self.line(Tone::Quiet, &note);
            self.blank();
        }
    }

    fn finding(&mut self, finding: &Finding) {
        let name = words::property(finding.property);
        let title = match finding.folder {
            Some(_) => format!("✗ {name} · {}", words::cell_name(&finding.run.labels)),
            None => format!("✗ {name}"),
        };
        self.line(Tone::Violated, &title);
        self.indented(2, Tone::Plain, &finding.witness.claim);
        for line in story::lines(finding.witness) {
            self.step(&line);
        }
        if !finding.also.is_empty() {
            let runs = words::count(finding.also.len() as u64, "more run");
            self.indented(
                2,
                Tone::Quiet,
                &format!("The same property is violated in {runs}."),
            );
        }
        self.blank();
    }

    fn step(&mut self, line: &Line) {
        let mut sentence = line.text.clone();
        if !line.evidence.is_empty() {
            sentence.push_str(" [");
            sentence.push_str(&line.evidence);
            sentence.push(']');
        }
        let mut head = format!("{:>4}. {:>9}", line.number, line.time);
        for part in wrap(&sentence, self.width - STEP_INDENT) {
            let blanks = STEP_INDENT.saturating_sub(head.width());
            self.out.push_str(&head);
            self.out.push_str(&" ".repeat(blanks));
            self.out.push_str(&part);
            self.out.push('\n');
            head.clear();
        }
        self.indented(STEP_INDENT, Tone::Quiet, &line.change);
    }

    /// Faults that were injected and never seen to have an effect: such a run proves little.
    fn idle_faults(&mut self, faults: &[FaultSummary]) {
        let mut any = false;
        for fault in faults
            .iter()
            .filter(|fault| fault.at(FaultPhase::Observed).is_none())
        {
            let name = format!("{} {} {}", fault.id, fault.kind, fault.target);
            self.line(Tone::Unknown, &format!("! no observed effect: {name}"));
            any = true;
        }
        if any {
            self.blank();
        }
    }

    fn outcome(&mut self, outcome: Outcome) {
        let tone = match outcome {
            Outcome::AsExpected => Tone::Valid,
            Outcome::LivenessFailed | Outcome::Unknown => Tone::Unknown,
            Outcome::Unexpected => Tone::Violated,
        };
        self.ending("outcome", tone, words::outcome(outcome));
    }

    /// A line of the ending: it is never wrapped, so that commands can be copied.
    fn ending(&mut self, name: &str, tone: Tone, text: &str) {
        let painted = self.paint.paint(tone, &visible(text));
        let _ = writeln!(self.out, "{name:<9}{painted}");
    }

    fn done(self) -> String {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_violated_run_is_told_step_by_step() {
        insta::assert_snapshot!(terminal_run(
            &sample::failover_run(),
            TerminalOptions::default()
        ));
    }

    #[test]
    fn a_run_that_could_not_decide_says_why() {
        insta::assert_snapshot!(terminal_run(
            &sample::vacuous_run(),
            TerminalOptions::default()
        ));
    }

    #[test]
    fn a_suite_is_a_table_and_the_stories_of_its_cells() {
        insta::assert_snapshot!(terminal_suite(&sample::suite(), TerminalOptions::default()));
    }

    #[test]
    fn no_line_but_the_command_is_wider_than_the_terminal() {
        let mut suite = sample::suite();
        for n in 0..9 {
            let mut run = suite.runs[1].clone();
            run.record.labels.hazard = format!("a rather long hazard number {n}");
            suite.runs.push(run);
        }
        let text = terminal_suite(&suite, TerminalOptions::default());
        let long: Vec<&str> = text
            .lines()
            .filter(|line| line.width() > 100 && !line.starts_with("repeat"))
            .collect();
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn hostile_text_cannot_steer_the_terminal() {
        let run = terminal_run(&sample::hostile_run(), TerminalOptions::default());
        let suite = terminal_suite(&sample::hostile_suite(), TerminalOptions::default());
        for text in [run, suite] {
            let steering = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!text.contains(steering), "{text}");
        }
    }

    #[test]
    fn colour_changes_no_word() {
        let plain = terminal_run(&sample::failover_run(), TerminalOptions::default());
        let options = TerminalOptions {
            color: true,
            ..TerminalOptions::default()
        };
        let colored = terminal_run(&sample::failover_run(), options);
        assert!(colored.contains("\x1b[1;31m"));
        let mut stripped = colored;
        for code in ["0", "1", "2", "1;31", "33", "34"] {
            stripped = stripped.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(stripped, plain);
    }
}
