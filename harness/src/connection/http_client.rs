//! A client of several servers that all take requests over HTTP: it talks to one of them until that
//! gives no answer, and then to the next.
//!
//! Nothing is sent twice: a request that fails has failed, and only the next one goes elsewhere.
//! One that finds no connection has not been sent, and goes to the first server that takes one.

use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::history::Name;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use tokio::time::timeout;

use super::dialer::{CallError, Dialer};
use super::http::{HttpAnswer, HttpLines, HttpWire};
use super::route::Route;
use super::several::Several;

/// One client's connection to one of the servers.
pub struct HttpClient {
    several: Several,
    wire: Option<HttpWire>,
}

impl HttpClient {
    /// Not connected yet; talks to the first of the servers first.
    pub fn new(dialer: Dialer, route: &Arc<Route>) -> Self {
        Self {
            several: Several::new(dialer, route),
            wire: None,
        }
    }

    /// Talks to any of the servers first, so that clients spread over all of them.
    #[must_use]
    pub fn starting_anywhere(mut self, rng: &mut ChaCha8Rng) -> Self {
        self.several.start_anywhere(rng);
        self
    }

    /// Time for which it waits for an answer.
    pub const fn patience(&self) -> Duration {
        self.several.dialer.reply_timeout
    }

    /// The server that it talks to.
    pub fn asked(&self) -> Option<Name> {
        self.several.asked()
    }

    /// Sends one request and waits for its answer.
    ///
    /// # Errors
    /// See [`CallError`]; whatever the server answers is none.
    pub async fn post(&mut self, path: &str, body: &Value) -> Result<HttpAnswer, CallError> {
        self.post_within(path, body, self.several.dialer.reply_timeout)
            .await
    }

    /// Sends one request and waits for its answer for so long.
    ///
    /// # Errors
    /// See [`CallError`]; whatever the server answers is none.
    pub async fn post_within(
        &mut self,
        path: &str,
        body: &Value,
        within: Duration,
    ) -> Result<HttpAnswer, CallError> {
        self.several.dialer.gate.pass().await?;
        let result = timeout(within, self.exchange(path, body)).await;
        let result = result.unwrap_or_else(|_| Err(late(within.as_millis())));
        self.turn_on_error(&result);
        if result.is_ok() {
            self.several.dialer.gate.count_reply();
        }
        if let Err(killed) = self.several.dialer.gate.pass().await {
            self.wire = None;
            return Err(killed.into());
        }
        result.map_err(CallError::Unknown)
    }

    /// Sends one request whose answer goes on, over a connection of its own.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn listen(&mut self, path: &str, body: &Value) -> Result<HttpLines, CallError> {
        self.several.dialer.gate.pass().await?;
        let within = self.several.dialer.reply_timeout;
        let gate = Arc::clone(&self.several.dialer.gate);
        gate.count_subscription();
        let opened = async { self.open().await?.listen(path, body).await };
        let result = timeout(within, opened).await;
        let result = result.unwrap_or_else(|_| Err(late(within.as_millis())));
        self.turn_on_error(&result);
        gate.pass().await?;
        result.map_err(CallError::Unknown)
    }

    /// Waits for the next line of an answer that goes on.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn hear(&self, lines: &mut HttpLines) -> Result<String, CallError> {
        let line = tokio::select! {
            biased;
            killed = self.several.dialer.gate.death() => return Err(killed.into()),
            line = lines.next() => line,
        };
        self.several.dialer.gate.pass().await?;
        line.map_err(CallError::Unknown)
    }

    async fn exchange(&mut self, path: &str, body: &Value) -> Result<HttpAnswer, String> {
        // Put back only with its answer read: an exchange that is given up half-way closes it.
        let mut wire = match self.wire.take() {
            Some(wire) => wire,
            None => self.connect().await?,
        };
        self.several.dialer.gate.count_command();
        let answer = wire.ask(path, Some(body)).await?;
        self.wire = Some(wire);
        Ok(answer)
    }

    /// Opens a connection for requests, and writes down that they go to this server from here on.
    async fn connect(&mut self) -> Result<HttpWire, String> {
        let wire = self.open().await?;
        self.several.arrive().await;
        Ok(wire)
    }

    /// Opens a connection to this server, or else to the next one that takes it.
    async fn open(&mut self) -> Result<HttpWire, String> {
        for _ in 0..self.several.count() {
            let source = Some(self.several.dialer.source);
            match HttpWire::open(source, self.several.address()).await {
                Ok(wire) => return Ok(wire),
                Err(why) => self.turn(why),
            }
        }
        Err(self.several.why().to_owned())
    }

    fn turn(&mut self, why: String) {
        self.wire = None;
        self.several.turn(why);
    }

    /// Turns to the next server where this one gave no answer.
    fn turn_on_error<T>(&mut self, result: &Result<T, String>) {
        if let Err(why) = result {
            self.turn(why.clone());
        }
    }
}

fn late(milliseconds: u128) -> String {
    format!("no reply within {milliseconds} ms")
}
