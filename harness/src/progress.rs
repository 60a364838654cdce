//! Tells the user how far a run is, on standard error.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::output;

/// A line at least this often where there is no terminal, so that a job does not look dead.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressKind {
    /// `bar` on a terminal, `counter` elsewhere.
    #[default]
    Auto,
    /// A bar that is drawn over and over.
    Bar,
    /// A line for each run that ends.
    Counter,
    /// Nothing.
    None,
}

/// Hears how far a run is.
pub trait Progress: Send + Sync {
    /// A run begins.
    fn begin(&self, title: &str);
    /// What is being done now.
    fn say(&self, text: &str);
    /// The run has ended.
    fn end(&self, summary: &str);
}

/// Shows `runs` runs as `kind` says.
pub fn show(kind: ProgressKind, runs: usize) -> Box<dyn Progress> {
    match kind {
        ProgressKind::None => Box::new(Silent),
        ProgressKind::Bar => Box::new(Bar::new(runs)),
        ProgressKind::Auto if output::is_terminal() => Box::new(Bar::new(runs)),
        ProgressKind::Auto | ProgressKind::Counter => Box::new(Counter::new(runs)),
    }
}

struct Silent;

impl Progress for Silent {
    fn begin(&self, _title: &str) {}
    fn say(&self, _text: &str) {}
    fn end(&self, _summary: &str) {}
}

struct Bar {
    bar: ProgressBar,
    title: Mutex<String>,
}

impl Bar {
    fn new(runs: usize) -> Self {
        let bar = ProgressBar::new(runs as u64);
        let style = ProgressStyle::with_template("[{bar:20}] {pos}/{len} {wide_msg}")
            .expect("the template is constant and right")
            .progress_chars("=> ");
        bar.set_style(style);
        Self {
            bar,
            title: Mutex::default(),
        }
    }
}

impl Progress for Bar {
    fn begin(&self, title: &str) {
        title.clone_into(&mut self.title.lock().expect("no holder panics"));
        self.bar.set_message(title.to_owned());
        self.bar.tick();
    }

    fn say(&self, text: &str) {
        let title = self.title.lock().expect("no holder panics");
        self.bar.set_message(format!("{title} — {text}"));
    }

    fn end(&self, summary: &str) {
        self.bar.println(format!("  {summary}"));
        self.bar.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

struct Counter {
    runs: usize,
    state: Mutex<(usize, Instant)>,
}

impl Counter {
    fn new(runs: usize) -> Self {
        Self {
            runs,
            state: Mutex::new((0, Instant::now())),
        }
    }
}

impl Progress for Counter {
    fn begin(&self, _title: &str) {
        self.state.lock().expect("no holder panics").0 += 1;
    }

    fn say(&self, text: &str) {
        let mut state = self.state.lock().expect("no holder panics");
        if state.1.elapsed() >= HEARTBEAT {
            state.1 = Instant::now();
            output::human(&format!("  [{}/{}] {text}", state.0, self.runs));
        }
    }

    fn end(&self, summary: &str) {
        let mut state = self.state.lock().expect("no holder panics");
        state.1 = Instant::now();
        output::human(&format!("  [{}/{}] {summary}", state.0, self.runs));
    }
}
