//! Pieces that say how long they are.

use crate::resp::{FRAME_BYTES_MAX, Malformed};

/// Bytes of a message that says its length; the length is of what comes after `head` bytes.
pub(super) fn whole(head: usize, length: usize, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    if length > FRAME_BYTES_MAX {
        return Err(Malformed);
    }
    let end = head + length;
    Ok((end <= bytes.len()).then_some(end))
}

/// A number of four bytes, the first the highest; `None` where they are not there.
pub(super) fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}
