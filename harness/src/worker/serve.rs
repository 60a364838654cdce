//! The loop of a worker: one request after the other, and in between the rounds of its watchdog.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write as _};

use lockstorm_checker::history::Name;
use tokio::io::{Stdin, stdin};
use tokio::time::sleep_until;

use super::subject::Subject;
use crate::adapter::{
    Answer, Call, LINE_MAX, Lines, Note, Opened, PROTOCOL, Reply, Request, Spoken, Target, line,
};
use crate::clock::wall_ms;
use crate::locks::{LockRequest, WaitEnd};

/// Requests that may come while the watchdog waits for its word; the harness sends one at a time.
const WAITING_MAX: usize = 16;

/// The command that starts a worker: this very program's.
///
/// # Errors
/// When the system does not say where it is.
pub fn command() -> io::Result<Vec<String>> {
    let program = std::env::current_exe()?;
    Ok(vec![program.display().to_string(), "worker".to_owned()])
}

/// Does what it is told on standard input, until that ends or it is told to.
///
/// # Errors
/// When standard input is not what it should be, or nobody listens any more.
pub async fn serve() -> io::Result<()> {
    let mut worker = Worker {
        lines: Lines::new(stdin(), LINE_MAX),
        waiting: VecDeque::new(),
        subject: None,
        renewals: 0,
    };
    while let Some(event) = worker.next().await? {
        match event {
            Event::Request(request) => {
                let last = request.call == Call::Close;
                let (id, call) = (request.id, request.call);
                let answer = worker.answer(id, call).await?;
                say(&Reply { id, answer })?;
                if last {
                    break;
                }
            }
            Event::Round => worker.round().await?,
        }
    }
    Ok(())
}

struct Worker {
    lines: Lines<Stdin>,
    /// Requests that came while the watchdog waited for its word.
    waiting: VecDeque<Request>,
    /// The client that it is, once it is told.
    subject: Option<Subject>,
    /// Number of the last renewal that was announced.
    renewals: u64,
}

/// Event to be handled next.
enum Event {
    Request(Request),
    /// A round of the watchdog is due.
    Round,
}

impl Worker {
    /// Waits for what is to be done; `None` when there will be nothing more.
    async fn next(&mut self) -> io::Result<Option<Event>> {
        if let Some(request) = self.waiting.pop_front() {
            return Ok(Some(Event::Request(request)));
        }
        let due = self.subject.as_ref().and_then(Subject::next_round);
        let round = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        let spoken = tokio::select! {
            spoken = hear(&mut self.lines) => spoken?,
            () = round => return Ok(Some(Event::Round)),
        };
        match spoken {
            None => Ok(None),
            Some(Spoken::Request(request)) => Ok(Some(Event::Request(request))),
            Some(Spoken::Go { go: number } | Spoken::Skip { skip: number }) => {
                Err(odd(&format!("renewal {number} was not announced")))
            }
        }
    }

    /// Carries out a request, unless it is given up meanwhile: then it is dropped where it stands.
    async fn answer(&mut self, id: u64, call: Call) -> io::Result<Answer> {
        // As programs do, if only for their log: a clock that is put wrong is then seen to be, also
        // under a lock that never looks at it.
        wall_ms();
        let Some(subject) = &mut self.subject else {
            return Ok(self.introduce(call).await);
        };
        subject.begin(id);
        let cancel = tokio::select! {
            biased;
            answer = carry_out(subject, call) => return answer,
            cancel = cancellation(&mut self.lines, &mut self.waiting, id) => cancel?,
        };
        let answer = Answer::Done;
        say(&Reply { id: cancel, answer })?;
        Ok(Answer::Cancelled)
    }

