//! The clients of a run as the nemesis sees them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use lockstorm_nemesis::{ClientState, Clients, FaultError};
use tokio_util::sync::CancellationToken;

use crate::connection::Gate;
use crate::process::{ClientProcess, Page};

/// Every client of the run by name, each with its gate and, where it is one, its process.
#[derive(Debug, Default)]
pub struct ClientRegistry {
    members: RwLock<BTreeMap<String, Member>>,
    /// Complaints about clients that are processes, in the order in which they were made.
    complaints: Mutex<Vec<String>>,
    /// Cancelled by the first complaint.
    complained: CancellationToken,
    /// Name that the adapter of the clients gives itself.
    adapter: Mutex<Option<String>>,
    /// Key at which servers keep a lock, with [`LOCK`] in the place of its name.
    server_key: OnceLock<String>,
}

/// Place of a lock's name in the key at which servers keep it.
const LOCK: &str = "{key}";

#[derive(Clone, Debug, Default)]
struct Member {
    gate: Arc<Gate>,
    program: Option<Arc<ClientProcess>>,
    /// The clock of its process, where we have hands on it.
    page: Option<Arc<Page>>,
    /// Its library has no watchdog: what is renewed for it, the harness renews.
    has_no_watchdog: bool,
    /// Its library's watchdog cannot be held up.
    has_silent_watchdog: bool,
    /// Its program cannot give up what it has under way.
    cannot_cancel: bool,
}

impl ClientRegistry {
    /// The gate of a client that comes into being now, or came before.
    pub fn register(&self, name: &str) -> Arc<Gate> {
        let mut members = self.members.write().expect("no holder of this lock panics");
        members.entry(name.to_owned()).or_default().gate.clone()
    }

    /// The client is a process: this one, perhaps with hands on its clock.
    pub fn attach_process(&self, name: &str, program: Arc<ClientProcess>, page: Option<Page>) {
        let mut members = self.members.write().expect("no holder of this lock panics");
        let member = members.entry(name.to_owned()).or_default();
        member.program = Some(program);
        member.page = page.map(Arc::new);
    }

    /// The library of this client has no watchdog: the harness renews for it, and a fault of a
    /// watchdog would be one of the harness's own.
    pub fn has_no_watchdog(&self, name: &str) {
        let mut members = self.members.write().expect("no holder of this lock panics");
        members.entry(name.to_owned()).or_default().has_no_watchdog = true;
    }

    /// The watchdog of this client's library renews as it likes, and announces nothing.
    pub fn has_silent_watchdog(&self, name: &str) {
        let mut members = self.members.write().expect("no holder of this lock panics");
        members
            .entry(name.to_owned())
            .or_default()
            .has_silent_watchdog = true;
    }

    /// The program of this client cannot give up what it has under way.
    pub fn cannot_cancel(&self, name: &str) {
        let mut members = self.members.write().expect("no holder of this lock panics");
        members.entry(name.to_owned()).or_default().cannot_cancel = true;
    }

    /// Tells whether this client can give up what it has under way.
    pub fn can_cancel(&self, name: &str) -> bool {
        self.member(name)
            .is_some_and(|member| !member.cannot_cancel)
    }

    /// A client whose own watchdog renews, and can be held up.
    fn watched(&self, action: &'static str, client: &str) -> Result<Member, FaultError> {
        let member = self.known(client)?;
        let reason = if member.has_no_watchdog {
            "its library has no watchdog: the harness renews for it"
        } else if member.has_silent_watchdog {
            "its library's watchdog cannot be held up"
        } else {
            return Ok(member);
        };
        Err(FaultError::Client {
            action,
            client: client.to_owned(),
            reason: reason.to_owned(),
        })
    }

    /// The clock of a client that is a process, where we have hands on it.
    pub fn page(&self, name: &str) -> Option<Arc<Page>> {
        self.member(name)?.page
    }

    /// The clients are an adapter's, which calls itself so.
    pub fn set_adapter(&self, adapter: &str) {
        let mut known = self.adapter.lock().expect("no holder of this lock panics");
        known.get_or_insert_with(|| adapter.to_owned());
    }

    /// Returns the name that the adapter of the clients gives itself, where there is one.
    pub fn adapter(&self) -> Option<String> {
        let known = self.adapter.lock().expect("no holder of this lock panics");
        known.clone()
    }

    /// Servers keep a lock at this key, with `{key}` in the place of its name.
    pub fn set_server_key(&self, template: &str) {
        self.server_key.get_or_init(|| template.to_owned());
    }

