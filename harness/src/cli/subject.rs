//! A lock that is put to the test, as it is typed: one of ours by its name, or a program.

use std::collections::BTreeSet;

use anyhow::{Context as _, Error};
use lockstorm_scenarios::{Adapter, Lock, Promise, TopologyKind, typed_lock};
use serde_json::json;

use super::ground::GroundArgs;
use crate::adapter::Can;
use crate::clock::wall_clock;
use crate::conformance::introduce;
use crate::folder;
use crate::rerun::quoted;
use crate::seed::Seed;
use crate::server::find_program;
use crate::usage_error::UsageError;

/// A lock, and what is known of it before anything runs.
pub struct Subject {
    /// The lock.
    pub lock: Lock,
    /// Topologies on which it cannot be, each with the reason in its own words.
    pub refused: Vec<(TopologyKind, String)>,
    /// Abilities of its program; `None` for a lock of ours.
    can: Option<BTreeSet<Can>>,
    /// True if its program cannot extend a lease when it is told to.
    pub cannot_renew: bool,
    /// The words by which it was named.
    pub words: String,
}

/// Programs that drive locks, and what is said of them.
pub struct Programs<'a> {
    /// The servers on which each is asked to be.
    pub wanted: &'a [TopologyKind],
    /// Promises beside those that it names itself.
    pub promises: &'a [Promise],
    /// Servers and folder for asking.
    pub ground: &'a GroundArgs,
}

impl Subject {
    /// Reads a lock as it is typed: a name, or a name with options.
    ///
    /// # Errors
    /// When there is no such lock, or no such option of it.
    pub fn built_in(text: &str) -> Result<Self, Error> {
        let lock = typed_lock(text).map_err(UsageError)?;
        Ok(Self {
            lock,
            refused: Vec::new(),
            can: None,
            cannot_renew: false,
            words: quoted(text),
        })
    }

    /// Tells whether it is a program that lacks this ability.
    pub fn lacks(&self, ability: Can) -> bool {
        self.can.as_ref().is_some_and(|can| !can.contains(&ability))
    }

    /// Reads all that were typed.
    ///
    /// # Errors
    /// When there is none, or one of them is not what it should be.
    pub fn all(
        locks: &[String],
        commands: &[String],
        programs: &Programs,
    ) -> Result<Vec<Self>, Error> {
        let mut subjects = Vec::new();
        for text in locks {
            subjects.push(Self::built_in(text)?);
        }
        for command in commands {
            subjects.push(Self::adapter(command, programs)?);
        }
        if subjects.is_empty() {
            let text = "name a lock, as in `lockstorm list locks`, or a program: --adapter COMMAND";
            return Err(UsageError(text.to_owned()).into());
        }
        Ok(subjects)
    }

    /// Asks a program what it is, and on which servers it can be.
    fn adapter(command: &str, programs: &Programs) -> Result<Self, Error> {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let ground = programs.ground;
        if words.is_empty() {
            let text = "--adapter must name a program, such as --adapter \"python3 mine.py\"";
            return Err(UsageError(text.to_owned()).into());
        }
        let program = find_program(ground.redis_server.as_deref())?;
        let folder = folder::create(&ground.out, "adapter", wall_clock(), Seed::fresh())?;
        let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
        let servers = (&program, ground.port);
        let found = runtime.block_on(introduce(&words, programs.wanted, servers, &folder))?;
        let promises = [&found.opened.promises[..], programs.promises].concat();
        let options = json!({
            "name": found.name,
            "command": words,
            "promises": promises,
            "denies": found.opened.denies,
            "expires": !found.is_endless,
        });
        let adapter: Adapter = serde_json::from_value(options)?;
        Ok(Self {
            lock: Lock::Adapter(adapter),
            refused: found.refused,
            can: Some(found.opened.can),
            cannot_renew: found.cannot_renew,
            words: format!("--adapter {}", quoted(command)),
        })
    }
}

/// Reads the name of a promise.
///
/// # Errors
/// In words, the names that there are.
pub fn promise(name: &str) -> Result<Promise, String> {
    let known = Promise::ALL
        .into_iter()
        .find(|promise| promise.name() == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = Promise::ALL.iter().map(|promise| promise.name()).collect();
        format!("must be one of {}", names.join(", "))
    })
}
