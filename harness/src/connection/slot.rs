//! Slot of a Cluster to which a key belongs.
//!
//! Source: the Redis Cluster specification, "Key distribution model" and "Hash tags": CRC16
//! (XMODEM: polynomial 1021, starting from 0) of the key, or of what its first braces hold, modulo
//! the number of slots. The redis crate computes the same, and keeps the number to itself.

use redis::{Arg, Cmd};

/// Slots of every Cluster.
pub const SLOTS: u16 = 16_384;

/// The slot of `key`.
pub fn slot_of(key: &[u8]) -> u16 {
    crc16(hash_tag(key).unwrap_or(key)) % SLOTS
}

/// The slot of the first key of `command`, as far as locks' commands go: that of a script, or the
/// first argument of any other; `None` for a script without keys, and for INFO.
pub fn slot_of_command(command: &Cmd) -> Option<u16> {
    let mut words = command.args_iter().map(|word| match word {
        Arg::Simple(word) => word,
        Arg::Cursor => b"0",
        _ => b"",
    });
    let key = match words.next()? {
        b"INFO" => return None,
        b"EVAL" => {
            let keys = words.nth(1)?;
            words.next().filter(|_| keys != b"0")?
        }
        _ => words.next()?,
    };
    Some(slot_of(key))
}

/// Returns the part between the first opening brace and the first closing one after it; nothing
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
    fn a_command_belongs_to_the_slot_of_its_first_key() {
        let mut set = redis::cmd("SET");
        set.arg("foo").arg("NX");
        assert_eq!(slot_of_command(&set), Some(slot_of(b"foo")));
        let mut script = redis::cmd("EVAL");
        script
            .arg("return 1")
            .arg(2)
            .arg("{foo}:a")
            .arg("{foo}:b")
            .arg("bar");
        assert_eq!(slot_of_command(&script), Some(slot_of(b"foo")));
        let mut keyless = redis::cmd("EVAL");
        keyless.arg("return 1").arg(0).arg("foo");
        assert_eq!(slot_of_command(&keyless), None);
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
