//! Runs and suites in a terminal.

use lockstorm_scenarios::Promise;

use super::paint::Tone;
use super::table::{Lines, Table, wrapped};
use super::text::{TerminalOptions, Text};
use crate::finding::Findings;
use crate::grid::{Cell, Figure, Grid, HEADINGS, Row};
use crate::head::Head;
use crate::inert::visible;
use crate::model::{RunRecord, SuiteRecord};
use crate::words;

/// A run as text: its verdicts, the story of each violation, and the verdict line last.
pub fn terminal_run(run: &RunRecord, options: TerminalOptions) -> String {
    let mut text = Text::new(options);
    let labels = &run.labels;
    let title = if labels.hazard == run.scenario {
        format!("{} · {} on {}", run.scenario, labels.lock, labels.topology)
    } else {
        format!("{} · {}", run.scenario, words::cell_name(labels))
    };
    text.line(Tone::Heading, &title);
    text.line(Tone::Plain, &run.description);
    text.blank();
    text.verdicts(run);
    text.changes(run.changed.as_ref());
    let findings = Findings::of_run(run);
    text.findings(&findings);
    text.idle_faults(&run.analysis.faults);
    if let Some(reason) = &run.stopped {
        text.line(Tone::Open, &format!("stopped early: {reason}"));
        text.blank();
    }
    text.ending(
        "covered",
        Tone::Plain,
        &words::coverage(&run.analysis.coverage),
    );
    if let Some(cost) = words::cost(&run.analysis.coverage) {
        text.ending("cost", Tone::Plain, &cost);
    }
    text.head("outcome", &Head::of_run(run));
    text.ending("repeat", Tone::Plain, &run.rerun);
    text.done()
}

/// The story of what broke a promise in a run, a line each, as [`terminal_run`] tells it; or the
/// answer that broke it. `None` if the run did not break it.
pub fn terminal_story(run: &RunRecord, promise: Promise) -> Option<String> {
    let breaks = format!(", breaks {}", promise.name());
    let text = terminal_run(run, TerminalOptions::default());
    let lines = text.lines().skip_while(|line| !line.ends_with(&breaks));
    let story: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    if !story.is_empty() {
        return Some(story.join("\n"));
    }
    let by_answer = run.situation.as_ref()?.broken_by_answer == Some(promise);
    run.stopped.clone().filter(|_| by_answer)
}

/// A suite as text: the stories, then the table of locks and hazards, which is what is still on
/// the screen at the end, and the verdict line last.
pub fn terminal_suite(suite: &SuiteRecord, options: TerminalOptions) -> String {
    let mut text = Text::new(options);
    let title = format!("{} · seed {}", suite.name, suite.seed);
    text.line(Tone::Heading, &title);
    text.line(Tone::Plain, &suite.description);
    text.blank();
    text.changes(suite.changed.as_ref());
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
    if grid.has_prices() {
        push_costs(&mut text, &grid);
    }
    let unexpected = Findings::unexpected(suite);
    text.findings(&unexpected);
    let others = Findings::of_suite(suite).total - unexpected.total;
    if others > 0 {
        let kinds = words::count(others as u64, "kind");
        let note =
            format!("{kinds} of violation more, none of them unexpected; the page has the stories");
        text.line(Tone::Quiet, &note);
        text.blank();
    }
    text.head("outcome", &Head::of_suite(suite));
    text.ending("repeat", Tone::Plain, &suite.rerun);
    text.done()
}

/// Appends what the locks cost, and what the figures mean.
pub(super) fn push_costs(text: &mut Text, grid: &Grid) {
    text.push(&costs(grid).render(text.width, text.paint));
    text.blank();
    for heading in grid.costs.iter().map(|&at| &HEADINGS[at]) {
        text.line(
            Tone::Quiet,
            &format!("{}: {}", heading.name, heading.meaning),
        );
    }
    text.blank();
}

/// The table of locks on topologies and hazards.
fn table(grid: &Grid) -> Table {
    let hazards = grid
        .hazards
        .iter()
        .map(|hazard| wrapped(Tone::Heading, &visible(hazard)));
    let rows = grid.rows.iter().map(|row| {
        std::iter::once(name(row))
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

fn name(row: &Row) -> Lines {
    let mut name = wrapped(Tone::Heading, &visible(row.lock));
    name.extend(wrapped(Tone::Quiet, &visible(row.topology)));
    name
}

/// The table of what the locks cost, where anything is known of it.
fn costs(grid: &Grid) -> Table {
    let columns = || grid.costs.iter().copied();
    let header = columns().map(|at| wrapped(Tone::Heading, HEADINGS[at].name));
    let known = grid.rows.iter().filter(|row| row.price.is_known());
    let rows = known.map(|row| {
        std::iter::once(name(row))
            .chain(columns().map(|at| cost(&row.price.figures[at])))
            .collect()
    });
    Table {
        header: std::iter::once(vec![(Tone::Heading, "cost".to_owned())])
            .chain(header)
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
    lines.extend(cell.rate().map(|rate| (Tone::Quiet, format!("  {rate}"))));
    lines
}

fn cost(figure: &Figure) -> Lines {
    let mut lines = vec![(Tone::Plain, figure.text().to_owned())];
    if !figure.below.is_empty() {
        lines.extend(wrapped(Tone::Quiet, &visible(&figure.below)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;
    use crate::encode::Record;
    use crate::model::Changes;
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
    fn changes_against_a_baseline_are_told_before_the_stories() {
        let mut run = sample::failover_run();
        let before = Record::Suite(Box::new(sample::suite()));
        run.changed = Some(Changes::of_run(&run, &before));
        let text = terminal_run(&run, TerminalOptions::default());
        let changes = text.find("against single-vs-redlock, seed 42").unwrap();
        assert!(changes < text.find("  1.").unwrap(), "{text}");
        assert!(text.contains("= ongoing: mutual exclusion"), "{text}");
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
        for code in ["0", "1", "2", "1;31", "32", "33"] {
            stripped = stripped.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(stripped, plain);
    }
}
