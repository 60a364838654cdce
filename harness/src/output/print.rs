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

/// Tells whether there are colours on standard output and on standard error.
static COLORED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

/// Stream that a text for people goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, for what was asked for.
    Out,
    /// Standard error, for remarks, progress and errors.
    Error,
}

impl Stream {
    /// `true` if it goes to a terminal.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Out => io::stdout().is_terminal(),
            Self::Error => io::stderr().is_terminal(),
        }
    }

    /// `true` if text for people is coloured there.
    pub fn is_colored(self) -> bool {
        COLORED[self as usize].load(Ordering::Relaxed)
    }

    /// Layout of the text of reports: as wide as the terminal, within reason.
    pub fn layout(self) -> TerminalOptions {
        let size = match self {
            Self::Out => terminal_size_of(io::stdout()),
            Self::Error => terminal_size_of(io::stderr()),
        };
        let here = size.map(|(Width(columns), _)| usize::from(columns));
        TerminalOptions {
            color: self.is_colored(),
            width: here.map_or(TerminalOptions::default().width, |columns| {
                columns.clamp(WIDTH_MIN, WIDTH_MAX)
            }),
        }
    }

    /// Escapes that stay in a text of ours.
    fn escapes(self) -> Escapes {
        if self.is_colored() {
            Escapes::Colors
        } else {
            Escapes::None
        }
    }
}

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
    let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    for stream in [Stream::Out, Stream::Error] {
        let on = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => stream.is_terminal() && is_wanted,
        };
        COLORED[stream as usize].store(on, Ordering::Relaxed);
    }
}

/// A text for people, on standard error.
pub fn human(text: &str) {
    say(&clean(text, Escapes::None));
}

/// A text for people with our own colours in it, whose foreign words are clean already.
pub fn painted(text: &str) {
    say(&clean(text, Stream::Error.escapes()));
}

/// An error for people, with its place where it has one.
pub fn failure(error: &anyhow::Error) {
    painted(&describe(error, Stream::Error.is_colored()));
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

/// The text of what was asked for, with our own colours in it; its foreign words are clean already.
///
/// # Errors
/// As for [`answer`].
pub fn painted_answer(text: &str) -> io::Result<()> {
    machine(&clean(text, Stream::Out.escapes()))
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
