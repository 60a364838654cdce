//! One connection to one server, over a stream that we opened ourselves.
//!
//! The redis crate packs commands and parses replies; the exchange itself is one write and one
//! read. A client has one command under way at a time, so it needs no task that shares the
//! connection out, and there is nothing that could reconnect, retry or time out unseen.

use std::task::{Context, Poll, Waker};

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use redis::{Cmd, RedisError, Value, ValueCodec};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::codec::Framed;

/// An open connection; dropping it closes it.
///
/// An exchange that was given up leaves its reply behind: drop the connection then, or
/// [skip](Wire::skip_late) it.
pub struct Wire<S = TcpStream> {
    frames: Framed<S, ValueCodec>,
    /// Commands whose replies were not read.
    owed: usize,
}

/// The half of a [`Wire`] that hears.
pub struct WireReader {
    frames: SplitStream<Framed<TcpStream, ValueCodec>>,
}

/// The half of a [`Wire`] that speaks.
pub struct WireWriter {
    frames: SplitSink<Framed<TcpStream, ValueCodec>, Vec<u8>>,
}

/// Reason why there is no reply that counts.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The server answered with an error, in these words: the command had no effect.
    #[error("{0}")]
    Server(String),
    /// No answer: the command may or may not have an effect, now or later.
    #[error("{0}")]
    Lost(String),
}

impl From<RedisError> for WireError {
    fn from(error: RedisError) -> Self {
        // Only an error that a server sent carries a code.
        match (error.code(), error.detail()) {
            (Some(code), Some(detail)) => Self::Server(format!("{code} {detail}")),
            (Some(code), None) => Self::Server(code.to_owned()),
            (None, _) => Self::Lost(error.to_string()),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// Speaks over `stream`.
    pub fn new(stream: S) -> Self {
        Self {
            frames: Framed::new(stream, ValueCodec::default()),
            owed: 0,
        }
    }

    /// Sends one command and waits for its reply, however long it takes.
    ///
    /// # Errors
    /// The server's own error, or the loss of the connection.
    pub async fn send(&mut self, command: &Cmd) -> Result<Value, WireError> {
        self.write(command).await?;
        self.read().await
    }

    /// Sends one command without waiting for its reply.
    ///
    /// # Errors
    /// The loss of the connection.
    pub async fn write(&mut self, command: &Cmd) -> Result<(), WireError> {
        self.frames.feed(command.get_packed_command()).await?;
        self.owed += 1;
        Ok(self.frames.flush().await?)
    }

    /// Waits for the next reply or, after SUBSCRIBE, the next message. Nothing is lost when the
    /// future is dropped while it waits.
    ///
    /// # Errors
    /// The server's own error, or the loss of the connection.
    pub async fn read(&mut self) -> Result<Value, WireError> {
        let next = self.frames.next().await;
        self.owed = self.owed.saturating_sub(1);
        reply(next)
    }

    /// Tells whether a reply is missing.
    pub const fn is_late(&self) -> bool {
        self.owed > 0
    }

    /// Waits for the replies that were not read, up to those of the last `fresh` commands, and
    /// forgets them.
    ///
    /// # Errors
    /// The loss of the connection.
    pub async fn skip_late(&mut self, fresh: usize) -> Result<(), WireError> {
        while self.owed > fresh {
            if let Err(WireError::Lost(text)) = self.read().await {
                return Err(WireError::Lost(text));
            }
        }
        Ok(())
    }

    /// The stream, for somebody else to speak over. All that was asked must have been answered.
    pub fn into_stream(self) -> S {
        self.frames.into_inner()
    }
}

impl Wire {
    /// Tells whether the server has closed the connection, as far as is known here by now.
    pub fn is_closed(&self) -> bool {
        let mut byte = [0];
        let mut read = ReadBuf::new(&mut byte);
        let mut nobody = Context::from_waker(Waker::noop());
        match self.frames.get_ref().poll_peek(&mut nobody, &mut read) {
            // What was never asked for is no reply: the connection is of no more use either.
            Poll::Ready(Ok(bytes)) => bytes == 0 || self.owed == 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }

    /// Both halves, for a connection on which one hears while another speaks.
    pub fn split(self) -> (WireReader, WireWriter) {
        let (writer, reader) = self.frames.split();
        (WireReader { frames: reader }, WireWriter { frames: writer })
    }
}

impl WireReader {
    /// Waits for what comes next. Nothing is lost when the future is dropped while it waits.
    ///
    /// # Errors
    /// The server's own error, or the loss of the connection.
    pub async fn read(&mut self) -> Result<Value, WireError> {
        reply(self.frames.next().await)
    }
}

impl WireWriter {
    /// Sends one command without waiting for its reply.
    ///
    /// # Errors
    /// The loss of the connection.
    pub async fn write(&mut self, command: &Cmd) -> Result<(), WireError> {
        Ok(self.frames.send(command.get_packed_command()).await?)
    }
}

fn reply(next: Option<Result<Value, RedisError>>) -> Result<Value, WireError> {
    match next {
        Some(reply) => Ok(reply?.extract_error()?),
        None => Err(WireError::Lost(
            "the server closed the connection".to_owned(),
        )),
    }
}
