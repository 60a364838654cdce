//! A client's side of a lock that lives in a process: each call is a request, and its outcome what
//! the answer says.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lockstorm_checker::Nanos;
use lockstorm_checker::history::{Event, Name};
use tokio::time::{Instant, sleep_until};

use super::bound::BoundBy;
use super::directory::Directory;
use super::log::keep_log;
use super::loss::Loss;
use super::message::{Answer, Call, Can, Open, Opened, PROTOCOL, Reason, SPOKEN, Target};
use super::rounds::Rounds;
use super::talk::{Complaints, Mute, Talk, TalkParts};
use crate::carried::remedy_for;
use crate::connection::{CANCELLED, Gate, Guide, Route, Trail};
use crate::locks::{
    BatchRenewal, Grant, Lock, LockRequest, Outcome, Provenance, Released, WaitEnd, Waiting,
};
use crate::output::readable;
use crate::process::{ClientProcess, Page};
use crate::recorder::{EventSink, Processes};

/// Time that a program may take to start, until it has answered `hello` and `open`: an interpreter
/// on a busy machine, many of them at once.
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// Time that an answer may take beyond what the request says, where neither the scenario nor the
/// program says it: far above the time that a library gives a server, unless it tries again and
/// again.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// Settings from which a remote lock is made.
pub struct RemoteSettings<'p> {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Page that puts its clock wrong, where that is to be done.
    pub page: Option<&'p Page>,
    /// File that gets what it writes to standard error.
    pub log: PathBuf,
    /// Client that it is to be.
    pub open: Open,
    /// Route that clients take to the servers.
    pub route: Arc<Route>,
    /// Where it finds them.
    pub directory: Directory,
    /// The client's gate.
    pub gate: Arc<Gate>,
    /// Sink that records its renewals.
    pub sink: EventSink,
    /// Trail that records which servers it turns to, and its failure.
    pub trail: Arc<dyn Trail>,
    /// The processes of its renewals.
    pub processes: Processes,
    /// Hears what is wrong with it.
    pub complaints: Complaints,
}

/// Reason why a program cannot be a client.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It cannot be started.
    #[error("cannot start '{program}': {source}; {}", remedy_for(program))]
    Program {
        /// Its name.
        program: String,
        /// Error that the system gave.
        source: io::Error,
    },
    /// Its log cannot be written.
    #[error("cannot write '{path}': {source}; is the disk full?")]
    Log {
        /// Path of the file.
        path: String,
        /// Error that the system gave.
        source: io::Error,
    },
    /// It speaks another version.
    #[error(
        "it answered hello with version {theirs} of the adapter protocol, which must be {} to {}",
        SPOKEN.start(), SPOKEN.end()
    )]
    Version {
        /// The version that it answered.
        theirs: u32,
    },
    /// It cannot be this client of this lock.
    #[error("it cannot do what the scenario asks for: {0}")]
    Unable(String),
    /// Its clock is not in our hands.
    #[error(
        "it did not load the shim that faults its clock: it may be linked statically, or made for \
         another C library"
    )]
    NoShim,
    /// It gave no answer that makes sense.
    #[error("{0}")]
    Talk(String),
}

/// One client's side of the lock, and its process.
pub struct Remote {
    talk: Talk,
    name: String,
    opened: Opened,
    /// Time that an answer may take beyond what the request says.
    answers_within: Duration,
    route: Arc<Route>,
    directory: Directory,
    version: u64,
    /// Time at which the last answer came, until somebody asks for it.
    answered: Option<Nanos>,
    /// The key that was granted last, and by what the servers know its holder.
    marks: (String, Vec<String>),
    /// The servers that it named at the last grant.
    givers: Vec<String>,
    /// The one server that there is, where there is one.
    only_server: Option<Name>,
}

