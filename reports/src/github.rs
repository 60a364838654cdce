//! Renders a run or a suite for GitHub's runners: annotations as workflow commands, and the
//! Markdown of a step summary.
//!
//! For: what a pull request shows without a click. Not for: everything; GitHub shows ten
//! annotations of a kind and refuses long summaries, so both are cut, and say so.

use lockstorm_scenarios::Lines;

use crate::head::{self, Head, Standing};
use crate::inert::visible;
use crate::known::Known;
use crate::markdown::{markdown_run, markdown_suite};
use crate::model::{Mishap, Outcome, Rate, RunRecord, SuiteRecord};
use crate::words;

/// Annotations at most, beside the one that sums up.
const ANNOTATIONS_MAX: usize = 5;
/// Longest step summary: what a reader reads, far below what GitHub refuses (1 MiB).
const SUMMARY_BYTES_MAX: usize = 64 * 1024;
/// Longest message of an annotation, in characters: it is shown in a box beside the log.
const MESSAGE_CHARS_MAX: usize = 600;

/// How an annotation is shown, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    const fn command(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }

    /// Returns the level of a standing. A result that asks for nothing is a notice, also where
    /// nothing was expected.
    const fn of(standing: Standing) -> Self {
        match standing {
            Standing::Pass | Standing::Unclaimed(_) => Self::Notice,
            Standing::Undecided => Self::Warning,
            Standing::Fail => Self::Error,
        }
    }
}

/// Something that was not as expected.
struct Annotation {
    level: Level,
    title: String,
    message: String,
    /// File and line to which it is pinned.
    place: Option<(String, usize)>,
}

/// The annotations of a run, one workflow command a line, the sum of it last. What is `known` is a
/// notice.
pub fn github_run(run: &RunRecord, known: Option<&Known>) -> String {
    let sum = sum(
        &Head::of_run(run),
        run.outcome,
        words::cell_name(&run.labels),
    );
    let new = known.map(|known| known.new_in_run(run));
    commands(of_run_beside(run, known), only_new(sum, new))
}

/// The annotations of a suite, one workflow command a line, the sum of it last. What is `known` is
/// a notice.
pub fn github_suite(suite: &SuiteRecord, known: Option<&Known>) -> String {
    let runs = suite.runs.iter().map(|run| &run.record);
    let all = runs.flat_map(|run| of_run_beside(run, known));
    let rates = suite.rates();
    let missed = rates
        .iter()
        .filter(|rate| rate.outcome() != Outcome::AsExpected)
        .map(|rate| {
            let is_known = known.is_some_and(|known| known.has_rate(rate));
            beside(of_rate(rate), is_known)
        });
    let sum = sum(&Head::of_suite(suite), suite.outcome(), suite.name.clone());
    let new = known.map(|known| known.new_in_suite(suite));
    commands(all.chain(missed).collect(), only_new(sum, new))
}

fn of_run_beside(run: &RunRecord, known: Option<&Known>) -> Vec<Annotation> {
    let is_known = known.is_some_and(|known| known.has_run(run));
    let all = of_run(run).into_iter();
    all.map(|annotation| beside(annotation, is_known)).collect()
}

/// An annotation of a failure that does not count if it is known.
fn beside(annotation: Annotation, is_known: bool) -> Annotation {
    if !is_known {
        return annotation;
    }
    Annotation {
        level: Level::Notice,
        title: format!("known: {}", annotation.title),
        ..annotation
    }
}

/// The sum of a run or a suite of which only what is new counts, if so.
fn only_new(sum: Annotation, new: Option<Outcome>) -> Annotation {
    match new {
        None => sum,
        Some(new) => Annotation {
            level: Level::of(new.into()),
            message: format!(
                "{} Only failures that the baseline does not have count.",
                sum.message
            ),
            ..sum
        },
    }
}

fn sum(head: &Head, outcome: Outcome, title: String) -> Annotation {
    Annotation {
        // The worse of the two: a hunt has no outcome, and a history by itself no standing.
        level: Level::of(outcome.into()).min(Level::of(head.standing)),
        title,
        message: format!("{}.", head.line()),
        place: None,
    }
}

/// The annotations of errors, one workflow command a line.
pub fn github_mishaps(mishaps: &[Mishap]) -> String {
    let annotation = |mishap: &Mishap| Annotation {
        level: Level::Error,
        title: "lockstorm".to_owned(),
        message: mishap.message.clone(),
        place: mishap.place.clone(),
    };
    let shown = mishaps.iter().take(ANNOTATIONS_MAX);
    let mut all: Vec<Annotation> = shown.map(annotation).collect();
    if let Some(more @ 1..) = mishaps.len().checked_sub(ANNOTATIONS_MAX) {
        all.push(Annotation {
            level: Level::Error,
            title: "lockstorm".to_owned(),
            message: format!(
                "{}; the log has all.",
                words::count(more as u64, "more error")
            ),
            place: None,
        });
    }
    all.iter().map(command).collect()
}

