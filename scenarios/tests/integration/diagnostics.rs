//! Golden tests of what people see when a scenario is wrong. Each mistake must be shown, at its
//! place, with what would be right: an author who corrects one must not be sent round again.

use std::path::Path;

use lockstorm_scenarios::{Diagnostics, load, load_str};

fn mistakes_of(text: &str) -> Diagnostics {
    load_str(text, "test.toml", &[]).expect_err("the scenario is wrong")
}

#[test]
fn every_mistake_of_a_file_is_shown_with_its_place_and_a_remedy() {
    let text = include_str!("cases/many-mistakes.toml");
    insta::assert_snapshot!(mistakes_of(text).render(false));
}

#[test]
fn machines_get_file_line_column_message_and_help() {
    let mistakes = mistakes_of(include_str!("cases/many-mistakes.toml"));
    let first = &mistakes.items()[0];
    assert_eq!(
        (first.file(), first.line(), first.column()),
        ("test.toml", Some(2), Some(1))
    );
    assert_eq!(first.message, "unknown key 'descripton'");
    let help = first.help.as_deref().expect("there is a remedy");
    assert!(help.starts_with("did you mean 'description'?"), "{help}");
    assert_eq!(mistakes.to_string().lines().count(), mistakes.items().len());
}

#[test]
fn mistakes_come_in_the_order_of_the_file() {
    let mistakes = mistakes_of(include_str!("cases/many-mistakes.toml"));
    let places: Vec<_> = mistakes
        .items()
        .iter()
        .map(|m| (m.line(), m.column()))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_text_that_is_no_toml_is_one_mistake() {
    let mistakes = mistakes_of("name = \"x\"\ntopology.single = {\nlock.token = {}\n");
    insta::assert_snapshot!(mistakes.render(false));
}

#[test]
fn a_key_given_twice_is_shown_where_it_comes_again() {
    insta::assert_snapshot!(mistakes_of("name = \"x\"\nname = \"y\"\n"));
}

#[test]
fn an_empty_file_is_told_what_a_scenario_needs() {
    insta::assert_snapshot!(mistakes_of(""));
}

#[test]
fn a_misspelt_key_is_not_reported_as_missing_too() {
    let mistakes = mistakes_of(
        "nmae = \"x\"\ntopology.single = {}\nlock.token = {}\n[[step]]\nacquire.client = \"a\"\n",
    );
    insta::assert_snapshot!(mistakes);
}

#[test]
fn colour_is_added_only_on_request() {
    let mistakes = mistakes_of("name = 1");
    assert!(mistakes.render(true).contains('\u{1b}'));
    assert!(!mistakes.render(false).contains('\u{1b}'));
}

/// A key can hold any character by escapes; the terminal must see none of them.
#[test]
fn control_characters_of_a_hostile_file_are_not_passed_on() {
    let mistakes = mistakes_of("\"\\u001b[2J\\u0007</script>\" = 1\n");
    let (people, machines) = (mistakes.render(false), mistakes.to_string());
    assert!(people.contains("</script>"));
    assert!(!people.contains(['\u{1b}', '\u{7}']), "{people:?}");
    assert!(!machines.contains(['\u{1b}', '\u{7}']), "{machines:?}");
}

#[test]
fn a_flood_of_mistakes_is_cut_and_counted() {
    let keys: Vec<String> = (0..1000).map(|n| format!("key-{n} = 1")).collect();
    let mistakes = mistakes_of(&keys.join("\n"));
    assert!(mistakes.items().len() < 200);
    assert!(mistakes.render(false).ends_with("more mistakes\n"));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let missing = load(Path::new("no/such/file.toml"), &[]).expect_err("it does not exist");
    let text = missing.render(false);
    assert!(
        text.contains("no/such/file.toml") && text.contains("cannot be opened"),
        "{text}"
    );
    assert_eq!(missing.items()[0].line(), None);

    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("latin.toml");
    std::fs::write(&path, b"name = \"\xe4\"").expect("it can be written");
    let binary = load(&path, &[]).expect_err("it is not UTF-8");
    assert!(binary.to_string().contains("not UTF-8"), "{binary}");
}

/// A lock without a read side would take a reader for a writer, and be accused of refusing it.
#[test]
fn a_lock_is_asked_only_for_what_it_knows() {
    let mistakes = mistakes_of(
        "name = \"x\"\ntopology.single = {}\nlock.token = {}\nclients.read-percent = 50\n\
         [[step]]\nacquire = { client = \"a\", mode = \"read\", permits = 2 }\n",
    );
    let told: Vec<_> = mistakes
        .items()
        .iter()
        .map(|mistake| (mistake.line(), mistake.message.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Some(4), "token knows no readers"),
            (Some(6), "token knows no readers"),
            (Some(6), "token knows no permits"),
        ]
    );
    let known = "name = \"x\"\ntopology.single = {}\nlock.redisson-semaphore = { permits = 2 }\n\
                 [[step]]\nacquire = { client = \"a\", permits = 2 }\n";
    lockstorm_scenarios::load_str(known, "test.toml", &[]).expect("nothing is wrong with it");
}
