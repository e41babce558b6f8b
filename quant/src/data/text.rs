//! Rows of text: a label and features, with values or without.

use super::error::DataError;
use super::inputs::{Inputs, Rows};
use tamis_batches::printable;

/// libsvm or dummy, as the first line with a feature says.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// `id:value`
    Libsvm,
    /// `id`
    Dummy,
}

/// At most `limit` rows; lines that are empty or start with `#`, and what follows a `#`, are passed over.
pub(super) fn read_rows(bytes: &[u8], limit: usize) -> Result<Inputs, DataError> {
    let text = as_text(bytes)?;
    let mut form = None;
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for (line, words) in lines(text) {
        if rows.len() == limit {
            break;
        }
        let wrong = |why: String| DataError::Line { line, why };
        let mut words = words.split_ascii_whitespace();
        let Some(label) = words.next() else { continue };
        let number = label.parse().ok().filter(|label: &f64| label.is_finite());
        if number.is_none() && rows.is_empty() {
            return Err(not_recognised(bytes));
        }
        labels.push(number.ok_or_else(|| wrong(format!("`{}` is no label; expected a number", printable(label))))?);
        let mut features: Vec<(u32, f64)> = Vec::new();
        for word in words {
            let found = if word.contains(':') { Form::Libsvm } else { Form::Dummy };
            let expected = *form.get_or_insert(found);
            if found != expected {
                let expected = if expected == Form::Libsvm { "id:value" } else { "id" };
                return Err(wrong(format!("`{}` in a file of `{expected}`", printable(word))));
            }
            features.push(feature(word).ok_or_else(|| {
                wrong(format!("`{}` is no feature; expected id:value or id, ids 0 to {}", printable(word), u32::MAX))
            })?);
        }
        features.sort_by_key(|(feature, _)| *feature);
        if let Some(pair) = features.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(wrong(format!("feature {} is there twice", pair[0].0)));
        }
        rows.push((line, features));
    }
    Ok(Inputs { rows: Rows::Features(rows), labels: Some(labels), outputs: None, array: None })
}

/// A number a line.
pub(super) fn read_numbers(bytes: &[u8]) -> Result<Vec<f64>, DataError> {
    let number = |(line, word): (usize, &str)| {
        let number = word.trim().parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| DataError::Line {
            line,
            why: format!("`{}` is no label; expected a number", printable(word)),
        })
    };
    lines(as_text(bytes)?).map(number).collect()
}

fn feature(word: &str) -> Option<(u32, f64)> {
    let (id, value) = word.split_once(':').unwrap_or((word, "1"));
    let value: f64 = value.parse().ok()?;
    // A sign would hide that ids count from 0.
    let is_plain = id.bytes().all(|digit| digit.is_ascii_digit());
    (is_plain && value.is_finite()).then_some((id.parse().ok()?, value))
}

/// Lines with something on them, from 1, without remarks.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.lines());
    let without_remark = numbered.map(|(line, words)| (line, words.split_once('#').map_or(words, |(words, _)| words)));
    without_remark.filter(|(_, words)| !words.trim().is_empty())
}

fn as_text(bytes: &[u8]) -> Result<&str, DataError> {
    let text = std::str::from_utf8(bytes).map_err(|_| not_recognised(bytes))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn not_recognised(bytes: &[u8]) -> DataError {
    let start = &bytes[..bytes.len().min(16)];
    DataError::NotRecognised { start: format!("\"{}\"", start.escape_ascii()) }
}
