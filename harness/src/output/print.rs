//! The only place that prints. Whatever goes to a terminal or into a log passes `clean`.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use lockstorm_reports::TerminalOptions;
use terminal_size::{Width, terminal_size_of};

use super::clean::{self, Escapes, clean};
use super::error_text::describe;

/// Columns that the text of reports takes at least, and at most: longer lines are hard to read.
const WIDTH_MIN: usize = 60;
const WIDTH_MAX: usize = 140;

static COLORED: AtomicBool = AtomicBool::new(false);

/// Choice of when text for people is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Decides on colour, once.
pub fn choose_color(color: Color) {
    let on = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    };
    COLORED.store(on, Ordering::Relaxed);
}

/// `true` if text for people is coloured.
pub fn colored() -> bool {
    COLORED.load(Ordering::Relaxed)
}

/// `true` if text for people goes to a terminal.
pub fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Layout of the text of reports for this terminal: as wide as it is, within reason.
pub fn terminal() -> TerminalOptions {
    let usual = TerminalOptions::default();
    let here = terminal_size_of(io::stderr()).map(|(Width(columns), _)| usize::from(columns));
    TerminalOptions {
        color: colored(),
        width: here.map_or(usual.width, |columns| columns.clamp(WIDTH_MIN, WIDTH_MAX)),
    }
}

/// A text for people, on standard error.
pub fn human(text: &str) {
    say(&clean(text, Escapes::None));
}

/// A text for people with our own colours in it, whose foreign words are clean already.
pub fn painted(text: &str) {
    let escapes = if colored() {
        Escapes::Colors
    } else {
        Escapes::None
    };
    say(&clean(text, escapes));
}

/// An error for people, with its place where it has one.
pub fn failure(error: &anyhow::Error) {
    painted(&describe(error, colored()));
}

fn say(text: &str) {
    // Nobody reads it any more when the pipe is closed; the run is worth finishing all the same.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// `text` on one line and harmless, for a progress bar, which prints by itself.
pub fn inert(text: &str) -> String {
    clean(&lockstorm_checker::inert::visible(text), Escapes::None)
}

/// The text of what was asked for, on standard output.
///
/// # Errors
/// When it cannot be written; a closed pipe is the caller's success, see `main`.
pub fn answer(text: &str) -> io::Result<()> {
    machine(&clean(text, Escapes::None))
}

/// JSON for machines, on standard output.
///
/// # Errors
/// As for [`answer`].
pub fn json(text: &str) -> io::Result<()> {
    machine(&clean::json(text))
}

/// XML for machines, on standard output.
///
/// # Errors
/// As for [`answer`].
pub fn xml(text: &str) -> io::Result<()> {
    machine(&clean::xml(text))
}

/// An output for machines, byte for byte, on standard output: what it holds is clean already, or a
/// history that is to stay as it is.
///
/// # Errors
/// As for [`answer`].
pub fn machine(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}
