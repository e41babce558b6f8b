//! What an id and a date look like. Neither is needed, so that a bad one is a warning.

/// 8-4-4-4-12 hexadecimal digits.
pub(super) fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').take(6).collect();
    let lengths = groups.iter().map(|group| group.len());
    lengths.eq([8, 4, 4, 4, 12]) && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `2024-01-15T10:30:00Z`, with or without fractions of a second, in any zone.
pub(super) fn is_rfc3339(text: &str) -> bool {
    date_and_time(text.as_bytes()).is_some_and(is_zone)
}

/// What stands behind the seconds and their fraction.
fn date_and_time(text: &[u8]) -> Option<&[u8]> {
    let (year, rest) = number(text, 4, 0..=9999)?;
    let (month, rest) = number(rest.strip_prefix(b"-")?, 2, 1..=12)?;
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let (_, rest) = number(rest.strip_prefix(b"-")?, 2, 1..=days)?;
    let (separator, rest) = rest.split_first()?;
    let (_, rest) = number(matches!(separator, b'T' | b't' | b' ').then_some(rest)?, 2, 0..=23)?;
    let (_, rest) = number(rest.strip_prefix(b":")?, 2, 0..=59)?;
    // 60 is a leap second.
    let (_, rest) = number(rest.strip_prefix(b":")?, 2, 0..=60)?;
    let Some(fraction) = rest.strip_prefix(b".") else { return Some(rest) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| &fraction[digits..])
}

fn is_zone(text: &[u8]) -> bool {
    let offset = |text| {
        let (_, rest) = number(text, 2, 0..=23)?;
        let (_, rest) = number(rest.strip_prefix(b":")?, 2, 0..=59)?;
        Some(rest.is_empty())
    };
    match text.split_first() {
        Some((b'Z' | b'z', rest)) => rest.is_empty(),
        Some((b'+' | b'-', rest)) => offset(rest).unwrap_or(false),
        _ => false,
    }
}

/// A number of exactly so many digits.
fn number(text: &[u8], digits: usize, range: std::ops::RangeInclusive<u32>) -> Option<(u32, &[u8])> {
    let (head, rest) = text.split_at_checked(digits)?;
    let all_digits = head.iter().all(u8::is_ascii_digit);
    let value = head.iter().fold(0, |value, digit| 10 * value + u32::from(digit.wrapping_sub(b'0')));
    (all_digits && range.contains(&value)).then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::{is_rfc3339, is_uuid};

    #[test]
    fn ids() {
        assert!(is_uuid("75d06f5b-5a18-4b1f-bdd1-55ccbaa34cc2"));
        for bad in ["", "not-a-uuid", "75d06f5b-5a18-4b1f-bdd1-55ccbaa34cc", "75d06f5g-5a18-4b1f-bdd1-55ccbaa34cc2"] {
            assert!(!is_uuid(bad), "{bad}");
        }
        assert!(!is_uuid("75d06f5b-5a18-4b1f-bdd1-55ccbaa34cc2-"));
    }

    #[test]
    fn dates() {
        for good in ["2024-01-15T10:30:00Z", "2026-11-21T01:09:49.889078443Z", "2024-02-29 23:59:60+05:30"] {
            assert!(is_rfc3339(good), "{good}");
        }
        for bad in [
            "",
            "yesterday",
            "2024-01-15",
            "2024-01-15T10:30:00",
            "2023-02-29T10:30:00Z",
            "2024-13-01T10:30:00Z",
            "2024-01-15T24:30:00Z",
            "2024-01-15T10:30:00.Z",
            "2024-01-15T10:30:00Zx",
            "2024-01-15T10:30:00+5",
            "२०२४-01-15T10:30:00Z",
        ] {
            assert!(!is_rfc3339(bad), "{bad}");
        }
    }
}
