//! The page that lists the runs of a folder, the newest first.

use maud::{Markup, html};

use super::page::{self, Frame};
use super::verdict::outcome;
use super::{link, table};
use crate::inert::visible;
use crate::listing::{Entry, Listing};
use crate::words;

const HOW: &str = "Every run and every comparison of this folder, the newest first. What is listed \
                   is written again whenever a run ends.";

/// Title of the page, by which it is known.
pub(crate) const INDEX_TITLE: &str = "Lockstorm runs";

const COLUMNS: [&str; 7] = [
    "Run", "Outcome", "Found", "Runs", "Started", "Seed", "Picture",
];

/// The page of a listing.
pub(crate) fn index_page(listing: &Listing) -> String {
    let body = html! {
        header.top {
            p.brand {
                (INDEX_TITLE)
                button.theme type="button" hidden { "Switch theme" }
            }
            h1 { "Runs" }
        }
        (page::section("runs", "All runs", HOW, &table(listing)))
    };
    page::framed(INDEX_TITLE, &body, Frame::Index)
}

fn table(listing: &Listing) -> Markup {
    html! {
        form.filter hidden {
            label {
                "Filter "
                input type="search" name="filter" placeholder="lock, hazard, outcome …";
            }
            span.shown role="status" {}
        }
        div.scroll tabindex="0" {
            table.index {
                (table::head(&COLUMNS))
                tbody { @for entry in &listing.entries { (row(entry)) } }
            }
        }
        @if listing.entries.is_empty() {
            p.none { "No run has ended yet." }
        }
        @if listing.without_record > 0 {
            p.how {
                (words::count(listing.without_record as u64, "folder"))
                " without a record that can be read: a run that goes on or was cut short, or one \
                 of another version."
            }
        }
        @if listing.left_out > 0 {
            p.warning {
                "Showing only the newest " (listing.entries.len()) " of "
                (listing.entries.len() + listing.left_out) " runs; the folder has all."
            }
        }
    }
}

fn row(entry: &Entry) -> Markup {
    html! {
        tr {
            th scope="row" {
                a href=(link::to(&entry.folder, entry.page())) { (visible(&entry.name)) }
                @if !entry.place.is_empty() {
                    span.topology { (visible(&entry.place)) }
                }
            }
            (outcome(&entry.head))
            td.found { (visible(&entry.head.found)) }
            td { (entry.runs) }
            td { (visible(&entry.started)) }
            td { (entry.seed) }
            td {
                @if let Some(picture) = &entry.picture {
                    a href=(link::to(&entry.folder, entry.page())) {
                        img.thumbnail loading="lazy" alt=""
                            src=(link::to(&entry.folder, picture));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn listing() -> Listing {
        let mut listing = Listing::default();
        listing
            .entries
            .push(Entry::of_suite("a/1", &sample::suite()));
        listing
            .entries
            .push(Entry::of_run("b/2", &sample::failover_run()));
        listing.entries[0].picture = Some("matrix.png".to_owned());
        listing.entries[0].has_page = true;
        listing
    }

    #[test]
    fn the_page_of_a_folder_lists_runs_and_suites_with_links_and_pictures() {
        let page = index_page(&listing());
        assert!(page.contains("href=\"a/1/report.html\""), "{page}");
        assert!(page.contains("src=\"a/1/matrix.png\""), "{page}");
        assert!(
            page.contains("3 of 5 runs as expected: 3 violated"),
            "{page}"
        );
        assert!(
            page.contains("href=\"b/2/results.json\""),
            "no page of its own"
        );
        assert_eq!(page.matches("<tr>").count(), 3);
    }

    #[test]
    fn hostile_names_are_inert_in_the_list() {
        let entry = Entry::of_run("javascript:alert(1)", &sample::hostile_run());
        let page = index_page(&Listing {
            entries: vec![entry],
            ..Listing::default()
        });
        assert!(!page.contains("<img src=x"), "{page}");
        assert!(!page.contains("href=\"javascript:"), "{page}");
        assert_eq!(page.matches("<script").count(), 1);
    }

    #[test]
    fn what_is_left_out_of_the_list_is_counted() {
        let page = index_page(&Listing {
            left_out: 7,
            ..listing()
        });
        assert!(
            page.contains("Showing only the newest 2 of 9 runs"),
            "{page}"
        );
    }
}
