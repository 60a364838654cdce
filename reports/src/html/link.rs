//! Links to files of runs, from the page of a suite or of a folder of runs.

use std::fmt::Write as _;

/// Address of a run's own report, relative to the suite's page.
pub(super) fn report_of(folder: &str) -> String {
    to(folder, "report.html")
}

/// Address of a file in a folder, which is relative to the page.
///
/// Every byte but letters, digits and `-._/` is percent-encoded: no folder name can become a
/// scheme, a query or markup.
pub(super) fn to(folder: &str, file: &str) -> String {
    let mut address = String::with_capacity(folder.len() + file.len() + 1);
    for byte in folder.bytes().chain(*b"/").chain(file.bytes()) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' => {
                address.push(char::from(byte));
            }
            other => {
                let _ = write!(address, "%{other:02X}");
            }
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_name_cannot_become_a_scheme_or_markup() {
        assert_eq!(
            report_of("javascript:alert(1)\"><b>"),
            "javascript%3Aalert%281%29%22%3E%3Cb%3E/report.html"
        );
        assert_eq!(report_of("cells/a-b.0"), "cells/a-b.0/report.html");
    }
}
