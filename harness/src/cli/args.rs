//! The arguments as typed.

use clap::{Parser, Subcommand};

use super::exit::ExitCode;
use super::publish::OutputFormat;
use super::{
    adapter, assess, check, clean_up, completion, doctor, examples, explain, export, hunt, init,
    list, man, report, run, schema, shrink, validate,
};
use crate::output::Color;

/// Checks whether a distributed lock keeps its promises, on real servers.
#[derive(Debug, Parser)]
#[command(name = "lockstorm", version, max_term_width = 100, after_help = examples::PROGRAM,
    after_long_help = format!("{}\n\n{}", examples::PROGRAM, ExitCode::help()))]
pub struct Arguments {
    /// Colour of readable text; `NO_COLOR` switches it off too.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        env = "LOCKSTORM_COLOR",
        display_order = 1000
    )]
    pub color: Color,
    /// Command to carry out.
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// Content of standard output.
    pub const fn format(&self) -> OutputFormat {
        match &self.command {
            Command::Run(args) => args.how.format,
            Command::Assess(args) => args.how.format,
            Command::Report(args) => args.format,
            Command::Validate(args) => args.format,
            _ => OutputFormat::Human,
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios against real servers, check what happened and report it.
    Run(run::RunArgs),
    /// Put locks into every situation that means something to them, and say which promises they
    /// keep and break.
    Assess(assess::AssessArgs),
    /// Look for the fewest faults, at single messages, that break a lock; each finding becomes a
    /// scenario that repeats it.
    Hunt(hunt::HuntArgs),
    /// Turn a run in which something was violated into a short script that violates it.
    Shrink(shrink::ShrinkArgs),
    /// Check recorded histories again, or histories that others recorded, in any format
    /// that `list formats` shows.
    Check(check::CheckArgs),
    /// Write a history in another format, for other tools.
    Export(export::ExportArgs),
    /// Render stored runs again; several become a comparison.
    Report(report::ReportArgs),
    /// Write a first scenario, or an adapter with its kit to start from.
    Init(init::InitArgs),
    /// Read scenario files and show every mistake, without running anything.
    Validate(validate::ValidateArgs),
    /// Print the JSON schema of scenario files, of results or of histories.
    Schema(schema::SchemaArgs),
    /// List locks, faults, properties, topologies, scenarios or adapters.
    List(list::ListArgs),
    /// Explain a property at length.
    Explain(explain::ExplainArgs),
    /// Check this machine, and say how to install what is missing.
    Doctor(doctor::DoctorArgs),
    /// Check a program that drives a lock library.
    Adapter(adapter::AdapterArgs),
    /// Show, or remove, the keys that a run has left on servers that someone else runs, after it
    /// was killed or lost a server.
    Clean(clean_up::CleanArgs),
    /// Print the script that lets a shell complete commands, scenarios and locks.
    Completions(completion::CompletionsArgs),
    /// Write the manual pages into a folder, for packages.
    #[command(hide = true)]
    Man(man::ManArgs),
    /// Be a client of one lock, told what to do by the adapter protocol on standard input; what
    /// `run` starts for clients that are processes.
    Worker,
    /// Start and end the processes of clients, as standard input tells; what `run` starts beside
    /// itself, so that they end with it.
    #[command(hide = true)]
    Guard {
        /// Name of the pipe by which servers, and what they have started, are known.
        #[arg(long)]
        leash: String,
        /// Process id of the harness, with whose end all of them end.
        #[arg(long)]
        harness: i32,
    },
}
