//! Takes calls and returns in order of time, and keeps what is possible.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::antichain::Antichain;
use super::bits::Bits;
use super::configuration::Configuration;
use super::pending::Pending;
use crate::budget::{Budget, Exhausted};
use crate::call::{Call, CallId};
use crate::model::{Model, Precondition};
use crate::reason::Reason;
use crate::time::Time;

/// Reasons told of one impossible return: the first configurations stand for the others.
const REASONS_MAX: usize = 3;

/// Reason why a search ended before the history did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No configuration allows the call to return.
    Impossible {
        /// The call.
        due: CallId,
        /// Calls taken up to then: the failing prefix.
        taken: u32,
        /// Reasons why the call cannot return, in the configurations that were left.
        reasons: Vec<Reason>,
    },
    /// The budget is used up.
    Exhausted(Exhausted),
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}

/// The possible configurations after the calls so far.
pub struct Frontier<'a, M: Model> {
    model: &'a M,
    budget: Budget,
    pending: Pending,
    /// Times at which calls return, each with the call and its slot.
    returns: BinaryHeap<Reverse<(Time, CallId, u32)>>,
    configurations: Vec<Configuration<M::State>>,
    /// Still to be expanded, and those in which the due call has taken effect.
    open: Antichain<M::State>,
    settled: Antichain<M::State>,
    /// In which configurations the call at hand has taken effect; kept for its memory.
    is_done: Vec<bool>,
    taken: u32,
    decided: u64,
    /// Steps so far: returns, expansions, the configurations that they lead to, and comparisons of
    /// two.
    steps: u64,
}

impl<'a, M: Model> Frontier<'a, M> {
    /// Starts a search before the first call.
    pub fn new(model: &'a M, budget: Budget) -> Self {
        let first = Configuration {
            done: Bits::default(),
            state: model.initial(),
        };
        Self {
            model,
            budget,
            pending: Pending::default(),
            returns: BinaryHeap::new(),
            configurations: vec![first],
            open: Antichain::default(),
            settled: Antichain::default(),
            is_done: Vec::new(),
            taken: 0,
            decided: 0,
            steps: 0,
        }
    }

    /// Returns the number of steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the number of calls decided so far: those that return, and have taken effect in
    /// every configuration.
    pub fn decided(&self) -> u64 {
        self.decided
    }

    /// Takes the next call, in order of invocation.
    ///
    /// # Errors
    /// When a call that returned before cannot have done so, or the budget is used up.
    pub fn take(&mut self, call: &Call) -> Result<(), Stop> {
        // What returns at the very instant of the invocation is concurrent with the call.
        while let Some(&Reverse((returned, id, slot))) = self.returns.peek()
            && returned < call.invoked
        {
            self.returns.pop();
            self.settle(id, slot as usize)?;
        }
        let id = CallId(self.taken);
        self.taken += 1;
        self.admit(id, call);
        Ok(())
    }

    /// Lets all calls return that do.
    ///
    /// # Errors
    /// As for [`Self::take`].
    pub fn finish(&mut self) -> Result<(), Stop> {
        while let Some(Reverse((_, id, slot))) = self.returns.pop() {
            self.settle(id, slot as usize)?;
        }
        Ok(())
    }

    /// A call begins. In a configuration that an observation leaves as it is, it takes effect at
    /// once; where that is so in all of them, it is over.
    fn admit(&mut self, id: CallId, call: &Call) {
        let after = call.after.and_then(|after| self.pending.find(after));
        let idle = |configuration: &Configuration<M::State>| {
            let waits = after.is_some_and(|after| !configuration.done.contains(after as usize));
            !waits
                && call.is_observation()
                && self
                    .model
                    .step(&configuration.state, call)
                    .is_ok_and(|state| state == configuration.state)
        };
        if !call.is_required() {
            let preconditions = self.model.preconditions(call);
            self.pending.add(*call, id, after, preconditions);
            return;
        }
        let mut is_done = std::mem::take(&mut self.is_done);
        is_done.clear();
        is_done.extend(self.configurations.iter().map(idle));
        if is_done.iter().all(|&is_done| is_done) {
            self.decided += 1;
            self.is_done = is_done;
            return;
        }
        let slot = self
            .pending
            .add(*call, id, after, self.model.preconditions(call));
        for (configuration, is_done) in self.configurations.iter_mut().zip(&is_done) {
            if *is_done {
                configuration.done.insert(slot);
            }
        }
        self.is_done = is_done;
        self.returns.push(Reverse((call.returned, id, slot as u32)));
    }

