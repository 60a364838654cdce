//! The comparison of an assessment as one picture: situations down, locks on their servers across.
//!
//! Not for: arranging it, which `fates` does.

use super::axis::SMALL;
use super::drawing::{Anchor, Area, Drawing, Fill, Mark, Stroke, TextStyle};
use super::font;
use super::ink::Ink;
use crate::endurance;
use crate::fates::{Column, EnduranceRow, Fate, FateKind, Fates};
use crate::grid::HEADINGS;
use crate::head::Head;
use crate::model::SuiteRecord;
use crate::words;

const MARGIN: f64 = 28.0;
/// Height of a row, and of the title of a group with the room above it.
const ROW: f64 = 22.0;
const TITLE: f64 = 32.0;
/// Room for title and outcome above the names of the columns.
const TOP: f64 = 96.0;
/// Room for the names of the columns.
const HEADER: f64 = 40.0;
/// Room for legend and caption.
const FOOT: f64 = 68.0;
/// Widest that the names of situations may be, and narrowest and widest a column.
const NAMES_MAX: f64 = 380.0;
const COLUMN: (f64, f64) = (150.0, 240.0);
/// Size of the words of a cell.
const WORDS: f64 = 12.5;

/// One line of the table.
enum Line<'a> {
    Title(&'a str),
    Cost(usize),
    Endured(&'a EnduranceRow),
    Situation(&'a str, &'a [Fate<'a>]),
}

/// The comparison of an assessment.
pub(crate) fn fates(suite: &SuiteRecord) -> Drawing {
    let table = Fates::new(suite);
    let lines = lines(&table);
    let layout = Layout::of(&table, &lines);
    let label = format!("Comparison {}: situations against locks", suite.name);
    let mut drawing = Drawing::new(layout.width, layout.height, label);
    let full = Area::between((0.0, layout.width), 0.0, layout.height);
    drawing.area(full, Fill::Plain(Ink::Paper, 1.0));
    heading(&mut drawing, suite);
    for (at, column) in table.columns.iter().enumerate() {
        column_name(&mut drawing, &layout, column, at);
    }
    let mut y = TOP + HEADER;
    for line in &lines {
        draw_line(&mut drawing, &layout, &table, line, y);
        y += line.height();
    }
    foot(&mut drawing, suite);
    drawing
}

/// The lines of the table: what the locks cost, then the situations by their number of faults.
fn lines<'a>(table: &'a Fates<'a>) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let is_known = |at: &usize| {
        let mut figures = table
            .columns
            .iter()
            .map(|column| &column.price.figures[*at]);
        figures.any(|figure| figure.value.is_some())
    };
    let costs: Vec<usize> = (0..HEADINGS.len()).filter(is_known).collect();
    if !costs.is_empty() {
        lines.push(Line::Title("Cost where nothing goes wrong"));
        lines.extend(costs.into_iter().map(Line::Cost));
    }
    if !table.endurance.is_empty() {
        lines.push(Line::Title(endurance::NUMBERS));
        lines.extend(table.endurance.iter().map(Line::Endured));
    }
    for group in &table.groups {
        lines.push(Line::Title(&group.title));
        let rows = group.rows.iter();
        lines.extend(rows.map(|row| Line::Situation(row.hazard, &row.fates)));
    }
    lines
}

impl Line<'_> {
    const fn height(&self) -> f64 {
        match self {
            Self::Title(_) => TITLE,
            Self::Cost(_) | Self::Endured(_) | Self::Situation(..) => ROW,
        }
    }
}

/// Sizes of the parts, in CSS pixels.
struct Layout {
    width: f64,
    height: f64,
    /// Where the columns begin.
    left: f64,
    column: f64,
}

