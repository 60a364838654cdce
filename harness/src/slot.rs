//! To which of a Cluster's slots a key belongs.
//!
//! Source: the Redis Cluster specification, "Key distribution model" and "Hash tags": CRC16
//! (XMODEM: polynomial 1021, starting from 0) of the key, or of what its first braces hold, modulo
//! the number of slots. The redis crate computes the same, and keeps the number to itself.

/// Slots of every Cluster.
pub const SLOTS: u16 = 16_384;

/// The slot of `key`.
pub fn slot_of(key: &[u8]) -> u16 {
    crc16(hash_tag(key).unwrap_or(key)) % SLOTS
}

/// What stands between the first opening brace and the first closing one after it; nothing
/// between them counts as no braces.
fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|byte| *byte == b'{')?;
    let inside = &key[open + 1..];
    let close = inside.iter().position(|byte| *byte == b'}')?;
    (close > 0).then(|| &inside[..close])
}

fn crc16(bytes: &[u8]) -> u16 {
    const POLYNOMIAL: u16 = 0x1021;
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ (u16::from(*byte) << 8), |sum, _| {
            let carry = sum & 0x8000 != 0;
            (sum << 1) ^ if carry { POLYNOMIAL } else { 0 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_that_the_specification_gives() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(slot_of(b"foo"), 12_182);
    }

    #[test]
    fn only_the_first_braces_with_something_inside_count() {
        let same =
            |key: &str, as_key: &str| slot_of(key.as_bytes()) == crc16(as_key.as_bytes()) % SLOTS;
        assert!(same("{user1000}.following", "user1000"));
        assert!(same("foo{}{bar}", "foo{}{bar}"));
        assert!(same("foo{{bar}}zap", "{bar"));
        assert!(same("foo{bar}{zap}", "bar"));
        assert!(same("foo{bar", "foo{bar"));
        assert!(same("}foo{bar}", "bar"));
    }
}
