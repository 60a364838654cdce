//! `lockstorm doctor`.

use std::path::PathBuf;
use std::{fmt, fs};

use anyhow::Error;
use clap::Args;
use lockstorm_nemesis::{Kernel, Namespace, NamespaceError};
use serde::Serialize;

use super::answer_format::AnswerFormat;
use super::exit::ExitCode;
use crate::output;
use crate::server::{
    AddressBlock, DEFAULT_PORT, Program, find_etcd, find_mariadb, find_pgbouncer, find_postgres,
    find_program, find_zookeeper,
};

/// Arguments of `lockstorm doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The server program.
    #[arg(long, env = "LOCKSTORM_REDIS_SERVER", value_name = "PATH")]
    pub redis_server: Option<PathBuf>,
    /// Port of all servers.
    #[arg(long, default_value_t = DEFAULT_PORT, env = "LOCKSTORM_PORT",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// Folder of runs.
    #[arg(
        long,
        default_value = "runs",
        env = "LOCKSTORM_OUT",
        value_name = "DIR"
    )]
    pub out: PathBuf,
    /// Content of standard output.
    #[arg(long, value_enum, default_value_t)]
    pub format: AnswerFormat,
}

/// One thing that was looked for.
#[derive(Debug, Serialize)]
struct Finding {
    /// Name of the thing.
    what: &'static str,
    /// Runs that cannot do without it.
    needed_by: &'static str,
    /// True if it is there.
    ok: bool,
    /// Version and place, or how to install it.
    text: String,
}

/// Name of [`Finding::needed_by`] for what no run can do without.
const EVERY_RUN: &str = "every run";

impl Finding {
    fn new<T, E: fmt::Display>(
        (what, needed_by): (&'static str, &'static str),
        found: Result<T, E>,
        told: impl Fn(T) -> String,
    ) -> Self {
        let ok = found.is_ok();
        let text = found.map_or_else(|error| error.to_string(), told);
        Self {
            what,
            needed_by,
            ok,
            text,
        }
    }

    fn line(&self) -> String {
        let state = if self.ok { "ok     " } else { "missing" };
        let needed = match self.needed_by {
            EVERY_RUN => String::new(),
            _ if self.ok => String::new(),
            some => format!(" ({some})"),
        };
        format!("{state}  {}{needed}: {}", self.what, self.text)
    }
}

/// Looks for everything that a run needs, and says where it is or how to install it.
///
/// # Errors
/// When nothing can be printed.
pub fn execute(args: &DoctorArgs) -> Result<ExitCode, Error> {
    let found = look(args);
    match args.format {
        AnswerFormat::Human => {
            for finding in &found {
                output::answer(&finding.line())?;
            }
        }
        AnswerFormat::Json => output::json(&serde_json::to_string_pretty(&found)?)?,
    }
    let lacks = |finding: &Finding| finding.needed_by == EVERY_RUN && !finding.ok;
    Ok(if found.iter().any(lacks) {
        ExitCode::Environment
    } else {
        ExitCode::AsExpected
    })
}

fn look(args: &DoctorArgs) -> Vec<Finding> {
    let program = |program: Program| format!("{} at {}", program.version, program.path.display());
    vec![
        Finding::new(
            ("server", EVERY_RUN),
            find_program(args.redis_server.as_deref()),
            program,
        ),
        Finding::new(
            ("addresses", EVERY_RUN),
            AddressBlock::claim(args.port),
            |block| format!("loopback, such as {}", block.public(0)),
        ),
        Finding::new(("run folder", EVERY_RUN), writable(&args.out), |text| text),
        Finding::new(("etcd", "topology.etcd"), find_etcd(), program),
        Finding::new(
            ("zookeeper", "topology.zookeeper"),
            find_zookeeper(),
            program,
        ),
        Finding::new(("mariadb", "topology.mariadb"), find_mariadb(), program),
        Finding::new(("postgres", "topology.postgres"), find_postgres(), program),
        Finding::new(
            ("pgbouncer", "topology.postgres.pooler"),
            find_pgbouncer(),
            program,
        ),
        // Last, for nothing else can be looked at from there.
        Finding::new(("kernel network", "--network kernel"), network(), |()| {
            "a namespace with queues of packets".to_owned()
        }),
    ]
}

/// Makes a network of real packets, as runs do that ask for one; it ends with this process.
fn network() -> Result<(), NamespaceError> {
    Kernel::open(Namespace::enter()?).map(drop)
}

fn writable(out: &std::path::Path) -> Result<String, String> {
    // Whoever asks for a diagnosis wants no new folder.
    let is_new = !out.exists();
    let probe = out.join(format!(".doctor-{}", std::process::id()));
    fs::create_dir_all(&probe)
        .and_then(|()| fs::remove_dir(&probe))
        .and_then(|()| {
            if is_new {
                fs::remove_dir(out)?;
            }
            Ok(())
        })
        .map(|()| format!("{} can be written", out.display()))
        .map_err(|error| {
            format!(
                "cannot write to {}: {error}; choose another: --out DIR",
                out.display()
            )
        })
}
