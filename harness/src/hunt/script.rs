//! A plan as a scenario: the script that puts each fault at its point.
//!
//! A fault of a message is armed before the first step. Every other fault waits for its message:
//! the operation is left under way, the message is held, the fault is done and observed, another
//! client asks where that belongs to it, and the message goes on.

use std::collections::{BTreeMap, BTreeSet};

use lockstorm_scenarios::{LockOperation, Promise, Scenario, Topology};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::fault::{Fault, Victim, failover_mode, replica_of};
use super::plan::{Base, Placement, Plan};
use super::point::word;
use super::promises::{inherent, tests};

/// The client at whose messages most goes wrong.
pub const FIRST: &str = "a";
/// The client that waits for the lock.
pub const SECOND: &str = "b";
/// The client that must not get the lock while another has it.
const THIRD: &str = "c";
/// The client that comes last.
const FOURTH: &str = "d";
/// The client that comes in between where others wait in line.
const NEWCOMER: &str = "e";

/// Work in a critical section, in milliseconds: more than a few messages take.
const WORK_MS: u64 = 30;
/// Time for which a script waits for a message, in leases: a watchdog renews within one.
const COMES_WITHIN_LEASES: u32 = 3;

/// Terms that all scripts of a hunt share.
#[derive(Clone, Debug, Serialize)]
pub struct Terms {
    /// The servers.
    pub topology: Topology,
    /// The lease in milliseconds, by which everything else is measured.
    pub lease_ms: u64,
    /// True if clients can extend a lease when they are told to.
    pub renews: bool,
    /// Promises that the lock makes beside those that are known of it, as a user says.
    pub promised: Vec<Promise>,
}

impl Terms {
    fn leases(&self, tenths: u64) -> String {
        format!("{}ms", self.lease_ms * tenths / 10)
    }

    /// Time for which a message is late, and for which others ask meanwhile: longer than a lease.
    fn beyond_lease(&self) -> String {
        self.leases(15)
    }

    fn patience(&self, base: Base) -> String {
        match base {
            Base::Impatient | Base::Renewed => self.leases(5),
            Base::Patient
            | Base::Queue
            | Base::Line
            | Base::Threads
            | Base::Reentrant
            | Base::Readers
            | Base::UnlikeReaders
            | Base::Permits
            | Base::BothPermits => self.leases(100),
        }
    }
}

/// Number of operations of each kind that the script gives each client.
pub type Operations = BTreeMap<(String, LockOperation), u32>;

/// The operations of a script in which nothing goes wrong.
pub fn operations(base: Base, terms: &Terms) -> Operations {
    let plan = Plan {
        base,
        placements: Vec::new(),
    };
    let mut script = Script::new(&plan, terms);
    script.write();
    script.begun
}

/// The scenario of a plan; `None` if some of its faults can never come about, because its client
/// has died by then, or never takes that step.
pub fn scenario(plan: &Plan, terms: &Terms) -> Option<Scenario> {
    let mut script = Script::new(plan, terms);
    script.write();
    if script.struck < plan.placements.len() {
        return None;
    }
    let kind = terms.topology.kind();
    let topology = json!(terms.topology);
    let scenario = json!({
        "name": "hunt",
        "hazard": plan.to_string(),
        "description": describe(plan),
        "situation": {
            "tests": tests(plan, terms),
            "inherent": inherent(plan, terms),
            "lease": terms.leases(10),
            "renewed": plan.base == Base::Renewed,
            "permits": matches!(plan.base, Base::Permits | Base::BothPermits).then_some(2),
            "threads": (plan.base == Base::Threads).then_some(3),
            "topologies": [topology],
        },
        "clients": { "reply-timeout": terms.patience(plan.base) },
        "step": script.steps,
    });
    let scenario = serde_json::from_value(scenario);
    Some(scenario.unwrap_or_else(|error| unreachable!("a plan on {kind:?} servers: {error}")))
}

