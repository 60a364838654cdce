//! A lock that is put to the test, as it is typed: one of ours by its name, or a program.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context as _, Error};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lockstorm_scenarios::{Adapter, Lock, Promise, System, Topology, TopologyKind, typed_lock};
use serde_json::json;

use super::common::CommonArgs;
use super::completion;
use super::topologies::{custom_servers, startable_topologies, startable_topology};
use crate::adapter::Can;
use crate::clock::wall_clock;
use crate::conformance::{introduce, usual_servers};
use crate::folder;
use crate::rerun::quoted;
use crate::seed::Seed;
use crate::server::find_redis_for;
use crate::usage_error::UsageError;

/// Locks that are put to the test, and on which servers.
#[derive(Debug, Args)]
pub struct SubjectArgs {
    /// Locks by name, as in `lockstorm list locks`, or with options, such as
    /// `redisson={era="3.10"}`; several become a comparison.
    #[arg(value_name = "LOCK", add = ArgValueCompleter::new(completion::locks))]
    pub locks: Vec<String>,
    /// The program that drives a library's lock, with its arguments; may be repeated.
    #[arg(long = "adapter", value_name = "COMMAND")]
    pub adapters: Vec<String>,
    /// Promises that the locks make beside those that are known of them, joined by commas.
    #[arg(long = "promise", value_delimiter = ',', value_name = "LIST", value_parser = promise)]
    pub promises: Vec<Promise>,
    /// Only on these servers, joined by commas: single, replicated, sentinel, cluster, independent,
    /// etcd, zookeeper, mariadb, postgres. A library is taken for one of Redis unless they say
    /// otherwise.
    #[arg(long = "topology", value_delimiter = ',', value_name = "LIST",
        value_parser = startable_topology)]
    pub topologies: Vec<TopologyKind>,
    /// Only on the servers of this scenario file, which has topology.custom.
    #[arg(long, value_name = "SCENARIO.toml", conflicts_with = "topologies")]
    pub servers: Option<PathBuf>,
}

impl SubjectArgs {
    /// The topologies that are asked for, all that can be started unless some are named.
    pub fn kinds(&self) -> Vec<TopologyKind> {
        if self.servers.is_some() {
            return vec![TopologyKind::Custom];
        }
        if self.topologies.is_empty() {
            return startable_topologies().collect();
        }
        self.topologies.clone()
    }

    /// The servers of a file, where one is named.
    ///
    /// # Errors
    /// When the file is wrong, or has no such servers.
    pub fn custom(&self) -> Result<Option<Topology>, Error> {
        self.servers.as_deref().map(custom_servers).transpose()
    }

    /// Reads all the locks, and asks programs what they are.
    ///
    /// # Errors
    /// When there is none, or one of them is not what it should be.
    pub fn read(&self, common: &CommonArgs) -> Result<Vec<Subject>, Error> {
        let mut subjects = Vec::new();
        for text in &self.locks {
            subjects.push(Subject::built_in(text)?);
        }
        for command in &self.adapters {
            subjects.push(Subject::adapter(command, self, common)?);
        }
        if subjects.is_empty() {
            let text = "name a lock, as in `lockstorm list locks`, or a program: --adapter COMMAND";
            return Err(UsageError(text.to_owned()).into());
        }
        Ok(subjects)
    }

    /// Returns the arguments that say which promises are made and which servers are taken.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let list = |names: Vec<&str>| names.join(",");
        if !self.promises.is_empty() {
            let names = self.promises.iter().map(|promise| promise.name());
            words.push(format!("--promise {}", list(names.collect())));
        }
        if !self.topologies.is_empty() {
            let names = self.topologies.iter().map(|kind| kind.name());
            words.push(format!("--topology {}", list(names.collect())));
        }
        if let Some(servers) = &self.servers {
            words.push(format!(
                "--servers {}",
                quoted(&servers.display().to_string())
            ));
        }
        words
    }
}

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

impl Subject {
    /// Reads a lock as it is typed: a name, or a name with options.
    ///
    /// # Errors
    /// When there is no such lock, or no such option of it.
    fn built_in(text: &str) -> Result<Self, Error> {
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

    /// Tells whether it is a program that renews every lease.
    pub fn always_renews(&self) -> bool {
        let can = self.can.as_ref();
        can.is_some_and(|can| can.contains(&Can::AlwaysRenews))
    }

    /// Asks a program what it is, and on which servers it can be.
    fn adapter(command: &str, args: &SubjectArgs, common: &CommonArgs) -> Result<Self, Error> {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            let text = "--adapter must name a program, such as --adapter \"python3 mine.py\"";
            return Err(UsageError(text.to_owned()).into());
        }
        let folder = folder::create(&common.out, "adapter", wall_clock(), Seed::fresh())?;
        let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
        let kinds = args.kinds();
        let custom = args.custom()?;
        let is_asked = custom.is_some() || !args.topologies.is_empty();
        let (asked, others): (Vec<_>, Vec<_>) = kinds
            .into_iter()
            .partition(|kind| is_asked || kind.system() == System::Redis);
        let asked = custom.map_or_else(
            || asked.into_iter().map(usual_servers).collect(),
            |servers| vec![servers],
        );
        let program = find_redis_for(&asked, common.redis_server.as_deref())?;
        let servers = (&program, common.port);
        let found = runtime.block_on(introduce(&words, &asked, servers, &folder))?;
        let others = others.into_iter().map(|kind| {
            let name = kind.name();
            (
                kind,
                format!("a library of {name} is asked for by --topology {name}"),
            )
        });
        let promises = [&found.opened.promises[..], &args.promises].concat();
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
            refused: found.refused.into_iter().chain(others).collect(),
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
fn promise(name: &str) -> Result<Promise, String> {
    let known = Promise::ALL
        .into_iter()
        .find(|promise| promise.name() == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = Promise::ALL.iter().map(|promise| promise.name()).collect();
        format!("must be one of {}", names.join(", "))
    })
}
