//! A client that does what a script tells it, one order after the other, and renews its leases in
//! between.

use std::time::Duration;

use lockstorm_checker::history::{Mode, Name};
use lockstorm_scenarios::DurationRange;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::session::{Reply, Session};
use crate::locks::Ask;

/// What a script can tell a client to do.
#[derive(Clone, Debug)]
pub enum Order {
    /// Ask for a lock: once, or for as long as it says with pauses from `retry`.
    Acquire {
        /// Which lock.
        key: Name,
        /// How, and for how long.
        ask: Ask,
        /// Pauses between tries.
        retry: DurationRange,
    },
    /// Extend a lease.
    Renew(Name, Mode),
    /// Give a lock back.
    Release(Name, Ask),
    /// Work in the critical section.
    Work(Duration),
    /// Look up which orders are due.
    FindOrders(Name),
    /// Close those that it found last.
    CloseOrders(Name),
    /// Give back everything that it believes to hold.
    Drain,
}

/// What will come of an order.
pub struct Pending(oneshot::Receiver<Reply>);

impl Pending {
    /// Waits for it.
    pub async fn answer(self) -> Reply {
        // The task ends only when the client is dead.
        self.0.await.unwrap_or(Reply::Killed)
    }
}

type Mail = (Order, oneshot::Sender<Reply>);

/// Handle on the task of one client; dropping it ends the client.
pub struct ClientTask {
    orders: mpsc::Sender<Mail>,
    task: JoinHandle<()>,
}

impl ClientTask {
    /// Starts the client.
    pub fn spawn(session: Session) -> Self {
        // One order at a time: the script waits for each.
        let (orders, inbox) = mpsc::channel(1);
        Self {
            orders,
            task: tokio::spawn(obey(session, inbox)),
        }
    }

    /// Gives one order and waits for what came of it.
    pub async fn order(&self, order: Order) -> Reply {
        self.give(order).await.answer().await
    }

    /// Gives one order as soon as the one before is done.
    pub async fn give(&self, order: Order) -> Pending {
        let (answer, reply) = oneshot::channel();
        // Fails only where the client is dead, and then so does the reply.
        let _ = self.orders.send((order, answer)).await;
        Pending(reply)
    }
}

impl Drop for ClientTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn obey(mut session: Session, mut inbox: mpsc::Receiver<Mail>) {
    loop {
        let mail = tokio::select! {
            // An order that waits comes first: while a link is cut each renewal takes its whole
            // time-out and the next one is due at its end, and the order would never have its turn.
            biased;
            mail = inbox.recv() => mail,
            // Only the wait may be cut short by an order: a renewal, once begun, is finished.
            () = session.renewal_due() => match session.renew_all().await {
                Reply::Killed => return,
                Reply::Done | Reply::Denied | Reply::Failed | Reply::Unknown => continue,
            },
        };
        let Some((order, answer)) = mail else { return };
        if session.thread_is_dead() {
            // The renewals above go on.
            let _ = answer.send(Reply::Killed);
            continue;
        }
        let reply = execute(&mut session, order).await;
        // Nobody waits any more when the script was stopped.
        let _ = answer.send(reply);
        if reply == Reply::Killed {
            return;
        }
    }
}

async fn execute(session: &mut Session, order: Order) -> Reply {
    match order {
        Order::Acquire { key, ask, .. } if ask.wait.is_none() => session.acquire(&key, ask).await,
        Order::Acquire { key, ask, retry } => session.acquire_within(&key, ask, retry).await,
        Order::Renew(key, mode) => session.renew(&key, mode).await,
        Order::Release(key, ask) => session.release(&key, ask).await,
        Order::Work(length) => {
            let reply = session.work(length).await;
            session.alive().await;
            reply
        }
        Order::FindOrders(key) => session.find_orders(&key).await,
        Order::CloseOrders(key) => session.close_orders(&key).await,
        Order::Drain => drain(session).await,
    }
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
