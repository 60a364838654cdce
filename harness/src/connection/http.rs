//! HTTP to one server: a connection that is kept, its answers, and answers that never end.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::stream::connect;

/// An open connection. One that gave no answer is of no more use, and is to be dropped.
pub struct HttpWire {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
    _driver: Driver,
}

/// Answer of a server.
#[derive(Debug)]
pub struct HttpAnswer {
    /// Status that tells whether it is good.
    pub status: StatusCode,
    /// Its text.
    pub text: String,
}

/// An answer that goes on for as long as the server has something to say, line after line.
pub struct HttpLines {
    body: Incoming,
    read: Vec<u8>,
    _wire: HttpWire,
}

/// Carries the bytes of a connection until it is dropped.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl HttpWire {
    /// Connects to `address`, from `source` if that is said.
    ///
    /// # Errors
    /// In words, why there is no connection.
    pub async fn open(source: Option<IpAddr>, address: SocketAddr) -> Result<Self, String> {
        let stream = connect(source, address)
            .await
            .map_err(|error| format!("no connection to {address}: {error}"))?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(in_words)?;
        let driver = tokio::spawn(async move {
            // The request under way hears of an error.
            let _ = connection.await;
        });
        Ok(Self {
            address,
            sender,
            _driver: Driver(driver),
        })
    }

    /// Sends one request, a POST where there is a body, and waits for all of its answer.
    ///
    /// # Errors
    /// In words, why there is no answer.
    pub async fn ask(&mut self, path: &str, body: Option<&Value>) -> Result<HttpAnswer, String> {
        let answer = self.send(path, body).await?;
        let status = answer.status();
        let bytes = answer.into_body().collect().await.map_err(in_words)?;
        let text = String::from_utf8_lossy(&bytes.to_bytes()).into_owned();
        Ok(HttpAnswer { status, text })
    }

    /// Sends one request whose answer goes on.
    ///
    /// # Errors
    /// In words, why there is no answer.
    pub async fn listen(mut self, path: &str, body: &Value) -> Result<HttpLines, String> {
        let answer = self.send(path, Some(body)).await?;
        Ok(HttpLines {
            body: answer.into_body(),
            read: Vec::new(),
            _wire: self,
        })
    }

    async fn send(
        &mut self,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Response<Incoming>, String> {
        let method = body.map_or(Method::GET, |_| Method::POST);
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.address.to_string())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| error.to_string())?;
        // Who carries the bytes may not have come to the end of the last answer yet.
        self.sender.ready().await.map_err(in_words)?;
        self.sender.send_request(request).await.map_err(in_words)
    }
}

impl HttpLines {
    /// Waits for the next line.
    ///
    /// # Errors
    /// In words, why there is no other.
    pub async fn next(&mut self) -> Result<String, String> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim().to_owned());
            }
            let frame = self.body.frame().await;
            let frame = frame.ok_or_else(|| "the server ended its answer".to_owned())?;
            if let Some(bytes) = frame.map_err(in_words)?.data_ref() {
                self.read.extend_from_slice(bytes);
            }
        }
    }
}

/// Sends one request past any fabric, on a connection of its own, and gives the text of its answer.
///
/// # Errors
/// In words, why there is no answer, or what it says that is not good.
pub async fn ask_http(
    address: SocketAddr,
    path: &str,
    body: Option<&Value>,
    within: Duration,
) -> Result<String, String> {
    let asked = async {
        let mut wire = HttpWire::open(None, address).await?;
        wire.ask(path, body).await
    };
    let answer = timeout(within, asked)
        .await
        .unwrap_or_else(|_| Err(format!("no reply within {} ms", within.as_millis())))?;
    if answer.status.is_success() {
        Ok(answer.text)
    } else {
        Err(format!("{}: {}", answer.status, answer.text.trim()))
    }
}

fn in_words(error: impl Error) -> String {
    error.to_string()
}
