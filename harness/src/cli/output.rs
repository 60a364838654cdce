//! The only place that prints.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use lockstorm_reports::TerminalOptions;

static COLORED: AtomicBool = AtomicBool::new(false);

/// When text for people is coloured.
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

/// Whether text for people is coloured.
pub fn colored() -> bool {
    COLORED.load(Ordering::Relaxed)
}

/// Whether text for people goes to a terminal.
pub fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// How reports lay out their text for this terminal.
pub fn terminal() -> TerminalOptions {
    TerminalOptions {
        color: colored(),
        ..TerminalOptions::default()
    }
}

/// A text for people, on standard error.
pub fn human(text: &str) {
    // Nobody reads it any more when the pipe is closed; the run is worth finishing all the same.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// An output for machines, on standard output.
///
/// # Errors
/// When it cannot be written; a closed pipe is the caller's success, see `main`.
pub fn machine(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}
