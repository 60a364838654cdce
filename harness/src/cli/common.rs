//! Arguments that all commands with servers of their own share.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::progress::ProgressKind;
use crate::rerun::quoted;
use crate::seed::Seed;
use crate::server::DEFAULT_PORT;

/// Folder of runs, unless another one is named.
const USUAL_OUT: &str = "runs";

/// Servers, seed and folder of runs.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// Seed of every choice; drawn and printed when absent.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Folder of runs.
    #[arg(
        long,
        default_value = USUAL_OUT,
        env = "LOCKSTORM_OUT",
        value_name = "DIR"
    )]
    pub out: PathBuf,
    /// Run this many at once, each on servers of its own: one unless you say, and for a hunt eight
    /// for each core. They share the machine: for figures, leave it at one.
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    /// The server program.
    #[arg(long, env = "LOCKSTORM_REDIS_SERVER", value_name = "PATH")]
    pub redis_server: Option<PathBuf>,
    /// Port of all servers, each on a loopback address of its own.
    #[arg(long, default_value_t = DEFAULT_PORT, env = "LOCKSTORM_PORT",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// Form in which progress is shown.
    #[arg(long, value_enum, default_value_t, env = "LOCKSTORM_PROGRESS")]
    pub progress: ProgressKind,
}

impl CommonArgs {
    /// Runs at once, unless this many are asked for otherwise.
    pub fn jobs_or(&self, usual: usize) -> usize {
        self.jobs.map_or(usual, usize::from)
    }

    /// The seed that is asked for, or a fresh one.
    pub fn seed(&self) -> Seed {
        self.seed.map_or_else(Seed::fresh, Seed)
    }

    /// Returns the arguments that say which servers a command takes.
    pub fn servers(&self) -> Vec<String> {
        let server = self.redis_server.iter();
        let mut words: Vec<String> = server
            .map(|program| format!("--redis-server {}", path(program)))
            .collect();
        if self.port != DEFAULT_PORT {
            words.push(format!("--port {}", self.port));
        }
        words
    }

    /// Returns the argument for the number of runs at once, if one was given.
    pub fn at_once(&self) -> Vec<String> {
        let jobs = self.jobs.iter();
        jobs.map(|jobs| format!("--jobs {jobs}")).collect()
    }

    /// Returns the argument for the folder of runs, if another one was named.
    pub fn folder(&self) -> Vec<String> {
        if self.out == Path::new(USUAL_OUT) {
            return Vec::new();
        }
        vec![format!("--out {}", path(&self.out))]
    }
}

fn path(path: &Path) -> String {
    quoted(&path.display().to_string())
}
