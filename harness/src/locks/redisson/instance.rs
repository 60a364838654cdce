//! State that all locks of one Redisson instance share: its name, how it asks, and how it waits.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use lockstorm_checker::history::Name;
use lockstorm_scenarios::{Era, Mutant, Sync};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use redis::{Cmd, Value};
use tokio::time::{Instant, sleep, sleep_until};

use super::names;
use super::shared::SharedInstance;
use crate::connection::{CallError, Dialer, LateReply, Listener, Primary, Reach, Wake, info_field};
use crate::locks::context::{LockContext, random_value};
use crate::locks::mutation::Mutation;
use crate::locks::waiting::WaitEnd;
use crate::seed::draw;

/// Time for which a latch outlives its request: time enough for every repetition of it, (3 s + 1 s)
/// four times in Redisson's default configuration.
pub const LATCH_MS: u64 = 16_000;

/// One client's side of a Redisson instance: a thread of it.
pub struct Instance {
    primary: Primary,
    listener: Listener,
    /// How far it tells of a release.
    reach: Reach,
    id: u128,
    thread: u32,
    holder: String,
    era: Era,
    sync: Sync,
    sync_timeout: Duration,
    /// Time that it waits for a reply, in milliseconds.
    timeout_ms: u64,
    /// Replicas of the primary, or of that of a slot, as far as known.
    replicas: HashMap<Option<u16>, Counted>,
    rng: ChaCha8Rng,
    /// False while it leaves a server that is away alone, and does not try again.
    persists: bool,
    /// True if the last command reached a server that said nothing.
    unanswered: bool,
    /// Answer to the last try; `None` where it had no answer.
    refusal: Option<Refusal>,
    /// Message that woke it, until its next try has an answer.
    woken: Option<Wake>,
    mutation: Mutation,
}

/// A try was refused.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    /// For how long there is no use in asking, unless told otherwise, as far as anybody knows.
    asking_is_vain_for: Option<Duration>,
}

/// Replicas that were counted.
#[derive(Clone, Copy, Debug)]
struct Counted {
    /// Their number.
    replicas: u32,
    /// The primary that was asked.
    place: (SocketAddr, u64),
}

/// A request to give back a lock once.
pub struct Unlock {
    /// The script that does it.
    pub command: Cmd,
    /// Remembers that it was done, in an era that has latches.
    pub latch: Option<String>,
}

/// A reply, and whether as many replicas have what it says as must.
pub struct Synced {
    pub reply: Value,
    pub enough: bool,
}

impl Synced {
    /// The reply, unless too few replicas have what it says: then it was done where it was sent,
    /// and whether it outlives that server, nobody knows.
    pub fn reply_or(self, done: &str) -> Result<Value, CallError> {
        if self.enough {
            Ok(self.reply)
        } else {
            Err(too_few_replicas(done))
        }
    }
}

impl Instance {
    /// A new thread of the instance.
    pub fn new(era: Era, sync: Sync, sync_timeout: Duration, mut context: LockContext) -> Self {
        let shared = context.shared.get::<SharedInstance>();
        let id = shared.id(context.rng.random());
        let thread = shared.next_thread();
        let timeout_ms = context.dialer.reply_timeout.as_millis() as u64;
        let dialer = Dialer {
            batch_timeout: sync_timeout,
            late: if era.uses_last_connection() {
                LateReply::WaitsBehind
            } else {
                LateReply::TakesSpare
            },
            ..context.dialer
        };
        let mut primary = Primary::new(dialer.clone(), context.route).scanning();
        primary.greet();
        let reach = if primary.is_sharded() && era.publishes_to_shards() {
            Reach::Shard
        } else {
            Reach::All
        };
        Self {
            listener: Listener::new(dialer, shared.subscriptions(), reach),
            primary,
            reach,
            id,
            thread,
            holder: format!("{}:{thread}", uuid(id)),
            era,
            sync,
            sync_timeout,
            timeout_ms,
            replicas: HashMap::new(),
            rng: context.rng,
            persists: true,
            unanswered: false,
            refusal: None,
            woken: None,
            mutation: Mutation::NONE,
        }
    }

    /// Returns this instance with the mistake of `mutant`.
    #[must_use]
    pub fn mutated(mut self, mutant: Option<Mutant>) -> Self {
        self.mutation = Mutation::of(mutant);
        if self.mutation.is(Mutant::ThreadIsTheOwner) {
            self.holder = self.thread.to_string();
        }
        if self.mutation.is(Mutant::InstanceIsTheOwner) {
            self.holder = uuid(self.id);
        }
        self
    }

