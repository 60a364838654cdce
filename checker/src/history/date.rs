//! A date and time in the notation of RFC 3339 → nanoseconds since 1970.
//!
//! For: the times of application logs. Not for: calendars, time zones by name, or what time it is.

const NANOS: u64 = 1_000_000_000;

/// `2026-01-31T23:59:59.123456789Z`, with a blank for the `T` and a comma for the point where the
/// writer likes them better. `None`: it is no such time, or one before 1970.
pub(super) fn nanos_since_1970(text: &str) -> Option<u64> {
    let mut rest = text.as_bytes();
    let year = number(&mut rest, 4)?;
    let month = sign(&mut rest, b"-").and_then(|()| number(&mut rest, 2))?;
    let day = sign(&mut rest, b"-").and_then(|()| number(&mut rest, 2))?;
    let hour = sign(&mut rest, b"Tt ").and_then(|()| number(&mut rest, 2))?;
    let minute = sign(&mut rest, b":").and_then(|()| number(&mut rest, 2))?;
    let second = sign(&mut rest, b":").and_then(|()| number(&mut rest, 2))?;
    let is_date = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    // A leap second is the 60th; it ends where the next minute begins.
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let nanos = match sign(&mut rest, b".,") {
        Some(()) => fraction(&mut rest)?,
        None => 0,
    };
    let offset = offset(rest)?;
    let seconds = days_since_1970(year, month, day) * 86_400
        + (hour * 3600 + minute * 60 + second).cast_signed()
        - offset;
    let seconds = u64::try_from(seconds).ok()?;
    seconds.checked_mul(NANOS)?.checked_add(nanos)
}

/// Passes over one of `signs`.
fn sign(rest: &mut &[u8], signs: &[u8]) -> Option<()> {
    let (first, after) = rest.split_first()?;
    if !signs.contains(first) {
        return None;
    }
    *rest = after;
    Some(())
}

/// A number of so many digits.
fn number(rest: &mut &[u8], digits: usize) -> Option<u64> {
    let (text, after) = rest.split_at_checked(digits)?;
    *rest = after;
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The digits behind the point, as nanoseconds; what is finer is cut off.
fn fraction(rest: &mut &[u8]) -> Option<u64> {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (text, after) = rest.split_at(digits);
    *rest = after;
    let value = |nanos: u64, digit: &u8| nanos * 10 + u64::from(digit - b'0');
    let nanos = text.iter().take(9).fold(0, value);
    let missing = 9_u32.saturating_sub(digits as u32);
    (digits > 0).then(|| nanos * 10_u64.pow(missing))
}

/// Reads the number of seconds by which local time is ahead; nothing may follow.
fn offset(mut rest: &[u8]) -> Option<i64> {
    let ahead = match rest.split_first()? {
        (b'Z' | b'z', []) => return Some(0),
        (b'+', _) => 1,
        (b'-', _) => -1,
        _ => return None,
    };
    rest = &rest[1..];
    let hours = number(&mut rest, 2)?;
    let minutes = sign(&mut rest, b":").and_then(|()| number(&mut rest, 2))?;
    let is_offset = rest.is_empty() && hours < 24 && minutes < 60;
    is_offset.then(|| ahead * (hours * 3600 + minutes * 60).cast_signed())
}

fn days_of(year: u64, month: u64) -> u64 {
    match month {
        2 if year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1 January 1970, negative before it, in the calendar of today.
fn days_since_1970(year: u64, month: u64, day: u64) -> i64 {
    let before = |year: u64| year * 365 + year / 4 - year / 100 + year / 400;
    // The leap days of a year come after its February: years are counted up to the one before.
    let years = if year == 0 { 0 } else { before(year - 1) + 365 };
    let months: u64 = (1..month).map(|month| days_of(year, month)).sum();
    // Days from 1 January of the year 0, which has a leap day that `before` leaves out.
    let leap = u64::from(year > 0);
    (years + leap + months + day - 1).cast_signed() - 719_528
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_as_everybody_counts_them() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1972-02-29T00:00:00Z", 68_169_600),
            ("1999-12-31T23:59:60Z", 946_684_800),
            ("2000-03-01T00:00:00Z", 951_868_800),
            ("2026-01-01T00:00:00Z", 1_767_225_600),
            ("2026-01-01 01:00:00+01:00", 1_767_225_600),
            ("2025-12-31t19:30:00-04:30", 1_767_225_600),
            ("2100-03-01T00:00:00z", 4_107_542_400),
        ] {
            assert_eq!(nanos_since_1970(text), Some(seconds * NANOS), "{text}");
        }
        let fine = "2026-01-01T00:00:00.000001Z";
        let first = 1_767_225_600 * NANOS;
        assert_eq!(nanos_since_1970(fine), Some(first + 1000));
        let finest = "2026-01-01T00:00:00,1234567899Z";
        assert_eq!(nanos_since_1970(finest), Some(first + 123_456_789));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+25:00",
            "2026-01-01T00:00:00Zulu",
            "1969-12-31T23:59:59Z",
            "9999-01-01T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:0é",
        ] {
            assert_eq!(nanos_since_1970(text), None, "{text}");
        }
    }
}
