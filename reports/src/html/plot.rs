//! A plot in the page: its heading, how to read it, the picture, and the same in numbers for who
//! cannot see it or has it printed.

use maud::{Markup, html};

use super::page::figure;
use crate::plots;

/// A plot and what stands around it.
pub(super) struct Plot<'a> {
    pub(super) title: &'a str,
    pub(super) how: &'a str,
    pub(super) drawing: &'a plots::Drawing,
    /// Parts that are left out of the picture.
    pub(super) note: Option<&'a str>,
    /// Numbers of the picture; see [`super::table`].
    pub(super) numbers: Markup,
}

impl Plot<'_> {
    pub(super) fn markup(&self) -> Markup {
        html! {
            h3 { (self.title) }
            p.how { (self.how) }
            (figure(self.drawing, self.note))
            details.data {
                summary { "The same in numbers" }
                (self.numbers)
            }
        }
    }
}
