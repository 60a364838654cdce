//! The simulation: one event after the other, on a network that delays and loses messages.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lockstorm_checker::history::{FailureKind, History, write_event, write_header};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::mutation::client::{Client, Step};
use crate::mutation::plan::{Defect, Lock, MS, Plan, floor};
use crate::mutation::record::{Note, Op, Record};
use crate::mutation::service::{Answers, Ask, Reply, Request, Service};

/// No run takes more events; one that does has a loop in it.
const EVENTS_MAX: usize = 100_000;
/// Time for which a client waits for an answer.
const PATIENCE: u64 = 60 * MS;
/// Time for which a fair lock lets a client wait before it refuses.
const QUEUE_WAIT: u64 = 40 * MS;
/// A free key can be had so soon in the final phase.
const BOUND: u64 = 400 * MS;

/// Event of the simulation that is due at some time.
enum Happening {
    /// A client takes its next step.
    Wake(usize),
    /// The lease of a session may end.
    Alarm(usize, u32),
    Arrive(Request),
    Answer(usize, Reply),
    Timeout(usize),
    /// A key has something that runs out.
    Expire(usize),
    /// A waiting acquire is to be refused.
    GiveUp(usize),
    /// The services are asked whose tokens they have.
    Look,
    FinalPhase,
}

pub(crate) struct World {
    rng: ChaCha8Rng,
    plan: Plan,
    services: Vec<Service>,
    clients: Vec<Client>,
    /// By operation: which client waits for it.
    waiting: Vec<Option<usize>>,
    record: Record,
    /// By time, then in order of creation.
    agenda: BinaryHeap<Reverse<(u64, usize)>>,
    happenings: Vec<Option<Happening>>,
    /// The operation that was answered after its lease, or in which a client failed.
    late: Option<usize>,
}

/// Remains of a run: its plan, its record, and where its defect struck.
pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) record: Record,
    /// The operation that the defect struck.
    pub(crate) struck: Option<usize>,
}

impl Run {
    /// The history as the lines of a file, for the message of a failure.
    pub(crate) fn lines(&self) -> String {
        lines(&self.record.history(self.plan.lock))
    }
}

/// A history as the lines of a file.
pub(crate) fn lines(history: &History) -> String {
    let mut out = Vec::new();
    write_header(&mut out, &history.header);
    for event in &history.events {
        write_event(&mut out, event);
    }
    String::from_utf8(out).expect("the writer writes UTF-8")
}

pub(crate) fn run(seed: u64, defect: Option<Defect>) -> Run {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let plan = Plan::random(&mut rng, defect);
    let mut world = World {
        services: (0..plan.keys).map(|key| service(&plan, key)).collect(),
        clients: (0..plan.clients).map(Client::new).collect(),
        waiting: Vec::new(),
        record: Record::default(),
        agenda: BinaryHeap::new(),
        happenings: Vec::new(),
        late: None,
        rng,
        plan,
    };
    for client in 0..world.plan.clients {
        let start = world.rng.random_range(0..10 * MS);
        world.plan_at(start, Happening::Wake(client));
    }
    if world.plan.loss == 0.0 {
        world.plan_at(20 * MS, Happening::Look);
    }
    if world.plan.lease.is_some() {
        let calm = world.plan.end + 10 * PATIENCE;
        world.plan_at(calm, Happening::FinalPhase);
    }
    world.go();
    Run {
        struck: world
            .late
            .or(world.services.iter().find_map(|service| service.struck)),
        plan: world.plan,
        record: world.record,
    }
}

/// Only the first key has the defect.
fn service(plan: &Plan, key: usize) -> Service {
    Service::new(plan.lock, plan.defect.filter(|_| key == 0))
}

impl World {
    fn plan_at(&mut self, time: u64, happening: Happening) {
        self.agenda.push(Reverse((time, self.happenings.len())));
        self.happenings.push(Some(happening));
    }

