//! Light and dark, as the reader's system prefers and as the button turns it; and the other button.

use crate::driver::{Page, Scheme};
use crate::report::Report;

/// Tells whether the page is dark: how light its ground is, from 0 to 255.
fn is_dark(page: &Page) -> bool {
    let ground = page.text("getComputedStyle(document.body).backgroundColor");
    let channels: Vec<f64> = ground
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter_map(|digits| digits.parse().ok())
        .collect();
    assert!(channels.len() >= 3, "{ground} has three channels");
    channels[..3].iter().sum::<f64>() / 3.0 < 128.0
}

#[test]
fn the_page_follows_the_system_and_the_button_turns_it() {
    let report = Report::of_failover();
    let Some(page) = report.open() else { return };
    page.prefers(Scheme::Light, false);
    assert!(!is_dark(&page));
    page.prefers(Scheme::Dark, false);
    assert!(is_dark(&page));

    page.evaluate("document.querySelector('button.theme').click()");
    assert!(
        !is_dark(&page),
        "what the reader says goes before the system"
    );
    page.evaluate("document.querySelector('button.theme').click()");
    assert!(is_dark(&page));
    report.was_quiet(&page);
}

#[test]
fn the_command_can_be_taken_from_the_page() {
    let report = Report::of_failover();
    let Some(page) = report.open() else { return };
    page.evaluate("document.querySelector('button.copy').click()");
    // Without leave to use the clipboard the page selects the command instead, and says so.
    page.wait_until("document.querySelector('button.copy').textContent !== 'Copy'");
    let told = page.text("document.querySelector('button.copy').textContent");
    if told == "Selected" {
        let command = page.text("document.querySelector('.rerun code').textContent");
        assert_eq!(page.text("getSelection().toString()"), command);
    } else {
        assert_eq!(told, "Copied");
    }
    report.was_quiet(&page);
}