    /// The first two requests; nothing else makes sense before them.
    async fn introduce(&mut self, call: Call) -> Answer {
        match call {
            Call::Hello { protocol } => Answer::Hello {
                protocol: PROTOCOL.min(protocol),
                name: env!("CARGO_PKG_NAME").to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            Call::Open(open) => match Subject::new(*open) {
                Ok(mut subject) => {
                    subject.connect().await;
                    let can = subject.can().collect();
                    self.subject = Some(subject);
                    Answer::Opened(Opened {
                        can,
                        ..Opened::default()
                    })
                }
                Err(text) => Answer::Unsupported { text },
            },
            Call::Close => Answer::Done,
            other @ (Call::Acquire(_)
            | Call::Await { .. }
            | Call::EndWait { .. }
            | Call::Renew(_)
            | Call::Release(_)
            | Call::Cancel { .. }
            | Call::Alive(_)
            | Call::Touch { .. }
            | Call::Servers { .. }) => unsupported(&format!("'{}' before 'open'", other.word())),
        }
    }

    /// A round of the watchdog: each renewal is announced, and begins when that was heard, so that
    /// the history knows of it whatever becomes of this process. One that is to be skipped is not
    /// sent.
    async fn round(&mut self) -> io::Result<()> {
        let Some(subject) = &mut self.subject else {
            return Ok(());
        };
        for batch in subject.begin_round() {
            let mut announced = BTreeMap::new();
            for (key, ask) in batch {
                self.renewals += 1;
                say(&Note::Renewing {
                    number: self.renewals,
                    target: renewal_of(&key, ask),
                })?;
                announced.insert(self.renewals, (key, ask));
            }
            let mut silent = announced.len();
            while silent > 0 {
                match hear(&mut self.lines).await? {
                    Some(Spoken::Go { .. }) => silent -= 1,
                    Some(Spoken::Skip { skip }) => {
                        silent -= 1;
                        announced.remove(&skip);
                    }
                    Some(Spoken::Request(request)) if self.waiting.len() < WAITING_MAX => {
                        self.waiting.push_back(request);
                    }
                    Some(Spoken::Request(_)) => return Err(odd("too many requests at once")),
                    None => return Err(odd("it ended in the middle of a renewal")),
                }
            }
            if announced.is_empty() {
                continue;
            }
            let (numbers, batch): (Vec<u64>, Vec<(Name, LockRequest)>) =
                announced.into_iter().unzip();
            let answers = subject.renew_batch(&batch).await;
            for (number, outcome) in numbers.into_iter().zip(answers) {
                say(&Note::Renewed { number, outcome })?;
            }
        }
        Ok(())
    }
}

/// Carries out a request of an open client.
async fn carry_out(subject: &mut Subject, call: Call) -> io::Result<Answer> {
    Ok(match call {
        Call::Acquire(target) => {
            let (answer, queued) = subject.acquire(&target).await;
            if queued {
                say(&Note::Queued { key: target.key })?;
            }
            answer
        }
        Call::Await {
            key,
            pause_us,
            within_us,
        } => {
            let [pause, within] = [pause_us, within_us].map(std::time::Duration::from_micros);
            subject.await_turn(&key, pause, within).await;
            Answer::Done
        }
        Call::EndWait {
            key,
            granted,
            cancelled,
        } => {
            let end = match (granted, cancelled) {
                (true, _) => WaitEnd::Granted,
                (false, true) => WaitEnd::Cancelled,
                (false, false) => WaitEnd::Refused,
            };
            subject.end_wait(&key, end).await;
            Answer::Done
        }
        Call::Renew(target) => subject.renew(&target).await,
        Call::Release(target) => subject.release(&target).await,
        Call::Alive(target) => subject.alive(&target),
        // A cancel that comes here has come too late: nothing is under way.
        Call::Touch { .. } | Call::Close | Call::Cancel { .. } => Answer::Done,
        Call::Servers { servers } => match subject.follow(&servers) {
            Ok(()) => Answer::Done,
            Err(text) => Answer::Failed { text },
        },
        Call::Hello { .. } | Call::Open(_) => unsupported("to begin twice"),
    })
}

/// Waits until the request of this number is given up; gives the number of the request that says
/// so. What else comes meanwhile is to be done later.
async fn cancellation(
    lines: &mut Lines<Stdin>,
    waiting: &mut VecDeque<Request>,
    under_way: u64,
) -> io::Result<u64> {
    loop {
        match hear(lines).await? {
            Some(Spoken::Request(Request {
                id,
                call: Call::Cancel { request },
            })) if request == under_way => return Ok(id),
            Some(Spoken::Request(request)) if waiting.len() < WAITING_MAX => {
                waiting.push_back(request);
            }
            Some(Spoken::Request(_)) => return Err(odd("too many requests at once")),
            Some(Spoken::Go { go: number } | Spoken::Skip { skip: number }) => {
                return Err(odd(&format!("renewal {number} was not announced")));
            }
            // What is under way is still carried out.
            None => return std::future::pending().await,
        }
    }
}

fn renewal_of(key: &Name, ask: LockRequest) -> Target {
    Target {
        key: key.to_string(),
        mode: ask.mode,
        permits: ask.permits,
        wait_ms: None,
    }
}

fn unsupported(what: &str) -> Answer {
    Answer::Unsupported {
        text: what.to_owned(),
    }
}

/// The next message; `None` at the end.
async fn hear(lines: &mut Lines<Stdin>) -> io::Result<Option<Spoken>> {
    let read = lines.next().await;
    let Some(line) = read.map_err(|error| odd(&error.to_string()))? else {
        return Ok(None);
    };
    let spoken = serde_json::from_slice(line);
    spoken.map(Some).map_err(|error| odd(&error.to_string()))
}

fn odd(what: &str) -> io::Error {
    io::Error::other(format!(
        "standard input is not the adapter protocol: {what}"
    ))
}

pub(super) fn say(message: &impl serde::Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line(message).as_bytes())?;
    out.flush()
}
