//! Splits nodes and clients into sides between which nothing passes, either way.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use lockstorm_checker::history::FaultTarget;
use lockstorm_scenarios::{self as scenarios, CutMode};

use super::links::{Links, Pair, members};
use super::table::Kind;
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Ends, Evidence, Fault, Sighting};
use crate::sides::{Parts, sides};

impl Kind for scenarios::Partition {
    const ENDS: Ends = Ends::Healed;

    fn fault(self) -> Box<dyn Fault> {
        Box::new(Partition {
            links: Links::new(self.mode),
            spec: self,
            parted: Vec::new(),
        })
    }
}

struct Partition {
    spec: scenarios::Partition,
    links: Links<CutMode>,
    /// The sides with the names that they had when it was injected.
    parted: Vec<Vec<String>>,
}

impl Partition {
    /// The sides, with the names that groups stand for.
    async fn sides(&self, on: &dyn Deployment) -> Result<Vec<Vec<String>>, FaultError> {
        if let Some(form) = self.spec.form {
            let parts = Parts {
                nodes: on.nodes(),
                leaders: on.writable().await,
                clients: on.clients().names(),
            };
            return Ok(sides(form, self.spec.clients, &parts));
        }
        let mut all = Vec::new();
        for side in &self.spec.sides {
            let mut named = Vec::new();
            for place in side {
                named.extend(members(on, place).await?);
            }
            all.push(named);
        }
        Ok(all)
    }
}

#[async_trait]
impl Fault for Partition {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        let sides = self.sides(on).await?;
        let apart = apart(&sides);
        if apart.is_empty() {
            return Err(FaultError::Node {
                action: "part",
                node: self.spec.name(),
                reason: "no two of them are on different sides".to_owned(),
            });
        }
        self.links.lay(on, apart).await?;
        self.parted = sides;
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        self.links.observe(on)
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok(self.links.heal(on))
    }

    fn target(&self) -> Option<FaultTarget> {
        let side = |side: &Vec<String>| side.iter().map(|name| name.as_str().into()).collect();
        let sides = self.parted.iter().map(side).collect();
        (!self.parted.is_empty()).then_some(FaultTarget::Sides(sides))
    }
}

/// The pairs of those that no side has both of.
fn apart(sides: &[Vec<String>]) -> Vec<Pair> {
    let mut sides_of: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (number, side) in sides.iter().enumerate() {
        for name in side {
            sides_of.entry(name).or_default().insert(number);
        }
    }
    let mut pairs = Vec::new();
    for (from, left) in &sides_of {
        for (to, right) in &sides_of {
            if from != to && left.is_disjoint(right) {
                pairs.push(((*from).to_owned(), (*to).to_owned()));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(names: &str) -> Vec<String> {
        names.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn who_is_on_two_sides_is_apart_from_nobody() {
        let pairs = apart(&[side("a bridge"), side("bridge b")]);
        let expected = [("a", "b"), ("b", "a")].map(|(x, y)| (x.to_owned(), y.to_owned()));
        assert_eq!(pairs, expected);
    }
}
