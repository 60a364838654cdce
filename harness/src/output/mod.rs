//! Printing: text for people on standard error, output for machines on standard output.

mod clean;
mod error_text;
mod print;
mod readable;

pub use error_text::{describe, in_one_line};
pub use print::{
    Color, answer, choose_color, colored, failure, human, inert, is_terminal, json, machine,
    painted, terminal, xml,
};
pub use readable::readable;