    /// Tells whether the last command reached a server that said nothing.
    pub const fn is_unanswered(&self) -> bool {
        self.unanswered
    }

    /// Opens its connection, as Redisson does when it starts. One that counts replicas once does so
    /// here, as if it had been used before.
    pub async fn connect(&mut self) {
        self.primary.connect().await;
        let counts = self.sync != Sync::Off && self.era.keeps_count_of_replicas();
        if counts && !self.is_sharded() {
            let persists = self.set_persists(false);
            // Otherwise the first request counts them.
            let _ = self.replicas(&info_of_replicas(), 0).await;
            self.set_persists(persists);
        }
    }

    /// The text of a script to send.
    pub fn script<'a>(&'a self, correct: &'a str) -> &'a str {
        self.mutation.script(correct)
    }

    /// A new thread of the newest Redisson, which asks its replicas as it does by default.
    pub fn newest(sync_timeout: Duration, context: LockContext) -> Self {
        let era = Era::default();
        Self::new(era, era.sync(), sync_timeout, context)
    }

    /// `uuid:thread`, by which the server knows who holds.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Which Redisson it behaves like.
    pub const fn era(&self) -> Era {
        self.era
    }

    /// The latch of a new request to give back `key`.
    pub fn latch(&mut self, key: &str) -> Option<String> {
        let request = if self.mutation.is(Mutant::OneLatchForAll) {
            String::new()
        } else {
            random_value(&mut self.rng)
        };
        self.era.has_latch().then(|| names::latch(key, &request))
    }

    /// Sends one command; again while there is no reply, in an era that does so.
    pub async fn call(&mut self, command: &Cmd) -> Result<Value, CallError> {
        self.call_beside(command, command, self.era.sends_again())
            .await
    }

    /// Sends a command to where `beside` would go: for a command that names no key. It is sent
    /// again so often at most, while there is no reply.
    async fn call_beside(
        &mut self,
        command: &Cmd,
        beside: &Cmd,
        again_max: u32,
    ) -> Result<Value, CallError> {
        self.begin();
        let mut already = 0;
        loop {
            let begun = Instant::now();
            let result = self.primary.call_beside(command, beside).await;
            let error = result.as_ref().err();
            if !self.tries_again(already, again_max, begun, error).await {
                return result;
            }
            already += 1;
        }
    }

    /// Sends a request of the watchdog, which leaves a server that is away alone for now. It waits
    /// for its reply on a connection of its own: whatever comes next takes another.
    pub async fn call_of_watchdog(&mut self, command: &Cmd) -> Result<Value, CallError> {
        let persists = self.set_persists(false);
        let result = self.call(command).await;
        self.set_persists(persists);
        self.primary.drop_late();
        result
    }

    /// Tells whether it tries again by itself from here on; gives what was so until now.
    pub const fn set_persists(&mut self, persists: bool) -> bool {
        std::mem::replace(&mut self.persists, persists)
    }

    /// A command is about to be sent for the first time.
    fn begin(&mut self) {
        if self.persists {
            self.primary.drop_closed();
        }
    }

    /// Tells whether to send a command again that was sent at `begun`, and again so often
    /// `already`, and may be sent again so often without a reply; waits until it is time to.
    async fn tries_again(
        &mut self,
        already: u32,
        again_max: u32,
        begun: Instant,
        error: Option<&CallError>,
    ) -> bool {
        let is_unknown = matches!(error, Some(CallError::Unknown(_)));
        self.unanswered = is_unknown && self.primary.was_sent();
        if !is_unknown {
            return self.tries_again_after_refusal(already, error).await;
        }
        if !self.persists {
            return already < again_max;
        }
        let may_again = !self.unanswered || again_max > 0;
        if already == self.era.retry_attempts() || !may_again {
            return false;
        }
        // The pause is one after a silence; the search for a connection is a part of it.
        if self.unanswered {
            sleep(draw(&mut self.rng, self.era.pause_after_silence(already))).await;
        } else {
            sleep_until(begun + self.retry_pause(already)).await;
        }
        true
    }

    /// Variant of [`tries_again`](Self::tries_again) for a command that has a reply.
    async fn tries_again_after_refusal(&mut self, already: u32, error: Option<&CallError>) -> bool {
        let Some(CallError::Failed(text)) = error else {
            return false;
        };
        let mut words = self.era.refusals_tried_again().iter();
        if !self.persists
            || already == self.era.retry_attempts()
            || !words.any(|word| text.starts_with(word))
        {
            return false;
        }
        let pause = self.era.pause_after_refusal(already, self.timeout_ms);
        sleep(draw(&mut self.rng, pause)).await;
        true
    }

