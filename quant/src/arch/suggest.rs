//! "Did you mean": the nearest of a few known words.

/// Words longer than this are not compared; no key of a description comes near.
const LONGEST: usize = 64;

/// "did you mean `x`?" for a near word, else "expected one of …".
pub(crate) fn advice<S: AsRef<str>>(found: &str, known: &[S]) -> String {
    if let Some(near) = nearest(found, known) {
        return format!("did you mean `{near}`?");
    }
    let list: Vec<String> = known.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    match list.len() {
        0 => "there are none here".to_owned(),
        1 => format!("expected {}", list[0]),
        _ => format!("expected one of {}", list.join(", ")),
    }
}

/// Text from a file, made safe to print: escaped, and cut when long.
pub(crate) fn printable(text: &str) -> String {
    let mut out: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

/// The known word with the fewest edits, if a third of the letters or fewer (at least one, two from four on) differ.
fn nearest<'a, S: AsRef<str>>(found: &str, known: &'a [S]) -> Option<&'a str> {
    if found.len() > LONGEST {
        return None;
    }
    let (distance, word) = known
        .iter()
        .map(|word| (distance(found.as_bytes(), word.as_ref().as_bytes()), word.as_ref()))
        .min_by_key(|&(distance, _)| distance)?;
    let allowed = match word.len() {
        0..=3 => 1,
        4..=8 => 2,
        longer => longer / 3,
    };
    (distance <= allowed).then_some(word)
}

/// Levenshtein's distance, a row at a time.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{advice, distance, printable};

    #[test]
    fn distances_are_levenshtein() {
        for (a, b, expected) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("scale", "scales", 1)] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
            assert_eq!(distance(b.as_bytes(), a.as_bytes()), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_near_words_are_suggested() {
        assert_eq!(advice("mirorred", &["kind", "mirrored"]), "did you mean `mirrored`?");
        assert_eq!(advice("colour", &["kind", "mirrored"]), "expected one of `kind`, `mirrored`");
        assert_eq!(advice("x", &["kind"]), "expected `kind`");
        assert_eq!(advice::<&str>("x", &[]), "there are none here");
        assert_eq!(advice(&"k".repeat(100_000), &["kind"]), "expected `kind`");
    }

    #[test]
    fn hostile_text_is_cut_and_escaped() {
        assert_eq!(printable("a\u{1b}[31m"), "a\\u{1b}[31m");
        assert_eq!(printable(&"é".repeat(65)).chars().count(), 65);
    }
}
