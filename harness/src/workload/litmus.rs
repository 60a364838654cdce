//! The litmus engine: one step after the other, each ended before the next begins.

use std::pin::pin;
use std::time::Duration;

use lockstorm_nemesis::{FaultError, Nemesis};
use lockstorm_scenarios::{
    Acquire, AcquireReply, OrdersReply, Promise, Release, ReleaseReply, Renew, RenewReply, Step,
};
use tokio::time::{sleep, timeout};

use super::holders::excuse;
use super::stage::{Stage, Stopped};
use super::waits::Waits;
use crate::client::{ClientTask, Heard, Order, Reply};
use crate::locks::LockRequest;

/// Time that any one step may take beyond what it asks for.
const STEP_WITHIN: Duration = Duration::from_secs(30);

/// Pause between two looks at the faults in force while a step is taken.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The script's clients by name, in the order of their process ids.
pub type Clients = Vec<(String, ClientTask)>;

/// Runs the script. Gives its clients, living or dead, and the reason if it stopped early.
pub async fn run(
    stage: &Stage,
    nemesis: &mut Nemesis,
    steps: &[Step],
) -> (Clients, Option<Stopped>) {
    let names = stage.client_names();
    let sessions = match stage.sessions(&names, 0).await {
        Ok(sessions) => sessions,
        Err(stopped) => return (Vec::new(), Some(stopped)),
    };
    let tasks = sessions.into_iter().map(ClientTask::spawn);
    let clients: Clients = names.into_iter().zip(tasks).collect();
    let mut waits = Waits::new(stage, steps).await;
    look(stage).await;
    for (n, step) in steps.iter().enumerate() {
        stage.progress.say(&format!(
            "step {} of {}: {}",
            n + 1,
            steps.len(),
            step.kind()
        ));
        let stop = |why: Stopped| Stopped {
            why: format!("step {} ({}): {why}", n + 1, step.kind()),
            step: Some(n),
            ..why
        };
        let ended = take(stage, nemesis, (&clients, &mut waits), step).await;
        if let Err(why) = ended {
            return (clients, Some(stop(why)));
        }
        nemesis.observe_pending().await;
        look(stage).await;
    }
    (clients, None)
}

/// Has the servers asked what they know of the locks by now, if anybody wants to know.
async fn look(stage: &Stage) {
    if let Some(watch) = &stage.watch {
        watch.look().await;
    }
}

/// Takes one step; the error says in words why the script cannot go on. The nemesis is always
/// waited for: its steps have limits of their own, and a fault that is left half-way would be
/// healed by nobody.
async fn take(
    stage: &Stage,
    nemesis: &mut Nemesis,
    (clients, waits): (&Clients, &mut Waits),
    step: &Step,
) -> Result<(), Stopped> {
    let asked_for = match step {
        Step::Fault(fault) => return said(nemesis.inject_step(fault).await),
        Step::Heal(heal) => {
            let target = heal.target();
            return said(nemesis.heal_kind(&heal.fault, target.as_deref()).await);
        }
        Step::Acquire(acquire) => acquire.wait.unwrap_or_default().0,
        Step::Work(work) => work.length.0,
        Step::Await(condition) => condition.within.0,
        Step::Renew(_)
        | Step::Release(_)
        | Step::Cancel(_)
        | Step::FindOrders(_)
        | Step::CloseOrders(_) => Duration::ZERO,
    };
    let acted = async {
        match act(stage, (clients, waits), step).await {
            Ok(()) => Ok(()),
            Err(stopped) => Err(excuse(stage, clients, step, stopped).await),
        }
    };
    watching(nemesis, within_limit(stage, asked_for, acted)).await
}

/// Waits for the end of a step, but for no longer than it asks for and a named limit, nor beyond
/// an interrupt.
async fn within_limit(
    stage: &Stage,
    asked_for: Duration,
    end: impl Future<Output = Result<(), Stopped>>,
) -> Result<(), Stopped> {
    let limit = asked_for + STEP_WITHIN;
    tokio::select! {
        () = stage.interrupt.cancelled() => Err(Stopped::new("interrupted".to_owned())),
        ended = timeout(limit, end) => {
            let late = || Stopped::new(format!("did not end within {limit:?}"));
            ended.unwrap_or_else(|_| Err(late()))
        }
    }
}

/// Waits for the end of a step, and notes meanwhile what becomes of the faults in force, so that
/// the history has it at its time. Each look is finished.
async fn watching<T>(nemesis: &mut Nemesis, end: impl Future<Output = T>) -> T {
    let mut end = pin!(end);
    loop {
        tokio::select! {
            biased;
            ended = &mut end => return ended,
            () = sleep(LOOK_EVERY), if nemesis.is_breaking() => nemesis.observe_pending().await,
        }
    }
}

