//! Wording of names, times and lists, the same in every sentence of the checker.
//!
//! Names come from outside. They are quoted with escapes unless they are plain, so that no
//! terminal and no log takes them for more than text.

use crate::history::{FaultTarget, Giver, Givers, Nanos};
use crate::inert::{short, visible};

/// A lock: its key in quotes, or "the lock" in a history without keys.
pub(crate) fn lock(key: &str) -> String {
    if key.is_empty() {
        "the lock".to_owned()
    } else {
        format!("{:?}", short(key))
    }
}

/// An owner, a node, a kind of fault.
pub(crate) fn name(name: &str) -> String {
    let name = &*short(name);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/#@→".contains(letter);
    if !name.is_empty() && name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}

/// A sentence from outside, such as the evidence of a fault: hidden characters are escaped.
pub(crate) fn prose(sentence: &str) -> String {
    visible(sentence).into_owned()
}

/// By whom a lock was granted, as the end of a sentence: ` by n2 (primary)`; nothing where nobody
/// knows.
pub(crate) fn by(givers: Option<&Givers>) -> String {
    match givers {
        Some(Givers(all)) if !all.is_empty() => {
            let all: Vec<String> = all.iter().map(giver).collect();
            format!(" by {}", list(&all))
        }
        Some(_) | None => String::new(),
    }
}

fn giver(giver: &Giver) -> String {
    let node = name(&giver.node);
    match &giver.role {
        Some(role) if *role != giver.node => format!("{node} ({})", name(role)),
        Some(_) | None => node,
    }
}

/// The target of a fault: each name on its own, so that none is taken for the separator.
pub(crate) fn target(target: &FaultTarget) -> String {
    target.written(&name)
}

/// An instant: `4.021 s`.
pub(crate) fn instant(time: Nanos) -> String {
    let ms = time.0 / 1_000_000;
    format!("{}.{:03} s", ms / 1000, ms % 1000)
}

/// A length of time, in a unit that shows at least two digits of it: `0.390 s`, `3.9 ms`, `85 µs`.
pub(crate) fn length(time: Nanos) -> String {
    let us = time.0 / 1_000;
    match us {
        0 => format!("{} ns", time.0),
        1..1_000 => format!("{us} µs"),
        1_000..10_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        10_000.. => instant(time),
    }
}

/// `once`, `3 times`.
pub(crate) fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        0 | 2.. => format!("{count} times"),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_are_inert() {
        assert_eq!(lock("orders"), "\"orders\"");
        assert_eq!(lock(""), "the lock");
        assert_eq!(name("c3"), "c3");
        assert_eq!(name("\u{1b}[2J"), "\"\\u{1b}[2J\"");
        assert_eq!(name(""), "\"\"");
    }

    #[test]
    fn times_read_like_those_of_a_clock() {
        assert_eq!(instant(Nanos(4_021_999_999)), "4.021 s");
        assert_eq!(length(Nanos(1_619_000_000)), "1.619 s");
        assert_eq!(length(Nanos(310_000)), "310 µs");
        assert_eq!(length(Nanos(7)), "7 ns");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
