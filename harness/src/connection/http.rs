//! Asks a server something over HTTP, past any fabric, on a connection of its own.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Sends one request, a POST where there is a body, and gives the text of its answer.
///
/// # Errors
/// In words, why there is no answer, or what it says that is not good.
pub async fn ask_http(
    address: SocketAddr,
    path: &str,
    body: Option<&Value>,
    within: Duration,
) -> Result<String, String> {
    let request = Request::builder()
        .method(if body.is_some() {
            Method::POST
        } else {
            Method::GET
        })
        .uri(path)
        .header(HOST, address.to_string())
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(
            body.map(Value::to_string).unwrap_or_default(),
        )))
        .map_err(|error| error.to_string())?;
    timeout(within, send(address, request))
        .await
        .unwrap_or_else(|_| Err(format!("no reply within {within:?}")))
}

async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Result<String, String> {
    let stream = TcpStream::connect(address)
        .await
        .map_err(|error| error.to_string())?;
    let in_words = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(in_words)?;
    let exchange = async {
        let answer = sender.send_request(request).await.map_err(in_words)?;
        let status = answer.status();
        let bytes = answer.into_body().collect().await.map_err(in_words)?;
        let text = String::from_utf8_lossy(&bytes.to_bytes()).into_owned();
        if status.is_success() {
            Ok(text)
        } else {
            Err(format!("{status}: {}", text.trim()))
        }
    };
    let closed = || "it closed the connection".to_owned();
    // The connection carries the bytes as long as somebody drives it.
    tokio::select! {
        answer = exchange => answer,
        ended = connection => Err(ended.map_or_else(in_words, |()| closed())),
    }
}
