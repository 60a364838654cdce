//! "Did you mean ...?": the nearest of the words that would have been right.

/// Letters of the longest word that is compared; the comparison takes time and space in its
/// square, and no word of ours is half as long.
const COMPARED_MAX: usize = 64;

/// Words listed at most in a help.
const LISTED_MAX: usize = 16;

/// A help for a `word` that is none of `known`: the nearest one, or all of them.
pub(crate) fn suggest<S: AsRef<str>>(word: &str, known: impl IntoIterator<Item = S>) -> String {
    let known: Vec<S> = known.into_iter().collect();
    match nearest(word, &known) {
        Some(near) if known.len() == 1 => format!("did you mean '{near}'?"),
        Some(near) => format!("did you mean '{near}'? ({})", one_of(&known)),
        None => one_of(&known),
    }
}

/// `one of 'a', 'b', 'c'`, cut short where the list is long.
pub(crate) fn one_of<S: AsRef<str>>(known: &[S]) -> String {
    let mut listed: Vec<String> = known
        .iter()
        .take(LISTED_MAX)
        .map(|word| format!("'{}'", word.as_ref()))
        .collect();
    if known.len() > LISTED_MAX {
        listed.push(format!("and {} more", known.len() - LISTED_MAX));
    }
    match listed.len() {
        0 => "there is none".to_owned(),
        1 => format!("there is only {}", listed[0]),
        _ => format!("one of {}", listed.join(", ")),
    }
}

/// The one word within a slip or two of the pen; none where several are equally near.
pub fn nearest<'a, S: AsRef<str>>(word: &str, known: &'a [S]) -> Option<&'a str> {
    if word.len() > COMPARED_MAX {
        return None;
    }
    let word = word.to_lowercase().replace('_', "-");
    // One slip in three letters: above it a suggestion is more often wrong than right, and of
    // names such as `n1` any is as near as another.
    let slips_max = word.chars().count() / 3;
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .map(AsRef::as_ref)
        .map(|candidate| (strsim::damerau_levenshtein(&word, candidate), candidate))
        .filter(|(slips, _)| *slips <= slips_max)
        .collect();
    near.sort_unstable();
    match near.as_slice() {
        [(first, _), (second, _), ..] if first == second => None,
        [(_, candidate), ..] => Some(candidate),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn a_slip_of_the_pen_is_taken_for_the_nearest_word() {
        let kinds = ["kill", "restart", "pause", "pause-client"];
        assert!(suggest("puase", kinds).starts_with("did you mean 'pause'?"));
        assert!(suggest("pause_client", kinds).starts_with("did you mean 'pause-client'?"));
    }

    #[test]
    fn where_nothing_or_too_much_is_near_all_words_are_listed() {
        assert_eq!(suggest("n9", ["n1", "n2"]), "one of 'n1', 'n2'");
        assert_eq!(suggest("explode", ["kill"]), "there is only 'kill'");
        assert_eq!(suggest("x", Vec::<String>::new()), "there is none");
        let many: Vec<String> = (0..20).map(|n| format!("client-{n}")).collect();
        assert!(suggest("q", many).ends_with("'client-15', and 4 more"));
    }
}
