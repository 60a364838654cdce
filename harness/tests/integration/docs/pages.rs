//! The pages, and what is code in them.

use std::fs;
use std::path::{Path, PathBuf};

/// The checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is in a folder")
        .to_owned()
}

/// A file of the checkout as text.
pub fn read(path: &str) -> String {
    let full = root().join(path);
    fs::read_to_string(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()))
}

/// Every page: path from the checkout, and text.
pub fn pages() -> Vec<(String, String)> {
    let docs = fs::read_dir(root().join("docs")).expect("there is documentation");
    let names = docs.map(|entry| entry.expect("it can be listed").file_name());
    let names = names.map(|name| format!("docs/{}", name.to_string_lossy()));
    let all = names.chain(["README.md", "CONTRIBUTING.md"].map(str::to_owned));
    let mut pages: Vec<_> = all
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "md"))
        .map(|name| (name.clone(), read(&name)))
        .collect();
    pages.sort();
    assert!(pages.len() > 10, "the walk must find the pages");
    pages
}

/// The pieces of inline code of a text, outside of fenced blocks; a line that ends inside one goes
/// on in the next.
pub fn code_spans(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            plain.push_str(line);
            // A blank line ends a paragraph, and with it whatever somebody forgot to close.
            plain.push(if line.trim().is_empty() { '\n' } else { ' ' });
        }
    }
    let paragraphs = plain.split('\n');
    let spans = paragraphs.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    spans.map(|span| span.trim().to_owned()).collect()
}

/// The lines of fenced blocks, those that end in a backslash joined with what follows.
pub fn fenced_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_fenced = false;
    let mut begun = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced {
            begun.push_str(line.trim());
            if begun.ends_with('\\') {
                begun.pop();
            } else {
                lines.push(std::mem::take(&mut begun));
            }
        }
    }
    lines
}

/// The cells of each row of the first table below `heading`, without its head.
pub fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    // The heading of a page has nothing before it.
    let text = format!("\n{text}");
    let (_, below) = text
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("there is no '{heading}'"));
    let rows = below.lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    let cells = rows.map(|row| {
        let inside = row.trim().trim_matches('|');
        inside
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    });
    let cells: Vec<Vec<String>> = cells.collect();
    assert!(!cells.is_empty(), "there is no table below '{heading}'");
    cells
}

#[test]
fn code_is_found_where_it_is_code() {
    let text = "a `b c` d\n```sh\n`no` x \\\n  y\n```\n`e\nf` g";
    assert_eq!(code_spans(text), ["b c", "e f"]);
    assert_eq!(fenced_lines(text), ["`no` x y"]);
}
