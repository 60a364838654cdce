//! The conversation with the harness.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read as _};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::select;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::ask::{Ask, Mode};
use crate::outlet::Outlet;
use crate::renewal::decide;
use crate::wire::{
    Answer, Await, EndWait, Introduction, LINE_MAX, Note, Open, Reply, Request, Servers, Spoken,
    Target, Told, milliseconds, renewed,
};
use crate::{Ability, Client, Error, Lock, Opened};

/// Newest version of the protocol that this kit speaks.
const PROTOCOL: u64 = 2;
/// Time that a call may still take when the input has ended: a script that pipes a few requests in
/// gets its answers, and a call that hangs keeps no process.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// Requests as they come; an error ends the conversation.
type Requests = UnboundedReceiver<io::Result<Request>>;

/// Reads lines in a thread of its own: a library that keeps all tasks busy does not keep the word
/// about a renewal from its watchdog.
pub(crate) fn listen(input: impl BufRead + Send + 'static, outlet: Arc<Outlet>) -> Requests {
    let (requests, inbox) = unbounded_channel();
    thread::spawn(move || {
        if let Err(error) = hear_all(input, &outlet, &requests) {
            // Where nobody waits any more, the conversation is over.
            let _ = requests.send(Err(error));
        }
    });
    inbox
}

fn hear_all(
    mut input: impl BufRead,
    outlet: &Outlet,
    requests: &UnboundedSender<io::Result<Request>>,
) -> io::Result<()> {
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let most = LINE_MAX as u64 + 1;
        if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let read_at = Instant::now();
        let odd = |what: String| {
            let what = format!("line {number} of standard input: {what}");
            io::Error::new(io::ErrorKind::InvalidData, what)
        };
        if line.len() as u64 == most && !line.ends_with(b"\n") {
            return Err(odd(format!("must have {LINE_MAX} bytes at most")));
        }
        match Spoken::read(&line).map_err(odd)? {
            Spoken::Request(request) => {
                outlet.hear(request.id, read_at);
                if requests.send(Ok(request)).is_err() {
                    break;
                }
            }
            Spoken::Decision {
                number,
                is_to_be_sent,
            } => decide(outlet, number, is_to_be_sent).map_err(odd)?,
        }
    }
    Ok(())
}

/// A conversation about one client's side of a lock.
pub(crate) struct Session<'s, L> {
    outlet: Arc<Outlet>,
    client: Subject<'s, L>,
    /// Requests that came while another was under way.
    waiting: VecDeque<Request>,
}

impl<'s, L: Lock> Session<'s, L> {
    pub(crate) fn new(name: &'s str, version: &'s str, outlet: Arc<Outlet>) -> Self {
        Self {
            client: Subject {
                name,
                version,
                outlet: outlet.clone(),
                protocol: PROTOCOL,
                open: None,
            },
            outlet,
            waiting: VecDeque::new(),
        }
    }

    /// Carries requests out, one after the other, until there are no more.
    pub(crate) async fn work(mut self, mut requests: Requests) -> io::Result<()> {
        loop {
            let request = match self.waiting.pop_front() {
                Some(request) => request,
                None => match requests.recv().await {
                    Some(request) => request?,
                    None => return Ok(()),
                },
            };
            let Some(answer) = self.carry_out(&request, &mut requests).await? else {
                return Ok(());
            };
            self.outlet.write(&Reply {
                id: request.id,
                answer: &answer,
            })?;
            let unsaid = self.outlet.ledger().unsaid();
            for (ask, moment) in unsaid {
                self.outlet.note(&Note::Lost(Told::new(&ask, moment)));
            }
            if request.word == "close" {
                return Ok(());
            }
        }
    }

    /// Carries a request out, unless it is given up on the way; none when the input has ended
    /// and it takes long.
    async fn carry_out(
        &mut self,
        request: &Request,
        requests: &mut Requests,
    ) -> io::Result<Option<Answer>> {
        let answer = self.client.answer(request);
        tokio::pin!(answer);
        loop {
            select! {
                // What has ended was not given up.
                biased;
                answer = &mut answer => return Ok(Some(answer)),
                next = requests.recv() => match next {
                    None => return Ok(timeout(ENDS_WITHIN, answer).await.ok()),
                    Some(next) => {
                        let next = next?;
                        if next.cancels(request.id) {
                            self.outlet.write(&Reply { id: next.id, answer: &Answer::Done })?;
                            return Ok(Some(Answer::Cancelled));
                        }
                        self.waiting.push_back(next);
                    }
                },
            }
        }
    }
}

/// The client that the adapter is to be.
struct Subject<'s, L> {
    name: &'s str,
    version: &'s str,
    outlet: Arc<Outlet>,
    protocol: u64,
    /// Its lock, once it is told, and what that can do.
    open: Option<(L, Opened)>,
}

