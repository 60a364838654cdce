//! MySQL's protocol: one statement and its answer at a time.

mod packet;
mod wire;

pub use wire::MysqlWire;

/// A text as statements write it, whatever is in it.
pub fn mysql_literal(text: &str) -> String {
    use std::fmt::Write as _;
    let mut written = String::from("X'");
    for byte in text.bytes() {
        // Writing to a text cannot fail.
        let _ = write!(written, "{byte:02x}");
    }
    written.push('\'');
    written
}