fn describe(plan: &Plan) -> String {
    let what: Vec<String> = plan.placements.iter().map(Placement::to_string).collect();
    format!(
        "Found by a hunt, with {}: {}.",
        plan.base.words(),
        what.join("; ")
    )
}

/// The steps as they are written down.
struct Script<'a> {
    plan: &'a Plan,
    terms: &'a Terms,
    steps: Vec<Value>,
    /// Clients that have died: the dead take no step.
    dead: BTreeSet<String>,
    /// Clients that have asked for the lock.
    has_asked: BTreeSet<String>,
    /// Clients that have given the lock back before their turn.
    gave_back: BTreeSet<String>,
    /// Clients that have something under way.
    pending: BTreeSet<String>,
    /// Operations of each kind that each client has begun.
    begun: Operations,
    /// Faults of servers that nobody heals before the end.
    lasting: BTreeSet<(String, Fault)>,
    /// Faults that have their place by now.
    struck: usize,
}

impl<'a> Script<'a> {
    const fn new(plan: &'a Plan, terms: &'a Terms) -> Self {
        Self {
            plan,
            terms,
            steps: Vec::new(),
            dead: BTreeSet::new(),
            has_asked: BTreeSet::new(),
            gave_back: BTreeSet::new(),
            pending: BTreeSet::new(),
            begun: BTreeMap::new(),
            lasting: BTreeSet::new(),
            struck: 0,
        }
    }

    fn write(&mut self) {
        match self.plan.base {
            Base::Patient | Base::Impatient | Base::Renewed | Base::Threads => self.take_turns(),
            Base::Queue => self.queue(&[SECOND, THIRD]),
            Base::Line => self.queue(&[SECOND, THIRD, FOURTH]),
            Base::Reentrant => self.re_enter(),
            Base::Readers => self.read(),
            Base::UnlikeReaders => self.read_for_unlike_times(),
            Base::Permits => self.take_permits(),
            Base::BothPermits => self.take_both_permits(),
        }
    }

    /// One client takes the lock and gives it back while another waits for it.
    fn take_turns(&mut self) {
        self.operation(FIRST, LockOperation::Acquire, json!({}));
        if self.plan.base == Base::Renewed {
            self.watchdog();
        } else if self.terms.renews {
            self.operation(FIRST, LockOperation::Renew, json!({}));
        }
        self.work(FIRST);
        self.wait(SECOND);
        self.operation(FIRST, LockOperation::Release, json!({}));
        self.await_answer(SECOND);
        self.acquire(THIRD, json!({}));
        self.work(SECOND);
        self.work(THIRD);
        self.operation(SECOND, LockOperation::Release, json!({}));
        self.operation(THIRD, LockOperation::Release, json!({}));
    }

    /// These clients wait, one behind the other.
    fn queue(&mut self, waiters: &[&str]) {
        self.operation(FIRST, LockOperation::Acquire, json!({}));
        for client in waiters {
            self.wait(client);
            self.work(FIRST);
        }
        self.operation(FIRST, LockOperation::Release, json!({}));
        for client in waiters {
            self.await_answer(client);
            self.work(client);
            self.operation(client, LockOperation::Release, json!({}));
        }
        self.ask(NEWCOMER, LockOperation::Release, json!({}));
    }

    /// A client takes the lock twice, and it is free when it was given back twice.
    fn re_enter(&mut self) {
        self.operation(FIRST, LockOperation::Acquire, json!({}));
        self.operation(FIRST, LockOperation::Acquire, json!({}));
        self.work(FIRST);
        self.operation(FIRST, LockOperation::Release, json!({}));
        self.acquire(SECOND, json!({}));
        self.work(FIRST);
        self.operation(FIRST, LockOperation::Release, json!({}));
        self.operation(SECOND, LockOperation::Release, json!({}));
        self.acquire(THIRD, json!({ "wait": self.terms.leases(30) }));
        self.work(THIRD);
        self.operation(THIRD, LockOperation::Release, json!({}));
    }

