//! Opens a page in the user's browser.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::output;
use crate::process::scrub;

/// Programs that open a file by its kind, in the order in which they are tried; `BROWSER` comes
/// before.
const OPENERS: [&str; 4] = ["xdg-open", "open", "wslview", "sensible-browser"];

/// Opens the page in `folder`, or says why not. The page is there all the same: no error of this
/// command is one of the run.
pub fn page(folder: &Path) {
    let page = folder.join("report.html");
    let Ok(page) = page.canonicalize() else {
        output::human("there is no page to open; ask for it: --report html");
        return;
    };
    let named = std::env::var("BROWSER").ok();
    let named = named.filter(|name| !name.is_empty());
    let openers = named.as_deref().into_iter().chain(OPENERS);
    for opener in openers {
        if start(opener, &page) {
            return;
        }
    }
    output::human(&format!(
        "no program to open a page was found (no {}); open it yourself: {}",
        OPENERS.join(", no "),
        page.display()
    ));
}

/// Starts a program that shows the page and lives on by itself; whether it is there.
fn start(program: &str, page: &Path) -> bool {
    let mut command = Command::new(program);
    scrub(&mut command);
    let started = command
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.is_ok()
}
