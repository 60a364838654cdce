//! Printing: answers on standard output, everything said beside them on standard error.

mod clean;
mod error_text;
mod print;
mod readable;

pub use error_text::{describe, in_one_line};
pub use print::{
    Color, Stream, answer, choose_color, failure, human, inert, json, machine, painted,
    painted_answer, xml,
};
pub use readable::readable;
