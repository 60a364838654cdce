//! The clients of a run as the nemesis sees them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, RwLock};

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
}

#[derive(Clone, Debug, Default)]
struct Member {
    gate: Arc<Gate>,
    program: Option<Arc<ClientProcess>>,
    /// The clock of its process, where we have hands on it.
    page: Option<Arc<Page>>,
    /// Its library has no watchdog: what is renewed for it, the harness renews.
    has_no_watchdog: bool,
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

    /// A client whose own watchdog renews.
    fn watched(&self, action: &'static str, client: &str) -> Result<Member, FaultError> {
        let member = self.known(client)?;
        if member.has_no_watchdog {
            return Err(FaultError::Client {
                action,
                client: client.to_owned(),
                reason: "its library has no watchdog: the harness renews for it".to_owned(),
            });
        }
        Ok(member)
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
            .ok_or_else(|| FaultError::UnknownClient(client.to_owned()))
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