    fn go(&mut self) {
        while let Some(Reverse((now, number))) = self.agenda.pop() {
            assert!(number < EVENTS_MAX, "the simulation runs in a circle");
            let Some(happening) = self.happenings[number].take() else {
                continue;
            };
            match happening {
                Happening::Wake(client) => self.wake(client, now),
                Happening::Alarm(client, session) => self.alarm(client, session, now),
                Happening::Arrive(request) => self.arrive(request, now),
                Happening::Answer(op, Reply::Queued) => self.queued(op, now),
                Happening::Answer(op, reply) => self.answer(op, reply, now),
                Happening::Timeout(op) => self.timeout(op, now),
                Happening::Expire(key) => {
                    let answers = self.services[key].expire(now, &mut self.rng);
                    self.send_back(key, answers, now);
                }
                Happening::GiveUp(op) => {
                    if self.services[self.record.ops[op].key].give_up(op) {
                        self.reply(op, Reply::Refused, now);
                    }
                }
                Happening::Look => self.look(now),
                Happening::FinalPhase => {
                    self.record.final_phase(now, BOUND);
                    for key in 0..self.plan.keys {
                        self.clients
                            .push(Client::last(self.clients.len(), key, now + BOUND));
                        self.plan_at(now + 1, Happening::Wake(self.clients.len() - 1));
                    }
                }
            }
        }
    }

    fn wake(&mut self, client: usize, now: u64) {
        let step = self.clients[client].step(&self.plan, now, &mut self.rng);
        match step {
            Step::Send { key, ask, token } => self.send(client, key, ask, token, now),
            Step::Sleep(time) => self.plan_at(now + time, Happening::Wake(client)),
            Step::Lost(key) => {
                self.lost(client, key, now);
                self.plan_at(now + 1, Happening::Wake(client));
            }
            Step::Stop => {}
        }
    }

    fn lost(&mut self, client: usize, key: usize, now: u64) {
        let (owner, process) = self.clients[client].identity();
        let note = Note {
            key,
            owner,
            time: now,
            queued: None,
        };
        self.record.note(key, process, note);
    }

    fn alarm(&mut self, client: usize, session: u32, now: u64) {
        if let Some(key) = self.clients[client].lets_go(session, now) {
            self.lost(client, key, now);
        }
    }

    fn send(&mut self, client: usize, key: usize, ask: Ask, token: Option<u64>, now: u64) {
        let (owner, process) = self.clients[client].identity();
        let op = self.record.invoke(Op {
            key,
            process,
            owner: owner.clone(),
            ask,
            token,
            inv: now,
            answer: None,
        });
        self.waiting.push(Some(client));
        self.clients[client].sent(ask);
        self.mind(client, now);
        let request = Request {
            op,
            owner,
            ask,
            token,
        };
        if !self.is_lost(client) {
            let late = self.is_lost(client);
            let delay = self.delay()
                + if late {
                    self.rng.random_range(0..2 * PATIENCE)
                } else {
                    0
                };
            self.plan_at(now + delay, Happening::Arrive(request));
        }
        self.plan_at(now + PATIENCE, Happening::Timeout(op));
        let fails = self.fails(Defect::Crash, client);
        if (fails || self.rng.random_bool(self.plan.crash)) && self.clients[client].crash() {
            if fails {
                self.fail(op, FailureKind::Crash, now);
            }
            self.waiting[op] = None;
            let pause = self.rng.random_range(10 * MS..50 * MS);
            self.plan_at(now + pause, Happening::Wake(client));
        }
    }

    fn is_lost(&mut self, client: usize) -> bool {
        !self.clients[client].is_last() && self.rng.random_bool(self.plan.loss)
    }

    /// Now and then none at all, so that times tie.
    fn delay(&mut self) -> u64 {
        if self.rng.random_bool(0.2) {
            return 0;
        }
        self.rng.random_range(0..3 * MS)
    }

    fn arrive(&mut self, request: Request, now: u64) {
        let key = self.record.ops[request.op].key;
        let op = request.op;
        let answers = self.services[key].take(request, now, &mut self.rng);
        if answers.contains(&(op, Reply::Queued)) {
            self.plan_at(now + QUEUE_WAIT, Happening::GiveUp(op));
        }
        self.send_back(key, answers, now);
    }

    fn send_back(&mut self, key: usize, answers: Answers, now: u64) {
        for (op, reply) in answers {
            self.reply(op, reply, now);
        }
        if let Some(end) = self.services[key].next_expiry() {
            self.plan_at(end, Happening::Expire(key));
        }
    }

