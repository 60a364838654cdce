//! Ctrl-C and SIGTERM: once ends the run in good order, twice at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exit::ExitCode;
use crate::output;

/// Watches the signals of this process.
#[derive(Clone)]
pub struct Interrupt {
    /// Cancelled by the first signal.
    pub token: CancellationToken,
    /// Number of the exit code that the signal asks for; 0 while there was none.
    code: Arc<AtomicU8>,
}

impl Interrupt {
    /// Begins to watch.
    ///
    /// # Errors
    /// When the signals cannot be watched.
    pub fn watch() -> std::io::Result<Self> {
        let this = Self {
            token: CancellationToken::new(),
            code: Arc::default(),
        };
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let watcher = this.clone();
        tokio::spawn(async move {
            loop {
                let code = tokio::select! {
                    _ = interrupt.recv() => ExitCode::Interrupted,
                    _ = terminate.recv() => ExitCode::Terminated,
                };
                watcher.caught(code);
            }
        });
        Ok(this)
    }

    fn caught(&self, code: ExitCode) {
        if self.token.is_cancelled() {
            // The servers die with this process, and with them every fault.
            std::process::exit(i32::from(code.number()));
        }
        self.code.store(code.number(), Ordering::Relaxed);
        output::human("interrupted: healing, checking and reporting; once more to abort");
        self.token.cancel();
    }

    /// The exit code that a signal asked for.
    pub fn code(&self) -> Option<ExitCode> {
        match self.code.load(Ordering::Relaxed) {
            0 => None,
            number if number == ExitCode::Terminated.number() => Some(ExitCode::Terminated),
            _ => Some(ExitCode::Interrupted),
        }
    }
}
