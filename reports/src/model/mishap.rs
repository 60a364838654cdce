//! Errors that keep a command from its result.

/// Error that kept a command from its result, with the file and line where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mishap {
    /// The error in words, and how to fix it.
    pub message: String,
    /// File, and line from 1, at which it lies.
    pub place: Option<(String, usize)>,
}
