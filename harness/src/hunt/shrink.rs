//! Shrinking: from a plan or a script that broke something to the shortest script that does so
//! every time.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use lockstorm_checker::{Property, Verdict};
use lockstorm_reports::{Answer, RunRecord};
use lockstorm_scenarios::{Case, Promise, Scenario, Step, expand, load_str, to_toml};
use tokio::task::JoinSet;

use super::fault::Fault;
use super::plan::Plan;
use super::search::Quarry;
use super::trial::{Ran, all_observed, case_of, try_case};
use crate::run::{RunError, RunSettings};
use crate::seed::Seed;

/// Runs in which a shorter script has to break it to be taken; where what is left then does not do
/// so each time, more are asked for.
const TAKEN_AFTER: [usize; 2] = [2, RUNS];
/// Runs by which a hunt confirms what it found.
pub const RUNS: usize = 5;
/// Lengths of the parts of a script that are left out together, longest first: a fault at a point
/// is three or four steps.
const PARTS: [usize; 4] = [4, 3, 2, 1];

/// Aim of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// A promise, by a violation or an answer.
    Promise(Promise),
    /// A property, whatever the lock promises.
    Property(Property),
}

impl Aim {
    const fn name(self) -> &'static str {
        match self {
            Self::Promise(promise) => promise.name(),
            Self::Property(property) => property.name(),
        }
    }

    /// Tells whether a run broke it, and all that was to go wrong did: what breaks without that is
    /// no work of the plan.
    pub fn is_met_by(self, record: &RunRecord) -> bool {
        all_observed(record) && self.is_broken_in(record)
    }

    fn is_broken_in(self, record: &RunRecord) -> bool {
        match self {
            Self::Promise(promise) => {
                let outcomes = record.outcomes();
                let mut broken = outcomes.iter().filter(|one| one.seen == Answer::Broken);
                broken.any(|outcome| outcome.promise == promise)
            }
            Self::Property(property) => {
                let judged = record.analysis.properties.get(&property);
                judged.is_some_and(|judgement| judgement.verdict == Verdict::Violated)
            }
        }
    }
}

/// A script that breaks what it is to break.
pub struct Shrunk {
    /// The case, ready to be run.
    pub case: Case,
    /// Steps of the script.
    pub steps: usize,
    /// How often it broke it again, out of so many runs.
    pub times: usize,
    /// Those runs.
    pub runs: usize,
}

impl Shrunk {
    /// Tells whether it breaks it 19 times of 20, or every time in fewer runs.
    pub const fn is_reliable(&self) -> bool {
        20 * self.times >= 19 * self.runs
    }
}

/// Shortens scripts.
pub struct Shrinker<'a> {
    /// Aim of the scripts.
    pub aim: Aim,
    /// Settings of the runs.
    pub settings: &'a RunSettings,
    /// Folder for the runs.
    pub folder: &'a Path,
    /// Runs at once.
    pub at_once: usize,
    /// Time for looking for shorter scripts.
    pub within: Duration,
    /// Runs of what is left in the end.
    pub runs: usize,
    /// Chance of the runs.
    pub seed: Seed,
}

