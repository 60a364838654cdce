//! A client's side of a library's lock.

use std::time::Duration;

use crate::{Acquired, Ask, Client, Error, Opened, Released, Server};

/// One client's side of a library's lock, for any number of keys.
///
/// Its methods are called one after the other. Where the harness gives a call up, its future is
/// dropped.
#[expect(async_fn_in_trait, reason = "the futures stay where they are made")]
pub trait Lock: Sized {
    /// Makes ready to be this client.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the library cannot do what the client is asked for.
    async fn open(client: Client) -> Result<Self, Error>;

    /// Says what the library promises, and what the adapter can do beyond the plain calls.
    fn opened(&self) -> Opened {
        Opened::default()
    }

    /// Tries once, or waits as long as `ask` says where it [can](crate::Ability::Wait).
    ///
    /// # Errors
    /// All but [`Error::NotOwner`].
    async fn acquire(&mut self, ask: &Ask) -> Result<Acquired, Error>;

    /// Extends the lease; returns for how long the library says that it is good, from the call on.
    ///
    /// # Errors
    /// See [`Error`].
    async fn renew(&mut self, _ask: &Ask) -> Result<Option<Duration>, Error> {
        Err(Error::unsupported("it does not renew"))
    }

    /// Gives the lock back.
    ///
    /// # Errors
    /// See [`Error`].
    async fn release(&mut self, ask: &Ask) -> Result<Released, Error>;

    /// Tells whether the client goes on as the holder, without asking a server. Without an answer
    /// of the library's own, those that were given and the notes that were sent decide.
    fn alive(&self, _ask: &Ask) -> Option<bool> {
        None
    }

    /// Goes to other servers from now on: they take the writes.
    ///
    /// # Errors
    /// All but [`Error::NotOwner`].
    async fn follow(&mut self, _servers: Vec<Server>) -> Result<(), Error> {
        Err(Error::unsupported("it stays with its servers"))
    }

    /// Returns when a try may be worth it: after `pause` where nothing tells, and after `within` in
    /// any case. Called only where it [can](crate::Ability::Await).
    ///
    /// # Errors
    /// All but [`Error::NotOwner`].
    async fn await_turn(
        &mut self,
        _key: &str,
        _pause: Duration,
        _within: Duration,
    ) -> Result<(), Error> {
        Err(Error::unsupported("it does not know when to try again"))
    }

    /// Hears that nobody waits for this lock any more, because it was granted or for another
    /// reason. Called only where it [can](crate::Ability::Await).
    ///
    /// # Errors
    /// All but [`Error::NotOwner`].
    async fn end_wait(&mut self, _key: &str, _granted: bool) -> Result<(), Error> {
        Err(Error::unsupported("it does not know when to try again"))
    }
}
