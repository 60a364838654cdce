//! A client that does what a script tells it, one order after the other, and renews its leases in
//! between.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lockstorm_checker::history::{Mode, Name};
use lockstorm_nemesis::ClientState;
use lockstorm_scenarios::DurationRange;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::session::{Reply, Session};
use crate::connection::Gate;
use crate::locks::LockRequest;

/// Order that a script can give a client.
#[derive(Clone, Debug)]
pub enum Order {
    /// Ask for a lock: once, or for as long as it says with pauses from `retry`.
    Acquire {
        /// Lock to ask for.
        key: Name,
        /// Mode and permits to ask for, and how long to wait for them.
        ask: LockRequest,
        /// Pauses between tries.
        retry: DurationRange,
    },
    /// Extend a lease.
    Renew(Name, Mode),
    /// Give a lock back.
    Release {
        /// Lock to give back.
        key: Name,
        /// Mode and permits to give back.
        ask: LockRequest,
        /// Do nothing if the last acquire of it was refused and nothing is held from before.
        unless_refused: bool,
        /// Do nothing if it is not held, as far as the client knows.
        if_held: bool,
    },
    /// Work in the critical section.
    Work(Duration),
    /// Look up which orders are due.
    FindOrders(Name),
    /// Close those that it found last.
    CloseOrders(Name),
    /// Say whether it has this key in a way that keeps such a request out, or any key at all, and
    /// will not let go of it by itself.
    Keep(Option<(Name, Mode)>),
    /// Give back everything that it believes to hold.
    Drain,
}

/// Reply to an order, still to come.
pub struct Pending(oneshot::Receiver<Heard>);

impl Pending {
    /// Waits for it.
    pub async fn answer(self) -> Heard {
        // The task ends only when the client is dead.
        self.0.await.unwrap_or(Heard::DEAD)
    }
}

/// Reply that a client heard, and the error that came with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The reply.
    pub reply: Reply,
    /// Error of the last operation, where it had one.
    pub error: Option<Name>,
    /// The client died meanwhile: it was killed, or its program ended by itself. One that hung, and
    /// was ended for it, did not get what it asked for.
    pub has_died: bool,
}

impl Heard {
    /// The reply of the dead.
    const DEAD: Self = Self {
        reply: Reply::Killed,
        error: None,
        has_died: true,
    };
}

type Mail = (Order, oneshot::Sender<Heard>);