/// The step summary of a run: its Markdown, cut where it is too long.
pub fn step_summary_run(run: &RunRecord) -> String {
    cut(markdown_run(run), SUMMARY_BYTES_MAX)
}

/// The step summary of a suite: its Markdown, cut where it is too long.
pub fn step_summary_suite(suite: &SuiteRecord) -> String {
    cut(markdown_suite(suite), SUMMARY_BYTES_MAX)
}

fn of_run(run: &RunRecord) -> Vec<Annotation> {
    let cell = words::cell_name(&run.labels);
    let lines = run.lines.as_ref();
    let unmet = run.expectations.iter().filter(|result| !result.met);
    let mut all: Vec<Annotation> = unmet
        .map(|result| Annotation {
            level: Level::of(head::for_machines(run, result)),
            title: format!("{}: {cell}", words::property(result.property)),
            message: format!("{}\nrepeat: {}", head::complaint(run, result), run.rerun),
            place: lines.map(|lines| (lines.file.clone(), lines.expect)),
        })
        .collect();
    all.extend(run.stopped.as_ref().map(|reason| end(run, reason)));
    all.extend(
        run.earlier
            .iter()
            .filter(|_| run.is_flaky())
            .map(|before| Annotation {
                level: Level::Warning,
                title: format!("flaky: {cell}"),
                message: format!("{}: {}\nrepeat: {}", before.folder, before.found, run.rerun),
                place: lines.map(|lines| (lines.file.clone(), lines.expect)),
            }),
    );
    all
}

/// The annotation of an expectation that counts runs, and was not met.
fn of_rate(rate: &Rate<'_>) -> Annotation {
    let lines = rate.first.lines.as_ref();
    Annotation {
        level: Level::of(rate.outcome().into()),
        title: format!(
            "{}: {}",
            words::property(rate.property),
            words::cell_name(rate.labels)
        ),
        message: format!("{}.", head::of_rate(rate)),
        place: lines.map(|lines| (lines.file.clone(), lines.expect)),
    }
}

/// The annotation of a run that did not come to its end, at the step that ended it.
fn end(run: &RunRecord, reason: &str) -> Annotation {
    let (level, what) = match run.unmet_step {
        Some(_) => (Level::Error, "answer"),
        None => (Level::Warning, "stopped early"),
    };
    let line = |lines: &Lines| {
        let step = run.unmet_step.and_then(|n| lines.steps.get(n - 1));
        step.copied().unwrap_or(lines.expect)
    };
    let lines = run.lines.as_ref();
    Annotation {
        level,
        title: format!("{what}: {}", words::cell_name(&run.labels)),
        message: format!("{reason}\nrepeat: {}", run.rerun),
        place: lines.map(|lines| (lines.file.clone(), line(lines))),
    }
}

fn commands(mut all: Vec<Annotation>, mut sum: Annotation) -> String {
    // Stable: those of one kind stay in the order of the runs.
    all.sort_by_key(|annotation| annotation.level);
    let more = all.len().saturating_sub(ANNOTATIONS_MAX);
    if more > 0 {
        let told =
            format!(" {more} more not shown here; the step summary and the report have all.");
        sum.message.push_str(&told);
    }
    all.truncate(ANNOTATIONS_MAX);
    all.push(sum);
    all.iter().map(command).collect()
}

fn command(annotation: &Annotation) -> String {
    let message: Vec<_> = annotation.message.lines().map(visible).collect();
    let message: String = message.join("\n").chars().take(MESSAGE_CHARS_MAX).collect();
    let pinned =
        |(file, line): &(String, usize)| format!("file={},line={line},", property(&visible(file)));
    format!(
        "::{} {}title={}::{}\n",
        annotation.level.command(),
        annotation.place.as_ref().map(pinned).unwrap_or_default(),
        property(&visible(&annotation.title)),
        data(&message)
    )
}

