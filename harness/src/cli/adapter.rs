//! `lockstorm adapter`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Error};
use clap::{Args, Command, Subcommand};
use lockstorm_scenarios::TopologyKind;
use tokio::time::timeout;

use super::examples;
use super::exit::ExitCode;
use super::topologies::{custom_servers, startable_topology};
use crate::clock::wall_clock;
use crate::conformance::{Check, Finding, TestBed, usual_servers};
use crate::seed::Seed;
use crate::server::{DEFAULT_PORT, ServerSettings, Wiring, find_redis_for};
use crate::{folder, output};

/// A check that takes longer says so.
const LONG: Duration = Duration::from_secs(5);

/// Arguments of `lockstorm adapter`.
#[derive(Debug, Args)]
#[command(after_help = examples::ADAPTER)]
pub struct AdapterArgs {
    /// Action to carry out on the adapter.
    #[command(subcommand)]
    pub command: AdapterCommand,
}

/// Actions that can be carried out on an adapter.
#[derive(Debug, Subcommand)]
pub enum AdapterCommand {
    /// Check on real servers whether a program speaks the adapter protocol, and means what it says.
    Test(TestArgs),
}

/// Arguments of `lockstorm adapter test`.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// The servers that it is given: single, replicated, sentinel, cluster, independent, etcd,
    /// zookeeper, mariadb or postgres.
    #[arg(long, default_value = "single", value_name = "NAME", value_parser = startable_topology)]
    pub topology: TopologyKind,
    /// The servers of this scenario file, which has topology.custom.
    #[arg(long, value_name = "SCENARIO.toml", conflicts_with = "topology")]
    pub servers: Option<PathBuf>,
    /// Folder of runs.
    #[arg(
        long,
        default_value = "runs",
        env = "LOCKSTORM_OUT",
        value_name = "DIR"
    )]
    pub out: PathBuf,
    /// The server program.
    #[arg(long, env = "LOCKSTORM_REDIS_SERVER", value_name = "PATH")]
    pub redis_server: Option<PathBuf>,
    /// Port of all servers, each on a loopback address of its own.
    #[arg(long, default_value_t = DEFAULT_PORT, env = "LOCKSTORM_PORT",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
}

impl TestArgs {
    /// Arguments of the program that are called as options of this command.
    fn options_of_ours(&self) -> impl Iterator<Item = &str> {
        let command = Self::augment_args(Command::new("test"));
        let ours: Vec<String> = command
            .get_arguments()
            .filter_map(|option| Some(format!("--{}", option.get_long()?)))
            .collect();
        let given = self.command[1..].iter().map(String::as_str);
        given.filter(move |given| {
            let name = given.split('=').next().unwrap_or_default();
            ours.iter().any(|ours| ours == name)
        })
    }
}

/// Does what was typed.
///
/// # Errors
/// When there are no servers to be had.
pub fn execute(args: &AdapterArgs) -> Result<ExitCode, Error> {
    match &args.command {
        AdapterCommand::Test(args) => test(args),
    }
}

/// Carries out every check and prints what came of each.
fn test(args: &TestArgs) -> Result<ExitCode, Error> {
    for option in args.options_of_ours() {
        output::human(&format!(
            "{option} goes to {}: options of lockstorm stand before the program",
            args.command[0]
        ));
    }
    let custom = args.servers.as_deref().map(custom_servers).transpose()?;
    let topology = custom.unwrap_or_else(|| usual_servers(args.topology));
    let program = find_redis_for([&topology], args.redis_server.as_deref())?;
    let folder = folder::create(&args.out, "adapter-test", wall_clock(), Seed::fresh())?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    runtime.block_on(async {
        let settings = ServerSettings {
            topology,
            program,
            port: args.port,
            folder: folder.join("nodes"),
            wiring: Wiring::Fabric {
                reads_messages: false,
            },
            shim: false,
            spares: None,
        };
        let mut bed = TestBed::new(args.command.clone(), folder.clone(), settings).await?;
        let [mut passed, mut failed] = [0, 0];
        for check in Check::ALL {
            let begun = Instant::now();
            let finding = carry_out(check, &mut bed).await;
            output::answer(&line(check, &finding, begun.elapsed()))?;
            match finding {
                Finding::Passed(_) => passed += 1,
                Finding::Failed(_) => failed += 1,
                Finding::NotClaimed(_) => {}
            }
            // Without them the others would only say the same.
            let is_in_vain = match check {
                Check::Hello => passed == 0,
                Check::Grants => failed > 0,
                _ => false,
            };
            if is_in_vain {
                break;
            }
        }
        output::human(&format!(
            "{passed} passed, {failed} failed, {} not checked; logs in {}",
            Check::ALL.len() - passed - failed,
            folder.display()
        ));
        Ok(match (passed, failed) {
            (_, 1..) => ExitCode::Unexpected,
            (0, 0) => ExitCode::Unknown,
            (_, 0) => ExitCode::AsExpected,
        })
    })
}

/// Carries out a check, and says that it goes on where it takes long.
async fn carry_out(check: Check, bed: &mut TestBed) -> Finding {
    let finding = check.run(bed);
    tokio::pin!(finding);
    if let Ok(finding) = timeout(LONG, &mut finding).await {
        return finding;
    }
    output::human(&format!("… {}: still waiting", check.about()));
    finding.await
}

/// A check and what came of it, and how long that took where it was long.
fn line(check: Check, finding: &Finding, took: Duration) -> String {
    let about = check.about();
    let seconds = if took < LONG {
        String::new()
    } else {
        format!(", after {} s", took.as_secs())
    };
    let told = match finding {
        Finding::Passed(detail) if detail.is_empty() => format!("✓ {about}"),
        Finding::Passed(detail) => format!("✓ {about} ({detail})"),
        Finding::Failed(why) => format!("✗ {about}: {why}"),
        Finding::NotClaimed(why) => format!("· {about}: not checked: {why}"),
    };
    told + &seconds
}
