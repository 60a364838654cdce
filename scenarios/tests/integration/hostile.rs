//! No text makes the reader panic, and none takes it long: mistakes are values.

use std::path::Path;

use lockstorm_scenarios::{Override, expand, list, load_str};
use proptest::prelude::*;

/// Reads a text as `lockstorm validate` would; what comes of it is of no interest, but it must be
/// shown without a panic too.
fn read(text: &str, overrides: &[Override]) {
    match load_str(text, "hostile.toml", overrides) {
        Ok(loaded) => {
            if let Err(mistakes) = expand(&loaded) {
                mistakes.render(false);
            }
        }
        Err(mistakes) => {
            mistakes.render(false);
        }
    }
}

/// The shipped files: good texts to spoil.
fn shipped() -> Vec<String> {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let listed = list(&library).expect("the library can be read");
    let texts = listed
        .iter()
        .map(|listed| std::fs::read_to_string(&listed.path));
    texts
        .collect::<Result<_, _>>()
        .expect("the library can be read")
}

/// Something that stands at a place of a scenario, right or wrong.
fn token() -> impl Strategy<Value = String> {
    let words = [
        "name",
        "step",
        "lock",
        "topology",
        "matrix",
        "storm",
        "nemesis",
        "fault",
        "acquire",
        "client",
        "token",
        "single",
        "independent",
        "nodes",
        "=",
        ".",
        "{",
        "}",
        "[",
        "]",
        "[[",
        "]]",
        ",",
        "\n",
        "\"2s\"",
        "\"5ms..1ms\"",
        "\"a\"",
        "-1",
        "0",
        "4294967296",
        "true",
        "1.5",
        "1979-05-27",
        "\"\"\"",
        "'",
        "#",
        "é",
        "\u{0}",
    ];
    prop::sample::select(words.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        read(&text, &[]);
    }

    #[test]
    fn text_made_of_the_words_of_a_scenario_never_panics(
        tokens in prop::collection::vec(token(), 0..60),
    ) {
        read(&tokens.join(" "), &[]);
    }

    /// A piece of a shipped file is taken out and another token put in its place.
    #[test]
    fn a_spoilt_shipped_file_never_panics(
        file in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        length in 0..40_usize,
        token in token(),
    ) {
        let texts = shipped();
        let mut chars: Vec<char> = file.get(&texts).chars().collect();
        let start = at.index(chars.len());
        let end = (start + length).min(chars.len());
        chars.splice(start..end, token.chars());
        read(&chars.into_iter().collect::<String>(), &[]);
    }

    #[test]
    fn an_arbitrary_override_never_panics(path in "[a-z0-9.\\-]{0,20}", value in any::<String>()) {
        if let Ok(set) = format!("{path}={value}").parse::<Override>() {
            for text in shipped().iter().take(3) {
                read(text, std::slice::from_ref(&set));
            }
        }
    }
}

/// Recursion over such a tree must not exhaust the stack, nor its paths the memory.
#[test]
fn deep_nesting_is_survived() {
    let depth = 20_000;
    read(&format!("{} = 1", vec!["a"; depth].join(".")), &[]);
    read(&format!("[{}]", vec!["a"; depth].join(".")), &[]);
    read(
        &format!("x = {}{}", "[".repeat(depth), "]".repeat(depth)),
        &[],
    );
    read(
        &format!("x = {}1{}", "{ a = ".repeat(depth), "}".repeat(depth)),
        &[],
    );
}

#[test]
fn a_long_word_is_compared_with_nothing() {
    let long = "x".repeat(500_000);
    read(&format!("{long} = 1\nname = \"{long}\"\n"), &[]);
}

/// The place of a mistake far to the right is shown with what is around it, and its column told.
#[test]
fn a_mistake_far_into_a_line_is_shown_without_the_line() {
    let head = "name = \"far\"\ntopology.single = {}\nlock.token = {}\n[[step]]\n";
    for length in [100, 65_400, 65_530, 65_600, 500_000] {
        let client = "a".repeat(length);
        let text = format!("{head}acquire = {{ client = \"{client}\", expct = \"granted\" }}\n");
        let mistakes = load_str(&text, "far.toml", &[]).expect_err("there is a mistake");
        let shown = mistakes.render(false);
        assert!(shown.contains("expct"), "{shown}");
        let place = format!(
            "far.toml:5:{}",
            "acquire = { client = \"\", ".len() + length + 1
        );
        assert!(shown.contains(&place), "{place}: {shown}");
        assert!(shown.len() < 10_000, "{} bytes", shown.len());
    }
}

#[test]
fn what_a_message_quotes_is_cut() {
    let long = "x".repeat(500_000);
    let mistakes = load_str(&format!("name = \"{long} \""), "long.toml", &[]);
    let mistakes = mistakes.expect_err("it is no name");
    assert!(mistakes.to_string().len() < 10_000);
    assert!(mistakes.render(false).len() < 10_000);
}
