//! The length of a history decides how long an analysis takes, and nothing else.

use std::fmt::Write as _;

use lockstorm_checker::{Options, Property, check};

use crate::support::history;

/// A release without an answer, `cycles` cycles of another client on another lock, and then a
/// double grant, in milliseconds.
fn far_apart(cycles: u64) -> String {
    let mut text = String::from(
        "a acquire 1000..1100 ok lease 2000
         b acquire 1900..2200 ok lease 2000
         a release 1110..1120 info
         a acquire 1130..1200 ok lease 2000
         a release 2000..2100 ok\n",
    );
    for cycle in 0..cycles {
        let at = 10_000 + 10 * cycle;
        let (answered, left, gone) = (at + 2, at + 4, at + 6);
        writeln!(text, "f acquire {at}..{answered} ok lease 2000 key x")
            .expect("memory is writable");
        writeln!(text, "f release {left}..{gone} ok key x").expect("memory is writable");
    }
    let late = 70_000 + 10 * cycles;
    writeln!(text, "b acquire {late}..{} ok lease 2000", late + 50).expect("memory is writable");
    writeln!(
        text,
        "a acquire {}..{} ok lease 2000",
        late + 60,
        late + 200
    )
    .expect("memory is writable");
    text
}

#[test]
fn a_double_grant_is_found_however_much_lies_between_it_and_what_led_to_it() {
    let judged = |cycles| {
        let analysis = check(&history(&far_apart(cycles)), &Options::default());
        analysis.properties[&Property::MutualExclusion].clone()
    };
    let (short, long) = (judged(1), judged(70_000));
    assert!(short.count > 0, "the history holds a double grant");
    assert_eq!(short.verdict, long.verdict);
    assert_eq!(short.count, long.count);
}