impl<L: Lock> Subject<'_, L> {
    async fn answer(&mut self, request: &Request) -> Answer {
        let answer = match request.word.as_str() {
            "hello" => Ok(self.hello(request)),
            // The request that it was about is answered.
            "close" | "cancel" => Ok(Answer::Done),
            "open" => self.introduce(request).await,
            word => match &mut self.open {
                None => Err(Error::unsupported(format!(
                    "'open' must come before '{word}'"
                ))),
                Some((lock, opened)) => answer(lock, opened, &self.outlet, request).await,
            },
        };
        answer.unwrap_or_else(Answer::from)
    }

    fn hello(&mut self, request: &Request) -> Answer {
        let asked = request.fields.get("protocol").and_then(Value::as_u64);
        self.protocol = asked.unwrap_or(1).clamp(1, PROTOCOL);
        Answer::Hello {
            protocol: self.protocol,
            name: self.name.to_owned(),
            version: self.version.to_owned(),
        }
    }

    async fn introduce(&mut self, request: &Request) -> Result<Answer, Error> {
        if self.open.is_some() {
            return Err(Error::unsupported("'open' must come once"));
        }
        let lock = L::open(client(request, self.outlet.clone())?).await?;
        let opened = lock.opened();
        self.outlet.ledger().is_reentrant = opened.promises.contains(&"reentrant");
        let can = opened.can.iter().map(|ability| ability.word());
        // The first version of the protocol does not know it.
        let cancel = (self.protocol > 1).then_some("cancel");
        let introduction = Introduction {
            can: can.chain(cancel).collect(),
            promises: opened.promises.clone(),
            denies: opened.denies.clone(),
            answers_within_ms: opened.answers_within.map(milliseconds),
            server_key: opened.server_key,
        };
        self.open = Some((lock, opened));
        Ok(Answer::Opened(introduction))
    }
}

/// The client that `open` describes.
fn client(request: &Request, outlet: Arc<Outlet>) -> Result<Client, Error> {
    let open: Open = request.read()?;
    if open.servers.is_empty() {
        return Err(Error::failed("'servers' must name one server at least"));
    }
    Ok(Client {
        name: open.client,
        lease: open.lease_ms.map(Duration::from_millis),
        renew_every: open.renew_every_ms.map(Duration::from_millis),
        patience: Duration::from_millis(open.reply_timeout_ms),
        node_timeout: open.node_timeout_ms.map(Duration::from_millis),
        permits: open.permits.unwrap_or(1),
        identity: open.identity,
        topology: open.topology,
        servers: open.servers,
        nodes: open.nodes,
        sentinels: open.sentinels,
        seed: open.seed,
        request: request.fields.clone().into(),
        outlet,
    })
}

/// The answer of an open lock.
async fn answer(
    lock: &mut impl Lock,
    opened: &Opened,
    outlet: &Outlet,
    request: &Request,
) -> Result<Answer, Error> {
    match request.word.as_str() {
        "acquire" | "renew" | "release" | "alive" => {
            let ask = checked(request.read::<Target>()?.into(), opened)?;
            about(lock, outlet, &request.word, &ask).await
        }
        "touch" => Ok(Answer::Done),
        "servers" => {
            let Servers { servers } = request.read()?;
            lock.follow(servers).await.map(Answer::from)
        }
        "await" | "end-wait" if !opened.can(Ability::Await) => {
            Err(Error::unsupported("it does not know when to try again"))
        }
        "await" => {
            let Await {
                key,
                pause_us,
                within_us,
            } = request.read()?;
            let [pause, within] = [pause_us, within_us].map(Duration::from_micros);
            lock.await_turn(&key, pause, within).await.map(Answer::from)
        }
        "end-wait" => {
            let EndWait { key, granted } = request.read()?;
            lock.end_wait(&key, granted).await.map(Answer::from)
        }
        word => Err(Error::unsupported(format!("'{word}' is not known"))),
    }
}

/// An ask as the lock knows it.
fn checked(mut ask: Ask, opened: &Opened) -> Result<Ask, Error> {
    if ask.key.is_empty() {
        return Err(Error::failed("'key' must be the name of a lock"));
    }
    if ask.permits == 0 {
        return Err(Error::failed("'permits' must be 1 or more, and is 0"));
    }
    if ask.mode == Mode::Read && !opened.readers {
        let text = "the lock knows no readers: 'mode' must be 'write'";
        return Err(Error::unsupported(text));
    }
    if ask.permits > 1 && !opened.permits {
        return Err(Error::unsupported(
            "the lock is no semaphore: 'permits' must be 1",
        ));
    }
    ask.wait = ask.wait.filter(|_| opened.can(Ability::Wait));
    Ok(ask)
}

/// Asks the lock what `word` says, and keeps the answer in mind.
async fn about(
    lock: &mut impl Lock,
    outlet: &Outlet,
    word: &str,
    ask: &Ask,
) -> Result<Answer, Error> {
    let answer = match word {
        "acquire" => lock.acquire(ask).await.map(Answer::from),
        "renew" => lock.renew(ask).await.map(|lease| renewed(Ok(lease))),
        "release" => {
            let released = lock.release(ask).await;
            if let Ok(released) = released {
                outlet.ledger().give_back(ask, released);
            }
            released.map(Answer::from)
        }
        _ => Ok(standing(lock, outlet, ask)),
    };
    let moment = outlet.now();
    match &answer {
        Ok(Answer::Granted(_)) => outlet.ledger().gain(ask),
        Err(Error::NotOwner) => outlet.ledger().lose(ask),
        Err(Error::Lost(_)) => outlet.ledger().lose_by_answer(ask, moment),
        Ok(_) | Err(_) => {}
    }
    answer
}

/// Answer to whether the client goes on as the holder.
fn standing(lock: &impl Lock, outlet: &Outlet, ask: &Ask) -> Answer {
    match lock.alive(ask) {
        None => outlet.ledger().standing(ask),
        Some(true) => Answer::Held,
        Some(false) => Answer::NotOwner,
    }
}