impl Remote {
    /// Starts the program and makes it the client; gives its process too, for whoever stops it.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(
        settings: RemoteSettings<'_>,
    ) -> Result<(Self, Arc<ClientProcess>), StartError> {
        let RemoteSettings { open, route, .. } = settings;
        let file = File::create(&settings.log).map_err(|source| StartError::Log {
            path: settings.log.display().to_string(),
            source,
        })?;
        let (program, pipes) =
            ClientProcess::start(&settings.command, settings.page).map_err(|source| {
                StartError::Program {
                    program: settings.command.first().cloned().unwrap_or_default(),
                    source,
                }
            })?;
        let program = Arc::new(program);
        let tail = keep_log(pipes.errors, file);
        let version = route.version();
        let rounds = Rounds::new(
            open.client.as_str().into(),
            open.lease_ms,
            settings.sink.clone(),
            settings.processes,
        );
        let talk = Talk::begin(TalkParts {
            program: program.clone(),
            input: pipes.input,
            output: pipes.output,
            gate: settings.gate,
            clock: settings.sink.clock(),
            rounds,
            trail: settings.trail,
            tail,
            complaints: settings.complaints,
        });
        let only_server = match open.nodes.as_slice() {
            [one] => Some(one.name.as_str().into()),
            _ => None,
        };
        let said = open.lock.answers_within();
        let (name, opened) = introduce(&talk, open).await?;
        let own = opened.answers_within_ms.map(Duration::from_millis);
        let (answers_within, bound_by) = match (said, own) {
            (Some(said), _) => (said.0, BoundBy::Scenario),
            (None, Some(own)) => (own, BoundBy::Library),
            (None, None) => (ANSWERS_WITHIN, BoundBy::Nobody),
        };
        talk.keep_to_bound_of(bound_by);
        let is_shimmed = || program.pid().is_some_and(Page::is_loaded_by);
        if settings.page.is_some() && !is_shimmed() {
            return Err(StartError::NoShim);
        }
        let remote = Self {
            talk,
            name,
            opened,
            answers_within,
            route,
            directory: settings.directory,
            version,
            answered: None,
            marks: (String::new(), Vec::new()),
            givers: Vec::new(),
            only_server,
        };
        Ok((remote, program))
    }

    /// Returns the name that the program gives itself, with its version.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells whether the program can do this.
    pub fn can(&self, what: Can) -> bool {
        self.opened.can.contains(&what)
    }

    /// Returns the key at which servers keep a lock, with `{key}` in the place of its name, where
    /// it is another than the name.
    pub fn server_key(&self) -> Option<&str> {
        self.opened.server_key.as_deref()
    }

    /// Asks for `call`, which may take `takes` of itself; `read` says what an answer means to it.
    async fn ask<T>(
        &mut self,
        call: Call,
        takes: Duration,
        read: impl FnOnce(&Answer) -> Option<Outcome<T>>,
    ) -> Outcome<T> {
        if let Err(mute) = self.follow().await {
            return mute.into();
        }
        let word = call.word();
        let about_lock = matches!(call, Call::Acquire(_) | Call::Renew(_) | Call::Release(_));
        match self.talk.ask(call, takes + self.answers_within).await {
            Err(mute) => mute.into(),
            Ok((answer, time)) => {
                self.answered = Some(time);
                let failed = match &answer {
                    Answer::Error { text } => Some(Outcome::Unknown(text.clone())),
                    Answer::Failed { text } => Some(Outcome::Failed(text.clone())),
                    Answer::Cancelled => Some(Outcome::Unknown(CANCELLED.to_owned())),
                    Answer::Unsupported { text } => {
                        if about_lock {
                            self.talk.unable(word, text);
                        }
                        Some(Outcome::Failed(format!("unsupported: {text}")))
                    }
                    fitting => read(fitting),
                };
                failed.unwrap_or_else(|| self.talk.misfit(word, &answer).into())
            }
        }
    }

    /// Tells the program where writes go now, if that has changed.
    async fn follow(&mut self) -> Result<(), Mute> {
        let version = self.route.version();
        // Where clients find out by themselves, they may not be told.
        if version != self.version && matches!(self.route.guide(), Guide::Told) {
            let servers = self.directory.servers(&self.route);
            let call = Call::Servers { servers };
            // Who cannot follow goes on as it is.
            self.talk.ask(call, self.answers_within).await?;
            self.version = version;
        }
        Ok(())
    }
}

