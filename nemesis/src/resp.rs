//! The Redis serialization protocol as far as it takes to tell one message from the next.
//!
//! For: where a message ends, and the words of a request. Not for: the values in replies, which
//! clients read.
//!
//! Source: the Redis serialization protocol, versions 2 and 3.

/// A message of more bytes is none that a lock sends or asks for.
pub const FRAME_BYTES_MAX: usize = 64 << 20;

/// Bytes that are no message.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

/// Where the first message of `bytes` ends, if all of it is there.
///
/// # Errors
/// [`Malformed`] as soon as the bytes can be none.
pub fn end_of_frame(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let mut at = 0;
    // How many values are still to come: the one, and what is inside of it.
    let mut missing: usize = 1;
    while missing > 0 {
        if bytes.get(at).is_some_and(|kind| !KINDS.contains(kind)) {
            return Err(Malformed);
        }
        let Some(line) = line_at(bytes, at) else {
            return Ok(None);
        };
        let (kind, rest) = line.split_first().ok_or(Malformed)?;
        at += line.len() + 2;
        missing -= 1;
        match kind {
            b'$' | b'=' | b'!' => {
                if let Some(length) = count(rest)? {
                    at = at.checked_add(length + 2).ok_or(Malformed)?;
                }
            }
            b'*' | b'~' | b'>' => missing += count(rest)?.unwrap_or(0),
            b'%' => missing += 2 * count(rest)?.unwrap_or(0),
            // An attribute stands before the value that it is of.
            b'|' => missing += 2 * count(rest)?.unwrap_or(0) + 1,
            _ => {}
        }
    }
    Ok((at <= bytes.len()).then_some(at))
}

/// The first byte of every value.
const KINDS: &[u8] = b"+-:_,#($=!*~>%|";

/// A line without its end, if all of it is there.
pub fn line_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let end = rest.windows(2).position(|two| two == b"\r\n")?;
    Some(&rest[..end])
}

/// A length; `None` stands for no value at all.
///
/// # Errors
/// [`Malformed`] for what is no number, or too great a one.
pub fn count(digits: &[u8]) -> Result<Option<usize>, Malformed> {
    if digits == b"-1" {
        return Ok(None);
    }
    let text = std::str::from_utf8(digits).map_err(|_| Malformed)?;
    let count = text.parse().ok().filter(|&count| count <= FRAME_BYTES_MAX);
    count.map(Some).ok_or(Malformed)
}

/// The string at `at`, and where it ends.
pub fn bulk_at(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let line = line_at(bytes, at)?;
    let length = count(line.strip_prefix(b"$")?).ok()??;
    let start = at + line.len() + 2;
    let text = bytes.get(start..start + length)?;
    Some((text, start + length + 2))
}

/// The first word of a request, in capitals; `None` for what is no request.
pub(crate) fn command(request: &[u8]) -> Option<String> {
    let head = line_at(request, 0).filter(|head| head.first() == Some(&b'*'))?;
    let (word, _) = bulk_at(request, head.len() + 2)?;
    let word = std::str::from_utf8(word).ok()?;
    Some(word.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_known_by_its_first_byte() {
        assert_eq!(end_of_frame(b"RCmb and more"), Err(Malformed));
        assert_eq!(end_of_frame(b"*2\r\nPING"), Err(Malformed));
        assert_eq!(end_of_frame(b"*1\r\n"), Ok(None));
        assert_eq!(end_of_frame(b""), Ok(None));
    }

    #[test]
    fn the_command_of_a_request_is_its_first_word() {
        let request = b"*2\r\n$3\r\ndel\r\n$4\r\nlock\r\n";
        assert_eq!(command(request).as_deref(), Some("DEL"));
        assert_eq!(command(b"PING\r\n"), None);
        assert_eq!(command(b"*0\r\n"), None);
    }
}
