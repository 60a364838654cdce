//! The sweep against a search through every order, and against the frontier.
//!
//! Method: histories over so few instants that ties abound: every small one of a kind, random ones,
//! and longer ones as a lock serves them, with some replies changed. Whatever the sweep proves, the
//! search or the frontier must confirm; what it proves not is counted, so that the test shows
//! something.

mod differential;
mod events;
mod naive;
mod random;
mod served;
mod small;