    /// Waits as Redisson does before it tries again what it has tried again so often `already`.
    pub async fn pause_before_retry(&mut self, already: u32) {
        sleep(self.retry_pause(already)).await;
    }

    fn retry_pause(&mut self, already: u32) -> Duration {
        draw(&mut self.rng, self.era.retry_pause(already))
    }

    /// Sends two commands in one batch, which is sent again in every era while it has no reply.
    async fn call_both(
        &mut self,
        commands: [&Cmd; 2],
    ) -> Result<[Result<Value, CallError>; 2], CallError> {
        self.begin();
        let mut already = 0;
        loop {
            let begun = Instant::now();
            let results = self.primary.call_both(commands).await;
            let again_max = self.era.retry_attempts();
            let error = match &results {
                Ok(replies) => replies.iter().find_map(|reply| reply.as_ref().err()),
                Err(error) => Some(error),
            };
            if !self.tries_again(already, again_max, begun, error).await {
                return results;
            }
            already += 1;
        }
    }

    /// Sends one command and asks its replicas whether they have it, as the configuration says.
    /// Without replicas there is nothing to ask.
    pub async fn call_synced(&mut self, command: &Cmd) -> Result<Synced, CallError> {
        self.call_synced_at_most(command, self.era.sends_again())
            .await
    }

    /// Sends a command that does no harm if it is repeated, until it has a reply and as many
    /// replicas have it as must: as Redisson does by `syncedEvalWithRetry`.
    pub async fn call_until_synced(&mut self, command: &Cmd) -> Result<Value, CallError> {
        let again_max = self.era.retry_attempts();
        let synced = self.call_until_enough(command, again_max, again_max).await;
        synced?.reply_or("done all the same")
    }

    /// Sends a command again so often at most while too few replicas have it, each time so often
    /// at most as there is no reply.
    async fn call_until_enough(
        &mut self,
        command: &Cmd,
        unanswered_max: u32,
        again_max: u32,
    ) -> Result<Synced, CallError> {
        let mut synced = self.call_synced_at_most(command, unanswered_max).await?;
        for already in 1..=again_max {
            if synced.enough {
                break;
            }
            self.pause_before_retry(already).await;
            synced = self.call_synced_at_most(command, unanswered_max).await?;
        }
        Ok(synced)
    }

    async fn call_synced_at_most(
        &mut self,
        command: &Cmd,
        again_max: u32,
    ) -> Result<Synced, CallError> {
        let replicas = match self.sync {
            Sync::Off => 0,
            Sync::Any | Sync::All => {
                let again_max = self.era.retry_attempts();
                self.replicas(command, again_max).await?
            }
        };
        if replicas == 0 {
            let reply = self.call_beside(command, command, again_max).await?;
            return Ok(Synced {
                reply,
                enough: true,
            });
        }
        let mut wait = redis::cmd("WAIT");
        wait.arg(replicas).arg(self.sync_timeout.as_millis() as u64);
        let [reply, waited] = self.call_both([command, &wait]).await?;
        let reply = reply?;
        let reached = match waited {
            Ok(Value::Int(reached)) => u32::try_from(reached).unwrap_or(0),
            // The command itself took effect: an error of WAIT must not make it undone.
            odd => return Err(CallError::Unknown(format!("WAIT was answered {odd:?}"))),
        };
        if reached != replicas {
            self.replicas.remove(&self.primary.slot_of(command));
        }
        let enough = match self.sync {
            Sync::Any | Sync::All if self.mutation.is(Mutant::SyncNotRead) => true,
            Sync::Off => true,
            Sync::Any => reached > 0,
            Sync::All => reached >= replicas,
        };
        Ok(Synced { reply, enough })
    }

    /// Gives back a lock. While too few replicas know, the same request is sent again: the latch
    /// sees to it that it counts once. In an era without latches it is sent once.
    pub async fn unlock(&mut self, unlock: &Unlock) -> Result<Value, CallError> {
        let attempts = self.era.retry_attempts();
        let again_max = unlock.latch.as_ref().map_or(0, |_| attempts);
        let unanswered_max = self.era.sends_again();
        let unlocked = self.call_until_enough(&unlock.command, unanswered_max, again_max);
        let unlocked = unlocked.await?;
        self.forget(unlock).await?;
        unlocked.reply_or("given back all the same")
    }

    /// Gives back by `unlock`, once, what too few replicas know to be taken.
    pub async fn withdraw(&mut self, unlock: &Unlock) -> Result<(), CallError> {
        self.call_synced(&unlock.command).await?;
        self.forget(unlock).await
    }