    /// Two clients read together, and a third one wants to write.
    fn read(&mut self) {
        let read = || json!({ "mode": "read" });
        self.operation(FIRST, LockOperation::Acquire, read());
        self.operation(SECOND, LockOperation::Acquire, read());
        self.acquire(THIRD, json!({}));
        self.work(FIRST);
        self.operation(FIRST, LockOperation::Release, read());
        self.operation(THIRD, LockOperation::Release, json!({}));
        self.work(SECOND);
        self.operation(SECOND, LockOperation::Release, read());
        self.ask(
            THIRD,
            LockOperation::Acquire,
            json!({ "wait": self.terms.leases(30) }),
        );
        self.ask(FIRST, LockOperation::Acquire, read());
        self.work(THIRD);
        self.operation(THIRD, LockOperation::Release, json!({}));
    }

    /// Three clients read together. One extends its lease and goes on after those of the others are
    /// over, of whom one gives the lock back and one does not, while a fourth one wants to write.
    fn read_for_unlike_times(&mut self) {
        let read = || json!({ "mode": "read" });
        for client in [FIRST, SECOND, THIRD] {
            self.operation(client, LockOperation::Acquire, read());
        }
        self.work_for(FIRST, &self.terms.leases(6));
        self.operation(FIRST, LockOperation::Renew, read());
        self.operation(SECOND, LockOperation::Release, read());
        self.work_for(FIRST, &self.terms.leases(5));
        self.acquire(FOURTH, json!({}));
        self.work(FIRST);
        self.operation(FIRST, LockOperation::Release, read());
        self.operation(THIRD, LockOperation::Release, read());
        self.operation(FOURTH, LockOperation::Release, json!({}));
    }

    /// Of two permits two clients take one each, and a third one wants one.
    fn take_permits(&mut self) {
        self.operation(FIRST, LockOperation::Acquire, json!({}));
        self.operation(SECOND, LockOperation::Acquire, json!({}));
        self.acquire(THIRD, json!({}));
        self.work(FIRST);
        self.work(SECOND);
        self.operation(FIRST, LockOperation::Release, json!({}));
        self.ask(
            THIRD,
            LockOperation::Acquire,
            json!({ "wait": self.terms.leases(30) }),
        );
        self.work(THIRD);
        self.operation(SECOND, LockOperation::Release, json!({}));
        self.operation(THIRD, LockOperation::Release, json!({}));
    }

    /// A client takes both permits and gives both back, and others take one each.
    fn take_both_permits(&mut self) {
        let both = || json!({ "permits": 2 });
        self.operation(FIRST, LockOperation::Acquire, both());
        self.acquire(FOURTH, json!({}));
        self.work(FIRST);
        self.operation(FIRST, LockOperation::Release, both());
        for client in [SECOND, THIRD] {
            let wait = json!({ "wait": self.terms.leases(30) });
            self.operation(client, LockOperation::Acquire, wait);
        }
        self.work(SECOND);
        for client in [SECOND, THIRD, FOURTH] {
            self.operation(client, LockOperation::Release, json!({}));
        }
    }

    /// Has a client wait for the lock, unless it has asked already: with so much patience that what
    /// it leaves behind, should it go, outlasts the bound within which a free lock must be had.
    fn wait(&mut self, client: &str) {
        if !self.has_asked.contains(client) {
            let wait = json!({ "wait": self.terms.leases(200), "under-way": true });
            self.operation(client, LockOperation::Acquire, wait);
        }
    }

    /// An operation of a client, and what goes wrong in it.
    fn operation(&mut self, client: &str, operation: LockOperation, more: Value) {
        let is_done = operation == LockOperation::Release && self.gave_back.contains(client);
        if self.dead.contains(client) || is_done {
            return;
        }
        let goes_on = more.get("under-way").is_some();
        let Some(held) = self.arm(client, operation) else {
            self.ask(client, operation, more);
            return;
        };
        self.ask(client, operation, with(more, json!({ "under-way": true })));
        self.strike(&held);
        if !goes_on {
            self.await_answer(client);
        }
    }

