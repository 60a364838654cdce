//! The adapter as a process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd as _;
use std::process::exit;
use std::sync::Arc;

use nix::unistd::dup2_stdout;
use tokio::runtime::Builder;

use crate::Lock;
use crate::outlet::Outlet;
use crate::session::{Session, listen};

/// Answers the harness until it closes or standard input ends, and then ends the process, whatever
/// the library still has running. The name and version are those of the library.
///
/// What else is written to standard output goes to standard error. The library runs on tokio, with
/// as many threads as a program has by default.
pub fn serve<L: Lock>(name: &str, version: &str) -> ! {
    let served = take_standard_output().and_then(|output| {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let input = BufReader::new(io::stdin());
        runtime.block_on(converse::<L>(name, version, input, output))
    });
    if let Err(error) = served {
        eprintln!("adapter: {error}");
        exit(1);
    }
    exit(0);
}

/// Answers a harness at the other end of `input` and `output`, until it closes or `input` ends; for
/// tests of adapters.
///
/// # Errors
/// When a line is not of the protocol, or `input` or `output` fails.
pub async fn converse<L: Lock>(
    name: &str,
    version: &str,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let outlet = Arc::new(Outlet::new(output));
    let requests = listen(input, outlet.clone());
    Session::<L>::new(name, version, outlet)
        .work(requests)
        .await
}

/// Returns the version at which a lock file, `Cargo.lock`, pins a package.
pub fn locked_version<'l>(lock_file: &'l str, package: &str) -> &'l str {
    let name = format!("name = \"{package}\"");
    let mut lines = lock_file.lines().skip_while(|line| *line != name).skip(1);
    let version = lines
        .next()
        .and_then(|line| line.strip_prefix("version = "));
    version.map_or("unknown", |version| version.trim_matches('"'))
}

/// Takes standard output; whatever else is written there goes to standard error from now on, so
/// that nothing gets among the answers.
fn take_standard_output() -> io::Result<File> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    dup2_stdout(io::stderr())?;
    Ok(output.into())
}