/// Handle on the task of one client; dropping it ends the client.
pub struct ClientTask {
    orders: mpsc::Sender<Mail>,
    /// Number of orders given so far.
    given: AtomicU64,
    gate: Arc<Gate>,
    is_kept_alive: bool,
    last_grant: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl ClientTask {
    /// Starts the client.
    pub fn spawn(session: Session) -> Self {
        // One order at a time: the script waits for each.
        let (orders, inbox) = mpsc::channel(1);
        Self {
            orders,
            given: AtomicU64::new(0),
            gate: session.gate.clone(),
            is_kept_alive: session.is_kept_alive(),
            last_grant: session.last_grant(),
            task: tokio::spawn(obey(session, inbox)),
        }
    }

    /// Tells whether what the client holds has no lease, or one that is renewed as long as it
    /// lives.
    pub fn is_kept_alive(&self) -> bool {
        self.is_kept_alive
    }

    /// Time of its last grant, in nanoseconds of the run; 0 before the first.
    pub fn last_grant(&self) -> u64 {
        self.last_grant.load(Ordering::SeqCst)
    }

    /// Gives one order and waits for what came of it.
    pub async fn order(&self, order: Order) -> Reply {
        self.give(order).await.answer().await.reply
    }

    /// Gives one order as soon as the one before is done.
    pub async fn give(&self, order: Order) -> Pending {
        let (answer, reply) = oneshot::channel();
        self.given.fetch_add(1, Ordering::Relaxed);
        // Fails only where the client is dead, and then so does the reply.
        let _ = self.orders.send((order, answer)).await;
        Pending(reply)
    }

    /// Gives up the order that was given last, unless it is done.
    pub fn cancel(&self) {
        self.gate.cancel_order(self.given.load(Ordering::Relaxed));
    }
}

impl Drop for ClientTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn obey(mut session: Session, mut inbox: mpsc::Receiver<Mail>) {
    let mut turns = Turns::default();
    let mut refused = BTreeSet::new();
    loop {
        // Only the wait may be cut short by an order: a renewal, once begun, is finished.
        let turn = tokio::select! {
            turn = turns.next(session.renewal_due(), &mut inbox) => turn,
            () = session.death() => return session.die().await,
        };
        let (order, answer) = match turn {
            Turn::Order(mail) => mail,
            Turn::Renewal => match session.renew_all().await {
                Reply::Killed => return session.die().await,
                Reply::Done | Reply::Denied | Reply::Failed | Reply::Unknown => continue,
            },
            Turn::End => return,
        };
        if session.thread_is_dead() {
            // The renewals go on.
            let _ = answer.send(Heard::DEAD);
            session.gate.end_order();
            continue;
        }
        let reply = execute(&mut session, &mut refused, order).await;
        session.gate.end_order();
        // Nobody waits any more when the script was stopped.
        let heard = Heard {
            reply,
            error: session.take_error(),
            has_died: session.gate.state() == ClientState::Dead && !session.gate.has_hung(),
        };
        let _ = answer.send(heard);
        if reply == Reply::Killed {
            return session.die().await;
        }
    }
}

/// Next thing that a client does.
enum Turn {
    Order(Mail),
    Renewal,
    /// There will be no more orders.
    End,
}

/// Orders and renewals, in turn where both are due: while a link is cut each renewal takes its
/// whole time-out and the next one is due at its end; and a script may give one order right after
/// the other. Neither keeps the other waiting for more than one.
#[derive(Default)]
struct Turns {
    order_was_last: bool,
}

impl Turns {
    async fn next(
        &mut self,
        renewal_due: impl Future<Output = ()>,
        inbox: &mut mpsc::Receiver<Mail>,
    ) -> Turn {
        let renewal = async {
            renewal_due.await;
            Turn::Renewal
        };
        let order = async { inbox.recv().await.map_or(Turn::End, Turn::Order) };
        let turn = if self.order_was_last {
            tokio::select! { biased; turn = renewal => turn, turn = order => turn }
        } else {
            tokio::select! { biased; turn = order => turn, turn = renewal => turn }
        };
        self.order_was_last = matches!(turn, Turn::Order(_));
        turn
    }
}

/// Carries out an order; `refused` are the keys, each with its mode, of which the last acquire was
/// refused.
async fn execute(
    session: &mut Session,
    refused: &mut BTreeSet<(Name, Mode)>,
    order: Order,
) -> Reply {
    match order {
        Order::Acquire { key, ask, retry } => {
            let reply = match ask.wait {
                None => session.acquire_once(&key, ask).await,
                Some(_) => session.acquire_within(&key, ask, retry).await,
            };
            let place = (key, ask.mode);
            if reply == Reply::Denied {
                refused.insert(place);
            } else {
                refused.remove(&place);
            }
            reply
        }
        Order::Renew(key, mode) => session.renew(&key, mode).await,
        Order::Release {
            key,
            ask,
            unless_refused,
            if_held,
        } => {
            let place = (key, ask.mode);
            let is_out = if_held || unless_refused && refused.contains(&place);
            if is_out && !session.holds.has(&place) {
                Reply::Done
            } else {
                session.release(&place.0, ask).await
            }
        }
        Order::Work(length) => {
            let reply = session.work(length).await;
            session.alive().await;
            reply
        }
        Order::FindOrders(key) => session.find_orders(&key).await,
        Order::CloseOrders(key) => session.close_orders(&key).await,
        Order::Keep(wanted) => keeps(session, wanted.as_ref()).await,
        Order::Drain => drain(session).await,
    }
}

/// Done if the client has what is wanted, for as long as it lives.
async fn keeps(session: &mut Session, wanted: Option<&(Name, Mode)>) -> Reply {
    if session.gate.pass().await.is_err() {
        return Reply::Killed;
    }
    let is_well = !session.thread_is_dead() && !session.gate.watchdog_is_stalled();
    let is_kept = is_well && session.outlasts_leases();
    let keeps_out = |(key, ask): (Name, LockRequest)| {
        wanted.is_none_or(|(wanted, mode)| *wanted == key && excludes(ask.mode, *mode))
    };
    if is_kept && session.held().await.into_iter().any(keeps_out) {
        Reply::Done
    } else {
        Reply::Denied
    }
}

/// Tells whether a hold in one mode keeps out who asks in another.
fn excludes(held: Mode, wanted: Mode) -> bool {
    held == Mode::Write || wanted == Mode::Write
}

/// Gives back everything; the first answer that is no success is the answer.
async fn drain(session: &mut Session) -> Reply {
    let mut worst = Reply::Done;
    for (key, ask) in session.held().await {
        match session.release(&key, ask).await {
            Reply::Done => {}
            Reply::Killed => return Reply::Killed,
            other => worst = other,
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    /// An inbox with orders that wait already.
    fn inbox_with(orders: usize) -> (mpsc::Sender<Mail>, mpsc::Receiver<Mail>) {
        let (sender, inbox) = mpsc::channel(orders);
        for _ in 0..orders {
            let mail = (Order::Drain, oneshot::channel().0);
            sender.try_send(mail).expect("there is room");
        }
        (sender, inbox)
    }

    #[tokio::test]
    async fn orders_that_never_cease_and_renewals_that_are_always_due_take_turns() {
        let (_sender, mut inbox) = inbox_with(6);
        let mut turns = Turns::default();
        for turn in 0..12 {
            let is_order = matches!(turns.next(ready(()), &mut inbox).await, Turn::Order(_));
            assert_eq!(is_order, turn % 2 == 0, "turn {turn}");
        }
    }

    #[tokio::test]
    async fn what_is_not_due_keeps_nothing_waiting() {
        let (sender, mut inbox) = inbox_with(3);
        let mut turns = Turns::default();
        for _ in 0..3 {
            let turn = turns.next(pending(), &mut inbox).await;
            assert!(matches!(turn, Turn::Order(_)));
        }
        for _ in 0..3 {
            let turn = turns.next(ready(()), &mut inbox).await;
            assert!(matches!(turn, Turn::Renewal));
        }
        drop(sender);
        let turn = turns.next(pending(), &mut inbox).await;
        assert!(matches!(turn, Turn::End));
    }
}