    /// Arms what goes wrong in the operation that comes next. Gives what its message is held for,
    /// if it is.
    fn arm(&mut self, client: &str, operation: LockOperation) -> Option<Placement> {
        let begun = self.begun.get(&(client.to_owned(), operation));
        let ordinal = begun.copied().unwrap_or_default() + 1;
        let plan = self.plan;
        let here = plan.placements.iter().filter(|placement| {
            let point = &placement.point;
            point.client == client && point.operation == operation && point.ordinal == ordinal
        });
        let mut held = None;
        for placement in here {
            let mut parameters = placement.point.parameters();
            match placement.fault {
                Fault::Lose => self.step("lose-message", parameters),
                Fault::Delay => {
                    parameters["by"] = json!(self.terms.beyond_lease());
                    self.step("delay-message", parameters);
                }
                _ => {
                    self.step("hold-message", parameters);
                    held = Some(placement.clone());
                    continue;
                }
            }
            self.struck += 1;
        }
        held
    }

    /// Two leases under a watchdog, and what goes wrong in its renewals.
    fn watchdog(&mut self) {
        if self.dead.contains(FIRST) {
            return;
        }
        if let Some(held) = self.arm(FIRST, LockOperation::Renew) {
            self.strike(&held);
        }
        if !self.dead.contains(FIRST) && !self.gave_back.contains(FIRST) {
            let two = self.terms.leases(20);
            self.step("work", json!({ "client": FIRST, "for": two }));
        }
    }

    /// Waits for the message of a placement, does what is done to it, and lets it go on.
    fn strike(&mut self, placement: &Placement) {
        let (point, fault) = (&placement.point, placement.fault);
        if self.is_broken_already(point.server(), fault) {
            return;
        }
        self.struck += 1;
        let client = point.client.as_str();
        let within = self.terms.leases(10 * u64::from(COMES_WITHIN_LEASES) + 50);
        self.step("await", json!({ "held": client, "within": within }));
        let go_on = json!({ "fault": "hold-message", "client": client });
        match fault {
            Fault::Interleave => {
                self.another(client);
                self.step("heal", go_on);
            }
            Fault::PauseClient => {
                self.step("pause-client", json!({ "client": client }));
                self.another(client);
                self.step("heal", go_on);
                self.step("heal", json!({ "fault": "pause-client", "client": client }));
            }
            Fault::StallWatchdog => {
                self.step("stall-watchdog", json!({ "client": client }));
                self.step("heal", go_on);
                self.another(client);
                self.step(
                    "heal",
                    json!({ "fault": "stall-watchdog", "client": client }),
                );
            }
            Fault::ReleaseFirst => {
                self.ask(client, LockOperation::Release, json!({ "under-way": true }));
                self.gave_back.insert(client.to_owned());
                self.await_answer(client);
                self.step("heal", go_on);
                self.another(client);
            }
            Fault::KillClient => {
                self.step("kill-client", json!({ "client": client }));
                self.dead.insert(client.to_owned());
                self.step("heal", go_on);
                self.another(client);
            }
            Fault::Cancel => {
                self.step("cancel", json!({ "client": client }));
                self.step("heal", go_on);
                self.await_answer(client);
                self.another(client);
            }
            Fault::PauseNode => {
                let node = point.server();
                self.step("pause", json!({ "node": node }));
                self.another(client);
                self.step("heal", json!({ "fault": "pause", "node": node }));
                self.step("heal", go_on);
            }
            Fault::Forget | Fault::ClockJump | Fault::Failover | Fault::CutReplicas => {
                self.break_server(point.server(), fault);
                self.step("heal", go_on);
                if fault.lets_another_ask() {
                    self.another(client);
                }
            }
            Fault::Lose | Fault::Delay => {}
        }
    }

