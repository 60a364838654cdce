//! Text for people of bytes that may be anything.

use std::fmt::Write as _;

/// Returns the text that the bytes are, or their digits where they are no text that can be read.
pub fn readable(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        Ok(_) | Err(_) => bytes.iter().fold("0x".to_owned(), |mut digits, byte| {
            write!(digits, "{byte:02x}").expect("a string takes what is written");
            digits
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_as_it_is_and_bytes_become_digits() {
        assert_eq!(readable("münze:4f2a".as_bytes()), "münze:4f2a");
        assert_eq!(readable(&[0xff, 0x00, 0x1b]), "0xff001b");
        assert_eq!(
            readable(b"a\x1b[31m"),
            "0x611b5b33316d",
            "no colours either"
        );
    }
}
