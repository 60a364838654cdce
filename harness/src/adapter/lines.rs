//! Reads lines of bounded length: a stream without an end of line is an error and not a full
//! memory.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes read at once.
const CHUNK: usize = 8 << 10;

/// A stream, line by line.
#[derive(Debug)]
pub struct Lines<R> {
    stream: R,
    buffer: Vec<u8>,
    /// Position in the buffer at which the next line begins.
    start: usize,
    /// Up to where the buffer is known to hold no further end of line.
    searched: usize,
    max: usize,
}

/// Reason why there is no next line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is longer than allowed.
    #[error("it has a line of more than {0} bytes")]
    TooLong(usize),
    /// The stream ended in the middle of it.
    #[error("it ended in the middle of a line")]
    Torn,
    /// The stream broke.
    #[error("it cannot be read: {0}")]
    Broken(#[from] io::Error),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Of lines no longer than `max` bytes.
    pub const fn new(stream: R, max: usize) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            max,
        }
    }

    /// The next line without its end; `None` at the end of the stream. Nothing is lost when the
    /// future is dropped while it waits.
    ///
    /// # Errors
    /// See [`LineError`]; the stream is of no use afterwards.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, LineError> {
        let end = loop {
            let fresh = &self.buffer[self.searched..];
            if let Some(at) = fresh.iter().position(|&byte| byte == b'\n') {
                break self.searched + at;
            }
            self.searched = self.buffer.len();
            if self.searched - self.start > self.max {
                return Err(LineError::TooLong(self.max));
            }
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
            self.buffer.reserve(CHUNK);
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return if self.buffer.is_empty() {
                    Ok(None)
                } else {
                    Err(LineError::Torn)
                };
            }
        };
        if end - self.start > self.max {
            return Err(LineError::TooLong(self.max));
        }
        let line = self.start..end;
        self.start = end + 1;
        self.searched = self.start;
        Ok(Some(&self.buffer[line]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: &[u8], max: usize) -> (Vec<String>, Option<LineError>) {
        let mut lines = Lines::new(text, max);
        let mut read = Vec::new();
        loop {
            match lines.next().await {
                Ok(Some(line)) => read.push(String::from_utf8_lossy(line).into_owned()),
                Ok(None) => return (read, None),
                Err(error) => return (read, Some(error)),
            }
        }
    }

    #[tokio::test]
    async fn lines_are_read_one_by_one_and_empty_ones_too() {
        let (read, error) = all(b"one\n\ntwo\n", 3).await;
        assert_eq!(read, ["one", "", "two"]);
        assert!(error.is_none());
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_an_error_whether_it_ends_or_not() {
        for text in [&b"ok\nlong\n"[..], b"ok\nlonger"] {
            let (read, error) = all(text, 3).await;
            assert_eq!(read, ["ok"]);
            assert!(matches!(error, Some(LineError::TooLong(3))), "{error:?}");
        }
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_torn() {
        let (read, error) = all(b"one\ntw", 9).await;
        assert_eq!(read, ["one"]);
        assert!(matches!(error, Some(LineError::Torn)), "{error:?}");
    }

    #[tokio::test]
    async fn an_endless_line_is_given_up_without_being_kept() {
        let mut lines = Lines::new(tokio::io::repeat(b'x'), 1000);
        assert!(matches!(lines.next().await, Err(LineError::TooLong(1000))));
        assert!(lines.buffer.len() <= 1000 + 2 * CHUNK);
    }
}
