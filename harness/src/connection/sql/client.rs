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
pub struct SqlClient<W> {
    route: Arc<Route>,
    /// Version of the route for which the connection was made.
    version: u64,
    several: Several,
    wire: Option<W>,
    /// Number of connections made so far: that of the session, while there is one.
    sessions: u64,
    /// Statement that begins each session, if there is to be one.
    greeting: Option<String>,
}

impl<W: SqlWire> SqlClient<W> {
    /// Not connected yet.
    pub fn new(dialer: Dialer, route: Arc<Route>) -> Self {
        Self {
            version: route.version(),
            several: Several::new(dialer, &route),
            route,
            wire: None,
            sessions: 0,
            greeting: None,
        }
    }

    /// Makes each session begin with a statement.
    #[must_use]
    pub fn greeting(self, greeting: Option<String>) -> Self {
        Self { greeting, ..self }
    }

    /// The server that it talks to.
    pub fn asked(&self) -> Option<Name> {
        self.several.asked()
    }

    /// Sends one statement to the server that takes writes now, and waits for its answer.
    ///
    /// # Errors
    /// See [`CallError`]; what the server refuses is an answer.
    pub async fn ask(&mut self, statement: &str) -> Result<Answer, CallError> {
        self.ask_later(statement, Duration::ZERO).await
    }

    /// Variant of [`Self::ask`] for a statement that the server may answer `later` than others.
    ///
    /// # Errors
    /// See [`Self::ask`].
    pub async fn ask_later(
        &mut self,
        statement: &str,
        later: Duration,
    ) -> Result<Answer, CallError> {
        self.several.dialer.gate.pass().await?;
        if self.version != self.route.version() {
            self.version = self.route.version();
            self.wire = None;
            self.several.lead_to(&self.route);
        }
        self.session();
        self.send(statement, later).await
    }

    /// Variant of [`Self::ask_later`] that asks in the session of this number and in no other,
    /// wherever others are led.
    ///
    /// # Errors
    /// See [`Self::ask`]; [`CallError::Unknown`] if that session is over.
    pub async fn ask_in(
        &mut self,
        session: u64,
        statement: &str,
        later: Duration,
    ) -> Result<Answer, CallError> {
        self.several.dialer.gate.pass().await?;
        if self.session() != Some(session) {
            return Err(CallError::Unknown("the session has ended".to_owned()));
        }
        self.send(statement, later).await
    }

    /// The number of the session, unless the server is known to have ended it.
    pub fn session(&mut self) -> Option<u64> {
        if self.wire.as_mut().is_some_and(W::is_closed) {
            self.turn("the server closed the connection".to_owned());
        }
        self.wire.as_ref().map(|_| self.sessions)
    }

    async fn send(&mut self, statement: &str, later: Duration) -> Result<Answer, CallError> {
        let within = self.several.dialer.reply_timeout + later;
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

    async fn connect(&mut self) -> Result<W, String> {
        let source = Some(self.several.dialer.source);
        let mut wire = W::open(source, self.several.address()).await?;
        if let Some(greeting) = &self.greeting {
            wire.ask(greeting).await?;
        }
        self.several.arrive().await;
        self.sessions += 1;
        Ok(wire)
    }

    fn turn(&mut self, why: String) {
        self.wire = None;
        self.several.turn(why);
    }
}