/// Says hello, and who the program is to be; gives what it calls itself, and what it says.
async fn introduce(talk: &Talk, open: Open) -> Result<(String, Opened), StartError> {
    let hello = Call::Hello { protocol: PROTOCOL };
    let name = match answer(talk, hello).await? {
        Answer::Hello {
            protocol,
            name,
            version,
        } if SPOKEN.contains(&protocol) => format!("{name} {version}").trim_end().to_owned(),
        Answer::Hello { protocol, .. } => return Err(StartError::Version { theirs: protocol }),
        odd => return Err(talk.misfit("hello", &odd).into()),
    };
    match answer(talk, Call::Open(Box::new(open))).await? {
        Answer::Opened(opened) => Ok((name, opened)),
        Answer::Unsupported { text } | Answer::Failed { text } | Answer::Error { text } => {
            Err(StartError::Unable(text))
        }
        odd => Err(talk.misfit("open", &odd).into()),
    }
}

async fn answer(talk: &Talk, call: Call) -> Result<Answer, StartError> {
    let (answer, _) = talk.ask(call, STARTS_WITHIN).await?;
    Ok(answer)
}

impl From<Mute> for StartError {
    fn from(mute: Mute) -> Self {
        Self::Talk(mute.to_string())
    }
}

impl<T> From<Mute> for Outcome<T> {
    fn from(mute: Mute) -> Self {
        match mute {
            Mute::Killed => Self::Killed,
            Mute::Gone(why) => Self::Unknown(why),
        }
    }
}

fn target(key: &str, ask: LockRequest) -> Target {
    Target {
        key: key.to_owned(),
        mode: ask.mode,
        permits: ask.permits,
        wait_ms: ask.wait.map(|wait| wait.as_millis() as u64),
    }
}

impl Lock for Remote {
    async fn acquire(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        let waits = self.can(Can::Wait);
        let takes = ask.wait.filter(|_| waits).unwrap_or_default();
        let call = Call::Acquire(target(key, ask));
        let (mut known_by, mut givers) = (Vec::new(), Vec::new());
        let read = |answer: &Answer| {
            if let Answer::Granted {
                lease_ms,
                token,
                until,
                waited_ms,
                marks,
                by,
            } = answer
            {
                known_by.clone_from(marks);
                givers.clone_from(by);
                return Some(Outcome::Done(Grant {
                    lease: lease_ms.map(Duration::from_millis),
                    is_of_session: until.is_some(),
                    token: *token,
                    waited: Duration::from_millis(waited_ms.unwrap_or_default()),
                }));
            }
            if let Answer::Refused {
                reason: Some(Reason::Unknown),
            } = answer
            {
                return Some(Outcome::Unknown(Event::REFUSED.to_owned()));
            }
            denied(answer, &Answer::REFUSED)
        };
        let outcome = self.ask(call, takes, read).await;
        // What a program says of its marks explains, and nothing rests on it.
        let known_by = known_by.iter().filter_map(|mark| mark.bytes().ok());
        let known_by = known_by.map(|mark| readable(&mark)).collect();
        self.marks = (key.to_owned(), known_by);
        self.givers = givers;
        outcome
    }

    async fn renew(&mut self, key: &str, ask: LockRequest) -> Outcome<Grant> {
        let call = Call::Renew(target(key, ask));
        self.ask(call, Duration::ZERO, |answer| {
            if let Answer::Renewed { lease_ms } = answer {
                return Some(Outcome::Done(Grant {
                    lease: lease_ms.map(Duration::from_millis),
                    ..Grant::default()
                }));
            }
            denied(answer, &Answer::NotOwner)
        })
        .await
    }

