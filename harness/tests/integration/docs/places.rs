//! Files that the documentation names are there.

use std::fs;
use std::path::Path;

use super::pages::{code_spans, pages, root};

/// Folders of others, and of what is built.
const PASSED_OVER: [&str; 4] = ["target", ".git", "node_modules", ".tools"];

/// Every file and folder of ours, as a path from the checkout behind a slash.
fn all_paths(folder: &Path, paths: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the checkout can be listed") {
        let path = entry.expect("it can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if PASSED_OVER.contains(&&*name) {
            continue;
        }
        let relative = path.strip_prefix(root()).expect("it is below the root");
        paths.push(format!("/{}", relative.display()));
        if path.is_dir() {
            all_paths(&path, paths);
        }
    }
}

/// Tells whether it is the name of a file or folder of the checkout: one that begins with a folder
/// of ours, or a file of code, which may leave out where its page has said where.
fn is_place(span: &str, ours: &[String]) -> bool {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let first = span.split('/').next().unwrap_or_default();
    let is_below = span.contains('/') && ours.iter().any(|name| name == first);
    span.chars().all(is_path)
        && (is_below || Path::new(span).extension().is_some_and(|end| end == "rs"))
}

#[test]
fn every_file_that_is_named_is_there() {
    let mut paths = Vec::new();
    all_paths(&root(), &mut paths);
    let top = fs::read_dir(root()).expect("the checkout can be listed");
    let top = top.map(|entry| entry.expect("it can be listed").file_name());
    let ours: Vec<String> = top
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| !PASSED_OVER.contains(&name.as_str()))
        .collect();
    let mut found = 0;
    let mut broken = Vec::new();
    for (page, text) in pages() {
        for span in code_spans(&text)
            .iter()
            .filter(|span| is_place(span, &ours))
        {
            found += 1;
            let end = format!("/{}", span.trim_end_matches('/'));
            let is_there = if ours.iter().any(|name| span.split('/').next() == Some(name)) {
                paths.contains(&end)
            } else {
                paths.iter().any(|path| path.ends_with(&end))
            };
            if !is_there {
                broken.push(format!("{page}: there is no {span}"));
            }
        }
    }
    assert!(found > 80, "only {found} places were found");
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}
