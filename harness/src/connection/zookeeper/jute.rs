//! Jute, in which ZooKeeper writes its messages: numbers with the greatest byte first, texts and
//! lists with their length before them.
//!
//! Source: `zookeeper.jute` and the classes `BinaryOutputArchive` and `BinaryInputArchive` of
//! ZooKeeper 3.8.

/// A message that is being written.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    pub fn int(mut self, value: i32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn long(mut self, value: i64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn flag(mut self, value: bool) -> Self {
        self.0.push(value.into());
        self
    }

    /// Bytes, or the bytes of a text.
    pub fn bytes(self, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        let mut written = self.int(i32::try_from(value.len()).unwrap_or(i32::MAX));
        written.0.extend(value);
        written
    }

    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

/// A message that is being read; each read gives `None` where nothing of the kind follows.
#[derive(Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn int(&mut self) -> Option<i32> {
        let taken = self.take(4)?;
        Some(i32::from_be_bytes(taken.try_into().ok()?))
    }

    pub fn long(&mut self) -> Option<i64> {
        let taken = self.take(8)?;
        Some(i64::from_be_bytes(taken.try_into().ok()?))
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        // Where there are none at all, the length is -1.
        let length = usize::try_from(self.int()?).unwrap_or(0);
        self.take(length)
    }

    pub fn text(&mut self) -> Option<String> {
        self.bytes()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    pub fn texts(&mut self) -> Option<Vec<String>> {
        let count = self.int()?;
        (0..count).map(|_| self.text()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let written = Writer::default()
            .int(-2)
            .long(1 << 40)
            .bytes("lock")
            .int(2)
            .bytes("a")
            .bytes("b")
            .done();
        let mut reader = Reader(&written);
        assert_eq!(reader.int(), Some(-2));
        assert_eq!(reader.long(), Some(1 << 40));
        assert_eq!(reader.text().as_deref(), Some("lock"));
        assert_eq!(reader.texts(), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(reader.int(), None);
    }

    #[test]
    fn a_message_that_is_cut_off_or_lies_about_its_length_is_none() {
        assert_eq!(Reader(&[0, 0, 0]).int(), None);
        assert_eq!(Reader(&[127, 255, 255, 255, 1]).text(), None);
        assert_eq!(Reader(&[127, 255, 255, 255]).texts(), None);
        assert_eq!(Reader(&[255, 255, 255, 255]).text().as_deref(), Some(""));
    }
}
