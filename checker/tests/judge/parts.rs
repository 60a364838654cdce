//! A history that is judged part by part needs no more memory as it grows, and loses nothing.

use std::fmt::Write as _;

use lockstorm_checker::history::{EventSink, Process};
use lockstorm_checker::{Analysis, Checker, Options, Property, Verdict, check};

use crate::support::history;

/// Small, so that a short history has many.
const PART: usize = 100;

/// Rounds in which each of three clients holds the lock while the next one waits for it.
fn hand_overs(rounds: u64) -> String {
    let mut text = String::new();
    for round in 0..rounds {
        let (from, to) = (20 * round, 20 * (round + 1));
        let owner = ["a", "b", "c"][(round % 3) as usize];
        let other = ["b", "c", "a"][(round % 3) as usize];
        let token = round + 1;
        let (asked, granted) = (from.saturating_sub(15), from + 5);
        writeln!(
            text,
            "{owner} acquire {asked}..{granted} ok lease 1000 token {token}"
        )
        .and_then(|()| writeln!(text, "{other} acquire {}..{} refused", from + 6, from + 7))
        .and_then(|()| {
            writeln!(
                text,
                "{owner} read {}..{} ok saw {round}",
                from + 8,
                from + 9
            )
        })
        .and_then(|()| {
            writeln!(
                text,
                "{owner} write {}..{} ok value {token}",
                from + 9,
                to - 6
            )
        })
        .and_then(|()| writeln!(text, "{owner} release {}..{} ok", to - 5, to - 1))
        .expect("memory is writable");
    }
    text
}

/// The analysis part by part, and how many operations were kept at the most.
fn judge_by_parts(text: &str) -> (Analysis, usize) {
    let mut checker = Checker::with_parts(Options::default(), PART);
    let mut most = 0;
    for event in history(text).events {
        checker.event(event);
        most = most.max(checker.kept());
    }
    (checker.finish(), most)
}

fn judge(text: &str) -> Analysis {
    check(&history(text), &Options::default())
}

/// Verdicts, counts and claims.
fn answers(analysis: &Analysis) -> Vec<(Property, Verdict, u64, Vec<&str>)> {
    let properties = analysis.properties.iter();
    properties
        .map(|(&property, judgement)| {
            let claims = judgement.witnesses.iter().map(|one| one.claim.as_str());
            (
                property,
                judgement.verdict,
                judgement.count,
                claims.collect(),
            )
        })
        .collect()
}

fn count(analysis: &Analysis, property: Property) -> u64 {
    analysis.properties[&property].count
}

#[test]
fn what_is_kept_does_not_grow_with_the_history() {
    let (short, first) = judge_by_parts(&hand_overs(300));
    let (long, second) = judge_by_parts(&hand_overs(3000));
    assert_eq!(short.verdict, Verdict::Valid);
    assert_eq!(long.verdict, Verdict::Valid);
    assert_eq!(long.coverage.operations, 15_000);
    assert!(
        first <= 2 * PART && second <= first,
        "{first}, then {second}"
    );
}

#[test]
fn parts_say_what_the_whole_says() {
    let text = hand_overs(300) + "z acquire 3100..3110 ok lease 1000 token 7\n";
    let (parts, _) = judge_by_parts(&text);
    assert_eq!(answers(&parts), answers(&judge(&text)));
    assert_eq!(parts.coverage, judge(&text).coverage);
    assert_eq!(count(&parts, Property::MutualExclusion), 50);
    assert_eq!(count(&parts, Property::Fencing), 1);
}

#[test]
fn a_client_that_comes_back_long_after_its_lease_has_overrun_it() {
    let stale = "z acquire 0..3 ok lease 10 token 1\n z write 59990..59995 ok value 9 token 1";
    let text = format!(
        "{stale}\n{}",
        hand_overs(3000).replace("a acquire 0..5", "a acquire 12..13")
    );
    let (parts, _) = judge_by_parts(&text);
    assert!(count(&parts, Property::LeaseOverrun) >= 1);
    let whole = judge(&text);
    assert_eq!(
        count(&parts, Property::LeaseOverrun),
        count(&whole, Property::LeaseOverrun)
    );
}

#[test]
fn an_acquire_without_an_answer_explains_refusals_for_ever() {
    let refused = "b acquire 60000..60001 refused\n";
    let phantom = format!("z acquire 0..1 info\n{}{refused}", hand_overs(2000));
    let (parts, most) = judge_by_parts(&phantom);
    assert_eq!(count(&parts, Property::SpuriousRefusal), 0);
    assert!(most <= 2 * PART);
    let (without, _) = judge_by_parts(&format!("{}{refused}", hand_overs(2000)));
    assert_eq!(count(&without, Property::SpuriousRefusal), 1);
}

#[test]
fn a_history_whose_times_go_back_is_kept_whole() {
    // Written by two harnesses, one after the other, that ran in the same seconds.
    let mut text = String::from("z acquire 1..9000 refused\n");
    let others = hand_overs(100);
    let others: Vec<String> = others.lines().map(|line| format!("x{line}")).collect();
    let mut whole = history(&(hand_overs(100) + "z acquire 9000..9001 refused"));
    text.push_str(&others.join("\n"));
    for mut event in history(&text).events {
        event.index = whole.events.len() as u64;
        if let Process::Client(process) = event.process {
            event.process = Process::Client(process + 100_000);
        }
        whole.events.push(event);
    }
    let mut checker = Checker::with_parts(Options::default(), 600);
    for event in whole.events.clone() {
        checker.event(event);
    }
    assert!(checker.kept() > 900, "nothing was dropped");
    let (parts, whole) = (checker.finish(), check(&whole, &Options::default()));
    assert_eq!(answers(&parts), answers(&whole));
    assert!(count(&parts, Property::MutualExclusion) >= 90);
}
