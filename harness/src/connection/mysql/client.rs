//! A client of the server that takes writes: it follows the route, one connection at a time.

use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::history::Name;
use tokio::time::{Instant, timeout_at};

use super::wire::{Answer, SqlWire};
use crate::connection::dialer::{CallError, Dialer};
use crate::connection::route::Route;
use crate::connection::several::Several;

/// One client's connection to the primary.
pub struct SqlClient {
    route: Arc<Route>,
    /// Version of the route for which the connection was made.
    version: u64,
    several: Several,
    wire: Option<SqlWire>,
}

impl SqlClient {
    /// Not connected yet.
    pub fn new(dialer: Dialer, route: Arc<Route>) -> Self {
        Self {
            version: route.version(),
            several: Several::new(dialer, &route),
            route,
            wire: None,
        }
    }

    /// The server that it talks to.
    pub fn asked(&self) -> Option<Name> {
        self.several.asked()
    }

    /// Sends one statement and waits for its answer.
    ///
    /// # Errors
    /// See [`CallError`]; what the server refuses is an answer.
    pub async fn ask(&mut self, statement: &str) -> Result<Answer, CallError> {
        self.several.dialer.gate.pass().await?;
        if self.version != self.route.version() {
            self.version = self.route.version();
            self.wire = None;
            self.several.lead_to(&self.route);
        }
        if self.wire.as_mut().is_some_and(SqlWire::is_closed) {
            self.turn("the server closed the connection".to_owned());
        }
        let within = self.several.dialer.reply_timeout;
        let answer = self.exchange(statement, within).await;
        match &answer {
            Ok(_) => self.several.dialer.gate.count_reply(),
            Err(error) => self.turn(error.to_string()),
        }
        if let Err(killed) = self.several.dialer.gate.pass().await {
            self.wire = None;
            return Err(killed.into());
        }
        answer
    }

    async fn exchange(&mut self, statement: &str, within: Duration) -> Result<Answer, CallError> {
        let deadline = Instant::now() + within;
        let late = || format!("no reply within {} ms", within.as_millis());
        // Put back only with its answer read: an exchange that is given up half-way closes it.
        let mut wire = if let Some(wire) = self.wire.take() {
            wire
        } else {
            let connected = timeout_at(deadline, self.connect()).await;
            let connected = connected.unwrap_or_else(|_| Err(late()));
            // What was never sent has no effect.
            connected.map_err(CallError::Failed)?
        };
        self.several.dialer.gate.count_command();
        let asked = timeout_at(deadline, wire.ask(statement)).await;
        let answer = asked.unwrap_or_else(|_| Err(late()));
        let answer = answer.map_err(CallError::Unknown)?;
        self.wire = Some(wire);
        Ok(answer)
    }

    async fn connect(&mut self) -> Result<SqlWire, String> {
        let source = Some(self.several.dialer.source);
        let wire = SqlWire::open(source, self.several.address()).await?;
        self.several.arrive().await;
        Ok(wire)
    }

    fn turn(&mut self, why: String) {
        self.wire = None;
        self.several.turn(why);
    }
}