impl Shrinker<'_> {
    /// Leaves out the faults of a plan that are not needed, and puts plainer ones in the place of
    /// others.
    ///
    /// # Errors
    /// When no servers can be had.
    pub async fn plainest(&self, plan: &Plan, quarry: &Quarry) -> Result<Plan, RunError> {
        let fewest = self.with_fewer_faults(plan, quarry).await?;
        self.with_plainer_faults(fewest, quarry).await
    }

    /// Shortens a script, and runs what is left several times on fresh servers. What was left out
    /// by luck is put back: the shortest script is kept that breaks it each time, if one does.
    /// `None` if it was interrupted.
    ///
    /// # Errors
    /// When no servers can be had.
    pub async fn shorten(&self, script: Scenario) -> Result<Option<Shrunk>, RunError> {
        let mut best = self.tried(&script).await?;
        // What never does so again was broken by chance.
        if best.as_ref().is_none_or(|whole| whole.times == 0) {
            return Ok(best);
        }
        for needed in TAKEN_AFTER {
            let shorter = self.cut(script.clone(), needed).await?;
            let all = if needed == RUNS { shorter.len() } else { 1 };
            for shorter in shorter.iter().rev().take(all) {
                let Some(shrunk) = self.tried(shorter).await? else {
                    return Ok(best);
                };
                let is_reliable = shrunk.is_reliable();
                if is_reliable || best.as_ref().is_none_or(|best| best.times < shrunk.times) {
                    best = Some(shrunk);
                }
                if is_reliable {
                    return Ok(best);
                }
            }
        }
        Ok(best)
    }

    /// Runs a script several times on fresh servers. `None` if it was interrupted, or makes no
    /// sense.
    async fn tried(&self, script: &Scenario) -> Result<Option<Shrunk>, RunError> {
        let times = self.breaks(script, self.runs).await?;
        let case = case(script).filter(|_| !self.is_interrupted());
        Ok(case.map(|case| Shrunk {
            case,
            steps: script.step.len(),
            times,
            runs: self.runs,
        }))
    }

    /// Leaves out one part after the other, as long as what is left breaks it each time, until none
    /// can be left out; gives the scripts on the way, the shortest last.
    async fn cut(&self, script: Scenario, needed: usize) -> Result<Vec<Scenario>, RunError> {
        let until = Instant::now() + self.within;
        let mut all = vec![script];
        loop {
            let before = all.len();
            for length in PARTS {
                self.cut_parts(length, needed, until, &mut all).await?;
            }
            if all.len() == before || Instant::now() >= until || self.is_interrupted() {
                return Ok(all);
            }
        }
    }

    /// Leaves out parts of one length, and adds what is left each time to `all`. Several parts are
    /// tried at once: the last of the script that can be spared is left out, and those before it
    /// are tried again without it. What goes wrong stays: without it, a script could break
    /// something by what its clients do, and would tell of faults that it does not have.
    async fn cut_parts(
        &self,
        length: usize,
        needed: usize,
        until: Instant,
        all: &mut Vec<Scenario>,
    ) -> Result<(), RunError> {
        let at_once = (self.at_once / needed).max(1);
        let mut shortest = all.last().expect("there is the whole script").clone();
        let mut end = shortest.step.len();
        while end >= length && Instant::now() < until && !self.is_interrupted() {
            let spared = |end: &usize| can_be_spared(&shortest.step[end - length..*end]);
            let ends = (length..=end).rev().filter(spared).take(at_once);
            let ends: Vec<usize> = ends.collect();
            if ends.is_empty() {
                break;
            }
            let tried = ends
                .iter()
                .map(|end| without(&shortest, end - length..*end));
            let tried: Vec<Scenario> = tried.collect();
            let runs = tried.iter().map(|shorter| self.breaks(shorter, needed));
            let times = try_join_all(runs).await?;
            let spared = times.iter().position(|times| *times == needed);
            if let Some(at) = spared {
                shortest.clone_from(&tried[at]);
                all.push(shortest.clone());
            }
            let last = ends[spared.unwrap_or(ends.len() - 1)];
            end = (last - 1).min(shortest.step.len());
        }
        Ok(())
    }

    async fn with_fewer_faults(&self, plan: &Plan, quarry: &Quarry) -> Result<Plan, RunError> {
        let mut fewest = plan.clone();
        for placement in &plan.placements {
            let mut fewer = fewest.clone();
            fewer.placements.retain(|one| one != placement);
            if !fewer.placements.is_empty() && self.is_broken_by(&fewer, quarry).await? {
                fewest = fewer;
            }
        }
        Ok(fewest)
    }

    /// Puts another client's request in the place of what happens to a client or a server while a
    /// message is held, where that is enough.
    async fn with_plainer_faults(&self, plan: Plan, quarry: &Quarry) -> Result<Plan, RunError> {
        let mut plainest = plan;
        for n in 0..plainest.placements.len() {
            let fault = plainest.placements[n].fault;
            if !fault.is_held() || !fault.lets_another_ask() || fault == Fault::Interleave {
                continue;
            }
            let mut plainer = plainest.clone();
            plainer.placements[n].fault = Fault::Interleave;
            if self.is_broken_by(&plainer, quarry).await? {
                plainest = plainer;
            }
        }
        Ok(plainest)
    }

    async fn is_broken_by(&self, plan: &Plan, quarry: &Quarry) -> Result<bool, RunError> {
        let Some(Ok(case)) = case_of(plan, &quarry.lock, &quarry.terms) else {
            return Ok(false);
        };
        Ok(self.breaks(&case.to_scenario(), RUNS).await? == RUNS)
    }

    /// In how many of so many runs a script breaks it; none if it makes no sense.
    ///
    /// # Errors
    /// When no servers can be had.
    pub async fn breaks(&self, script: &Scenario, runs: usize) -> Result<usize, RunError> {
        let Some(case) = case(script) else {
            return Ok(0);
        };
        let steps = script.step.len();
        self.settings.progress.say(&format!(
            "shortening what breaks {}: {runs} runs of a script of {steps} steps",
            self.aim.name()
        ));
        let mut going = JoinSet::new();
        let mut times = 0;
        for n in 0..runs {
            if going.len() >= self.at_once {
                times += usize::from(self.next(&mut going).await?);
            }
            let (case, settings) = (case.clone(), self.settings.clone());
            let folder = self.folder.to_owned();
            let seed = self.seed.child(&format!("{n}"));
            going.spawn(async move { try_case(case, seed, &folder, &settings).await });
        }
        while !going.is_empty() {
            times += usize::from(self.next(&mut going).await?);
        }
        Ok(times)
    }

    async fn next(&self, going: &mut JoinSet<Result<Ran, RunError>>) -> Result<bool, RunError> {
        let joined = going.join_next().await;
        match joined.map(|ended| ended.expect("a run does not panic")) {
            Some(Ok(ran)) => Ok(self.aim.is_met_by(&ran.record)),
            // One that had no servers says nothing.
            Some(Err(error)) if error.is_of_one_run() => Ok(false),
            Some(Err(error)) => Err(error),
            None => Ok(false),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.settings.interrupt.is_cancelled()
    }
}

