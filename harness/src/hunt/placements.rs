//! Enumeration: which plans there are of each size, and in which order they are tried.

use std::collections::{BTreeMap, BTreeSet};

use lockstorm_scenarios::Topology;
use rand::seq::SliceRandom as _;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

use super::fault::{Abilities, Fault};
use super::plan::{Base, Placement, Plan};
use super::point::Survey;

/// Plans of one size and behaviour that are looked through at most: of more, some are drawn.
const PLANS_MAX: u128 = 200_000;
/// Plans that are drawn then: more than anybody has the time to try.
const DRAWN: usize = 20_000;

/// The points of the clients' behaviours, and what can be tried there.
pub struct SearchSpace {
    /// For each behaviour that the lock can have, what a run without a fault has shown.
    pub surveys: BTreeMap<Base, Survey>,
    /// The servers.
    pub topology: Topology,
    /// Abilities of the clients.
    pub abilities: Abilities,
}

impl SearchSpace {
    /// Every fault at every point that it fits, in the order of the survey.
    fn placements(&self, base: Base) -> Vec<Placement> {
        let mut placements = Vec::new();
        for point in &self.surveys[&base].points {
            for fault in Fault::ALL {
                if base.tries(fault) && fault.fits(point, &self.topology, self.abilities) {
                    let point = point.clone();
                    placements.push(Placement { point, fault });
                }
            }
        }
        placements
    }

    /// The plans of so many faults, those that differ only in which of equal servers is hit once.
    /// Every family comes once before any comes twice, the plainest first; else the order is drawn.
    pub fn plans(&self, faults: usize, lots: &mut ChaCha8Rng) -> Plans {
        let mut all = 0;
        let mut plans = Vec::new();
        for base in self.surveys.keys() {
            let placements = self.placements(*base);
            let choices = choose(placements.len(), faults);
            if choices <= PLANS_MAX {
                let before = plans.len();
                let mut chosen = Vec::new();
                each_choice(placements.len(), faults, &mut chosen, &mut |chosen| {
                    plans.extend(self.plan(*base, &placements, chosen));
                });
                all += (plans.len() - before) as u128;
            } else {
                all += choices;
                let mut drawn = BTreeSet::new();
                for _ in 0..DRAWN {
                    let mut chosen = sample(lots, placements.len(), faults).into_vec();
                    chosen.sort_unstable();
                    drawn.extend(self.plan(*base, &placements, &chosen));
                }
                plans.extend(drawn);
            }
        }
        plans.shuffle(lots);
        Plans {
            all,
            in_order: families_in_turn(plans),
        }
    }

    /// The plan of these placements, unless they cannot meet, or an equal one stands for it.
    fn plan(&self, base: Base, placements: &[Placement], chosen: &[usize]) -> Option<Plan> {
        let placements: Vec<Placement> = chosen.iter().map(|n| placements[*n].clone()).collect();
        let plan = Plan { base, placements };
        let is_first =
            !self.surveys[&base].is_symmetric || plan.canonical(&self.topology.nodes()) == plan;
        (can_meet(&plan.placements) && is_first).then_some(plan)
    }
}

/// The plans of one size.
pub struct Plans {
    /// How many there are. Where they are too many to be looked through, those are counted too that
    /// cannot be, or differ only in which of equal servers they hit.
    pub all: u128,
    /// Those that are tried while there is time, the first ones first.
    pub in_order: Vec<Plan>,
}

/// Number of ways to choose so many of `of` things.
fn choose(of: usize, some: usize) -> u128 {
    let factor = |n: usize| (of - n) as u128;
    if some > of {
        return 0;
    }
    (0..some).fold(1, |ways, n| ways * factor(n) / (n as u128 + 1))
}

/// Puts every family once before any comes twice, and those of plain faults first: they are what
/// happens most. Of several faults there are far more families than anybody has time for: every
/// choice of faults, wherever they are, comes once before any comes twice. First of all come the
/// families in which one fault prepares the other, for neither can be judged without it.
fn families_in_turn(plans: Vec<Plan>) -> Vec<Plan> {
    let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let rank = |plan: Plan| {
        let times = seen.entry(plan.family()).or_default();
        *times += 1;
        (*times, plan)
    };
    let mut ranked: Vec<(usize, Plan)> = plans.into_iter().map(rank).collect();
    let is_alone = |(_, plan): &(usize, Plan)| plan.placements.len() < 2;
    if !ranked.iter().all(is_alone) {
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut chosen: BTreeMap<Vec<Fault>, usize> = BTreeMap::new();
        for (rank, plan) in &mut ranked {
            if *rank == 1 && plan.is_prepared() {
                *rank = 0;
                continue;
            }
            let times = chosen.entry(plan.faults()).or_default();
            *times += 1;
            *rank = *times;
        }
    }
    ranked.sort_by_key(|(rank, plan)| (*rank, plan.plainness()));
    ranked.into_iter().map(|(_, plan)| plan).collect()
}

