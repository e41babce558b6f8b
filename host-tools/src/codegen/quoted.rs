//! Foreign text inside Rust: what a file says or is called must not become code.

/// The longest text that a comment shows.
const LIMIT_CHARS: usize = 60;

/// As a string literal. Everything that does not print is escaped.
pub fn literal(text: &str) -> String {
    format!("\"{}\"", text.escape_debug())
}

/// As code within a doc comment: on one line, and shut in by more backticks than it holds.
pub fn code(text: &str) -> String {
    let mut shown: String = text.escape_debug().take(LIMIT_CHARS).collect();
    if text.escape_debug().count() > LIMIT_CHARS {
        shown.push('…');
    }
    let longest = shown.split(|other| other != '`').map(str::len).fold(0, usize::max);
    let fence = "`".repeat(longest + 1);
    match longest {
        0 if shown.trim().is_empty() => "without a name".to_owned(),
        0 => format!("{fence}{shown}{fence}"),
        // A blank keeps the fence apart from a backtick at either end.
        _ => format!("{fence} {shown} {fence}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{code, literal};

    #[test]
    fn no_text_leaves_its_quotes() {
        assert_eq!(literal("a\"b\\c\nd"), r#""a\"b\\c\nd""#);
        assert_eq!(literal("\u{202e}é"), "\"\\u{202e}é\"");
        assert_eq!(code("a\n//! b"), "`a\\n//! b`");
        assert_eq!(code("``x`"), "``` ``x` ```");
        assert_eq!(code(""), "without a name");
        assert_eq!(code(&"x".repeat(200)).chars().count(), 63);
    }
}
