//! One connection to one server, over a stream that we opened ourselves.
//!
//! The redis crate speaks the protocol. What it would hide (reconnects, retries, timeouts of its
//! own) is switched off: each of these is for the caller to see.

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, RedisConnectionInfo, RedisError, Value};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// An open connection; dropping it closes it.
pub struct Wire {
    connection: MultiplexedConnection,
    driver: JoinHandle<()>,
}

/// Why there is no reply that counts.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The server answered with an error: the command had no effect.
    #[error("{0}")]
    Server(String),
    /// No answer: the command may or may not have an effect, now or later.
    #[error("{0}")]
    Lost(String),
}

impl From<RedisError> for WireError {
    fn from(error: RedisError) -> Self {
        // Only an error that a server sent carries a code.
        if error.code().is_some() {
            Self::Server(error.to_string())
        } else {
            Self::Lost(error.to_string())
        }
    }
}

impl Wire {
    /// Speaks over `stream`.
    ///
    /// # Errors
    /// When the stream breaks at once.
    pub async fn open(stream: TcpStream) -> Result<Self, WireError> {
        let info = RedisConnectionInfo::default().set_skip_set_lib_name();
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&info, stream, config).await?;
        Ok(Self {
            connection,
            driver: tokio::spawn(driver),
        })
    }

    /// Sends one command and waits for its reply, however long it takes.
    ///
    /// # Errors
    /// The server's own error, or the loss of the connection.
    pub async fn send(&mut self, command: &Cmd) -> Result<Value, WireError> {
        Ok(self
            .connection
            .send_packed_command(command)
            .await?
            .extract_error()?)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