    /// Returns the key at which servers keep the lock `key`.
    pub fn server_key(&self, key: &str) -> String {
        let template = self.server_key.get().map_or(LOCK, String::as_str);
        template.replace(LOCK, key)
    }

    /// Something is wrong with a client, other than what the nemesis did to it.
    pub fn complain(&self, what: String) {
        let mut all = self
            .complaints
            .lock()
            .expect("no holder of this lock panics");
        all.push(what);
        self.complained.cancel();
    }

    /// Returns once something is wrong with a client: the rest of the run would test something else
    /// than it says.
    pub async fn complained(&self) {
        self.complained.cancelled().await;
    }

    /// Returns what was wrong with clients, in the order in which it showed. A run with one of
    /// these has tested something else than it says.
    pub fn complaints(&self) -> Vec<String> {
        self.complaints
            .lock()
            .expect("no holder of this lock panics")
            .clone()
    }

    /// Requests of these clients whose replies they waited for, in all; `None` where one is a
    /// process, of which nobody can tell from outside.
    pub fn round_trips(&self, clients: &[String]) -> Option<u64> {
        let known = clients.iter().filter_map(|name| self.member(name));
        known
            .map(|member| member.program.is_none().then(|| member.gate.round_trips()))
            .sum()
    }

    fn member(&self, client: &str) -> Option<Member> {
        self.members
            .read()
            .expect("no holder of this lock panics")
            .get(client)
            .cloned()
    }

    fn known(&self, client: &str) -> Result<Member, FaultError> {
        self.member(client)
            .ok_or_else(|| FaultError::no_client(client))
    }
}

/// A signal that could not be sent.
fn refused(action: &'static str, client: &str) -> impl FnOnce(std::io::Error) -> FaultError {
    move |error| FaultError::Client {
        action,
        client: client.to_owned(),
        reason: error.to_string(),
    }
}

impl Clients for ClientRegistry {
    fn names(&self) -> Vec<String> {
        self.members
            .read()
            .expect("no holder of this lock panics")
            .keys()
            .cloned()
            .collect()
    }

    fn state(&self, client: &str) -> Option<ClientState> {
        self.member(client).map(|member| member.gate.state())
    }

    fn process(&self, client: &str) -> Option<i32> {
        self.member(client)?.program?.pid()
    }

    fn commands(&self, client: &str) -> Option<u64> {
        self.member(client).map(|member| member.gate.commands())
    }

    fn pause(&self, client: &str) -> Result<(), FaultError> {
        let member = self.known(client)?;
        if let Some(program) = &member.program {
            program.stop().map_err(refused("pause", client))?;
        }
        member.gate.pause();
        Ok(())
    }

    fn resume(&self, client: &str) -> Result<(), FaultError> {
        let member = self.known(client)?;
        if let Some(program) = &member.program {
            program.resume().map_err(refused("resume", client))?;
        }
        member.gate.resume();
        Ok(())
    }

    fn stall_watchdog(&self, client: &str, stalled: bool) -> Result<(), FaultError> {
        let member = self.watched("stall the watchdog of", client)?;
        member.gate.stall_watchdog(stalled);
        Ok(())
    }

    fn watchdog_is_stalled(&self, client: &str) -> Option<bool> {
        Some(self.member(client)?.gate.watchdog_is_stalled())
    }

    fn renewals_missed(&self, client: &str) -> Option<u64> {
        Some(self.member(client)?.gate.renewals_missed())
    }

    fn renewals_sent(&self, client: &str) -> Option<u64> {
        Some(self.member(client)?.gate.renewals_sent())
    }

    fn kill_thread(&self, client: &str) -> Result<(), FaultError> {
        let member = self.watched("kill the thread of", client)?;
        member.gate.kill_thread();
        Ok(())
    }

    fn thread_is_dead(&self, client: &str) -> Option<bool> {
        Some(self.member(client)?.gate.thread_is_dead())
    }

    fn kill(&self, client: &str, after_commands: Option<u32>) -> Result<(), FaultError> {
        let Member { gate, program, .. } = self.known(client)?;
        match (program, after_commands) {
            (Some(program), None | Some(0)) => {
                // First the word, so that nobody takes its end for its own doing.
                gate.kill();
                program.kill();
            }
            (Some(_), Some(_)) => {
                return Err(refused("kill", client)(std::io::Error::other(
                    "the commands of a process cannot be counted from outside",
                )));
            }
            (None, None | Some(0)) => gate.kill(),
            (None, Some(replies)) => gate.kill_after(replies),
        }
        Ok(())
    }
}
