//! The process of the browser: found, started, shared by the tests of a binary, and ended.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::devtools::Devtools;

/// Names under which distributions install it.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Time that it may take to end by itself before it is killed.
const ENDING: Duration = Duration::from_secs(10);
/// How often we look whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Flags that keep it from asking the network anything, pages in the background as quick as the
/// one in front, and a page where it was asked to scroll to at once: a click in the middle of a
/// smooth scroll misses what it is meant for. The sandbox wants rights that a container does not
/// have; the pages are ours.
const FLAGS: [&str; 14] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--force-prefers-reduced-motion",
];

/// The one browser of this process, as long as somebody has a page in it.
static SHARED: Mutex<Weak<Chromium>> = Mutex::new(Weak::new());

/// A running browser. It ends when the last page is gone; and with this process, however that
/// ends, for then its pipe is closed.
#[derive(Debug)]
pub struct Chromium {
    child: Mutex<Child>,
    devtools: Devtools,
    /// Its profile, which lasts as long as it does.
    _profile: TempDir,
}

impl Chromium {
    /// The browser that the tests of this binary share; `None`, said loudly, where there is none.
    pub fn shared() -> Option<Arc<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Some(running);
        }
        let Some(program) = find() else {
            // Standard error as it is, not as the test harness keeps it for itself.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED, for want of Chromium: run 'bash .ci/setup'"
            );
            return None;
        };
        let started = Arc::new(Self::start(&program));
        *shared = Arc::downgrade(&started);
        Some(started)
    }

    /// The shell hands its two pipes on under the numbers that the browser expects: 3 to read
    /// commands from, 4 to answer to.
    fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh"])
            .arg(program)
            .args(FLAGS)
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell can be started");
        let out = child.stdin.take().expect("it was piped");
        let back = child.stdout.take().expect("it was piped");
        Self {
            child: Mutex::new(child),
            devtools: Devtools::new(out, back),
            _profile: profile,
        }
    }

    /// One command, to a page by its session or to the browser itself, and its answer.
    pub(super) fn command(&self, session: Option<&str>, method: &str, params: &Value) -> Value {
        self.devtools.command(session, method, params)
    }

    pub(super) fn devtools(&self) -> &Devtools {
        &self.devtools
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.devtools.tell(None, "Browser.close", &json!({}));
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let deadline = Instant::now() + ENDING;
        while Instant::now() < deadline {
            if let Ok(Some(_)) = child.try_wait() {
                return;
            }
            std::thread::park_timeout(LOOK);
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Where the browser is: as `LOCKSTORM_CHROMIUM` says, or on the path.
fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("LOCKSTORM_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    PROGRAMS
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|program| program.is_file())
}
