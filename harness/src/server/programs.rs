//! Programs of the servers that runs start.

use std::collections::BTreeSet;
use std::path::Path;

use lockstorm_scenarios::{System, Topology};

use super::binary::{Program, find_program};
use super::shape::shape_of;
use crate::environment_error::EnvironmentError;

/// Finds the program of Redis' servers, if any of these topologies starts one: whoever tests a lock
/// of another system needs none. `asked` is the flag or `LOCKSTORM_REDIS_SERVER`.
///
/// # Errors
/// When there is none, or the one that was asked for does not work.
pub fn find_redis_for<'a>(
    topologies: impl IntoIterator<Item = &'a Topology>,
    asked: Option<&Path>,
) -> Result<Program, EnvironmentError> {
    let starts_redis = |topology: &Topology| {
        topology.external().is_none() && topology.kind().system() == System::Redis
    };
    if topologies.into_iter().any(starts_redis) {
        find_program(asked)
    } else {
        Ok(Program::none())
    }
}

/// Names the versions of the servers of these topologies, each once.
///
/// # Errors
/// When the program of one is not there.
pub fn versions_of<'a>(
    topologies: impl IntoIterator<Item = &'a Topology>,
    redis: &Program,
) -> Result<String, EnvironmentError> {
    let programs = topologies
        .into_iter()
        .map(|topology| shape_of(topology).program(redis.clone()));
    let versions = programs.map(|program| program.map(|program| program.version));
    let versions: BTreeSet<String> = versions.collect::<Result<_, _>>()?;
    Ok(versions.into_iter().collect::<Vec<_>>().join(", "))
}