    /// A call returns: in every configuration it must have taken effect by now.
    fn settle(&mut self, id: CallId, due: usize) -> Result<(), Stop> {
        let Some(slot) = self.pending.slot(due).filter(|slot| slot.id == id) else {
            // It was over before it returned.
            return Ok(());
        };
        let call = slot.call;
        self.count_a_step()?;
        let has_it = |configuration: &Configuration<M::State>| configuration.done.contains(due);
        if !self.configurations.iter().all(has_it) {
            self.expand(due)?;
        }
        if self.configurations.is_empty() {
            return Err(self.impossible(id, &call));
        }
        self.retire();
        Ok(())
    }

    /// Lets pending calls take effect, one after the other, until the due one has.
    fn expand(&mut self, due: usize) -> Result<(), Stop> {
        self.open.clear();
        self.settled.clear();
        let mut configurations = std::mem::take(&mut self.configurations);
        for configuration in configurations.drain(..) {
            let chain = if configuration.done.contains(due) {
                &mut self.settled
            } else {
                &mut self.open
            };
            chain.insert(configuration, &self.pending.required);
        }
        let mut at = 0;
        while at < self.open.len() {
            if let Some(configuration) = self.open.get(at).cloned() {
                self.advance(&configuration, due);
                self.look_at_the_size(configuration.done.heap_bytes())?;
                self.count_a_step()?;
            }
            at += 1;
        }
        configurations.extend(self.settled.drain());
        self.configurations = configurations;
        Ok(())
    }

    /// Every configuration that one more call leads to.
    fn advance(&mut self, from: &Configuration<M::State>, due: usize) {
        let candidates = self.candidates(from);
        for at in candidates.iter() {
            let Some(slot) = self.pending.slot(at) else {
                continue;
            };
            let Ok(state) = self.model.step(&from.state, &slot.call) else {
                continue;
            };
            if state == from.state && !slot.call.is_required() {
                continue;
            }
            let mut done = from.done.clone();
            done.insert(at);
            let mut next = Configuration { done, state };
            let is_stuck = self.let_idle_calls_take_effect(&mut next);
            if next.done.contains(due) {
                self.settled.insert(next, &self.pending.required);
            } else if !is_stuck {
                self.open.insert(next, &self.pending.required);
            }
        }
    }

    /// The first reduction. Tells whether no other call can take effect any more.
    fn let_idle_calls_take_effect(&self, configuration: &mut Configuration<M::State>) -> bool {
        loop {
            let mut candidates = self.candidates(configuration);
            let mut is_again = false;
            let mut idle = Bits::default();
            for at in candidates.iter() {
                let Some(slot) = self.pending.slot(at) else {
                    continue;
                };
                let is_idle = slot.call.is_required()
                    && slot.call.is_observation()
                    && self
                        .model
                        .step(&configuration.state, &slot.call)
                        .is_ok_and(|state| state == configuration.state);
                if is_idle {
                    idle.insert(at);
                    is_again |= self.pending.is_awaited(at);
                }
            }
            configuration.done.add_all(&idle);
            candidates.remove_all(&idle);
            if !is_again {
                return candidates.is_empty();
            }
        }
    }

    /// The calls that may take effect next.
    fn candidates(&self, configuration: &Configuration<M::State>) -> Bits {
        let mut found = Bits::default();
        self.pending.collect(Precondition::Any, &mut found);
        self.model.visit_met(&configuration.state, &mut |met| {
            self.pending.collect(met, &mut found);
        });
        found.remove_all(&configuration.done);
        self.pending.drop_waiting(&mut found, &configuration.done);
        found
    }

    /// Frees the slots of the calls that have taken effect in every configuration.
    fn retire(&mut self) {
        let Some((first, rest)) = self.configurations.split_first() else {
            return;
        };
        let mut common = first.done.clone();
        common.keep_all(&self.pending.required);
        for configuration in rest {
            common.keep_all(&configuration.done);
        }
        for configuration in &mut self.configurations {
            configuration.done.remove_all(&common);
        }
        for at in common.iter() {
            self.pending.remove(at);
            self.decided += 1;
        }
        self.forget_past_leases();
    }

    /// Frees the slots of leases whose hold is gone: nothing brings it back, and they end nothing.
    fn forget_past_leases(&mut self) {
        for at in self.pending.fading().iter() {
            let Some(slot) = self.pending.slot(at) else {
                continue;
            };
            let is_past = self.configurations.iter().all(|configuration| {
                configuration.done.contains(at)
                    || self
                        .model
                        .step(&configuration.state, &slot.call)
                        .is_ok_and(|state| state == configuration.state)
            });
            if is_past {
                for configuration in &mut self.configurations {
                    configuration.done.remove(at);
                }
                self.pending.remove(at);
            }
        }
    }

