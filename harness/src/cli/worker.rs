//! `lockstorm worker`.

use anyhow::{Context as _, Error};

use super::exit::ExitCode;
use crate::worker;

/// Is a client until its standard input ends.
///
/// # Errors
/// When it is told something that makes no sense.
pub fn execute() -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(worker::serve())?;
    // Reading standard input takes a thread, which may wait for more: nobody waits for it.
    runtime.shutdown_background();
    Ok(ExitCode::AsExpected)
}
