//! Colours of a terminal; everything they say is said by a word or a glyph as well.

use lockstorm_checker::Verdict;

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    Heading,
    Quiet,
    Violated,
    Unknown,
    Valid,
}

impl Tone {
    pub(super) const fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Valid => Self::Valid,
            Verdict::Unknown => Self::Unknown,
            Verdict::Violated => Self::Violated,
        }
    }

    /// The SGR parameters that begin the colour; `None` for plain text.
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Heading => Some("1"),
            Self::Quiet => Some("2"),
            Self::Violated => Some("1;31"),
            Self::Unknown => Some("33"),
            // Blue, not green: red and green are one colour to many.
            Self::Valid => Some("34"),
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
        assert_eq!(paint.paint(Tone::Violated, "violated"), "violated");
    }

    #[test]
    fn a_colour_ends_where_its_text_ends() {
        let paint = Paint { color: true };
        assert_eq!(paint.paint(Tone::Valid, "x"), "\x1b[34mx\x1b[0m");
    }
}
