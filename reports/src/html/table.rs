//! Parts of tables that every table has in the same way.

use maud::{Markup, html};

/// The head of a table, a cell a column.
pub(super) fn head(columns: &[&str]) -> Markup {
    html! {
        thead { tr {
            @for column in columns { th scope="col" { (column) } }
        } }
    }
}

/// A table of numbers; the first cell of a row names it.
pub(super) fn numbers(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.numbers {
                (head(columns))
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @if at == 0 { th scope="row" { (cell) } }
                                @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