impl Layout {
    fn of(table: &Fates, lines: &[Line]) -> Self {
        let names = table
            .rows()
            .map(|row| font::width(row.hazard, WORDS, false));
        let names = names.fold(0.0, f64::max).clamp(160.0, NAMES_MAX) + 16.0;
        let words = table.rows().flat_map(|row| &row.fates);
        let words = words.map(|fate| font::width(&told(fate), WORDS, false) + 34.0);
        let widest = words.fold(0.0, f64::max);
        let column = widest.clamp(COLUMN.0, COLUMN.1);
        let table_width = names + column * table.columns.len() as f64;
        let heights = lines.iter().map(Line::height);
        Self {
            width: (2.0 * MARGIN + table_width).max(640.0).ceil(),
            height: (TOP + HEADER + heights.sum::<f64>() + FOOT).ceil(),
            left: MARGIN + names,
            column,
        }
    }

    fn x(&self, column: usize) -> f64 {
        self.left + column as f64 * self.column
    }
}

fn heading(drawing: &mut Drawing, suite: &SuiteRecord) {
    let room = drawing.width - 2.0 * MARGIN;
    let title = font::fitted(&suite.description, 20.0, true, room);
    drawing.text(
        (MARGIN, 42.0),
        title,
        TextStyle::new(20.0, Ink::Text).bold(),
    );
    let head = Head::of_suite(suite);
    let (mark, ink) = super::sign::look(head.standing.sign());
    drawing.mark((MARGIN + 8.0, 66.0), 7.0, mark, ink, None);
    let words = format!("{} · {}", head.standing.word(), head.found);
    let words = font::fitted(&words, 14.0, true, room - 24.0);
    drawing.text(
        (MARGIN + 24.0, 71.0),
        words,
        TextStyle::new(14.0, Ink::Text),
    );
}

fn column_name(drawing: &mut Drawing, layout: &Layout, column: &Column, at: usize) {
    let (x, room) = (layout.x(at) + 6.0, layout.column - 12.0);
    let lock = font::fitted(column.lock, 14.0, true, room);
    drawing.text(
        (x, TOP + 14.0),
        lock,
        TextStyle::new(14.0, Ink::Text).bold(),
    );
    let topology = font::fitted(column.topology, SMALL, false, room);
    drawing.text((x, TOP + 30.0), topology, TextStyle::new(SMALL, Ink::Muted));
}

fn draw_line(drawing: &mut Drawing, layout: &Layout, table: &Fates, line: &Line, y: f64) {
    let base = y + ROW / 2.0 + 4.5;
    let name = |drawing: &mut Drawing, text: &str| {
        let text = font::fitted(text, WORDS, false, layout.left - MARGIN - 10.0);
        drawing.text((MARGIN, base), text, TextStyle::new(WORDS, Ink::Text));
    };
    match line {
        Line::Title(title) => {
            let style = TextStyle::new(13.0, Ink::Text).bold();
            drawing.text((MARGIN, y + 24.0), *title, style);
            let right = layout.width - MARGIN;
            let stroke = Stroke::new(Ink::Grid, 1.0);
            drawing.line((MARGIN, y + 7.0), (right, y + 7.0), stroke);
        }
        Line::Cost(at) => {
            name(drawing, HEADINGS[*at].name);
            for (n, column) in table.columns.iter().enumerate() {
                let text = column.price.figures[*at].text();
                let style = TextStyle::new(WORDS, Ink::Text);
                drawing.text((layout.x(n) + 6.0, base), text, style);
            }
        }
        Line::Endured(row) => {
            name(drawing, row.promise.name());
            for (n, endured) in row.cells.iter().enumerate() {
                // The font of pictures has no such sign.
                let text = endurance::cell(endured.as_ref()).replace('≥', "at least");
                let style = TextStyle::new(WORDS, Ink::Text);
                drawing.text((layout.x(n) + 6.0, base), text, style);
            }
        }
        Line::Situation(hazard, fates) => {
            name(drawing, hazard);
            for (n, fate) in fates.iter().enumerate() {
                cell(drawing, layout, fate, (layout.x(n), y));
            }
        }
    }
}

/// Words of a cell: what happened, and of what, in short.
fn told(fate: &Fate) -> String {
    match fate.kind {
        FateKind::LockFailed | FateKind::Unavailable => {
            format!("{} · {}", fate.headline(), fate.detail)
        }
        FateKind::Overran | FateKind::Withstood | FateKind::Open | FateKind::NotTested => {
            fate.headline()
        }
    }
}

