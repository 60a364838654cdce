//! The litmus engine: one step after the other, each ended before the next begins.

use std::pin::pin;
use std::time::Duration;

use lockstorm_nemesis::{FaultError, Nemesis};
use lockstorm_scenarios::{
    Acquire, AcquireReply, OrdersReply, Promise, Release, ReleaseReply, Renew, RenewReply, Step,
};
use tokio::time::{sleep, timeout};

use super::stage::{Stage, Stopped};
use super::waits::Waits;
use crate::client::{ClientTask, Order, Reply};
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
        Step::Renew(_) | Step::Release(_) | Step::FindOrders(_) | Step::CloseOrders(_) => {
            Duration::ZERO
        }
    };
    let acted = act(stage, (clients, waits), step);
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
            let order = Order::Release(release.key.as_str().into(), ask);
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
            let reply = tell(clients, &find.client, order).await?;
            expect(orders_reply(reply), find.expect, OrdersReply::Any, None)
        }
        Step::CloseOrders(close) => {
            let order = Order::CloseOrders(close.key.as_str().into());
            let reply = tell(clients, &close.client, order).await?;
            expect(orders_reply(reply), close.expect, OrdersReply::Any, None)
        }
        Step::Await(condition) => waits.until(stage, condition).await,
        // The nemesis takes these.
        Step::Fault(_) | Step::Heal(_) => Ok(()),
    }
}

async fn tell(clients: &Clients, name: &str, order: Order) -> Result<Reply, Stopped> {
    Ok(client(clients, name)?.order(order).await)
}

fn client<'a>(clients: &'a Clients, name: &str) -> Result<&'a ClientTask, Stopped> {
    let known = clients.iter().find(|(client, _)| client == name);
    known
        .map(|(_, client)| client)
        .ok_or_else(|| Stopped::new(FaultError::UnknownClient(name.to_owned()).to_string()))
}

fn said(result: Result<(), FaultError>) -> Result<(), Stopped> {
    result.map_err(|error| Stopped::new(error.to_string()))
}

/// Without the expected answer the rest of the script makes no sense, or a promise is broken.
fn expect<R: Copy + PartialEq + std::fmt::Debug>(
    got: R,
    expected: R,
    any: R,
    breaks: Option<Promise>,
) -> Result<(), Stopped> {
    if expected == any || got == expected {
        return Ok(());
    }
    let why = format!("expected {}, got {}", word(expected), word(got));
    Err(Stopped { why, breaks })
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

    /// Tells whether an answer is the one that is expected.
    pub(super) fn meet(self, reply: Reply) -> Result<(), Stopped> {
        match self.answer {
            Answer::Acquire(AcquireReply::NotGranted)
                if acquire_reply(reply) != AcquireReply::Granted =>
            {
                Ok(())
            }
            Answer::Acquire(expected) => {
                let any = AcquireReply::Any;
                expect(acquire_reply(reply), expected, any, self.breaks)
            }
            Answer::Renew(expected) => {
                expect(renew_reply(reply), expected, RenewReply::Any, self.breaks)
            }
            Answer::Release(expected) => {
                let any = ReleaseReply::Any;
                expect(release_reply(reply), expected, any, self.breaks)
            }
        }
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
    asked.expected.meet(pending.answer().await)
}

const fn acquire_reply(reply: Reply) -> AcquireReply {
    match reply {
        Reply::Done => AcquireReply::Granted,
        Reply::Denied | Reply::Failed => AcquireReply::Refused,
        Reply::Unknown | Reply::Killed => AcquireReply::Unknown,
    }
}

const fn renew_reply(reply: Reply) -> RenewReply {
    match reply {
        Reply::Done => RenewReply::Renewed,
        Reply::Denied | Reply::Failed => RenewReply::NotOwner,
        Reply::Unknown | Reply::Killed => RenewReply::Unknown,
    }
}

const fn release_reply(reply: Reply) -> ReleaseReply {
    match reply {
        Reply::Done => ReleaseReply::Released,
        Reply::Denied | Reply::Failed => ReleaseReply::NotOwner,
        Reply::Unknown | Reply::Killed => ReleaseReply::Unknown,
    }
}

const fn orders_reply(reply: Reply) -> OrdersReply {
    match reply {
        Reply::Done => OrdersReply::Done,
        Reply::Denied | Reply::Failed => OrdersReply::Refused,
        Reply::Unknown | Reply::Killed => OrdersReply::Unknown,
    }
}
