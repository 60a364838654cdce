//! A conversation with one program: requests and their answers, and what it says unasked.
//!
//! For: seeing to it that nothing that a program says or keeps to itself can hang the run, fill its
//! memory or pass for something that it is not. The first thing that is wrong ends the conversation
//! and the program, and the run says what it was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Mode, Name};
use lockstorm_nemesis::ClientState;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::lines::Lines;
use super::message::{
    Answer, Call, LINE_MAX, Note, Reply, Request, Said, Spoken, Target, line, read_said,
};
use super::program::Program;
use super::rounds::Rounds;
use crate::client::{CLIENT_KILLED, Gate, Killed, Trail};
use crate::clock::RunClock;

/// Messages to a program that wait for it to read them, at most.
const OUTBOX_MAX: usize = 16;
/// Notes between two answers, renewals aside, at most.
const NOTES_MAX: u32 = 1000;
/// How long a program whose output has ended may take to end itself.
const ENDS_WITHIN: Duration = Duration::from_millis(500);
/// Bytes of a line that a complaint quotes.
const QUOTED_MAX: usize = 120;

/// Hears what is wrong with a program.
pub type Complaints = Box<dyn Fn(&str) + Send + Sync>;

/// A conversation. Dropping it ends the program.
pub(crate) struct Talk {
    shared: Arc<Shared>,
    outbox: mpsc::Sender<String>,
    tasks: [JoinHandle<()>; 2],
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mute {
    /// The nemesis has killed the client.
    #[error("it was killed")]
    Killed,
    /// The program has ended, or something was wrong with it.
    #[error("{0}")]
    Gone(String),
}

/// What both ends of a conversation share.
struct Shared {
    program: Arc<Program>,
    gate: Arc<Gate>,
    clock: RunClock,
    complaints: Complaints,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Requests that are not answered yet, by number.
    pending: BTreeMap<u64, Pending>,
    /// Requests have numbers up to this one.
    last: u64,
    /// Notes since the last answer.
    notes: u32,
    /// What was ever granted to the client.
    granted: BTreeSet<(Name, Mode)>,
    /// What it lost by its own word, and nobody has asked for yet.
    lost: Vec<Loss>,
    /// Locks for which it has taken a place in the queue, and nobody has asked for yet.
    queued: BTreeSet<String>,
    /// Whether it was told to do what it cannot.
    unable: bool,
    /// Why the conversation is over.
    over: Option<String>,
}

struct Pending {
    call: Call,
    answer: oneshot::Sender<(Answer, Nanos)>,
}

/// A lock that a client was told it has lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Which lock.
    pub key: Name,
    /// How it was held.
    pub mode: Mode,
    /// Not after the client was told; `None` where the answer to a renewal has told it.
    pub noticed: Option<Nanos>,
}

/// What a conversation is made of.
pub(crate) struct TalkParts {
    pub(crate) program: Arc<Program>,
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    pub(crate) gate: Arc<Gate>,
    pub(crate) clock: RunClock,
    pub(crate) rounds: Rounds,
    pub(crate) trail: Arc<dyn Trail>,
    pub(crate) complaints: Complaints,
}

impl Talk {
    /// Begins to listen.
    pub(crate) fn begin(parts: TalkParts) -> Self {
        let shared = Arc::new(Shared {
            program: parts.program,
            gate: parts.gate,
            clock: parts.clock,
            complaints: parts.complaints,
            state: Mutex::default(),
        });
        let (outbox, inbox) = mpsc::channel(OUTBOX_MAX);
        let listener = Listener {
            shared: shared.clone(),
            outbox: outbox.clone(),
            rounds: parts.rounds,
            trail: parts.trail,
            heard: parts.clock.now(),
        };
        let tasks = [
            tokio::spawn(write_all(parts.input, inbox)),
            tokio::spawn(listener.listen(Lines::new(parts.output, LINE_MAX))),
        ];
        Self {
            shared,
            outbox,
            tasks,
        }
    }

