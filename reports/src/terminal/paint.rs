//! Colours of a terminal; everything they say is said by a word or a glyph as well.

use crate::head::Sign;

/// Meaning of a piece of text, which decides its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    Heading,
    Quiet,
    Good,
    Open,
    Bad,
}

impl Tone {
    /// That of a sign.
    pub(super) fn of(sign: impl Into<Sign>) -> Self {
        match sign.into() {
            Sign::Good => Self::Good,
            Sign::Open => Self::Open,
            Sign::Bad => Self::Bad,
        }
    }

    /// The SGR parameters that begin the colour; `None` for plain text.
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Heading => Some("1"),
            Self::Quiet => Some("2"),
            Self::Bad => Some("1;31"),
            Self::Open => Some("33"),
            // As on the pages; to those who see red and green as one, sign and word say it.
            Self::Good => Some("32"),
        }
    }
}

/// Paints, or does not.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    pub(super) color: bool,
}

impl Paint {
    pub(super) fn paint(self, tone: Tone, text: &str) -> String {
        match tone.code() {
            Some(code) if self.color && !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            Some(_) | None => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_no_escape_sequence_is_written() {
        let paint = Paint { color: false };
        assert_eq!(paint.paint(Tone::Bad, "violated"), "violated");
    }

    #[test]
    fn a_colour_ends_where_its_text_ends() {
        let paint = Paint { color: true };
        assert_eq!(paint.paint(Tone::Good, "x"), "\x1b[32mx\x1b[0m");
    }
}