    /// The end: why the call cannot have returned in any configuration that was left.
    fn impossible(&self, due: CallId, call: &Call) -> Stop {
        let mut reasons = Vec::new();
        for at in 0..self.open.len() {
            if let Some(configuration) = self.open.get(at)
                && let Err(reason) = self.model.step(&configuration.state, call)
                && !reasons.contains(&reason)
            {
                reasons.push(reason);
            }
            if reasons.len() == REASONS_MAX {
                break;
            }
        }
        Stop::Impossible {
            due,
            taken: self.taken,
            reasons,
        }
    }

    fn count_a_step(&mut self) -> Result<(), Exhausted> {
        self.steps += 1 + self.open.take_work() + self.settled.take_work();
        self.budget.check_steps(self.steps)
    }

    fn look_at_the_size(&self, heap_bytes: usize) -> Result<(), Exhausted> {
        let configurations = self.open.len() + self.settled.len();
        let each = Antichain::<M::State>::ENTRY_BYTES + heap_bytes;
        self.budget
            .check_size(configurations, configurations * each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Datum, Reply, Request};
    use crate::call::{OpId, OwnerId};
    use crate::models::Register;

    const PLENTY: Budget = Budget {
        steps: u64::MAX,
        configurations: 1000,
        bytes: 1 << 20,
    };

    fn call(span: (u64, u64), request: Request) -> Call {
        Call {
            op: OpId(0),
            owner: OwnerId(0),
            invoked: Time(span.0),
            returned: Time(span.1),
            after: None,
            request,
            reply: Reply::Done,
        }
    }

    fn search(calls: &[Call], budget: Budget) -> (Result<(), Stop>, u64) {
        let mut frontier = Frontier::new(&Register, budget);
        let taken = calls.iter().try_for_each(|call| frontier.take(call));
        (taken.and_then(|()| frontier.finish()), frontier.decided())
    }

    const NEVER: u64 = u64::MAX;

    #[test]
    fn the_failing_prefix_ends_with_the_first_impossible_return() {
        let (one, two) = (Datum(1), Datum(2));
        let calls = [
            call((0, 10), Request::Write(one)),
            call((5, 20), Request::Write(two)),
            call((30, 40), Request::Read(one)),
            call((35, 50), Request::Read(two)),
            call((60, 70), Request::Read(one)),
        ];
        let (stop, decided) = search(&calls, PLENTY);
        let impossible = Stop::Impossible {
            due: CallId(3),
            taken: 4,
            reasons: vec![Reason::Value(one)],
        };
        assert_eq!((stop, decided), (Err(impossible), 3));
        let (stop, decided) = search(&calls[..3], PLENTY);
        assert_eq!((stop, decided), (Ok(()), 3));
    }

    #[test]
    fn an_optional_call_explains_one_read_and_no_more() {
        let mut calls: Vec<Call> = (0..40)
            .map(|n| call((0, NEVER), Request::Write(Datum(n + 1))))
            .collect();
        calls.extend((0..40).map(|n| {
            let at = 10 + 10 * u64::from(n);
            call((at, at + 5), Request::Read(Datum(40 - n)))
        }));
        assert_eq!(
            search(&calls, PLENTY),
            (Ok(()), 40),
            "each explains one read"
        );
        calls.push(call((9000, 9001), Request::Read(Datum(40))));
        let stop = search(&calls, PLENTY).0;
        assert!(
            matches!(stop, Err(Stop::Impossible { .. })),
            "it was used up: {stop:?}"
        );
    }

    #[test]
    fn a_search_that_grows_too_wide_or_too_large_stops_and_says_so() {
        let mut calls: Vec<Call> = (0..12)
            .map(|n| call((n, 100 + n), Request::Write(Datum(n as u32 + 1))))
            .collect();
        calls.push(call((20, 90), Request::Read(Datum(7))));
        let narrow = Budget {
            configurations: 10,
            ..PLENTY
        };
        let stop = search(&calls, narrow).0;
        assert_eq!(stop, Err(Stop::Exhausted(Exhausted::Configurations(10))));
        let short = Budget {
            steps: 100,
            ..PLENTY
        };
        let stop = search(&calls, short).0;
        assert_eq!(stop, Err(Stop::Exhausted(Exhausted::Steps(100))));
        let small = Budget {
            bytes: 100,
            ..PLENTY
        };
        let stop = search(&calls, small).0;
        assert_eq!(stop, Err(Stop::Exhausted(Exhausted::Bytes(100))));
    }
}
