//! A column: numbers of one kind, each in as few bytes as it needs.

/// Numbers in groups of seven bits, the lowest first; the eighth bit says that more follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Column {
    bytes: Vec<u8>,
}

impl Column {
    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// A number that may be negative: small ones of either sign stay small.
    pub(super) fn signed(&mut self, value: i64) {
        self.number(zigzag(value));
    }

    pub(super) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends `part` with its length in front, so that a reader finds what comes after it.
    pub(super) fn block(&mut self, part: &[u8]) {
        self.number(part.len() as u64);
        self.bytes.extend_from_slice(part);
    }
}

/// 0, -1, 1, -2, 2, ... as 0, 1, 2, 3, 4, ...
pub(super) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for at in 0.. {
            let byte = bytes[at];
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                *bytes = &bytes[at + 1..];
                break;
            }
        }
        value
    }

    proptest! {
        #[test]
        fn numbers_are_read_back_as_they_were_written(numbers: Vec<u64>) {
            let mut column = Column::default();
            for &number in &numbers {
                column.number(number);
            }
            let mut bytes = column.bytes();
            let back: Vec<u64> = numbers.iter().map(|_| read(&mut bytes)).collect();
            prop_assert_eq!(back, numbers);
            prop_assert!(bytes.is_empty());
        }

        #[test]
        fn signed_numbers_keep_their_sign_and_their_size(number: i64) {
            let coded = zigzag(number);
            let back = (coded >> 1).cast_signed() ^ -(coded & 1).cast_signed();
            prop_assert_eq!(back, number);
        }
    }

    #[test]
    fn small_numbers_of_either_sign_take_one_byte() {
        let mut column = Column::default();
        for number in [-64, -1, 0, 63] {
            column.signed(number);
        }
        assert_eq!(column.bytes().len(), 4);
    }
}
