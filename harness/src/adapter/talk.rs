//! A conversation with one program: requests and their answers, and what it says unasked.
//!
//! For: seeing to it that nothing that a program says or keeps to itself can hang the run, fill its
//! memory or pass for something that it is not. The first thing that is wrong ends the conversation
//! and the program, and the run says what it was.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{FailureKind, FailureNote, Mode, Name};
use lockstorm_nemesis::ClientState;
use nix::sys::signal::Signal;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::bound::{Bound, BoundBy};
use super::lines::Lines;
use super::log::Tail;
use super::loss::{Loss, Sent, Told};
use super::message::{
    Answer, Call, LINE_MAX, Note, Reply, Request, Said, Spoken, Target, Word, line, read_said,
};
use super::rounds::Rounds;
use crate::clock::RunClock;
use crate::connection::{CLIENT_KILLED, Gate, Killed, Trail};
use crate::process::ClientProcess;

/// Messages to a program that wait for it to read them, at most.
const OUTBOX_MAX: usize = 16;
/// Notes between two answers, renewals aside, at most.
const NOTES_MAX: u32 = 1000;
/// Time that a program whose output has ended may take to end itself.
const ENDS_WITHIN: Duration = Duration::from_millis(500);
/// The word of the request after which it is to end.
const CLOSE: &str = Call::Close.word();
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

/// Reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mute {
    /// The nemesis has killed the client.
    #[error("it was killed")]
    Killed,
    /// The program has ended, or something was wrong with it.
    #[error("{0}")]
    Gone(String),
}

/// State that both ends of a conversation share.
struct Shared {
    program: Arc<ClientProcess>,
    gate: Arc<Gate>,
    clock: RunClock,
    trail: Arc<dyn Trail>,
    tail: Arc<Tail>,
    complaints: Complaints,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Requests that are not answered yet, by number.
    pending: BTreeMap<u64, Pending>,
    /// Requests have numbers up to this one.
    last: u64,
    /// When the last of them were sent.
    sent: Sent,
    /// Notes since the last answer.
    notes: u32,
    /// Locks that were ever granted to the client, each with its mode.
    granted: BTreeSet<(Name, Mode)>,
    /// Losses by the client's own word that nobody has asked for yet.
    lost: Vec<Loss>,
    /// Locks for which it has taken a place in the queue, and nobody has asked for yet.
    queued: BTreeSet<String>,
    /// `true` if it was told to do something that it cannot.
    unable: bool,
    /// `true` if it has said that it is the client that it was asked to be.
    takes_part: bool,
    /// Origin of the bound on the time that an answer may take.
    bound_by: BoundBy,
    /// Reason why the conversation is over, if it is.
    over: Option<String>,
}

struct Pending {
    call: Call,
    answer: oneshot::Sender<(Answer, Nanos)>,
}

/// A request that is about to be sent.
struct Expected {
    id: u64,
    message: String,
    /// Place of its answer.
    answer: oneshot::Receiver<(Answer, Nanos)>,
}

/// Parts from which a conversation is made.
pub(crate) struct TalkParts {
    pub(crate) program: Arc<ClientProcess>,
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    pub(crate) gate: Arc<Gate>,
    pub(crate) clock: RunClock,
    pub(crate) rounds: Rounds,
    pub(crate) trail: Arc<dyn Trail>,
    pub(crate) tail: Arc<Tail>,
    pub(crate) complaints: Complaints,
}

