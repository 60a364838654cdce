//! A client of ZooKeeper: one session, over a connection to one of the members at a time.
//!
//! Where a member gives no answer, the client goes on with its session at the next one. Nothing is
//! sent twice. Unlike ZooKeeper's own client it sends no pings by itself: who holds a lock does.

use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::history::Name;
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep, timeout_at};

use super::wire::{Reply, Request, Session, Wire};
use crate::connection::dialer::{CallError, Dialer};
use crate::connection::route::Route;
use crate::connection::several::Several;

/// Pause between two rounds over the members.
const POLL: Duration = Duration::from_millis(20);

/// One client's standing with the members.
pub struct ZookeeperClient {
    several: Several,
    /// Time for which a session is asked to be kept.
    lives: Duration,
    session: Option<Session>,
    wire: Option<Wire>,
    /// Moment of the last answer.
    heard: Instant,
}

impl ZookeeperClient {
    /// Without a session yet; talks to any of the members first, as their own client does.
    pub fn new(dialer: Dialer, route: &Arc<Route>, lives: Duration, rng: &mut ChaCha8Rng) -> Self {
        let mut several = Several::new(dialer, route);
        several.start_anywhere(rng);
        Self {
            several,
            lives,
            session: None,
            wire: None,
            heard: Instant::now(),
        }
    }

    /// The member that it talks to.
    pub fn asked(&self) -> Option<Name> {
        self.several.asked()
    }

    /// Number of the session; `None` while there is none.
    pub fn session(&self) -> Option<i64> {
        let session = self.session.as_ref()?;
        (session.id != 0).then_some(session.id)
    }

    /// Time for which the members keep the session from each request on.
    pub fn lives(&self) -> Duration {
        let session = self.session.as_ref();
        session.map_or(self.lives, |session| session.lives)
    }

    /// Keeps the session alive, at another member where one gives no answer; whether it goes on.
    ///
    /// # Errors
    /// See [`CallError`]; that of the last member.
    pub async fn keep_alive(&mut self) -> Result<bool, CallError> {
        for _ in 1..self.several.count() {
            match self.ask(Request::Ping).await {
                Err(CallError::Failed(_) | CallError::Unknown(_)) => {}
                answered => return Ok(!matches!(answered?, Reply::Ended)),
            }
        }
        Ok(!matches!(self.ask(Request::Ping).await?, Reply::Ended))
    }

    /// Sends one request and waits for its answer, in a session that goes on; in a new one where
    /// there is none. A session that turns out to have ended is the answer [`Reply::Ended`], and
    /// the next request has a new one.
    ///
    /// # Errors
    /// See [`CallError`]; whatever the member answers is none.
    pub async fn ask(&mut self, request: Request<'_>) -> Result<Reply, CallError> {
        self.several.dialer.gate.pass().await?;
        let within = self.several.dialer.reply_timeout;
        let deadline = Instant::now() + within;
        let reply = self.exchange(request, deadline, within).await;
        match &reply {
            Ok(reply) => {
                self.several.dialer.gate.count_reply();
                if matches!(reply, Reply::Ended) {
                    self.session = None;
                    self.wire = None;
                }
            }
            Err(error) => self.turn(error.to_string()),
        }
        if let Err(killed) = self.several.dialer.gate.pass().await {
            self.wire = None;
            return Err(killed.into());
        }
        reply
    }

    /// Waits until it is told that a watched node has changed.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn told(&mut self, path: &str) -> Result<(), CallError> {
        let Some(wire) = &mut self.wire else {
            return Err(CallError::Unknown("there is no connection".to_owned()));
        };
        let gate = Arc::clone(&self.several.dialer.gate);
        let told = tokio::select! {
            biased;
            killed = gate.death() => return Err(killed.into()),
            told = wire.told(path) => told,
        };
        gate.pass().await?;
        if let Err(why) = &told {
            self.turn(why.clone());
        }
        told.map_err(CallError::Unknown)
    }

    async fn exchange(
        &mut self,
        request: Request<'_>,
        deadline: Instant,
        within: Duration,
    ) -> Result<Reply, CallError> {
        let late = || format!("no reply within {} ms", within.as_millis());
        self.drop_useless();
        // Put back only with its answer read: an exchange that is given up half-way closes it.
        let mut wire = match self.wire.take() {
            Some(wire) => wire,
            // What was never sent has no effect.
            None => match timeout_at(deadline, self.find_member()).await {
                Ok(Some(wire)) => wire,
                Ok(None) => return Ok(Reply::Ended),
                Err(_) => return Err(CallError::Failed(late())),
            },
        };
        let session = self.session.as_mut().expect("a connection has a session");
        self.several.dialer.gate.count_command();
        let asked = timeout_at(deadline, wire.ask(session, request)).await;
        let reply = asked.unwrap_or_else(|_| Err(late()));
        let reply = reply.map_err(CallError::Unknown)?;
        self.wire = Some(wire);
        self.heard = Instant::now();
        Ok(reply)
    }

    /// Drops a connection that is closed or as good as that: ZooKeeper's own client would have
    /// heard of it at once, and gone elsewhere.
    fn drop_useless(&mut self) {
        let Some(wire) = &mut self.wire else {
            return;
        };
        let why = if wire.is_closed() {
            "the server closed the connection".to_owned()
        } else if self.heard.elapsed() > self.lives() {
            let lives = self.lives().as_millis();
            format!("the session was not kept alive for its {lives} ms")
        } else {
            return;
        };
        self.turn(why);
    }

    /// Goes on with the session at the first member that takes it, this one first; `None` where the
    /// session has ended.
    async fn find_member(&mut self) -> Option<Wire> {
        loop {
            for _ in 0..self.several.count() {
                let session = self.session.get_or_insert_with(|| Session::new(self.lives));
                let source = Some(self.several.dialer.source);
                match Wire::open(source, self.several.address(), session).await {
                    Ok(wire) => {
                        self.several.arrive().await;
                        return wire;
                    }
                    Err(why) => self.turn(why),
                }
            }
            sleep(POLL).await;
        }
    }

    fn turn(&mut self, why: String) {
        self.wire = None;
        self.several.turn(why);
    }
}