    /// Makes one request and waits for its answer, which came at the time that goes with it. A
    /// client that is stopped may take as long as it is; one that runs has to answer `within`.
    ///
    /// # Errors
    /// See [`Mute`].
    pub(crate) async fn ask(&self, call: Call, within: Duration) -> Result<(Answer, Nanos), Mute> {
        let gate = &self.shared.gate;
        gate.pass().await.map_err(|Killed| self.shared.why())?;
        let word = call.word();
        let (message, mut answer) = self.shared.expect(call)?;
        gate.count_command();
        let exchange = async {
            // The writer ends only with the conversation.
            if self.outbox.send(message).await.is_err() {
                return Err(self.shared.why());
            }
            (&mut answer).await.map_err(|_| self.shared.why())
        };
        tokio::pin!(exchange);
        loop {
            tokio::select! {
                // An answer that is there counts, though the program has ended since.
                biased;
                answer = &mut exchange => return answer,
                _ = gate.death() => return Err(self.shared.why()),
                () = sleep(within) => {
                    if gate.state() != ClientState::Paused {
                        let limit = within.as_millis();
                        let what = format!("it did not answer '{word}' within {limit} ms");
                        self.shared.complain(&what);
                        return Err(self.shared.why());
                    }
                    gate.pass().await.map_err(|Killed| self.shared.why())?;
                }
            }
        }
    }

    /// An answer that makes no sense ends the conversation.
    pub(super) fn misfit(&self, word: &str, answer: &Answer) -> Mute {
        self.shared
            .complain(&format!("it answered '{word}' with '{}'", answer.word()));
        self.shared.why()
    }

    /// The program cannot do what the scenario asks for: it goes on, and the run says so.
    pub(super) fn unable(&self, word: &str, text: &str) {
        let first = !std::mem::replace(&mut self.shared.state().unable, true);
        if first {
            (self.shared.complaints)(&format!("it does not support '{word}': {text}"));
        }
    }

    /// What the client has lost by its own word since this was asked last.
    pub(super) fn lost(&self) -> Vec<Loss> {
        std::mem::take(&mut self.shared.state().lost)
    }

    /// Whether it has taken a place in the queue for `key` since this was asked last.
    pub(super) fn queued(&self, key: &str) -> bool {
        self.shared.state().queued.remove(key)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // Without its standard input the program may end by itself before it is killed, and be
        // heard to: from here on that is no news.
        let over = || "nobody talks to it any more".to_owned();
        self.shared.state().over.get_or_insert_with(over);
        for task in &self.tasks {
            task.abort();
        }
        self.shared.program.kill();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }

    /// A new request: its line, and where its answer will be.
    fn expect(&self, call: Call) -> Result<(String, oneshot::Receiver<(Answer, Nanos)>), Mute> {
        let mut state = self.state();
        if let Some(why) = &state.over {
            return Err(Mute::Gone(why.clone()));
        }
        state.last += 1;
        let id = state.last;
        let request = Spoken::Request(Request {
            id,
            call: call.clone(),
        });
        let (answer, receiver) = oneshot::channel();
        state.pending.insert(id, Pending { call, answer });
        Ok((line(&request), receiver))
    }

    /// Something is wrong with the program: it ends here, and the run says why.
    fn complain(&self, what: &str) {
        let first = {
            let mut state = self.state();
            state.pending.clear();
            let first = state.over.is_none();
            state.over.get_or_insert_with(|| what.to_owned());
            first
        };
        if first {
            (self.complaints)(what);
        }
        self.gate.kill();
        self.program.kill();
    }

    fn why(&self) -> Mute {
        match &self.state().over {
            Some(why) => Mute::Gone(why.clone()),
            None => Mute::Killed,
        }
    }
}

/// Hears what a program says.
struct Listener {
    shared: Arc<Shared>,
    outbox: mpsc::Sender<String>,
    rounds: Rounds,
    trail: Arc<dyn Trail>,
    /// When it said something last.
    heard: Nanos,
}

impl Listener {
    async fn listen(mut self, mut lines: Lines<ChildStdout>) {
        let mut count = 0_u64;
        let trouble = loop {
            match lines.next().await {
                Ok(Some(line)) => {
                    count += 1;
                    let now = self.shared.clock.now();
                    if let Err(why) = self.hear(line, now).await {
                        break Some(format!(
                            "line {count} of its output: {why}: {}",
                            quote(line)
                        ));
                    }
                    self.heard = now;
                }
                Ok(None) => break None,
                Err(error) => break Some(format!("after line {count} of its output, {error}")),
            }
        };
        let what = match trouble {
            Some(trouble) => trouble,
            None => self.how_it_ended().await,
        };
        if self.shared.gate.state() == ClientState::Dead {
            // Killed as it was to be; what it said last may be torn.
            self.shared.program.kill();
            self.shared.state().pending.clear();
        } else {
            self.shared.complain(&what);
        }
        let why = match self.shared.why() {
            Mute::Killed => CLIENT_KILLED.to_owned(),
            Mute::Gone(why) => why,
        };
        self.rounds.given_up(&why).await;
    }