/// Text after the `::` of a workflow command: nothing in it begins another command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A value before it, in which `:` and `,` mean something too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// `text` up to the last heading or line that leaves it within `bytes`, with a word on the rest.
fn cut(mut text: String, bytes: usize) -> String {
    if text.len() <= bytes {
        return text;
    }
    let note = "\nThe rest is left out here; `report.md` of the run folder has all of it.\n";
    let room = bytes - note.len();
    let end = (0..=room).rev().find(|at| text.is_char_boundary(*at));
    let head = &text[..end.unwrap_or(0)];
    let whole = head.rfind("\n#").or_else(|| head.rfind('\n')).unwrap_or(0);
    text.truncate(whole + 1);
    text.push_str(note);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Record;
    use crate::sample;

    #[test]
    fn a_suite_is_annotated_with_what_was_not_as_expected() {
        insta::assert_snapshot!(github_suite(&sample::suite(), None));
    }

    #[test]
    fn errors_that_are_not_annotated_are_counted() {
        let mishap = |n: usize| Mishap {
            message: format!("error {n}"),
            place: None,
        };
        let all: Vec<Mishap> = (0..7).map(mishap).collect();
        let text = github_mishaps(&all);
        assert_eq!(text.lines().count(), 6, "{text}");
        assert!(text.contains("2 more errors; the log has all"), "{text}");
        assert!(!github_mishaps(&all[..5]).contains("more"));
    }

    #[test]
    fn a_run_as_expected_is_one_notice() {
        let text = github_run(&sample::failover_run(), None);
        assert!(text.starts_with("::notice title=token on"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn what_was_not_as_expected_is_pinned_to_its_line() {
        let mut run = sample::failover_run();
        run.lines = Some(Lines {
            file: "a,b.toml".to_owned(),
            expect: 2,
            steps: vec![5, 8],
        });
        run.expectations[0].met = false;
        run.stopped = Some("step 2 (acquire): expected granted, got refused".to_owned());
        run.unmet_step = Some(2);
        run.outcome = run.due_outcome();
        let text = github_run(&run, None);
        let [expectation, answer, sum] = text.lines().collect::<Vec<_>>()[..] else {
            panic!("{text}");
        };
        let pinned = "::error file=a%2Cb.toml,line=2,title=";
        assert!(expectation.starts_with(pinned), "{text}");
        let pinned = "::error file=a%2Cb.toml,line=8,title=answer";
        assert!(answer.starts_with(pinned), "{text}");
        assert!(
            sum.contains("step 2 was not answered as the scenario says"),
            "{text}"
        );
    }

    #[test]
    fn many_surprises_are_five_annotations_and_their_sum() {
        let mut suite = sample::suite();
        let surprise = suite.runs[3].clone();
        suite.runs.extend(vec![surprise; 20]);
        let text = github_suite(&suite, None);
        assert_eq!(text.lines().count(), ANNOTATIONS_MAX + 1);
        let last = text.lines().last().unwrap();
        assert!(last.contains("17 more not shown here"), "{last}");
    }

    #[test]
    fn what_the_baseline_has_is_a_notice_where_only_new_failures_count() {
        let suite = sample::suite();
        let levels = |known: &Known| {
            let text = github_suite(&suite, Some(known));
            let known = text.matches("title=known%3A").count();
            (
                known,
                text.matches("::error").count(),
                text.matches("::warning").count(),
            )
        };
        let same = Known::of(&Record::Suite(Box::new(suite.clone())));
        assert_eq!(levels(&same), (2, 0, 0));
        let mut other = suite.clone();
        other.runs.clear();
        let nothing = Known::of(&Record::Suite(Box::new(other)));
        assert_eq!(levels(&nothing), (0, 2, 1));
    }

    #[test]
    fn hostile_text_begins_no_command_of_its_own() {
        let mut run = sample::hostile_run();
        run.rerun = "x\n::set-output name=a::b%0A::stop-commands::x\r::error::y".to_owned();
        run.expectations[0].met = false;
        for line in github_run(&run, None).lines() {
            let begins = ["::error title=", "::warning title=", "::notice title="];
            assert!(begins.iter().any(|begin| line.starts_with(begin)), "{line}");
            assert!(!line.contains("%0A::stop"), "{line}");
            assert!(!line.contains('\u{1b}'), "{line}");
        }
    }

    #[test]
    fn a_long_summary_is_cut_at_a_heading_and_says_so() {
        let mut suite = sample::suite();
        for n in 0..2_000 {
            let mut run = suite.runs[3].clone();
            run.record.labels.lock = format!("a lock of its own {n}");
            suite.runs.push(run);
        }
        assert!(markdown_suite(&suite).len() > SUMMARY_BYTES_MAX);
        let summary = step_summary_suite(&suite);
        assert!(summary.len() <= SUMMARY_BYTES_MAX);
        assert!(summary.ends_with("has all of it.\n"));
        let short = step_summary_run(&sample::failover_run());
        assert_eq!(short, markdown_run(&sample::failover_run()));
    }
}
