//! Servers that a situation hits: any number of them, put in the place of one word.
//!
//! For: situations that are the same but for the number of servers, so that locks on unlike servers
//! can be compared by how many have to fail. Not for: choosing servers at random, as storms do.

use crate::model::{FaultSpec, Scenario, Step, Topology};

/// The word of a script for the servers that it hits.
pub(crate) const HIT: &str = "hit";
/// Place of their number in the words of a situation.
const NUMBER: &str = "{hits}";

/// Returns the scenario with the first `number` servers of the topology in the place of `hit`, and
/// for each of its steps the number of the one that it is from.
///
/// # Errors
/// In words, where there are not so many.
pub(crate) fn with_hits(
    scenario: &Scenario,
    number: u32,
    topology: &Topology,
) -> Result<(Scenario, Vec<usize>), String> {
    let nodes = plain_nodes(topology);
    let wanted = number as usize;
    if nodes.len() < wanted {
        let kind = topology.kind().name();
        return Err(format!(
            "the topology {kind} has fewer than {number} servers"
        ));
    }
    let hit = &nodes[..wanted];
    let mut scenario = scenario.clone();
    let steps = std::mem::take(&mut scenario.step).into_iter().enumerate();
    let spread =
        steps.flat_map(|(n, step)| spread(step, hit).into_iter().map(move |step| (step, n)));
    let (steps, sources) = spread.unzip();
    scenario.step = steps;
    scenario.description = numbered(&scenario.description, Some(number));
    if let Some(hazard) = &mut scenario.hazard {
        *hazard = numbered(hazard, Some(number));
    }
    if let Some(situation) = &mut scenario.situation {
        if 2 * wanted < nodes.len() {
            situation.of_a_minority();
        }
        situation.tests_of_minority.clear();
    }
    Ok((scenario, sources))
}

/// Returns words of a situation with the number of servers that it hits, where it hits some.
pub fn numbered(words: &str, hits: Option<u32>) -> String {
    match hits {
        Some(number) => words.replace(NUMBER, &number.to_string()),
        None => words.to_owned(),
    }
}

/// Returns words of a situation with all the numbers of servers that it hits: `1, 2 or 3`.
pub fn numbered_by_all(words: &str, hits: &[u32]) -> String {
    let hits: Vec<String> = hits.iter().map(u32::to_string).collect();
    match hits.split_last() {
        None => words.to_owned(),
        Some((only, [])) => words.replace(NUMBER, only),
        Some((last, others)) => {
            let all = format!("{} or {last}", others.join(", "));
            words.replace(NUMBER, &all)
        }
    }
}

/// The servers that keep locks and are no stand-in of a master, in order.
fn plain_nodes(topology: &Topology) -> Vec<String> {
    let nodes = topology.nodes().into_iter();
    let is_plain = |node: &String| !node.starts_with("sentinel-") && !node.contains("-replica-");
    nodes.filter(is_plain).collect()
}

/// Returns the step as it is where only the first server is hit.
pub(crate) fn with_one_hit(step: &Step, topology: &Topology) -> Step {
    let first = plain_nodes(topology).into_iter().take(1);
    let mut steps = spread(step.clone(), &first.collect::<Vec<_>>());
    steps.pop().unwrap_or_else(|| step.clone())
}

/// The step once for each server that is hit, where it names them.
fn spread(step: Step, hit: &[String]) -> Vec<Step> {
    if !names_hit(&step) {
        return vec![step];
    }
    let on = |node: &String| {
        let mut step = step.clone();
        for name in names_mut(&mut step) {
            if name == HIT {
                name.clone_from(node);
            }
        }
        step
    };
    hit.iter().map(on).collect()
}

/// Tells whether a step is about the servers that are hit.
pub(crate) fn names_hit(step: &Step) -> bool {
    match step {
        Step::Fault(fault) => fault_names_hit(fault),
        Step::Heal(heal) => {
            let named = [&heal.node, &heal.from, &heal.to];
            named.into_iter().flatten().any(|name| name == HIT)
        }
        Step::Acquire(_)
        | Step::Renew(_)
        | Step::Release(_)
        | Step::Cancel(_)
        | Step::Work(_)
        | Step::FindOrders(_)
        | Step::CloseOrders(_)
        | Step::Await(_) => false,
    }
}

fn fault_names_hit(fault: &FaultSpec) -> bool {
    fault.names().iter().any(|named| named.name == HIT)
}

fn names_mut(step: &mut Step) -> Vec<&mut String> {
    match step {
        Step::Fault(fault) => fault.names_mut(),
        Step::Heal(heal) => {
            let named = [&mut heal.node, &mut heal.from, &mut heal.to];
            named.into_iter().flatten().collect()
        }
        Step::Acquire(_)
        | Step::Renew(_)
        | Step::Release(_)
        | Step::Cancel(_)
        | Step::Work(_)
        | Step::FindOrders(_)
        | Step::CloseOrders(_)
        | Step::Await(_) => Vec::new(),
    }
}
