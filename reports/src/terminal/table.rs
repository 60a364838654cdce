//! A table of cells with several lines, broken into bands where it is wider than the terminal.

use unicode_width::UnicodeWidthStr;

use super::paint::{Paint, Tone};

/// Widest a column may get before its text is wrapped.
const COLUMN_WIDTH_MAX: usize = 24;
/// Blanks between columns.
const GAP: usize = 2;

/// Lines of one cell, each with its tone.
pub(super) type Lines = Vec<(Tone, String)>;

/// A table; the first cell of each row names the row and is repeated in every band.
pub(super) struct Table {
    pub(super) header: Vec<Lines>,
    pub(super) rows: Vec<Vec<Lines>>,
}

/// Breaks `text` at blanks into lines of at most `width` columns; a longer word is cut.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if used > 0 && used + 1 + word.width() > width {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("there is always a line");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            let columns = c.to_string().width();
            if used + columns > width.max(1) && used > 0 {
                lines.push(String::new());
                used = 0;
            }
            lines.last_mut().expect("there is always a line").push(c);
            used += columns;
        }
    }
    lines
}

/// `text` as the lines of a cell.
pub(super) fn wrapped(tone: Tone, text: &str) -> Lines {
    wrap(text, COLUMN_WIDTH_MAX)
        .into_iter()
        .map(|line| (tone, line))
        .collect()
}

impl Table {
    /// The table in at most `width` columns, as far as one column beside the first fits.
    pub(super) fn render(&self, width: usize, paint: Paint) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for band in bands(&widths, width) {
            if !text.is_empty() {
                text.push('\n');
            }
            let columns: Vec<usize> = std::iter::once(0).chain(band).collect();
            push_row(&mut text, &self.header, &columns, &widths, paint);
            let rule: usize = columns.iter().map(|c| widths[*c] + GAP).sum::<usize>() - GAP;
            text.push_str(&paint.paint(Tone::Quiet, &"─".repeat(rule)));
            text.push('\n');
            for row in &self.rows {
                push_row(&mut text, row, &columns, &widths, paint);
            }
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let of = |column: usize| {
            let cells = std::iter::once(&self.header).chain(&self.rows);
            cells
                .flat_map(|row| &row[column])
                .map(|(_, line)| line.width())
                .max()
                .unwrap_or(0)
        };
        (0..self.header.len()).map(of).collect()
    }
}

/// Groups of columns (without the first) that fit beside the first column, about equally full.
fn bands(widths: &[usize], width: usize) -> Vec<Vec<usize>> {
    let Some((first, rest)) = widths.split_first() else {
        return Vec::new();
    };
    let widest = rest.iter().copied().max().unwrap_or(0) + GAP;
    let per_band = (width.saturating_sub(*first) / widest).max(1);
    let count = rest.len().div_ceil(per_band).max(1);
    let columns: Vec<usize> = (1..widths.len()).collect();
    columns
        .chunks(rest.len().div_ceil(count).max(1))
        .map(<[usize]>::to_vec)
        .collect()
}

fn push_row(text: &mut String, row: &[Lines], columns: &[usize], widths: &[usize], paint: Paint) {
    let height = columns.iter().map(|c| row[*c].len()).max().unwrap_or(0);
    for at in 0..height {
        let mut line = String::new();
        let mut owed = 0;
        for column in columns {
            if let Some((tone, cell)) = row[*column].get(at) {
                line.push_str(&" ".repeat(owed));
                line.push_str(&paint.paint(*tone, cell));
                owed = widths[*column] - cell.width() + GAP;
            } else {
                owed += widths[*column] + GAP;
            }
        }
        // Blanks that are owed at the end of a line are never paid: no trailing space.
        text.push_str(&line);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_blanks_and_long_words_are_cut() {
        assert_eq!(wrap("amnesia of one node", 10), ["amnesia of", "one node"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
    }

    #[test]
    fn wide_characters_count_two_columns() {
        assert_eq!(wrap("锁锁锁", 4), ["锁锁", "锁"]);
    }

    #[test]
    fn a_table_that_is_too_wide_is_broken_into_bands_that_each_name_the_rows() {
        let cell = |text: &str| vec![(Tone::Plain, text.to_owned())];
        let table = Table {
            header: ["", "aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"]
                .map(cell)
                .to_vec(),
            rows: vec![["row", "1", "2", "3"].map(cell).to_vec()],
        };
        let text = table.render(30, Paint { color: false });
        assert_eq!(text.matches("row").count(), 2);
        assert!(text.lines().all(|line| line.width() <= 30), "{text}");
    }
}
