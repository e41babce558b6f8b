//! What stands between tokens, and text of a file in a message.

/// Text longer than this is cut.
const LONGEST: usize = 64;

/// Text of a file for a message: escaped as in Rust, and cut behind 64 characters.
pub fn printable(text: &str) -> String {
    let mut out: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

/// Whether a byte stands between tokens: ASCII white space as C has it, no other.
pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0B | 0x0C | b'\r')
}

/// The tokens of a line: what stands between blanks. No-break spaces and other blanks beyond ASCII are part of tokens.
///
/// ```
/// use tamis_batches::tokens;
/// assert_eq!(tokens(" a  b\tc\u{a0}d ").collect::<Vec<_>>(), ["a", "b", "c\u{a0}d"]);
/// ```
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_ascii() && is_blank(c as u8)).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn hostile_text_is_cut_and_escaped() {
        assert_eq!(printable("a\u{1b}[31m"), "a\\u{1b}[31m");
        assert_eq!(printable(&"é".repeat(65)).chars().count(), 65);
    }
}
