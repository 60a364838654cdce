//! An assessment in a terminal: the stories, then for each lock the table of its promises.

use super::paint::Tone;
use super::report::push_costs;
use super::table::{Lines, Table, wrapped};
use super::text::{TerminalOptions, Text};
use crate::assessment::{Assessment, PromiseRow, assessments, causes};
use crate::endurance;
use crate::fates::{self, Column, Fate, FateKind, Fates};
use crate::finding::Findings;
use crate::grid::Grid;
use crate::head::Head;
use crate::inert::visible;
use crate::left_out;
use crate::model::{Answer, Endured, SuiteRecord};
use crate::standing::standings;
use crate::words;

/// Runs named at most of those that could not tell, for each lock.
const OPEN_MAX: usize = 12;

/// An assessment as text: the stories of what was broken, then for each lock its promises on each
/// topology, and what no lock of its kind can prevent.
pub fn terminal_assessment(suite: &SuiteRecord, options: TerminalOptions) -> String {
    let mut text = Text::new(options);
    let title = format!("{} · seed {}", suite.name, suite.seed);
    text.line(Tone::Heading, &title);
    text.line(Tone::Plain, &suite.description);
    text.blank();
    text.changes(suite.changed.as_ref());
    let fates = Fates::new(suite);
    push_standings(&mut text, &fates);
    text.findings(&Findings::unexpected(suite));
    push_fates(&mut text, &fates);
    push_endurance(&mut text, &fates);
    for lock in assessments(suite) {
        push_lock(&mut text, &lock);
        for sentence in left_out::sentences(suite, lock.lock) {
            text.indented(2, Tone::Quiet, &format!("– {sentence}"));
        }
        text.blank();
    }
    let grid = Grid::new(suite);
    if grid.has_prices() {
        push_costs(&mut text, &grid);
    }
    text.head("outcome", &Head::of_suite(suite));
    text.ending("repeat", Tone::Plain, &suite.rerun);
    text.done()
}

/// Each row of a comparison in a few sentences.
fn push_standings(text: &mut Text, fates: &Fates) {
    for standing in standings(fates) {
        let title = format!("{} on {}", standing.lock, standing.topology);
        text.line(Tone::Heading, &title);
        for sentence in &standing.sentences {
            text.indented(2, Tone::Plain, sentence);
        }
        text.blank();
    }
}

/// The situations that some lock of several did not withstand, as a table.
fn push_fates(text: &mut Text, fates: &Fates) {
    if fates.columns.len() < 2 {
        return;
    }
    let is_told = |row: &&fates::Row| {
        let kinds = row.fates.iter().map(|fate| fate.kind);
        let is_plain = |kind| matches!(kind, FateKind::Withstood | FateKind::NotTested);
        !kinds.into_iter().all(is_plain)
    };
    let rows = fates.groups.iter().flat_map(|group| {
        let told = group.rows.iter().filter(is_told);
        told.map(|row| {
            let mut name = wrapped(Tone::Plain, &visible(row.hazard));
            name.extend(wrapped(Tone::Quiet, &group.title.to_lowercase()));
            let cells = row.fates.iter().map(fate_lines);
            std::iter::once(name).chain(cells).collect()
        })
    });
    let table = Table {
        header: header("not withstood by all", fates),
        rows: rows.collect(),
    };
    if table.rows.is_empty() {
        return;
    }
    text.push(&table.render(text.width, text.paint));
    text.blank();
}

/// A header with a column for each lock on its servers.
fn header(first: &str, fates: &Fates) -> Vec<Lines> {
    let heading = |column: &Column| {
        let mut lines = wrapped(Tone::Heading, &visible(column.lock));
        lines.extend(wrapped(Tone::Quiet, &visible(column.topology)));
        lines
    };
    let first = wrapped(Tone::Heading, first);
    let columns = fates.columns.iter().map(heading);
    std::iter::once(first).chain(columns).collect()
}

/// The fewest faults that break each promise, where a lock was hunted.
fn push_endurance(text: &mut Text, fates: &Fates) {
    if fates.endurance.is_empty() {
        return;
    }
    let rows = fates.endurance.iter().map(|row| {
        let cells = row.cells.iter().map(|endured| {
            let is_broken = endured.as_ref().is_some_and(Endured::is_broken);
            let tone = if is_broken { Tone::Bad } else { Tone::Plain };
            wrapped(tone, &endurance::cell(endured.as_ref()))
        });
        let name = wrapped(Tone::Heading, row.promise.name());
        std::iter::once(name).chain(cells).collect()
    });
    let table = Table {
        header: header("fewest faults", fates),
        rows: rows.collect(),
    };
    text.push(&table.render(text.width, text.paint));
    text.blank();
    text.line(Tone::Quiet, endurance::NUMBERS_MEANING);
    text.blank();
}

