//! Text of a file in a message.

/// Text longer than this is cut.
const LONGEST: usize = 64;

/// Made safe to print: escaped, and cut when long.
pub(crate) fn printable(text: &str) -> String {
    let mut out: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}