/// Has a client take its step, or waits for a condition.
async fn act(
    stage: &Stage,
    (clients, waits): (&Clients, &mut Waits),
    step: &Step,
) -> Result<(), Stopped> {
    match step {
        Step::Acquire(acquire) => {
            let order = Order::Acquire {
                key: acquire.key.as_str().into(),
                ask: LockRequest {
                    mode: acquire.mode,
                    permits: acquire.permits,
                    wait: acquire.wait.map(|wait| wait.0),
                },
                retry: stage.retry(),
            };
            let asked = Asked {
                client: &acquire.client,
                under_way: acquire.under_way,
                expected: Expectation::acquire(acquire),
            };
            demand(clients, waits, asked, order).await
        }
        Step::Renew(renew) => {
            let order = Order::Renew(renew.key.as_str().into(), renew.mode);
            let asked = Asked {
                client: &renew.client,
                under_way: renew.under_way,
                expected: Expectation::renewal(renew),
            };
            demand(clients, waits, asked, order).await
        }
        Step::Release(release) => {
            let ask = LockRequest {
                mode: release.mode,
                permits: release.permits,
                wait: None,
            };
            let order = Order::Release {
                key: release.key.as_str().into(),
                ask,
                unless_refused: release.unless_refused,
                if_held: release.if_held,
            };
            let asked = Asked {
                client: &release.client,
                under_way: release.under_way,
                expected: Expectation::release(release),
            };
            demand(clients, waits, asked, order).await
        }
        Step::Work(work) => tell(clients, &work.client, Order::Work(work.length.0))
            .await
            .map(|_| ()),
        Step::FindOrders(find) => {
            let order = Order::FindOrders(find.key.as_str().into());
            let heard = tell(clients, &find.client, order).await?;
            Expectation::orders(find.expect).meet(&heard)
        }
        Step::CloseOrders(close) => {
            let order = Order::CloseOrders(close.key.as_str().into());
            let heard = tell(clients, &close.client, order).await?;
            Expectation::orders(close.expect).meet(&heard)
        }
        Step::Cancel(given_up) => cancel(stage, clients, &given_up.client),
        Step::Await(condition) => waits.until(stage, condition).await,
        // The nemesis takes these.
        Step::Fault(_) | Step::Heal(_) => Ok(()),
    }
}

async fn tell(clients: &Clients, name: &str, order: Order) -> Result<Heard, Stopped> {
    Ok(client(clients, name)?.give(order).await.answer().await)
}

fn client<'a>(clients: &'a Clients, name: &str) -> Result<&'a ClientTask, Stopped> {
    let known = clients.iter().find(|(client, _)| client == name);
    known
        .map(|(_, client)| client)
        .ok_or_else(|| Stopped::new(FaultError::no_client(name).to_string()))
}

fn said(result: Result<(), FaultError>) -> Result<(), Stopped> {
    result.map_err(|error| Stopped::new(error.to_string()))
}

/// Returns the word of scenario files for an answer.
fn word(answer: impl std::fmt::Debug) -> String {
    let mut word = String::new();
    for c in format!("{answer:?}").chars() {
        if c.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(c.to_lowercase());
    }
    word
}

/// Expectation of an answer, and the promise that any other answer breaks.
#[derive(Clone, Copy)]
pub(super) struct Expectation {
    answer: Answer,
    breaks: Option<Promise>,
}

/// The answer that is expected.
#[derive(Clone, Copy)]
enum Answer {
    Acquire(AcquireReply),
    Renew(RenewReply),
    Release(ReleaseReply),
    Orders(OrdersReply),
}

impl Answer {
    /// Tells whether a reply will do.
    fn is_met_by(self, reply: Reply) -> bool {
        let is_refusal = matches!(reply, Reply::Denied | Reply::Failed);
        let is_open = matches!(reply, Reply::Unknown | Reply::Killed);
        match self {
            Self::Acquire(AcquireReply::Any)
            | Self::Renew(RenewReply::Any)
            | Self::Release(ReleaseReply::Any)
            | Self::Orders(OrdersReply::Any) => true,
            Self::Acquire(AcquireReply::NotGranted) => reply != Reply::Done,
            Self::Acquire(AcquireReply::Granted)
            | Self::Renew(RenewReply::Renewed)
            | Self::Release(ReleaseReply::Released)
            | Self::Orders(OrdersReply::Done) => reply == Reply::Done,
            Self::Acquire(AcquireReply::Refused)
            | Self::Renew(RenewReply::NotOwner)
            | Self::Release(ReleaseReply::NotOwner)
            | Self::Orders(OrdersReply::Refused) => is_refusal,
            Self::Acquire(AcquireReply::Unknown)
            | Self::Renew(RenewReply::Unknown)
            | Self::Release(ReleaseReply::Unknown)
            | Self::Orders(OrdersReply::Unknown) => is_open,
        }
    }

