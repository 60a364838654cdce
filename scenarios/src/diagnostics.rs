//! Mistakes in a scenario: collected, ordered as in the file, shown at their place.

use std::fmt;
use std::ops::Range;

use lockstorm_checker::inert::visible;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use crate::excerpt::Excerpt;
use crate::model::without_passwords;
use crate::source::{Sources, Spot};

/// Width of rendered diagnostics in columns: what fits an ordinary terminal and a CI log.
const RENDER_COLUMNS: usize = 100;

/// Diagnostics kept at most for one scenario with the files of its matrix; the rest is counted, so
/// that a hostile file floods nobody.
const KEPT_MAX: usize = 100;

/// Longest message or help, in characters.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// A mistake found while the scenario is examined, with a span of [`Sources`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Mistake {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn order(&self) -> (usize, usize, &str) {
        (self.span.start, self.span.end, &self.message)
    }
}

/// One mistake: what is wrong, where, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Mistake, in one sentence.
    pub message: String,
    /// The remedy, where one is known.
    pub help: Option<String>,
    spot: Option<Spot>,
    file: String,
}

impl Diagnostic {
    /// The file, or the override as `--set path=value`.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Line, from 1; `None` where the file could not be read.
    pub fn line(&self) -> Option<usize> {
        self.spot.as_ref().map(|spot| spot.line_column().0)
    }

    /// Column in characters, from 1; `None` where the file could not be read.
    pub fn column(&self) -> Option<usize> {
        self.spot.as_ref().map(|spot| spot.line_column().1)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.file))?;
        if let Some(spot) = &self.spot {
            let (line, column) = spot.line_column();
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", visible(&self.message))?;
        match &self.help {
            Some(help) => write!(f, " (help: {})", visible(help)),
            None => Ok(()),
        }
    }
}

/// All mistakes of a scenario, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
    /// Number of further ones.
    more: usize,
}

impl Diagnostics {
    /// The mistakes, in the order of the file.
    pub fn items(&self) -> &[Diagnostic] {
        &self.items
    }

    /// For people: each mistake with its lines and a caret under the place.
    pub fn render(&self, color: bool) -> String {
        let theme = if color {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(RENDER_COLUMNS)
            .with_links(false);
        let mut text = String::new();
        for (n, item) in self.items.iter().enumerate() {
            if n > 0 {
                text.push('\n');
            }
            handler
                .render_report(&mut text, &Rendered::new(item))
                .expect("writing to a string cannot fail");
        }
        text.push_str(&self.rest());
        text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// A line for the mistakes that were not kept.
    fn rest(&self) -> String {
        match self.more {
            0 => String::new(),
            more => format!("and {more} more mistakes\n"),
        }
    }

    /// A file that could not be read at all.
    pub(crate) fn unreadable(file: &str, message: String) -> Self {
        let item = Diagnostic {
            message,
            help: None,
            spot: None,
            file: file.to_owned(),
        };
        Self {
            items: vec![item],
            more: 0,
        }
    }

    /// Adds the mistakes of one scenario, in the order of its texts, each once.
    pub(crate) fn extend(&mut self, sources: &Sources, mut mistakes: Vec<Mistake>) {
        mistakes.sort_by(|a, b| a.order().cmp(&b.order()));
        mistakes.dedup();
        self.more += mistakes.len().saturating_sub(KEPT_MAX);
        mistakes.truncate(KEPT_MAX);
        for mistake in mistakes {
            let span = mistake.span;
            let message = shortened(&without_passwords(&mistake.message));
            let help = mistake
                .help
                .map(|help| shortened(&without_passwords(&help)));
            let spot = sources.spot(&span);
            self.items.push(Diagnostic {
                message,
                help,
                file: spot.source.name.clone(),
                spot: Some(spot),
            });
        }
    }

    /// Adds the mistakes of another scenario.
    pub(crate) fn append(&mut self, other: Self) {
        self.items.extend(other.items);
        self.more += other.more;
        self.more += self.items.len().saturating_sub(KEPT_MAX);
        self.items.truncate(KEPT_MAX);
    }

    /// Tells whether more mistakes would only be counted.
    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= KEPT_MAX
    }

    /// `value`, unless there are mistakes.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }
}

/// `text` as far as somebody reads it: what it quotes may be as long as the file.
fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(MESSAGE_CHARS_MAX).collect();
    if chars.next().is_some() {
        short.push_str(" …");
    }
    short
}

/// One line for each mistake.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in &self.items {
            writeln!(f, "{item}")?;
        }
        f.write_str(&self.rest())
    }
}

/// A diagnostic in the form that miette draws.
#[derive(Debug)]
struct Rendered {
    message: String,
    help: Option<String>,
    excerpt: Option<Excerpt>,
}

impl Rendered {
    fn new(item: &Diagnostic) -> Self {
        let spot = item.spot.as_ref();
        let message = match spot {
            Some(_) => visible(&item.message).into_owned(),
            None => format!("{}: {}", visible(&item.file), visible(&item.message)),
        };
        Self {
            message,
            help: item.help.as_deref().map(|help| visible(help).into_owned()),
            excerpt: spot.map(Excerpt::new),
        }
    }
}

impl fmt::Display for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Rendered {}

impl miette::Diagnostic for Rendered {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt
            .as_ref()
            .map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(
            self.excerpt.as_ref().map(Excerpt::label).into_iter(),
        ))
    }
}