impl Talk {
    /// Begins to listen.
    pub(crate) fn begin(parts: TalkParts) -> Self {
        let shared = Arc::new(Shared {
            program: parts.program,
            gate: parts.gate,
            clock: parts.clock,
            trail: parts.trail,
            tail: parts.tail,
            complaints: parts.complaints,
            state: Mutex::default(),
        });
        let (outbox, inbox) = mpsc::channel(OUTBOX_MAX);
        let listener = Listener {
            shared: shared.clone(),
            outbox: outbox.clone(),
            rounds: parts.rounds,
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
    /// client that is stopped may take as long as it is; one that runs has to answer `within`, or
    /// a little later, see [`Bound`].
    ///
    /// # Errors
    /// See [`Mute`].
    pub(crate) async fn ask(&self, call: Call, within: Duration) -> Result<(Answer, Nanos), Mute> {
        let gate = &self.shared.gate;
        gate.pass().await.map_err(|Killed| self.shared.why())?;
        let bound = Bound::new(within, self.shared.state().bound_by);
        let word = call.word();
        let can_be_cancelled = call.can_be_cancelled();
        let Expected {
            id,
            message,
            mut answer,
        } = self.shared.expect(call)?;
        gate.count_command();
        let exchange = async {
            // The writer ends only with the conversation.
            if self.outbox.send(message).await.is_err() {
                return Err(self.shared.why());
            }
            (&mut answer).await.map_err(|_| self.shared.why())
        };
        tokio::pin!(exchange);
        let mut is_cancelled = !can_be_cancelled;
        loop {
            tokio::select! {
                // An answer that is there counts, though the program has ended since.
                biased;
                answer = &mut exchange => return answer,
                _ = gate.death() => return Err(self.shared.why()),
                () = gate.cancellation(), if !is_cancelled => {
                    is_cancelled = true;
                    let cancel = self.shared.expect(Call::Cancel { request: id })?;
                    // Where it has ended, the answer to the request itself says so.
                    let _ = self.outbox.send(cancel.message).await;
                }
                () = sleep(bound.patience()) => {
                    if gate.state() != ClientState::Paused {
                        self.shared.hang(word, bound).await;
                        return Err(self.shared.why());
                    }
                    gate.pass().await.map_err(|Killed| self.shared.why())?;
                }
            }
        }
    }

    /// Remembers who said how long an answer may take from here on.
    pub(super) fn keep_to_bound_of(&self, who: BoundBy) {
        self.shared.state().bound_by = who;
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

    /// Returns what the client has lost by its own word since this was last asked.
    pub(super) fn lost(&self) -> Vec<Loss> {
        std::mem::take(&mut self.shared.state().lost)
    }

    /// Tells whether the client has taken a place in the queue for `key` since this was last asked.
    pub(super) fn queued(&self, key: &str) -> bool {
        self.shared.state().queued.remove(key)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // Without its standard input the program may end by itself before it is killed, and be
        // heard to: from here on that is expected.
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

    /// A new request, whose answer is awaited from here on.
    fn expect(&self, call: Call) -> Result<Expected, Mute> {
        let mut state = self.state();
        if let Some(why) = &state.over {
            return Err(Mute::Gone(why.clone()));
        }
        state.last += 1;
        let id = state.last;
        state.sent.push(id, self.clock.now());
        let request = Spoken::Request(Request {
            id,
            call: call.clone(),
        });
        let (answer, receiver) = oneshot::channel();
        state.pending.insert(id, Pending { call, answer });
        Ok(Expected {
            id,
            message: line(&request),
            answer: receiver,
        })
    }

    /// Something is wrong with the program: it ends here, and the run says why.
    fn complain(&self, what: &str) {
        if self.is_first(what) {
            (self.complaints)(what);
        }
        self.end();
    }

    /// The program has hung or crashed: it ends here. While it takes part, that is a finding about
    /// its library, and is noted before anybody hears that there will be no answer.
    async fn fail(&self, what: &str, note: FailureNote) {
        let takes_part = self.state().takes_part && note.during.as_deref() != Some(CLOSE);
        if !takes_part {
            return self.complain(&with_last_words(what, &note.last_lines));
        }
        if self.is_first(what) {
            self.trail.failed(note).await;
        }
        self.end();
    }

    /// Tells whether nothing was wrong before; if so, `what` becomes the reason why the
    /// conversation is over.
    fn is_first(&self, what: &str) -> bool {
        let mut state = self.state();
        let is_first = state.over.is_none();
        state.over.get_or_insert_with(|| what.to_owned());
        is_first
    }

    fn end(&self) {
        // Who hears that there will be no answer finds the client dead.
        self.gate.kill();
        self.state().pending.clear();
        self.program.kill();
    }

    async fn hang(&self, word: &str, bound: Bound) {
        let note = bound.note(word, self.last_lines(Duration::ZERO).await);
        self.gate.hang();
        self.fail(&bound.complaint(word), note).await;
    }

    async fn crash(&self, status: ExitStatus) {
        let what = format!("it ended by itself with {status}");
        let during = {
            let state = self.state();
            state.pending.values().next().map(|one| one.call.word())
        };
        let note = FailureNote {
            kind: FailureKind::Crash,
            during: during.map(Into::into),
            bound: None,
            waited: None,
            is_own_bound: false,
            status: Some(status.to_string().into()),
            last_lines: self.last_lines(ENDS_WITHIN).await,
        };
        self.fail(&what, note).await;
    }

    async fn last_lines(&self, within: Duration) -> Vec<Name> {
        let lines = self.tail.lines(within).await;
        lines.into_iter().map(Into::into).collect()
    }

    fn why(&self) -> Mute {
        match &self.state().over {
            Some(why) => Mute::Gone(why.clone()),
            None => Mute::Killed,
        }
    }
}

/// Adds what a program wrote last, where it has ended before it had a part in anything.
fn with_last_words(what: &str, lines: &[Name]) -> String {
    let Some((last, before)) = lines.split_last() else {
        return what.to_owned();
    };
    let is_told = |line: &&Name| line.contains("rror") || line.contains("panic");
    let lines = before.iter().filter(is_told).chain([last]);
    let lines: Vec<&str> = lines.map(|line| &**line).collect();
    format!("{what}; it wrote: {}", lines.join(" | "))
}

/// Hears what a program says.
struct Listener {
    shared: Arc<Shared>,
    outbox: mpsc::Sender<String>,
    rounds: Rounds,
    /// Time at which it last said something.
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
        if self.shared.gate.state() == ClientState::Dead {
            // Killed as it was to be; what it said last may be torn.
            self.shared.end();
        } else {
            self.end_for(trouble).await;
        }
        let why = match self.shared.why() {
            Mute::Killed => CLIENT_KILLED.to_owned(),
            Mute::Gone(why) => why,
        };
        self.rounds.given_up(&why).await;
    }

    /// It says nothing any more: for this trouble, or as it has ended.
    async fn end_for(&self, trouble: Option<String>) {
        let shared = &self.shared;
        if let Some(trouble) = trouble {
            return shared.complain(&trouble);
        }
        match shared.program.ended(ENDS_WITHIN).await {
            Some(_) if shared.gate.state() == ClientState::Dead => shared.end(),
            Some(status) => match status.signal().and_then(from_outside) {
                Some(signal) => shared.complain(&format!("somebody else ended it with {signal}")),
                None => shared.crash(status).await,
            },
            None => shared.complain("it closed its standard output"),
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
        state.takes_part |= matches!(reply.answer, Answer::Opened(_));
        let is_cancel = matches!(pending.call, Call::Cancel { .. });
        if is_cancel && reply.answer != Answer::Done {
            let word = reply.answer.word();
            return Err(format!("it answered 'cancel' with '{word}'"));
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
                // Whether it tells its client, the program says by itself.
                self.rounds.answered(number, outcome, now).await?;
            }
            Note::Lost(word) => self.told(&word, Told::Lost, now)?,
            Note::Suspended(word) => self.told(&word, Told::Suspended, now)?,
            Note::Resumed(word) => self.told(&word, Told::Resumed, now)?,
            Note::Routed(route) => {
                self.count_note()?;
                self.shared.trail.routed(route).await;
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

    /// The library told the client something of a lock that it was granted; read at `now`.
    fn told(&self, word: &Word, told: Told, now: Nanos) -> Result<(), String> {
        self.needs_grant(&word.target)?;
        self.count_note()?;
        let (key, mode) = place(&word.target);
        let mut state = self.shared.state();
        let noticed = Some(state.sent.date(word, self.heard, now)?);
        state.lost.push(Loss {
            key,
            mode,
            told,
            noticed,
        });
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

/// A signal that a program does not send to itself: whoever else did has ended it.
fn from_outside(signal: i32) -> Option<Signal> {
    let signal = Signal::try_from(signal).ok()?;
    let others = [
        Signal::SIGKILL,
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
    ];
    others.contains(&signal).then_some(signal)
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
