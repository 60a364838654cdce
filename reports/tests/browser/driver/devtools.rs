//! The `DevTools` protocol over two pipes: JSON texts, each ended by a zero byte.
//!
//! A command has a number, and its answer has the same; all else that arrives is an event of the
//! page whose session it names. Events are kept until somebody asks for them.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Time that an answer or an event may take on a busy machine before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The connection to a browser.
#[derive(Debug)]
pub(super) struct Devtools {
    out: Mutex<ChildStdin>,
    next: AtomicU64,
    inbox: Arc<Inbox>,
}

/// Messages that have arrived and were not taken yet.
#[derive(Debug, Default)]
struct Inbox {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct State {
    answers: BTreeMap<u64, Value>,
    /// By session.
    events: BTreeMap<String, Vec<Value>>,
    closed: bool,
}

impl Devtools {
    pub(super) fn new(out: ChildStdin, back: ChildStdout) -> Self {
        let inbox = Arc::<Inbox>::default();
        let filled = inbox.clone();
        thread::spawn(move || filled.fill(back));
        Self {
            out: Mutex::new(out),
            next: AtomicU64::new(1),
            inbox,
        }
    }

    /// Sends a command and gives its result.
    pub(super) fn command(&self, session: Option<&str>, method: &str, params: &Value) -> Value {
        let number = self
            .tell(session, method, params)
            .unwrap_or_else(|| panic!("{method}: Chromium has ended"));
        let what = || format!("{method} {params}");
        let mut answer = self
            .inbox
            .wait_for(what, |state| state.answers.remove(&number));
        if let Some(error) = answer.get("error") {
            panic!("{method} {params}: {error}");
        }
        answer["result"].take()
    }

    /// Sends a command whose answer nobody waits for; `None` when nobody is there to hear it.
    pub(super) fn tell(&self, session: Option<&str>, method: &str, params: &Value) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": number, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        write!(out, "{message}\0").and_then(|()| out.flush()).ok()?;
        Some(number)
    }

    /// Waits for an event of a page, told by its name and what it must say.
    pub(super) fn event(&self, session: &str, method: &str, says: impl Fn(&Value) -> bool) {
        let what = || format!("the event {method}");
        self.inbox.wait_for(what, |state| {
            let mut events = state.events.get(session)?.iter();
            events.find(|event| event["method"] == method && says(&event["params"]))?;
            Some(())
        });
    }

    /// All events of a page that nobody has taken.
    pub(super) fn events(&self, session: &str) -> Vec<Value> {
        let state = self.inbox.lock();
        state.events.get(session).cloned().unwrap_or_default()
    }

    /// Forgets a page.
    pub(super) fn forget(&self, session: &str) {
        self.inbox.lock().events.remove(session);
    }
}

impl Inbox {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in all that arrives, until the browser is gone.
    fn fill(&self, back: ChildStdout) {
        let mut back = BufReader::new(back);
        let mut text = Vec::new();
        while let Ok(1..) = back.read_until(0, &mut text) {
            if text.last() == Some(&0) {
                text.pop();
            }
            if let Ok(message) = serde_json::from_slice(&text) {
                self.take(message);
            }
            text.clear();
        }
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    fn take(&self, message: Value) {
        let mut state = self.lock();
        if let Some(number) = message["id"].as_u64() {
            state.answers.insert(number, message);
        } else if let Some(session) = message["sessionId"].as_str() {
            let session = session.to_owned();
            state.events.entry(session).or_default().push(message);
        }
        drop(state);
        self.arrived.notify_all();
    }

    /// Waits until `found` finds something; fails the test when it does not in good time.
    fn wait_for<T>(
        &self,
        what: impl Fn() -> String,
        mut found: impl FnMut(&mut State) -> Option<T>,
    ) -> T {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.lock();
        loop {
            if let Some(value) = found(&mut state) {
                return value;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() {
                let why = if state.closed {
                    "Chromium has ended".to_owned()
                } else {
                    format!("nothing came within {PATIENCE:?}")
                };
                drop(state);
                panic!("{}: {why}", what());
            }
            let waited = self.arrived.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