    /// Drops the latch of a request that will not be sent again.
    async fn forget(&mut self, unlock: &Unlock) -> Result<(), CallError> {
        let Some(latch) = &unlock.latch else {
            return Ok(());
        };
        let mut command = redis::cmd("DEL");
        command.arg(latch);
        match self.call(&command).await {
            Err(CallError::Killed) => Err(CallError::Killed),
            // It ends by itself.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The server that the last command went to.
    pub fn asked(&self) -> Option<Name> {
        self.primary.asked()
    }

    /// Tells whether its keys are spread over shards.
    pub const fn is_sharded(&self) -> bool {
        self.primary.is_sharded()
    }

    /// How releases are told.
    pub const fn publish(&self) -> &'static str {
        self.reach.publish()
    }

    /// Number of replicas that the primary has: asked once, and again after a surprise.
    async fn replicas(&mut self, of: &Cmd, again_max: u32) -> Result<u32, CallError> {
        let slot = self.primary.slot_of(of);
        if let Some(known) = self.replicas.get(&slot)
            && (self.era.keeps_count_of_replicas() || known.place == self.primary.place_of(of))
        {
            return Ok(known.replicas);
        }
        let count = match self.call_beside(&info_of_replicas(), of, again_max).await? {
            Value::BulkString(text) => {
                info_field(&String::from_utf8_lossy(&text), "connected_slaves")
                    .and_then(|count| count.parse().ok())
            }
            _ => None,
        };
        let counted = Counted {
            replicas: count.unwrap_or(0),
            place: self.primary.place_of(of),
        };
        self.replicas.insert(slot, counted);
        Ok(counted.replicas)
    }

    /// Remembers the time to live of the holder that a refusal told of, in milliseconds; negative
    /// where it has none.
    pub fn refused(&mut self, ttl_ms: i64) {
        self.refusal = Some(Refusal {
            asking_is_vain_for: u64::try_from(ttl_ms).ok().map(Duration::from_millis),
        });
        // Whoever holds the lock tells again when it is free.
        self.acknowledge_wake();
    }

    /// Waits for a message on `channel`, for the time to live of the last refusal at most. A new
    /// subscription returns at once: what was published before it was not heard.
    pub async fn await_message(&mut self, channel: &str, pause: Duration, deadline: Instant) {
        let now = Instant::now();
        // A try without an answer leaves it to the others to follow up what woke this thread.
        self.woken = None;
        let refusal = self.refusal.take();
        let subscribed = self
            .listener
            .subscribe(self.primary.address(channel), channel)
            .await;
        match (subscribed, refusal) {
            (Ok(true), _) => {}
            (Ok(false), Some(refusal)) => {
                let left = deadline.saturating_duration_since(now);
                let vain = refusal.asking_is_vain_for;
                let at_most = vain.map_or(left, |vain| vain.min(left));
                self.woken = self.listener.message(at_most).await;
            }
            // Nothing can be heard, or nothing is known: back to asking again and again.
            (Err(_), _) | (Ok(false), None) => sleep_until(deadline.min(now + pause)).await,
        }
    }

    /// Hears nothing any more. Whoever was woken and gives up without an answer leaves the lock to
    /// the next.
    pub async fn end_wait(&mut self, end: WaitEnd) {
        if end == WaitEnd::Granted {
            self.acknowledge_wake();
        }
        self.woken = None;
        // Only the client's death is told here, and its next command tells it again.
        let _ = self.listener.unsubscribe().await;
    }

    fn acknowledge_wake(&mut self) {
        if let Some(woken) = self.woken.take() {
            woken.acknowledge();
        }
    }
}

/// Reads the reply to an acquire that says nil or how long the holder has left.
pub fn granted(reply: &Value) -> Result<(), i64> {
    match reply {
        Value::Nil => Ok(()),
        Value::Int(ttl) => Err(*ttl),
        _ => Err(-1),
    }
}

/// Asks a server how many replicas it has.
fn info_of_replicas() -> Cmd {
    let mut info = redis::cmd("INFO");
    info.arg("replication");
    info
}

/// `EVAL` of a script with its keys; arguments follow.
pub fn eval(script: &str, keys: &[&str]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(script).arg(keys.len()).arg(keys);
    command
}

/// The error of what too few replicas have, and what became of it.
pub fn too_few_replicas(and: &str) -> CallError {
    CallError::Unknown(format!("too few replicas acknowledged it in time; {and}"))
}

/// 16 bytes as a UUID is written.
fn uuid(id: u128) -> String {
    let hex = format!("{id:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]);
    parts.join("-")
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_identity_is_written_as_a_uuid() {
        let id = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff;
        assert_eq!(super::uuid(id), "00112233-4455-6677-8899-aabbccddeeff");
    }
}