    /// The word of scenario files for what is expected.
    fn word(self) -> String {
        match self {
            Self::Acquire(reply) => word(reply),
            Self::Renew(reply) => word(reply),
            Self::Release(reply) => word(reply),
            Self::Orders(reply) => word(reply),
        }
    }

    /// Words for an answer, with the error that came along.
    fn told(self, heard: &Heard) -> String {
        let (done, denied) = match self {
            Self::Acquire(_) => (word(AcquireReply::Granted), word(AcquireReply::Refused)),
            Self::Renew(_) => (word(RenewReply::Renewed), word(RenewReply::NotOwner)),
            Self::Release(_) => (word(ReleaseReply::Released), word(ReleaseReply::NotOwner)),
            Self::Orders(_) => (word(OrdersReply::Done), word(OrdersReply::Refused)),
        };
        let error = heard.error.as_deref().unwrap_or("no reason was given");
        match heard.reply {
            Reply::Done => done,
            Reply::Denied => denied,
            Reply::Failed => format!("an error: {error}"),
            Reply::Unknown => format!("no answer: {error}"),
            Reply::Killed => {
                "no answer: the client had ended (by a fault, by itself, or because it hung)"
                    .to_owned()
            }
        }
    }
}

impl Expectation {
    const fn acquire(acquire: &Acquire) -> Self {
        Self {
            answer: Answer::Acquire(acquire.expect),
            breaks: acquire.breaks,
        }
    }

    const fn renewal(renew: &Renew) -> Self {
        Self {
            answer: Answer::Renew(renew.expect),
            breaks: renew.breaks,
        }
    }

    const fn release(release: &Release) -> Self {
        Self {
            answer: Answer::Release(release.expect),
            breaks: release.breaks,
        }
    }

    const fn orders(expected: OrdersReply) -> Self {
        Self {
            answer: Answer::Orders(expected),
            breaks: None,
        }
    }

    /// Tells whether an answer is the one that is expected: without it the rest of the script makes
    /// no sense, or a promise is broken.
    pub(super) fn meet(self, heard: &Heard) -> Result<(), Stopped> {
        if self.answer.is_met_by(heard.reply) {
            return Ok(());
        }
        let (expected, told) = (self.answer.word(), self.answer.told(heard));
        Err(Stopped {
            why: format!("expected {expected}, got {told}"),
            // Who has died has answered nothing, and why it died is judged by itself.
            breaks: self.breaks.filter(|_| !heard.has_died),
            // An error is no answer: it may be the environment's, or that of a server that was hit.
            is_unmet: matches!(heard.reply, Reply::Done | Reply::Denied),
            step: None,
        })
    }
}

/// A request of a client for a lock that it wants, has or gives back.
struct Asked<'a> {
    client: &'a str,
    /// The script goes on without the answer.
    under_way: bool,
    expected: Expectation,
}

/// Gives the order, and awaits the answer unless the script does so later.
async fn demand(
    clients: &Clients,
    waits: &mut Waits,
    asked: Asked<'_>,
    order: Order,
) -> Result<(), Stopped> {
    let pending = client(clients, asked.client)?.give(order).await;
    if asked.under_way {
        waits.answer_comes(asked.client, pending, asked.expected);
        return Ok(());
    }
    asked.expected.meet(&pending.answer().await)
}

/// Has a client give up what it has under way.
fn cancel(stage: &Stage, clients: &Clients, name: &str) -> Result<(), Stopped> {
    let client = client(clients, name)?;
    if !stage.servers.registry().can_cancel(name) {
        let why =
            format!("the program of '{name}' cannot give up a request: 'cancel' is not in `can`");
        return Err(Stopped::new(why));
    }
    client.cancel();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_died_while_it_asked_breaks_no_promise_by_its_answer() {
        let expected = Expectation {
            answer: Answer::Acquire(AcquireReply::Granted),
            breaks: Some(Promise::Obtainable),
        };
        let broken = |reply, has_died| {
            let heard = Heard {
                reply,
                error: None,
                has_died,
            };
            expected.meet(&heard).map_err(|stopped| stopped.breaks)
        };
        assert_eq!(broken(Reply::Done, false), Ok(()));
        for reply in [Reply::Denied, Reply::Failed, Reply::Unknown] {
            assert_eq!(broken(reply, false), Err(Some(Promise::Obtainable)));
        }
        for reply in [Reply::Unknown, Reply::Killed] {
            assert_eq!(broken(reply, true), Err(None));
        }
    }
}
