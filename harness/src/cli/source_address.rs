//! `lockstorm source-address`.

use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::process::Command;

use anyhow::Error;
use clap::Args;

use super::exit::ExitCode;
use crate::environment_error::EnvironmentError;
use crate::process::run_from;

/// Arguments of `lockstorm source-address`.
#[derive(Debug, Args)]
pub struct SourceAddressArgs {
    /// Loopback address from which the connections of the program come.
    source: Ipv4Addr,
    /// The program, and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// Runs the program until it ends.
///
/// # Errors
/// When it cannot be started, or ends in any other way than in order.
pub fn execute(args: &SourceAddressArgs) -> Result<ExitCode, Error> {
    let program = args.program[0].display().to_string();
    let mut command = Command::new(&args.program[0]);
    command.args(&args.program[1..]);
    let status =
        run_from(args.source, command).map_err(EnvironmentError::io("start", program.clone()))?;
    if status.success() {
        return Ok(ExitCode::AsExpected);
    }
    let ended = io::Error::other(format!("it ended with {status}"));
    Err(EnvironmentError::io("run", program)(ended).into())
}
