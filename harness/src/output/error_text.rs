//! Errors as text for people: a scenario's mistakes with their places, anything else in one line.

use std::borrow::Cow;

use anyhow::Error;
use lockstorm_checker::inert::visible;

/// The error for people: a scenario's mistakes with their places, anything else in one line.
pub fn describe(error: &Error, colored: bool) -> String {
    match error.downcast_ref::<lockstorm_scenarios::Diagnostics>() {
        Some(diagnostics) => diagnostics.render(colored),
        None => format!("error: {}", in_one_line(error)),
    }
}

/// An error with its causes, each said once: our own errors name their cause already.
pub fn in_one_line(error: &Error) -> String {
    let mut text = String::new();
    for (n, cause) in error.chain().enumerate() {
        // Libraries quote what they were given.
        let cause = cause.to_string();
        let cause = brief(cause.trim_end());
        let cause = visible(&cause);
        if n > 0 && text.contains(&*cause) {
            continue;
        }
        if n > 0 {
            text.push_str(": ");
        }
        text.push_str(&cause);
    }
    text
}

/// The longest cause that is printed whole; where more is quoted, its middle tells nobody anything.
const CAUSE_LETTERS_MAX: usize = 4000;

/// A cause without the middle of what it quotes at great length.
fn brief(cause: &str) -> Cow<'_, str> {
    if cause.chars().count() <= CAUSE_LETTERS_MAX {
        return Cow::Borrowed(cause);
    }
    let half = CAUSE_LETTERS_MAX / 2;
    let begin: String = cause.chars().take(half).collect();
    let mut end: Vec<char> = cause.chars().rev().take(half).collect();
    end.reverse();
    Cow::Owned(begin + " […] " + &String::from_iter(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names its cause, as all errors of ours do.
    #[derive(Debug, thiserror::Error)]
    #[error("cannot open 'x': {source}")]
    struct Named {
        source: std::io::Error,
    }

    #[test]
    fn no_cause_is_told_twice_and_none_is_lost() {
        let cause = || std::io::Error::other("disk on fire");
        let named = Named { source: cause() };
        assert_eq!(in_one_line(&named.into()), "cannot open 'x': disk on fire");
        let unnamed = Error::new(cause()).context("cannot start");
        assert_eq!(in_one_line(&unnamed), "cannot start: disk on fire");
    }
}
