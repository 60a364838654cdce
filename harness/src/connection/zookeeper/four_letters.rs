//! Words of four letters, which a member answers to anybody, whether it has a leader or not.
//!
//! Source: ZooKeeper's Administrator's Guide, "The Four Letter Words".

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::connection::stream::connect;

/// Bytes of an answer that are read at most.
const ANSWER_MAX: u64 = 1 << 20;

/// Says `word` to the member at `address`.
///
/// # Errors
/// In words, why there is no answer.
pub async fn four_letters(
    address: SocketAddr,
    word: &str,
    within: Duration,
) -> Result<String, String> {
    let asked = async {
        let mut stream = connect(None, address).await?;
        stream.write_all(word.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(ANSWER_MAX).read_to_end(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    match timeout(within, asked).await {
        Ok(answer) => answer.map_err(|error: std::io::Error| format!("{word}: {error}")),
        Err(_) => Err(format!("no reply within {} ms", within.as_millis())),
    }
}
