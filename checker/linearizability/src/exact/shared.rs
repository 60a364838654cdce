//! Refused tries of a lock that readers share.
//!
//! ```text
//!   writer a      readers              writer b
//!   =====|~~~~>|                     |<~~~~~~|=====      a writer reaches to the first grant after
//!        |     <~|====|~~~~>         |                   it, and back to the last core before it
//!        |        <~~~|=======|~~~~~~~~~~~~~>|           readers reach from writer to writer
//! ```
//!
//! Somebody else's reading explains who was refused to write; who was refused to read met a writer.
//! Both are met most often where all reach as far as they can: where a writer can reach, it keeps
//! out no reader that would explain more, for a reader explains nothing that a writer does not.

use super::free::Explained;
use super::sessions::{Session, Try};
use crate::time::Time;

/// Tells whether each try met somebody who kept it out. Cores do not clash, and are in order.
pub(super) fn explain(sessions: &[Session], tries: &[Try]) -> Explained {
    // Of cores without length in one instant, which can come in any order, none may be a writer's.
    let at_once = |pair: &[Session]| {
        let [one, other] = [pair[0], pair[1]];
        one.granted == one.end_min
            && one.granted == other.end_min
            && !(one.is_shared && other.is_shared)
    };
    if sessions.windows(2).any(at_once) {
        return Explained::Unclear;
    }
    let spans = spans(sessions);
    let writers = sessions.iter().zip(&spans);
    let writers = writers.filter(|(session, _)| !session.is_shared);
    let written = Reach::of(writers.map(|(_, &span)| span));
    let held = Reach::of(spans.iter().copied());
    let unexplained = tries.iter().filter(|attempt| {
        let reach = if attempt.is_shared { &written } else { &held };
        !reach.meets(attempt)
    });
    match unexplained.min_by_key(|attempt| (attempt.refused, attempt.id)) {
        Some(attempt) => Explained::AllBut {
            attempt: attempt.id,
            after: None,
        },
        None => Explained::All,
    }
}

/// From when to when each session can hold, given the cores of the others.
fn spans(sessions: &[Session]) -> Vec<(Time, Time)> {
    // The last core that ends, and the last writer's, so far.
    let (mut any, mut writer) = (Time(0), Time(0));
    let mut spans: Vec<(Time, Time)> = sessions
        .iter()
        .map(|session| {
            let before = if session.is_shared { writer } else { any };
            any = any.max(session.end_min);
            if !session.is_shared {
                writer = session.end_min;
            }
            (session.sent.max(before), session.end_max)
        })
        .collect();
    // The next grant, and the next to a writer.
    let (mut any, mut writer) = (Time::MAX, Time::MAX);
    for (session, span) in sessions.iter().zip(&mut spans).rev() {
        let after = if session.is_shared { writer } else { any };
        any = session.granted;
        if !session.is_shared {
            writer = session.granted;
        }
        span.1 = span.1.min(after);
    }
    spans
}

/// Spans in order of their starts, each with the last end up to it.
struct Reach(Vec<(Time, Time)>);

impl Reach {
    fn of(spans: impl Iterator<Item = (Time, Time)>) -> Self {
        let mut spans: Vec<_> = spans.collect();
        spans.sort_unstable();
        let mut last = Time(0);
        for (_, end) in &mut spans {
            last = last.max(*end);
            *end = last;
        }
        Self(spans)
    }

    /// Tells whether one of the spans touches the try.
    fn meets(&self, attempt: &Try) -> bool {
        let begun = self
            .0
            .partition_point(|&(start, _)| start <= attempt.refused);
        begun > 0 && self.0[begun - 1].1 >= attempt.sent
    }
}
