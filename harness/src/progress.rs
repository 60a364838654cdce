//! Tells the user how far a run is, on standard error.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lockstorm_reports::RunRecord;

use crate::output;
use crate::plan::Job;

/// A line at least this often where there is no terminal, so that a job does not look dead.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Runs whose pace says something of the others.
const PACE_OF: usize = 5;

/// Form in which progress is shown.
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

/// Hears how far the runs are. Several may go on at once.
pub trait Progress: Send + Sync {
    /// Shows the user what is being done now.
    fn say(&self, text: &str);
    /// A run has ended.
    fn end(&self, summary: &str);
    /// A run begins: for those who want more than words.
    fn begun(&self, _job: &Job) {}
    /// A run has ended and is stored in `folder`: for those who want more than words.
    fn stored(&self, _record: &RunRecord, _folder: &Path) {}
}

/// Two that hear the same.
pub struct Both(pub Arc<dyn Progress>, pub Arc<dyn Progress>);

impl Progress for Both {
    fn say(&self, text: &str) {
        self.0.say(text);
        self.1.say(text);
    }

    fn end(&self, summary: &str) {
        self.0.end(summary);
        self.1.end(summary);
    }

    fn begun(&self, job: &Job) {
        self.0.begun(job);
        self.1.begun(job);
    }

    fn stored(&self, record: &RunRecord, folder: &Path) {
        self.0.stored(record, folder);
        self.1.stored(record, folder);
    }
}

/// Progress of one run: everything with its title before it.
pub struct Titled {
    /// Title of the run.
    pub title: String,
    /// Progress that is told of it.
    pub progress: Arc<dyn Progress>,
}

impl Progress for Titled {
    fn say(&self, text: &str) {
        self.progress.say(&format!("{}: {text}", self.title));
    }

    fn end(&self, summary: &str) {
        self.progress.end(&format!("{}: {summary}", self.title));
    }

    fn begun(&self, job: &Job) {
        self.progress.begun(job);
    }

    fn stored(&self, record: &RunRecord, folder: &Path) {
        self.progress.stored(record, folder);
    }
}

/// Shows `runs` runs as `kind` says; none where nobody knows how many there will be.
pub fn show(kind: ProgressKind, runs: usize) -> Box<dyn Progress> {
    match kind {
        ProgressKind::None => Box::new(Silent),
        ProgressKind::Bar => Box::new(Bar::new(runs)),
        ProgressKind::Auto if output::Stream::Error.is_terminal() => Box::new(Bar::new(runs)),
        ProgressKind::Auto | ProgressKind::Counter => Box::new(Counter::new(runs)),
    }
}

struct Silent;

impl Progress for Silent {
    fn say(&self, _text: &str) {}
    fn end(&self, _summary: &str) {}
}

struct Bar(ProgressBar);

impl Bar {
    fn new(runs: usize) -> Self {
        let bar = ProgressBar::new(runs as u64);
        let template = match runs {
            0 => "{spinner} {wide_msg}",
            _ => "[{bar:20}] {pos}/{len}, {eta} left  {wide_msg}",
        };
        let style = ProgressStyle::with_template(template)
            .expect("the templates are constant and right")
            .progress_chars("=> ");
        bar.set_style(style);
        Self(bar)
    }
}

impl Progress for Bar {
    fn say(&self, text: &str) {
        self.0.set_message(output::inert(text));
        self.0.tick();
    }

    fn end(&self, summary: &str) {
        self.0.println(format!("  {}", output::inert(summary)));
        self.0.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

struct Counter {
    runs: usize,
    begun: Instant,
    /// Number of runs that have ended, and the time at which something was last printed.
    state: Mutex<(usize, Instant)>,
}

impl Counter {
    fn new(runs: usize) -> Self {
        Self {
            runs,
            begun: Instant::now(),
            state: Mutex::new((0, Instant::now())),
        }
    }

    /// How far the runs are, and the time that the others will take at the pace of these.
    fn position(&self, done: usize) -> String {
        if self.runs == 0 {
            return String::new();
        }
        let left = time_left(self.begun.elapsed(), done, self.runs);
        let left = left.map_or(String::new(), |left| format!(", {left} left"));
        format!("[{done}/{}{left}] ", self.runs)
    }
}

/// Time that the other runs will take at the pace of those that are done, in round words; `None`
/// where too few are done to tell, or it is not worth a word.
fn time_left(elapsed: Duration, done: usize, runs: usize) -> Option<String> {
    let others = runs.checked_sub(done)?;
    if done < PACE_OF {
        return None;
    }
    let left = elapsed.as_secs_f64() / done as f64 * others as f64;
    match left as u64 {
        0..15 => None,
        seconds @ 15..90 => Some(format!("{} s", seconds.div_ceil(5) * 5)),
        seconds => Some(format!("{} min", seconds.div_ceil(60))),
    }
}

impl Progress for Counter {
    fn say(&self, text: &str) {
        let mut state = self.state.lock().expect("no holder panics");
        if state.1.elapsed() >= HEARTBEAT {
            state.1 = Instant::now();
            output::human(&format!("  {}{text}", self.position(state.0)));
        }
    }

    fn end(&self, summary: &str) {
        let mut state = self.state.lock().expect("no holder panics");
        *state = (state.0 + 1, Instant::now());
        output::human(&format!("  {}{summary}", self.position(state.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_in_round_words_once_there_is_a_pace() {
        let after = |seconds, done, runs| time_left(Duration::from_secs(seconds), done, runs);
        assert_eq!(after(10, 4, 100), None, "too few");
        assert_eq!(after(50, 10, 100).as_deref(), Some("8 min"));
        assert_eq!(after(50, 10, 20).as_deref(), Some("50 s"));
        assert_eq!(after(50, 10, 12), None, "nearly done");
        assert_eq!(after(50, 12, 12), None);
    }
}