fn fate_lines(fate: &Fate) -> Lines {
    let tone = match fate.kind {
        FateKind::LockFailed => Tone::Bad,
        FateKind::Overran | FateKind::Unavailable | FateKind::Open => Tone::Open,
        FateKind::Withstood => Tone::Good,
        FateKind::NotTested => Tone::Quiet,
    };
    let words = format!("{} {}", fate.kind.glyph(), fate.headline());
    let mut lines = wrapped(tone, &words);
    let has_detail = matches!(fate.kind, FateKind::LockFailed | FateKind::Unavailable);
    if has_detail && !fate.detail.is_empty() {
        lines.extend(wrapped(tone, &visible(&fate.detail)));
    }
    lines
}

fn push_lock(text: &mut Text, lock: &Assessment) {
    text.push(&promises(lock).render(text.width, text.paint));
    text.blank();
    for row in lock.promises.iter().filter(|row| row.is_promised) {
        let causes = causes(row);
        if !causes.is_empty() {
            let sentence = format!("✗ {} is broken by: {causes}", row.promise.name());
            text.indented(2, Tone::Bad, &sentence);
        }
    }
    for row in lock.violated_without_promise() {
        let sentence = format!(
            "· {} is not promised, and would be broken by: {}",
            row.promise.name(),
            causes(row)
        );
        text.indented(2, Tone::Plain, &sentence);
    }
    for inherent in &lock.inherent {
        let sentence = format!(
            "○ {} is inherent in: {}. {}",
            words::property(inherent.property),
            inherent.hazards.join("; "),
            inherent.reason
        );
        text.indented(2, Tone::Plain, &sentence);
    }
    push_open(text, lock);
}

/// Names the runs that could not tell of a promise of which no other run on those servers could,
/// each reason once; the others are counted.
fn push_open(text: &mut Text, lock: &Assessment) {
    let undecided = lock.undecided();
    let (told, open): (Vec<_>, Vec<_>) = undecided.iter().partition(|one| one.is_told);
    for one in open.iter().take(OPEN_MAX) {
        text.indented(2, Tone::Open, &format!("? {}", one.sentence()));
    }
    let others = told.iter().chain(open.iter().skip(OPEN_MAX));
    let others: usize = others.map(|one| one.promises.len()).sum();
    if others > 0 {
        let answers = words::count(others as u64, "more answer");
        let sentence = format!("? {answers} undecided; the report has the reasons");
        text.indented(2, Tone::Quiet, &sentence);
    }
}

/// The table of a lock: a row for each promise, a column for each topology.
fn promises(lock: &Assessment) -> Table {
    let mut header = vec![wrapped(Tone::Heading, &visible(lock.lock))];
    let topologies = lock.topologies.iter();
    header.extend(topologies.map(|topology| wrapped(Tone::Heading, &visible(topology))));
    let rows = lock.promises.iter().map(|row| {
        let name: Lines = vec![(Tone::Heading, row.promise.name().to_owned())];
        let cells = (0..row.tallies.len()).map(|at| cell(row, at));
        std::iter::once(name).chain(cells).collect()
    });
    Table {
        header,
        rows: rows.collect(),
    }
}

fn cell(row: &PromiseRow, at: usize) -> Lines {
    let (sign, tone) = match row.tallies[at].seen() {
        Some(Answer::Broken) if row.is_promised => ('✗', Tone::Bad),
        Some(Answer::Kept) if row.is_promised => ('✓', Tone::Good),
        Some(Answer::CouldNotTell) if row.is_promised => ('?', Tone::Open),
        Some(_) | None => ('·', Tone::Quiet),
    };
    wrapped(tone, &format!("{sign} {}", row.words(at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn an_assessment_is_a_table_of_promises_and_what_broke_them() {
        let text = terminal_assessment(&sample::assessment(), TerminalOptions::default());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn hostile_text_cannot_steer_the_terminal() {
        let mut suite = sample::hostile_suite();
        let tested = sample::assessment().runs[0].record.situation.clone();
        for run in &mut suite.runs {
            run.record.situation.clone_from(&tested);
        }
        let text = terminal_assessment(&suite, TerminalOptions::default());
        let steering = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(steering), "{text}");
    }
}