/// Tells whether a script does without these steps: nothing goes wrong in them, and they wait for
/// nothing but for what they began. A script that waits no more for what it depends on does it by
/// luck.
fn can_be_spared(steps: &[Step]) -> bool {
    (0..steps.len()).all(|at| match &steps[at] {
        Step::Fault(_) | Step::Cancel(_) => false,
        Step::Await(wait) => wait.answer_to.as_ref().is_some_and(|client| {
            let mut before = steps[..at].iter();
            before.any(|step| is_under_way(step, client))
        }),
        _ => true,
    })
}

/// Tells whether a step begins an operation of `client`, and does not wait for its answer.
fn is_under_way(step: &Step, client: &str) -> bool {
    let (under_way, of) = match step {
        Step::Acquire(acquire) => (acquire.under_way, &acquire.client),
        Step::Renew(renew) => (renew.under_way, &renew.client),
        Step::Release(release) => (release.under_way, &release.client),
        _ => return false,
    };
    under_way && of == client
}

/// The script without these steps.
fn without(script: &Scenario, steps: Range<usize>) -> Scenario {
    let mut shorter = script.clone();
    shorter.step.drain(steps);
    shorter
}

/// The case of a script that names its lock and its servers; `None` if it makes no sense.
fn case(script: &Scenario) -> Option<Case> {
    let loaded = load_str(&to_toml(script), "hunt.toml", &[]).ok()?;
    expand(&loaded).ok()?.cases.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::{Step, can_be_spared};

    fn steps(text: &str) -> Vec<Step> {
        let text =
            format!("name = \"x\"\ntopology.single = {{}}\nlock.token = {{}}\nstep = [{text}]");
        let loaded = lockstorm_scenarios::load_str(&text, "x.toml", &[]);
        loaded
            .unwrap_or_else(|mistakes| panic!("{mistakes}"))
            .scenario
            .step
    }

    #[test]
    fn a_wait_is_left_out_only_with_what_it_waits_for() {
        let all = steps(
            "{ acquire = { client = \"a\", under-way = true } },
             { await = { answer-to = \"a\" } },
             { acquire = { client = \"b\" } }",
        );
        assert!(can_be_spared(&all[..2]));
        assert!(!can_be_spared(&all[1..]));
        assert!(can_be_spared(&all[2..]));
    }
}