    /// Tells whether this cannot be done to a server any more, because it was done before, or
    /// because another server has taken its place.
    fn is_broken_already(&self, node: &str, fault: Fault) -> bool {
        let lasts = |fault| self.lasting.contains(&(node.to_owned(), fault));
        let is_of_server = matches!(fault.victim(), Victim::Server | Victim::Memory);
        is_of_server && (lasts(fault) || lasts(Fault::Failover))
    }

    fn break_server(&mut self, node: &str, fault: Fault) {
        if fault != Fault::Forget {
            self.lasting.insert((node.to_owned(), fault));
        }
        let on = &self.terms.topology;
        let replica = replica_of(node, on);
        match (fault, replica, failover_mode(on.kind())) {
            (Fault::ClockJump, ..) => {
                let forward = self.terms.leases(20);
                self.step("clock", json!({ "node": node, "forward": forward }));
            }
            (Fault::CutReplicas, Some(replica), _) => {
                self.step("cut", json!({ "from": node, "to": replica }));
            }
            (Fault::Failover, Some(replica), Some(mode)) => {
                self.step("failover", json!({ "node": replica, "mode": mode }));
            }
            (Fault::Failover, Some(replica), None) => {
                self.step("kill", json!({ "node": node }));
                self.step("promote", json!({ "node": replica }));
            }
            _ => self.step("restart", json!({ "node": node, "memory": "lost" })),
        }
    }

    /// Has another client than this one ask for the lock, for longer than a lease: the second one,
    /// or the third where the fault is the second one's; where others wait in line, a newcomer.
    fn another(&mut self, than: &str) {
        let other = match self.plan.base {
            Base::Line => NEWCOMER,
            _ if than == FIRST => SECOND,
            _ => THIRD,
        };
        if self.dead.contains(other) || self.has_asked.contains(other) {
            return;
        }
        let wait = json!({ "wait": self.terms.beyond_lease() });
        self.acquire(other, wait);
    }

    fn acquire(&mut self, client: &str, more: Value) {
        if !self.has_asked.contains(client) {
            self.ask(client, LockOperation::Acquire, more);
        }
    }

    fn ask(&mut self, client: &str, operation: LockOperation, more: Value) {
        if self.dead.contains(client) {
            return;
        }
        if operation == LockOperation::Acquire {
            self.has_asked.insert(client.to_owned());
        } else if !self.has_asked.contains(client) {
            return;
        }
        *self
            .begun
            .entry((client.to_owned(), operation))
            .or_default() += 1;
        if more.get("under-way").is_some() {
            self.pending.insert(client.to_owned());
        }
        let mut parameters = json!({ "client": client });
        // A client that was refused must not free a lock that is stuck.
        if operation == LockOperation::Release && self.plan.base.is_careful() {
            parameters["unless-refused"] = json!(true);
        }
        self.step(word(operation), with(parameters, more));
    }

    /// Waits for the answer to what a client has under way, if it has anything.
    fn await_answer(&mut self, client: &str) {
        if !self.pending.remove(client) || self.dead.contains(client) {
            return;
        }
        let within = self.terms.leases(250);
        self.step("await", json!({ "answer-to": client, "within": within }));
    }

    fn work(&mut self, client: &str) {
        self.work_for(client, &format!("{WORK_MS}ms"));
    }

    fn work_for(&mut self, client: &str, length: &str) {
        if !self.dead.contains(client) && self.has_asked.contains(client) {
            self.step("work", json!({ "client": client, "for": length }));
        }
    }

    fn step(&mut self, kind: &str, parameters: Value) {
        let step = Map::from_iter([(kind.to_owned(), parameters)]);
        self.steps.push(Value::Object(step));
    }
}

/// Both tables in one.
fn with(mut parameters: Value, more: Value) -> Value {
    if let (Some(into), Value::Object(more)) = (parameters.as_object_mut(), more) {
        into.extend(more);
    }
    parameters
}
