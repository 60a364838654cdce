//! `lockstorm doctor`.

use std::fs;
use std::path::PathBuf;

use anyhow::Error;
use clap::Args;
use lockstorm_nemesis::{Kernel, Namespace, NamespaceError};

use super::exit::ExitCode;
use crate::output;
use crate::server::{
    AddressBlock, DEFAULT_PORT, find_etcd, find_mariadb, find_pgbouncer, find_postgres,
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
}

/// Looks at everything that a run needs, and says of each what it found or how to mend it.
///
/// # Errors
/// When nothing can be printed.
pub fn execute(args: &DoctorArgs) -> Result<ExitCode, Error> {
    let server = find_program(args.redis_server.as_deref());
    let findings = [
        (
            "server",
            server
                .map(|program| format!("{} at {}", program.version, program.path.display()))
                .map_err(|error| error.to_string()),
        ),
        (
            "addresses",
            AddressBlock::claim(args.port)
                .map(|block| format!("loopback, such as {}", block.public(0)))
                .map_err(|error| error.to_string()),
        ),
        ("run folder", writable(&args.out)),
    ];
    let mut code = ExitCode::AsExpected;
    for (what, found) in findings {
        let text = match found {
            Ok(text) => format!("ok       {what}: {text}"),
            Err(text) => {
                code = ExitCode::Environment;
                format!("missing  {what}: {text}")
            }
        };
        output::answer(&text)?;
    }
    // No run needs them but those of their own topologies.
    for (name, found) in [
        ("etcd", find_etcd()),
        ("zookeeper", find_zookeeper()),
        ("mariadb", find_mariadb()),
        ("postgres", find_postgres()),
        ("postgres.pooler", find_pgbouncer()),
    ] {
        output::answer(&match found {
            Ok(program) => format!(
                "ok       {name}: {} at {}",
                program.version,
                program.path.display()
            ),
            Err(error) => format!("missing  {name} (topology.{name}): {error}"),
        })?;
    }
    // Last, for nothing else can be looked at from there; and no run needs it but those that ask.
    output::answer(&match network() {
        Ok(()) => "ok       kernel network: a namespace with queues of packets".to_owned(),
        Err(error) => format!("missing  kernel network (--network kernel): {error}"),
    })?;
    Ok(code)
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
