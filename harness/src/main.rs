//! The command line program: parse, do, map to an exit code.

use std::process::ExitCode as Status;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use clap_complete::CompleteEnv;
use lockstorm_harness::cli::{self, Arguments, ExitCode, mishap};
use lockstorm_harness::output;

fn main() -> Status {
    // What a panic says may quote input.
    std::panic::set_hook(Box::new(|panic| output::human(&panic.to_string())));
    // A shell that completes a line asks for words instead; the program ends with the answer.
    CompleteEnv::with_factory(Arguments::command).complete();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let format = arguments.format();
    match std::panic::catch_unwind(|| cli::execute(arguments)) {
        Ok(Ok(code)) => code.number().into(),
        Ok(Err(error)) if is_closed_pipe(&error) => Status::SUCCESS,
        Ok(Err(error)) => {
            output::failure(&error);
            told(mishap::publish(&error, format));
            ExitCode::of(&error).number().into()
        }
        Err(_) => {
            output::human("this is a bug in lockstorm; the message above says where");
            told(mishap::publish_bug(format));
            ExitCode::Bug.number().into()
        }
    }
}

/// Says that machines could not be told; people are told already.
fn told(result: std::io::Result<()>) {
    if let Err(error) = result {
        output::human(&format!("standard output takes no more: {error}"));
    }
}

/// Help and version are no mistakes; everything else that clap refuses is one.
fn refuse(error: &clap::Error) -> Status {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        // It holds no words but ours. A closed pipe while printing help is nobody's loss.
        let _ = error.print();
        return Status::SUCCESS;
    }
    output::choose_color(output::Color::Auto);
    let text = error.render();
    if output::Stream::Error.is_colored() {
        output::painted(text.ansi().to_string().trim_end());
    } else {
        output::human(text.to_string().trim_end());
    }
    ExitCode::Usage.number().into()
}

/// Tells whether the reader of our output has gone: it has seen enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