fn cell(drawing: &mut Drawing, layout: &Layout, fate: &Fate, (x, y): (f64, f64)) {
    let (mark, ink) = look(fate.kind);
    let middle = y + ROW / 2.0;
    if fate.kind == FateKind::NotTested {
        drawing.mark((x + 14.0, middle), 4.0, mark, ink, None);
        return;
    }
    let area = Area::between((x + 1.5, x + layout.column - 1.5), y + 1.0, ROW - 2.0);
    drawing.area(area, Fill::Plain(ink, 0.14));
    let strip = Area::between((x + 1.5, x + 4.5), y + 1.0, ROW - 2.0);
    drawing.area(strip, Fill::Plain(ink, 1.0));
    drawing.mark((x + 14.0, middle), 5.0, mark, ink, None);
    let text = font::fitted(&told(fate), WORDS, false, layout.column - 32.0);
    let style = TextStyle::new(WORDS, Ink::Text);
    drawing.text((x + 25.0, middle + 4.5), text, style);
}

/// Mark and colour of a fate.
const fn look(kind: FateKind) -> (Mark, Ink) {
    match kind {
        FateKind::LockFailed => (Mark::Cross, Ink::Violation),
        FateKind::Overran => (Mark::Half, Ink::Fault),
        FateKind::Unavailable => (Mark::Ring, Ink::FaultStall),
        FateKind::Withstood => (Mark::Check, Ink::Valid),
        FateKind::Open => (Mark::Question, Ink::Unknown),
        FateKind::NotTested => (Mark::Dash, Ink::Grid),
    }
}

fn foot(drawing: &mut Drawing, suite: &SuiteRecord) {
    let right = drawing.width - MARGIN;
    let (mut x, mut y) = (MARGIN, drawing.height - 50.0);
    for kind in FateKind::ALL {
        let words = kind.words();
        let room = 20.0 + font::width(words, SMALL, false) + 18.0;
        if x + room > right {
            (x, y) = (MARGIN, y + 17.0);
        }
        let (mark, ink) = look(kind);
        drawing.mark((x + 7.0, y - 4.5), 5.5, mark, ink, None);
        drawing.text((x + 19.0, y), words, TextStyle::new(SMALL, Ink::Muted));
        x += room;
    }
    let runs = words::count(suite.runs.len() as u64, "run");
    let mut facts = vec![runs, format!("seed {}", suite.seed), suite.started.clone()];
    facts.extend(suite.servers().into_iter().map(str::to_owned));
    let caption = facts.join(" · ");
    let caption = font::fitted(&caption, SMALL, false, right - MARGIN);
    let style = TextStyle::new(SMALL, Ink::Muted).anchored(Anchor::Start);
    drawing.text((MARGIN, drawing.height - 14.0), caption, style);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plots::svg_file;
    use crate::sample;

    #[test]
    fn the_picture_of_an_assessment() {
        let text = svg_file(&fates(&sample::assessment()));
        insta::assert_snapshot!(text.replace("><", ">\n<"));
    }

    #[test]
    fn each_situation_and_lock_is_named_in_letters_that_the_font_has() {
        let suite = sample::assessment();
        let drawing = fates(&suite);
        let words = drawing.words();
        for run in &suite.runs {
            let labels = &run.record.labels;
            for name in [&labels.hazard, &labels.lock] {
                assert!(words.contains(&name.as_str()), "{name}: {words:?}");
            }
        }
        let glyphs = |word: &&str| word.chars().all(font::has_glyph);
        assert!(words.iter().all(glyphs), "{words:?}");
    }
    #[test]
    fn every_program_of_servers_is_named_below() {
        let mut suite = sample::assessment();
        let last = suite.runs.last_mut().expect("there are runs");
        "etcd 3.4.23".clone_into(&mut last.record.environment.server);
        let [first, second] = *suite.servers() else {
            panic!("two programs: {:?}", suite.servers());
        };
        let drawing = fates(&suite);
        let both = |word: &&str| word.contains(first) && word.contains(second);
        assert!(drawing.words().iter().any(both), "{:?}", drawing.words());
    }
}
