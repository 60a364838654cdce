//! The form in which a question is answered: words, or JSON.

use clap::ValueEnum;

/// Form of an answer on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    /// Readable text.
    #[default]
    Human,
    /// JSON.
    Json,
}
