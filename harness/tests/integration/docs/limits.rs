//! Limits in the documentation are the constants of the code.

use std::collections::BTreeMap;

use super::pages::{code_spans, pages, read, table};

/// Values of the constants of a file, by their names.
fn constants(file: &str) -> BTreeMap<String, String> {
    let text = read(file);
    let definitions = text.split("const ").skip(1);
    let definitions = definitions.filter_map(|rest| rest.split_once(';'));
    let parts = definitions.filter_map(|(definition, _)| {
        let (head, value) = definition.split_once('=')?;
        let (name, _) = head.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    });
    parts.collect()
}

/// A product, a shift, or a number.
fn number(text: &str) -> Option<u64> {
    if let Some((a, b)) = text.split_once("<<") {
        return Some(number(a)? << number(b)?);
    }
    text.split('*')
        .map(|factor| factor.trim().replace('_', "").parse::<u64>().ok())
        .product()
}

/// A constant as people read it: `10 s`, `64 KiB`, `50,000`.
fn in_words(value: &str, unit: &str) -> Option<String> {
    let inside = |name: &str| value.strip_prefix(name)?.strip_suffix(')');
    let millis = inside("Duration::from_millis(")
        .or(inside("Nanos::from_millis("))
        .and_then(number);
    let seconds = inside("Duration::from_secs(")
        .or(inside("DurationSpec::from_secs("))
        .and_then(number);
    if let Some(ms) = millis.or(seconds.map(|s| s * 1000)) {
        return Some(match unit {
            "ms" => format!("{ms} ms"),
            _ if ms % 1000 == 0 => format!("{} s", ms / 1000),
            _ => format!("{} s", ms as f64 / 1000.0),
        });
    }
    let n = number(value)?;
    Some(match unit {
        "MiB" => format!("{} MiB", n >> 20),
        "KiB" => format!("{} KiB", n >> 10),
        "kB" => format!("{} kB", n >> 10),
        "MB" => format!("{} MB", n / 1_000_000),
        _ => grouped(n),
    })
}

/// `50,000`; below ten thousand one reads a number as it is.
fn grouped(n: u64) -> String {
    if n < 1000 {
        n.to_string()
    } else {
        format!("{},{:03}", grouped(n / 1000), n % 1000)
    }
}

/// The unit behind a number, if it has one: `MiB` of `1 MiB each`.
fn unit(value: &str) -> &str {
    value
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .trim_matches(';')
}

#[test]
fn the_table_of_limits_is_the_constants_of_the_code() {
    let text = read("docs/architecture.md");
    let mut checked = 0;
    let mut broken = Vec::new();
    for row in table(&text, "## Limits") {
        let [limit, values, names, files] = &row[..] else {
            panic!("limit, value, constant, file: {row:?}");
        };
        let (names, files) = (code_spans(names), code_spans(files));
        let values: Vec<&str> = values.split(';').map(str::trim).collect();
        if names.is_empty() {
            continue;
        }
        assert_eq!(
            values.len(),
            names.len(),
            "a value for each constant: {limit}"
        );
        for (at, (name, told)) in names.iter().zip(&values).enumerate() {
            checked += 1;
            let file = files.get(at).or(files.last()).expect("a row has a file");
            let set = constants(&whole(file, &files[0]));
            let found = set.get(name).and_then(|value| in_words(value, unit(told)));
            let is_told = found
                .as_ref()
                .is_some_and(|found| told.starts_with(found.as_str()));
            if !is_told {
                broken.push(format!(
                    "{limit}: {told}, but {name} in {file} is {found:?}"
                ));
            }
        }
    }
    assert!(checked > 30, "only {checked} limits were compared");
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

/// The path of a file from the checkout; one that is named after another lies beside it, or below
/// the same `src`.
fn whole(file: &str, first: &str) -> String {
    if file == first {
        return file.to_owned();
    }
    let (folder, _) = first.rsplit_once('/').expect("the first is a path");
    let (krate, _) = first.split_once("/src/").expect("it is code");
    let beside = format!("{folder}/{file}");
    if super::pages::root().join(&beside).exists() {
        beside
    } else if super::pages::root().join(file).exists() {
        file.to_owned()
    } else {
        format!("{krate}/src/{file}")
    }
}

/// Numbers in running text: page, what it says with `{}` for the number, constant and its file.
const TOLD: [(&str, &str, &str, &str); 8] = [
    (
        "docs/reading-a-report.md",
        "lists the newest {} with",
        "ENTRIES_MAX",
        "reports/src/listing.rs",
    ),
    (
        "docs/reading-a-report.md",
        "(`--html-budget`, {} MB)",
        "HTML_BUDGET_DEFAULT",
        "reports/src/embed/extent.rs",
    ),
    (
        "docs/reading-a-report.md",
        "the worst {} and their sum",
        "ANNOTATIONS_MAX",
        "reports/src/github.rs",
    ),
    (
        "docs/reading-a-report.md",
        "cut at {} kB",
        "SUMMARY_BYTES_MAX",
        "reports/src/github.rs",
    ),
    (
        "docs/reading-a-report.md",
        "`timeline-1.png` to `-{}`",
        "VIOLATIONS_MAX",
        "reports/src/gallery.rs",
    ),
    (
        "docs/reading-a-report.md",
        "environment; version {} |",
        "RESULTS_VERSION",
        "reports/src/model/record.rs",
    ),
    (
        "docs/reading-a-report.md",
        "Up to {} have a row each",
        "FAULT_ROWS_MAX",
        "reports/src/plots/faults.rs",
    ),
    (
        "docs/adapter-protocol.md",
        "{} bytes",
        "LINE_MAX",
        "harness/src/adapter/message.rs",
    ),
];

#[test]
fn numbers_in_running_text_are_those_of_the_code() {
    let pages: BTreeMap<String, String> = pages().into_iter().collect();
    for (page, template, name, file) in TOLD {
        let set = constants(file);
        let value = set
            .get(name)
            .unwrap_or_else(|| panic!("{file} has no {name}"));
        let unit = template
            .split("{} ")
            .nth(1)
            .map(|rest| rest.trim_end_matches(')'));
        let words = in_words(value, unit.unwrap_or_default());
        let words = words.unwrap_or_else(|| panic!("{name} = {value} is no number"));
        let digits = words.split_whitespace().next().unwrap_or_default();
        let told = template.replace("{}", digits);
        let text = pages[page].replace('\n', " ");
        assert!(
            text.contains(&told),
            "{page} should say '{told}' ({file}: {name})"
        );
    }
}
