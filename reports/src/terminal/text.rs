//! Text for a terminal under construction: lines, findings, stories.

use std::fmt::Write as _;

use lockstorm_checker::Analysis;
use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::FaultSummary;
use unicode_width::UnicodeWidthStr as _;

use super::paint::{Paint, Tone};
use super::table::wrap;
use crate::finding::{Finding, Findings};
use crate::head::{Head, Standing, expectation};
use crate::inert::visible;
use crate::model::{ChangeState, Changes, RunRecord};
use crate::remedy::Scene;
use crate::story::{self, Line};
use crate::words;

/// Narrowest width that is respected; below it lines are longer than asked for.
const WIDTH_MIN: usize = 60;
/// Stories told in a terminal; the report tells the others.
const STORIES_MAX: usize = 12;
/// Changes named in a terminal.
const CHANGES_MAX: usize = 24;
/// Where the sentence of a step begins: number, blanks, time, blanks.
const STEP_INDENT: usize = 18;

/// How text for a terminal is laid out.
#[derive(Clone, Copy, Debug)]
pub struct TerminalOptions {
    /// True if to use colours. They never say anything that the words do not.
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

/// Text under construction.
pub(super) struct Text {
    pub(super) paint: Paint,
    pub(super) width: usize,
    out: String,
}

impl Text {
    pub(super) fn new(options: TerminalOptions) -> Self {
        Self {
            paint: Paint {
                color: options.color,
            },
            width: options.width.max(WIDTH_MIN),
            out: String::new(),
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(super) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// `text` made inert, wrapped, in one tone; nothing at all for an empty text.
    pub(super) fn line(&mut self, tone: Tone, text: &str) {
        self.indented(0, tone, text);
    }

    pub(super) fn indented(&mut self, indent: usize, tone: Tone, text: &str) {
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
    pub(super) fn verdicts(&mut self, run: &RunRecord) {
        for result in &run.expectations {
            let sign = Standing::of_result(run, result).sign();
            let sentence = format!("{} {}", sign.glyph(), expectation(run, result));
            self.indented(2, Tone::of(sign), &sentence);
            let judged = run.analysis.properties.get(&result.property);
            if let Some(reason) = judged.and_then(|judgement| judgement.reason.as_ref()) {
                self.indented(4, Tone::Plain, reason);
            }
        }
        self.measured(&run.analysis);
        self.blank();
    }

    /// Writes what was measured and not judged.
    pub(super) fn measured(&mut self, analysis: &Analysis) {
        for sentence in words::measured(analysis) {
            self.indented(2, Tone::Plain, &format!("· {sentence}"));
        }
    }

    /// Writes the changes of findings since a baseline.
    pub(super) fn changes(&mut self, changes: Option<&Changes>) {
        let Some(changes) = changes else {
            return;
        };
        let summary = format!("against {}: {}", changes.baseline, changes.summary());
        self.line(Tone::Heading, &summary);
        for change in changes.findings.iter().take(CHANGES_MAX) {
            let (sign, tone) = match change.state {
                ChangeState::New => ('+', Tone::Bad),
                ChangeState::Ongoing => ('=', Tone::Bad),
                ChangeState::Resolved => ('-', Tone::Good),
                ChangeState::Undecided => ('?', Tone::Open),
            };
            let sentence = format!(
                "{sign} {}: {} · {} ({})",
                change.words(),
                words::property(change.property),
                words::cell_name(&change.labels),
                change.shares()
            );
            self.indented(2, tone, &sentence);
        }
        let left_out = changes.findings.len().saturating_sub(CHANGES_MAX);
        if left_out > 0 {
            let note = format!("{left_out} more; the report and results.json have them all.");
            self.indented(2, Tone::Quiet, &note);
        }
        self.blank();
    }

    pub(super) fn findings(&mut self, findings: &Findings) {
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
        let against = finding.against();
        let title = match finding.folder {
            Some(_) => format!(
                "✗ {name}, {against} · {}",
                words::cell_name(&finding.run.labels)
            ),
            None => format!("✗ {name}, {against}"),
        };
        self.line(Tone::Bad, &title);
        self.witness(&finding.scene());
        if let Some(counted) = finding.counted() {
            self.indented(2, Tone::Quiet, &counted);
        }
        self.blank();
    }

    /// The claim of a witness, its story, and what would have prevented it.
    pub(super) fn witness(&mut self, scene: &Scene) {
        self.indented(2, Tone::Plain, &scene.witness.claim);
        for line in story::lines(scene.witness) {
            self.step(&line);
        }
        if let Some(sentence) = story::blame(scene) {
            self.indented(2, Tone::Plain, &sentence);
        }
        for (sentence, evidence) in story::remedies(scene) {
            let evidence = words::evidence(&evidence);
            let sentence = format!("{}: {sentence} [{evidence}]", story::CURES);
            self.indented(2, Tone::Plain, &sentence);
        }
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
    pub(super) fn idle_faults(&mut self, faults: &[FaultSummary]) {
        let mut any = false;
        for fault in faults
            .iter()
            .filter(|fault| fault.at(FaultPhase::Observed).is_none())
        {
            let name = format!("{} {} {}", fault.id, fault.kind, fault.target);
            self.line(Tone::Open, &format!("! no observed effect: {name}"));
            any = true;
        }
        if any {
            self.blank();
        }
    }

    /// Writes the outcome, as the last word but the commands.
    pub(super) fn head(&mut self, name: &str, head: &Head) {
        self.ending(name, Tone::of(head.standing.sign()), &head.signed());
    }

    /// A line of the ending: it is never wrapped, so that commands can be copied.
    pub(super) fn ending(&mut self, name: &str, tone: Tone, text: &str) {
        let painted = self.paint.paint(tone, &visible(text));
        let _ = writeln!(self.out, "{name:<9}{painted}");
    }

    pub(super) fn done(self) -> String {
        self.out
    }
}
