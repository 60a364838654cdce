//! Contents of packets: numbers with the smallest byte first, texts with their length before them.
//!
//! Source: "Client/Server Protocol" of MariaDB's documentation.

/// First byte of a value that is NULL, where others have their length.
const NULL: u8 = 0xfb;

/// A packet that is being read; each read gives `None` where nothing of the kind follows.
#[derive(Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|taken| taken[0])
    }

    fn number_of(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.take(bytes)?.iter().rev();
        Some(taken.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub fn short(&mut self) -> Option<u16> {
        self.number_of(2).map(|number| number as u16)
    }

    /// A number that is as long as its first byte says.
    pub fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            0xfc => self.number_of(2),
            0xfd => self.number_of(3),
            0xfe => self.number_of(8),
            small => Some(u64::from(small)),
        }
    }

    /// So many values of a row; `None` among them is NULL.
    pub fn values(&mut self, count: u64) -> Option<Vec<Option<String>>> {
        (0..count)
            .map(|_| {
                if self.0.first() == Some(&NULL) {
                    self.byte();
                    return Some(None);
                }
                let length = usize::try_from(self.number()?).ok()?;
                self.take(length).map(|taken| Some(text(taken)))
            })
            .collect()
    }

    /// All that is left.
    pub fn rest(self) -> String {
        text(self.0)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_their_first_byte_says() {
        assert_eq!(Reader(&[250]).number(), Some(250));
        assert_eq!(Reader(&[0xfc, 1, 2]).number(), Some(0x201));
        assert_eq!(Reader(&[0xfd, 1, 2, 3]).number(), Some(0x0003_0201));
        assert_eq!(Reader(&[0xfc, 1]).number(), None);
    }

    #[test]
    fn a_value_is_a_text_or_null_or_cut_off() {
        let read = Reader(&[2, b'o', b'k', NULL]).values(2);
        assert_eq!(read, Some(vec![Some("ok".to_owned()), None]));
        assert_eq!(Reader(&[9, b'o']).values(1), None);
        assert_eq!(Reader(&[NULL]).values(2), None);
    }
}
