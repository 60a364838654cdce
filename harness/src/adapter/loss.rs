//! Word of a library to its client that a lock is lost, or may be.

use std::collections::VecDeque;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Mode, Name};

use super::message::Word;

/// Word that a client was told of a lock that it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Name of the lock.
    pub key: Name,
    /// Mode in which it was held.
    pub mode: Mode,
    /// The word.
    pub told: Told,
    /// A time not after the client was told; `None` where the answer to a renewal has told it.
    pub noticed: Option<Nanos>,
}

/// Meaning of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The lock is lost.
    Lost,
    /// Nobody knows whether it is.
    Suspended,
    /// It was held while nobody knew.
    Resumed,
}

/// Number of requests whose time is kept: more than any program leaves unread.
const KEPT: usize = 64;

/// When the last requests were sent.
#[derive(Default)]
pub(super) struct Sent(VecDeque<(u64, Nanos)>);

impl Sent {
    /// The next request is sent at `now`.
    pub(super) fn push(&mut self, id: u64, now: Nanos) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((id, now));
    }

    /// Returns when a library gave its word, or a time a little before: a program reads a request
    /// when it was sent at the earliest, and counts from there. It is not before `heard`, when the
    /// program said something else, and not after `now`. Without the two figures, `heard` is all
    /// that is known.
    ///
    /// # Errors
    /// In words, where only one of the figures is there, or there was no such request.
    pub(super) fn date(&self, word: &Word, heard: Nanos, now: Nanos) -> Result<Nanos, String> {
        let (after, length) = match (word.after, word.after_us) {
            (Some(after), Some(us)) => (after, Nanos(us.saturating_mul(1000))),
            (None, None) => return Ok(heard),
            (Some(_), None) => return Err("'after' needs 'after_us' beside it".to_owned()),
            (None, Some(_)) => return Err("'after_us' needs 'after' beside it".to_owned()),
        };
        let last = self.0.back().map_or(0, |&(id, _)| id);
        if after == 0 || after > last {
            return Err(format!("'after' names request {after}, and there was none"));
        }
        let sent = self.0.iter().find(|(id, _)| *id == after);
        let told = sent.map_or(heard, |&(_, sent)| sent + length);
        Ok(told.max(heard).min(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Target;

    fn word(after: Option<u64>, after_us: Option<u64>) -> Word {
        let target = Target {
            key: "k".to_owned(),
            mode: Mode::default(),
            permits: 1,
            wait_ms: None,
        };
        Word {
            target,
            after,
            after_us,
        }
    }

    /// Two requests, sent at 100 µs and 500 µs; the program said something at 600 µs, and its word
    /// is read at 900 µs.
    fn date(after: Option<u64>, after_us: Option<u64>) -> Result<Nanos, String> {
        let mut sent = Sent::default();
        sent.push(1, Nanos(100_000));
        sent.push(2, Nanos(500_000));
        sent.date(&word(after, after_us), Nanos(600_000), Nanos(900_000))
    }

    #[test]
    fn a_word_is_dated_from_the_request_before_it() {
        assert_eq!(date(Some(2), Some(250)), Ok(Nanos(750_000)));
        assert_eq!(date(Some(1), Some(700)), Ok(Nanos(800_000)));
    }

    #[test]
    fn a_word_is_no_earlier_than_the_line_before_it_and_no_later_than_it_was_read() {
        assert_eq!(date(Some(2), Some(1)), Ok(Nanos(600_000)));
        assert_eq!(date(Some(2), Some(u64::MAX)), Ok(Nanos(900_000)));
    }

    #[test]
    fn a_word_without_a_time_has_that_of_the_line_before_it() {
        assert_eq!(date(None, None), Ok(Nanos(600_000)));
    }

    #[test]
    fn half_a_time_and_a_request_that_was_never_made_are_errors() {
        for (after, after_us, at) in [
            (Some(2), None, "'after_us'"),
            (None, Some(1), "'after'"),
            (Some(3), Some(1), "request 3"),
            (Some(0), Some(1), "request 0"),
        ] {
            let error = date(after, after_us).expect_err("it makes no sense");
            assert!(error.contains(at), "{error}");
        }
    }
}
