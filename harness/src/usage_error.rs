//! Usage errors: arguments that are wrong in a way that the command line parser cannot see.

/// Arguments that clap could not know to be wrong.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);