    async fn how_it_ended(&self) -> String {
        match self.shared.program.ended(ENDS_WITHIN).await {
            Some(status) => format!("it ended by itself with {status}"),
            None => "it closed its standard output".to_owned(),
        }
    }

    /// One line, said at `now`; the error says what is wrong with it.
    async fn hear(&mut self, line: &[u8], now: Nanos) -> Result<(), String> {
        match read_said(line)? {
            Said::Reply(reply) => self.answer(reply, now),
            Said::Note(note) => self.note(note, now).await,
        }
    }

    fn answer(&self, reply: Reply, now: Nanos) -> Result<(), String> {
        let mut state = self.shared.state();
        let id = reply.id;
        let Some(pending) = state.pending.remove(&id) else {
            return Err(if id <= state.last {
                format!("request {id} was answered before")
            } else {
                format!("there was no request {id}")
            });
        };
        state.notes = 0;
        if let (Call::Acquire(target), Answer::Granted { .. }) = (&pending.call, &reply.answer) {
            state.granted.insert(place(target));
        }
        // Nobody waits any more when the run was stopped.
        let _ = pending.answer.send((reply.answer, now));
        Ok(())
    }

    async fn note(&mut self, note: Note, now: Nanos) -> Result<(), String> {
        match note {
            Note::Renewing { number, target } => {
                self.needs_grant(&target)?;
                let word = if self.shared.gate.renewals_may_pass(1) {
                    self.rounds.announced(number, target).await?;
                    Spoken::Go { go: number }
                } else {
                    self.rounds.left_out(number)?;
                    Spoken::Skip { skip: number }
                };
                // The writer ends only with the conversation.
                let _ = self.outbox.send(line(&word)).await;
            }
            Note::Renewed { number, outcome } => {
                let lost = self.rounds.answered(number, outcome, now).await?;
                if let Some(target) = lost {
                    let (key, mode) = place(&target);
                    let noticed = None;
                    self.shared.state().lost.push(Loss { key, mode, noticed });
                }
            }
            Note::Lost(target) => {
                self.needs_grant(&target)?;
                let (key, mode) = place(&target);
                // It was told between its last line and this one: the earlier, the better for it.
                let noticed = Some(self.heard);
                self.count_note()?;
                self.shared.state().lost.push(Loss { key, mode, noticed });
            }
            Note::Routed(route) => {
                self.count_note()?;
                self.trail.routed(route).await;
            }
            Note::Queued { key } => {
                self.count_note()?;
                let mut state = self.shared.state();
                let waits = |pending: &Pending| match &pending.call {
                    Call::Acquire(target) => target.key == key,
                    call => matches!(call, Call::Await { key: awaited, .. } if *awaited == key),
                };
                if !state.pending.values().any(waits) {
                    return Err("it does not ask for this lock".to_owned());
                }
                state.queued.insert(key);
            }
        }
        Ok(())
    }

    fn needs_grant(&self, target: &Target) -> Result<(), String> {
        if self.shared.state().granted.contains(&place(target)) {
            Ok(())
        } else {
            Err("it was never granted this lock".to_owned())
        }
    }

    fn count_note(&self) -> Result<(), String> {
        let mut state = self.shared.state();
        state.notes += 1;
        if state.notes > NOTES_MAX {
            return Err(format!("more than {NOTES_MAX} notes between two answers"));
        }
        Ok(())
    }
}

/// Hands messages over until the conversation ends. A program that does not read is found out by
/// the limit on its answer.
async fn write_all(mut input: ChildStdin, mut inbox: mpsc::Receiver<String>) {
    while let Some(message) = inbox.recv().await {
        // Where it has closed its input, whoever waits for an answer learns it from its output, or
        // by the limit.
        let _ = input.write_all(message.as_bytes()).await;
    }
}

fn place(target: &Target) -> (Name, Mode) {
    (target.key.as_str().into(), target.mode)
}

/// The beginning of a line, with nothing in it that could play tricks on a terminal.
fn quote(line: &[u8]) -> String {
    let shown = &line[..line.len().min(QUOTED_MAX)];
    let text = String::from_utf8_lossy(shown);
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    let more = if shown.len() < line.len() { " ..." } else { "" };
    format!("'{text}'{more}")
}