/// Calls `take` with every choice of so many of `of` things, in order.
fn each_choice(of: usize, some: usize, chosen: &mut Vec<usize>, take: &mut impl FnMut(&[usize])) {
    if chosen.len() == some {
        take(chosen);
        return;
    }
    let from = chosen.last().map_or(0, |last| last + 1);
    for n in from..of {
        chosen.push(n);
        each_choice(of, some, chosen, take);
        chosen.pop();
    }
}

/// Tells whether these can be one plan: a message has one fate, and an operation is held once.
fn can_meet(placements: &[Placement]) -> bool {
    let points: BTreeSet<_> = placements.iter().map(|one| &one.point).collect();
    let held = placements.iter().filter(|one| one.fault.is_held());
    let held: Vec<_> = held
        .map(|one| (&one.point.client, one.point.operation, one.point.ordinal))
        .collect();
    let operations: BTreeSet<_> = held.iter().collect();
    points.len() == placements.len() && operations.len() == held.len()
}

#[cfg(test)]
mod tests {
    use lockstorm_scenarios::{LockOperation, Message};
    use serde_json::json;

    use super::super::point::Point;
    use super::*;
    use crate::seed::Seed;

    fn space(nodes: u32, is_symmetric: bool) -> SearchSpace {
        let topology = json!({ "independent": { "nodes": nodes } });
        let point = |n: u32| Point {
            client: "a".to_owned(),
            operation: LockOperation::Acquire,
            ordinal: 1,
            nth: 1,
            message: Message::Request,
            command: "SET".to_owned(),
            node: Some(format!("n{n}")),
        };
        let survey = Survey {
            points: (1..=nodes).map(point).collect(),
            is_symmetric,
        };
        SearchSpace {
            surveys: BTreeMap::from([(Base::Patient, survey)]),
            topology: serde_json::from_value(topology).unwrap(),
            abilities: Abilities {
                cancel: false,
                watchdog: false,
            },
        }
    }

    #[test]
    fn equal_servers_are_hit_once() {
        let lots = || Seed(7).stream("plans");
        let one = |is_symmetric| space(3, is_symmetric).plans(1, &mut lots()).in_order.len();
        assert_eq!(one(false), 3 * one(true));
        let faults = one(true);
        let two = space(3, true).plans(2, &mut lots());
        assert_eq!(two.all, two.in_order.len() as u128);
        // Of two servers each takes one of the faults; two that hold the same call cannot be.
        let held = faults - 2;
        assert_eq!(two.in_order.len(), faults * faults - held * held);
    }

    #[test]
    fn a_failover_comes_first_behind_replicas_that_were_cut_off() {
        let mut space = space(1, false);
        space.topology = serde_json::from_value(json!({ "replicated": {} })).unwrap();
        let survey = space.surveys.get_mut(&Base::Patient).unwrap();
        let acquire = &mut survey.points[0];
        acquire.node = Some("primary".to_owned());
        let mut release = acquire.clone();
        release.operation = LockOperation::Release;
        survey.points.push(release);
        let first = |space: &SearchSpace| {
            let plans = space.plans(2, &mut Seed(7).stream("plans")).in_order;
            plans[0].to_string()
        };
        assert_eq!(
            first(&space),
            "replicas cut off: request SET of a's acquire, to primary + failover: request SET of \
             a's release, to primary, with patient clients"
        );
        space.topology = serde_json::from_value(json!({ "single": {} })).unwrap();
        assert!(!first(&space).contains("failover"));
    }

    #[test]
    fn too_many_to_be_looked_through_are_drawn() {
        assert_eq!(choose(5, 2), 10);
        assert_eq!(choose(2, 3), 0);
        let many = space(80, false).plans(3, &mut Seed(7).stream("plans"));
        assert!(many.all > PLANS_MAX);
        // Most of what is drawn would hold one call twice.
        assert!(many.in_order.len() > DRAWN / 20);
    }

    #[test]
    fn every_family_comes_once_before_any_comes_twice() {
        let plans = space(3, false)
            .plans(1, &mut Seed(7).stream("plans"))
            .in_order;
        let faults = plans.len() / 3;
        let first: BTreeSet<Vec<String>> = plans[..faults].iter().map(Plan::family).collect();
        assert_eq!(first.len(), faults);
        let two = space(3, false).plans(2, &mut Seed(7).stream("plans"));
        let two = two.in_order;
        let choices: BTreeSet<Vec<Fault>> = two.iter().map(Plan::faults).collect();
        assert!(!two.iter().any(Plan::is_prepared), "there is no replica");
        let begin = two[..choices.len()].iter().map(Plan::faults);
        assert_eq!(begin.collect::<BTreeSet<_>>(), choices, "each choice first");
        let again = space(3, false).plans(1, &mut Seed(7).stream("plans"));
        assert_eq!(plans, again.in_order, "one seed, one order");
    }
}
