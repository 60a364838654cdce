//! The command line program: parse, do, map to an exit code.

use std::process::ExitCode as Status;

use clap::Parser as _;
use clap::error::ErrorKind;
use lockstorm_harness::cli::{self, Arguments, ExitCode, output};

fn main() -> Status {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    match std::panic::catch_unwind(|| cli::execute(arguments)) {
        Ok(Ok(code)) => code.number().into(),
        Ok(Err(error)) if is_closed_pipe(&error) => Status::SUCCESS,
        Ok(Err(error)) => {
            output::human(&cli::describe(&error));
            ExitCode::of(&error).number().into()
        }
        Err(_) => {
            output::human("this is a bug in lockstorm; the message above says where");
            ExitCode::Bug.number().into()
        }
    }
}

/// Help and version are no mistakes; everything else that clap refuses is one.
fn refuse(error: &clap::Error) -> Status {
    // A closed pipe while printing help is nobody's loss.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Status::SUCCESS,
        _ => ExitCode::Usage.number().into(),
    }
}

/// Whoever reads our output has seen enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