    async fn release(&mut self, key: &str, ask: LockRequest) -> Outcome<Released> {
        let call = Call::Release(target(key, ask));
        self.ask(call, Duration::ZERO, |answer| {
            if let Answer::Released { count, ownership } = answer {
                return Some(Outcome::Done(Released {
                    count: *count,
                    is_ownership_open: ownership.is_some(),
                }));
            }
            denied(answer, &Answer::NotOwner)
        })
        .await
    }
}

impl BatchRenewal for Remote {}

impl Waiting for Remote {
    async fn await_turn(&mut self, key: &str, pause: Duration, deadline: Instant) {
        if !self.can(Can::Await) {
            sleep_until(deadline.min(Instant::now() + pause)).await;
            return;
        }
        let within = deadline.saturating_duration_since(Instant::now());
        let call = Call::Await {
            key: key.to_owned(),
            pause_us: pause.as_micros() as u64,
            within_us: within.as_micros() as u64,
        };
        // Whatever came of it, the next try shows.
        self.ask(call, within, done).await;
        self.answered = None;
    }

    fn has_queue(&self) -> bool {
        self.can(Can::Queue)
    }

    fn queued(&mut self, key: &str) -> bool {
        self.talk.queued(key)
    }

    async fn end_wait(&mut self, key: &str, end: WaitEnd) {
        if self.can(Can::Await) {
            let call = Call::EndWait {
                key: key.to_owned(),
                granted: end == WaitEnd::Granted,
                cancelled: end == WaitEnd::Cancelled,
            };
            self.ask(call, Duration::ZERO, done).await;
            self.answered = None;
        }
    }

    fn waits(&self) -> bool {
        self.can(Can::Wait)
    }
}

impl Provenance for Remote {
    fn granted_by(&self) -> Vec<Name> {
        let named = self.givers.iter().map(|node| node.as_str().into());
        // Where there is one server, nobody else can have done it.
        named
            .chain(self.only_server.clone().filter(|_| self.givers.is_empty()))
            .collect()
    }

    fn marks(&self, key: &str) -> Vec<String> {
        let (granted, marks) = &self.marks;
        if granted == key {
            marks.clone()
        } else {
            Vec::new()
        }
    }
}

impl Remote {
    /// Asks whether the client is there to change what `key` guards: done if so.
    pub async fn touch(&mut self, key: &str) -> Outcome<()> {
        let call = Call::Touch {
            key: key.to_owned(),
        };
        let outcome = self.ask(call, Duration::ZERO, done).await;
        self.answered = None;
        outcome
    }

    /// Asks whether the client goes on as the holder of `key`; denied means that it was told
    /// otherwise.
    pub async fn alive(&mut self, key: &str, ask: LockRequest) -> Outcome<()> {
        let call = Call::Alive(target(key, ask));
        let outcome = self
            .ask(call, Duration::ZERO, |answer| match answer {
                Answer::Held => Some(Outcome::Done(())),
                Answer::Suspended => Some(Outcome::Unknown("suspended".to_owned())),
                other => denied(other, &Answer::NotOwner),
            })
            .await;
        self.answered = None;
        outcome
    }

    /// Returns the time at which the last outcome was known, where that was before now; once.
    pub fn answered(&mut self) -> Option<Nanos> {
        self.answered.take()
    }

    /// Returns the locks that the client was told, without asking, that it has lost; each once.
    pub fn lost(&mut self) -> Vec<Loss> {
        self.talk.lost()
    }
}

/// Reads an answer that can only be the denial.
fn denied<T>(answer: &Answer, denial: &Answer) -> Option<Outcome<T>> {
    (answer == denial).then_some(Outcome::Denied)
}

/// Reads an answer that has nothing to tell.
fn done(answer: &Answer) -> Option<Outcome<()>> {
    matches!(answer, Answer::Done).then_some(Outcome::Done(()))
}
