//! The gate through which the renewals of a library's own watchdog pass.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::oneshot::{Receiver, Sender, channel};

use crate::outlet::Outlet;
use crate::wire::{Answer, Note, renewed};
use crate::{Ask, Client, Error};

/// Renewals that were announced.
#[derive(Debug, Default)]
pub(crate) struct Renewals {
    /// Number of the last one.
    last: u64,
    /// Those that wait for the word of the harness, by number.
    waiting: BTreeMap<u64, Sender<bool>>,
}

impl Client {
    /// Lets a renewal of the library's own watchdog pass.
    ///
    /// It is announced, and sent when the harness says so: `renew` is then awaited, `meaning` says
    /// what came of it, as [`Lock::renew`](crate::Lock::renew) would, and the outcome is returned.
    /// None is returned where it is to be left out: it was not sent, and the watchdog has to go on
    /// as if it had been. A renewal that is dropped on the way is told to be of unknown outcome.
    pub async fn renewal<T>(
        &self,
        ask: &Ask,
        renew: impl Future<Output = T>,
        meaning: impl FnOnce(&T) -> Result<Option<Duration>, Error>,
    ) -> Option<T> {
        let mut announced = Announced::new(&self.outlet, ask);
        if !announced.is_to_be_sent().await {
            return None;
        }
        let outcome = renew.await;
        let moment = self.outlet.now();
        let meaning = meaning(&outcome);
        let is_lost = matches!(meaning, Err(Error::Lost(_)));
        if matches!(meaning, Err(Error::NotOwner)) {
            self.outlet.ledger().lose(ask);
        }
        announced.tell(renewed(meaning));
        if is_lost {
            self.lost_at(ask, moment);
        }
        Some(outcome)
    }
}

/// A renewal that was announced, and what has become of it.
struct Announced<'o> {
    outlet: &'o Outlet,
    number: u64,
    stage: Stage,
}

enum Stage {
    /// It waits for the word of the harness.
    Waiting(Receiver<bool>),
    /// It is sent.
    Sent,
    /// There is nothing more to tell of it.
    Over,
}

impl<'o> Announced<'o> {
    fn new(outlet: &'o Outlet, ask: &Ask) -> Self {
        let (word, waiting) = channel();
        // Held until the note is written: numbers grow on the way out.
        let mut renewals = outlet.renewals();
        renewals.last += 1;
        let number = renewals.last;
        renewals.waiting.insert(number, word);
        let target = ask.into();
        outlet.note(&Note::Renewing { number, target });
        Self {
            outlet,
            number,
            stage: Stage::Waiting(waiting),
        }
    }

    async fn is_to_be_sent(&mut self) -> bool {
        let Stage::Waiting(word) = &mut self.stage else {
            return false;
        };
        let is_to_be_sent = word.await.unwrap_or(false);
        self.stage = if is_to_be_sent {
            Stage::Sent
        } else {
            Stage::Over
        };
        is_to_be_sent
    }

    fn tell(&mut self, outcome: Answer) {
        self.stage = Stage::Over;
        let number = self.number;
        self.outlet.note(&Note::Renewed { number, outcome });
    }
}

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        match &mut self.stage {
            Stage::Waiting(word) => {
                word.close();
                // Otherwise whoever brings the word finds out.
                if word.try_recv() == Ok(true) {
                    self.tell(not_sent());
                }
            }
            Stage::Sent => {
                let text = "the library gave the renewal up before it had a reply".to_owned();
                self.tell(Answer::Error { text });
            }
            Stage::Over => {}
        }
    }
}

/// Hands on the word about a renewal.
///
/// # Errors
/// In words, when the renewal was never announced, or was decided before.
pub(crate) fn decide(outlet: &Outlet, number: u64, is_to_be_sent: bool) -> Result<(), String> {
    let waiting = outlet.renewals().waiting.remove(&number);
    let word = waiting
        .ok_or_else(|| format!("renewal {number} must have been announced and not decided yet"))?;
    if word.send(is_to_be_sent).is_err() && is_to_be_sent {
        let outcome = not_sent();
        outlet.note(&Note::Renewed { number, outcome });
    }
    Ok(())
}

fn not_sent() -> Answer {
    Answer::Failed {
        text: "the library gave the renewal up before it was sent".to_owned(),
    }
}