    fn reply(&mut self, op: usize, reply: Reply, now: u64) {
        let is_lost = match self.waiting[op] {
            Some(client) => self.is_lost(client),
            None => true,
        };
        if !is_lost {
            let delay = self.delay();
            let at = self.too_late(op, &reply).unwrap_or(now + delay);
            self.plan_at(at.max(now), Happening::Answer(op, reply));
        }
    }

    /// When an answer arrives that the defect keeps back until after the lease.
    fn too_late(&mut self, op: usize, reply: &Reply) -> Option<u64> {
        let is_due = self.plan.defect == Some(Defect::LateGrant) && self.late.is_none();
        let asked = &self.record.ops[op];
        let grants = matches!(reply, Reply::Granted { .. });
        let end = floor(asked.inv, asked.lease());
        let still_waits = end.saturating_add(5 * MS) < asked.inv + PATIENCE;
        if !is_due || !grants || !still_waits || !self.rng.random_bool(0.33) {
            return None;
        }
        self.late = Some(op);
        Some(end + self.rng.random_range(MS..4 * MS))
    }

    /// Tells whether a lock that looks at its watch takes the answer for a grant.
    fn is_still_good(&self, op: usize, reply: &Reply, now: u64) -> bool {
        let asked = &self.record.ops[op];
        let is_lease = match (asked.ask, reply) {
            (_, Reply::Granted { .. }) => true,
            (ask, Reply::Done { .. }) => matches!(ask, Ask::Renew { .. }),
            _ => false,
        };
        // In a queue the lease begins with the turn.
        let waits = self.plan.lock == Lock::Fair;
        !is_lease || waits || self.late == Some(op) || now + MS < floor(asked.inv, asked.lease())
    }

    /// Asks the services whose tokens they have, as long as anybody is at work.
    fn look(&mut self, now: u64) {
        for (key, service) in self.services.iter().enumerate() {
            self.record.view(key, now, service.tokens());
        }
        if now < self.plan.end + 20 * PATIENCE {
            let pause = self.rng.random_range(5 * MS..40 * MS);
            self.plan_at(now + pause, Happening::Look);
        }
    }

    fn queued(&mut self, op: usize, now: u64) {
        if let Some(client) = self.waiting[op] {
            let (owner, process) = self.clients[client].identity();
            let key = self.record.ops[op].key;
            let note = Note {
                key,
                owner,
                time: now,
                queued: Some(op),
            };
            self.record.note(key, process, note);
        }
    }

    fn answer(&mut self, op: usize, reply: Reply, now: u64) {
        if !self.is_still_good(op, &reply, now) {
            return;
        }
        let Some(client) = self.waiting[op].take() else {
            return;
        };
        self.record.answer(op, now, reply);
        self.clients[client].learn(&self.record.ops[op]);
        self.mind(client, now);
        let pause = self.pause();
        self.plan_at(now + pause, Happening::Wake(client));
    }

    /// Lets a client let go in time.
    fn mind(&mut self, client: usize, now: u64) {
        if let Some((time, session)) = self.clients[client].lets_go_at(&self.plan) {
            self.plan_at(time.max(now), Happening::Alarm(client, session));
        }
    }

    fn timeout(&mut self, op: usize, now: u64) {
        let Some(client) = self.waiting[op].take() else {
            return;
        };
        if self.fails(Defect::Hang, client) {
            self.fail(op, FailureKind::Hang, now);
        }
        self.record.give_up(op, now);
        self.clients[client].doubt(&self.record.ops[op], &mut self.rng);
        let pause = self.pause();
        self.plan_at(now + pause, Happening::Wake(client));
    }

    /// Tells whether the library of a client is to fail now.
    fn fails(&mut self, defect: Defect, client: usize) -> bool {
        let is_due = self.plan.defect == Some(defect) && self.late.is_none();
        is_due && !self.clients[client].is_last() && self.rng.random_bool(0.2)
    }

    fn fail(&mut self, op: usize, kind: FailureKind, now: u64) {
        self.late = Some(op);
        let bound = (kind == FailureKind::Hang).then_some(PATIENCE);
        self.record.fail(op, (kind, bound), now);
    }

    fn pause(&mut self) -> u64 {
        if self.rng.random_bool(0.2) {
            return 0;
        }
        self.rng.random_range(0..4 * MS)
    }
}
