//! From TOML to a checked [`Architecture`], with the line of whatever is wrong.
//!
//! Three passes over a short text: the schema number alone, so that a later schema is named and not taken apart; the
//! types, by serde, which refuses unknown keys; and the contradictions, by [`super::check`]. The third speaks of
//! tables and keys, and a small walk through the spanned document turns such a place back into a line.

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::error::{ArchError, Cause, Place};
use super::suggest::{advice, other_operation};
use super::types::{Architecture, SCHEMA};
use tamis_batches::printable;

/// The longest text that is read; the longest sensible description is a few kilobytes.
const LIMIT_BYTES: usize = 1 << 20;

impl Architecture {
    /// Reads and checks a description. `origin` (a path, usually) starts every message.
    ///
    /// # Errors
    /// [`ArchError`], with the line, for anything that is not TOML of [`SCHEMA`], has an unknown key or value, or
    /// contradicts itself.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ArchError> {
        let origin = on_one_line(origin);
        if text.len() > LIMIT_BYTES {
            return Err(ArchError::TooLong { origin, len_bytes: text.len(), limit_bytes: LIMIT_BYTES });
        }
        check_schema(text, &origin)?;
        let architecture: Self = toml::from_str(text).map_err(|error| syntax(&error, text, &origin))?;
        architecture.check().map_err(|(place, cause)| {
            let line = line_of_place(text, &place);
            ArchError::Contradiction { origin, line, place, cause: Box::new(cause) }
        })?;
        Ok(architecture)
    }

    /// Checks a description that was made or changed in a program; [`Architecture::from_toml`] has done it already.
    ///
    /// # Errors
    /// [`ArchError::Contradiction`], without a line, with the description's name as origin.
    pub fn validate(&self) -> Result<(), ArchError> {
        self.check().map_err(|(place, cause): (Place, Cause)| ArchError::Contradiction {
            origin: format!("description `{}`", printable(&self.name)),
            line: None,
            place,
            cause: Box::new(cause),
        })
    }
}

#[derive(Deserialize)]
struct SchemaOnly {
    schema: Option<i64>,
}

fn check_schema(text: &str, origin: &str) -> Result<(), ArchError> {
    let only: SchemaOnly = toml::from_str(text).map_err(|error| syntax(&error, text, origin))?;
    match only.schema {
        Some(found) if found != i64::from(SCHEMA) => {
            let line = line_of_place(text, &Place::Top("schema")).unwrap_or(1);
            Err(ArchError::Schema { origin: origin.to_owned(), line, found, expected: SCHEMA })
        }
        Some(_) => Ok(()),
        None => Err(ArchError::Contradiction {
            origin: origin.to_owned(),
            line: None,
            place: Place::Top("schema"),
            cause: Box::new(Cause::Missing { why: "start the description with `schema = 1`" }),
        }),
    }
}

/// Serde's message with a line, an unknown word taken out of it and compared with the known ones.
fn syntax(error: &toml::de::Error, text: &str, origin: &str) -> ArchError {
    let origin = origin.to_owned();
    let line = line_of_offset(text, error.span().map_or(0, |span| span.start));
    let message = error.message();
    if let Some((key, known)) = unknown_word(message, "unknown field `") {
        return ArchError::UnknownKey { origin, line, key: printable(key), advice: advice(key, &known) };
    }
    if let Some((value, known)) = unknown_word(message, "unknown variant `") {
        if let Some(known) = other_operation(value, &known) {
            return ArchError::UnsupportedValue { origin, line, value: printable(value), known };
        }
        return ArchError::UnknownValue { origin, line, value: printable(value), advice: advice(value, &known) };
    }
    ArchError::Syntax { origin, line, message: on_one_line(message) }
}

/// Control characters, which could fake or hide lines, become spaces.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// Splits "unknown field `x`, expected one of `a`, `b`".
pub(crate) fn unknown_word<'a>(message: &'a str, opening: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let (word, expected) = message.strip_prefix(opening)?.rsplit_once("`, expected ")?;
    // Between the backticks stand the words, between the words separators.
    Some((word, expected.split('`').skip(1).step_by(2).collect()))
}

/// The line, from 1, of a byte offset.
pub(crate) fn line_of_offset(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&byte| byte == b'\n').count() + 1
}

/// The line of a key, or of the table that lacks it.
fn line_of_place(text: &str, place: &Place) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let top = document.get_ref();
    let offset = match place {
        Place::Top(key) => top.get_key_value(*key).map(|(key, _)| key.span().start),
        Place::Table(table, key) => top.get_key_value(*table).map(|(name, value)| {
            let inner = value.get_ref().as_table().and_then(|table| table.get_key_value(*key));
            inner.map_or(name.span().start, |(key, _)| key.span().start)
        }),
        Place::Layer(index, _, key) => entry_offset(top, "layer", *index, key),
        Place::Tensor(index, _, key) => entry_offset(top, "tensor", *index, key),
    };
    offset.map(|offset| line_of_offset(text, offset))
}

/// The offset of a key in entry `index` of an array of tables, or of the entry.
fn entry_offset(top: &DeTable<'_>, array: &str, index: usize, key: &str) -> Option<usize> {
    let DeValue::Array(entries) = top.get(array)?.get_ref() else { return None };
    let entry = entries.get(index)?;
    let inner = entry.get_ref().as_table().and_then(|table| table.get_key_value(key));
    Some(inner.map_or(entry.span().start, |(key, _)| key.span().start))
}

#[cfg(test)]
mod tests {
    use super::super::error::ArchError;
    use super::super::types::Architecture;
    use super::LIMIT_BYTES;
    use crate::arch::check::tests::SMALL;
    use crate::error_kind::ErrorKind;

    fn message(text: &str) -> String {
        Architecture::from_toml(text, "x.toml").unwrap_err().to_string()
    }

    #[test]
    fn unknown_keys_and_values_come_with_line_and_suggestion() {
        let typo = SMALL.replace("activation = \"screlu\"", "activation = \"screllu\"");
        assert_eq!(message(&typo), "x.toml:9: unknown value `screllu`; did you mean `screlu`?");
        let typo = SMALL.replace("perspectives", "perspektives");
        assert_eq!(message(&typo), "x.toml:5: unknown key `perspektives`; did you mean `perspectives`?");
        let text = SMALL.replace("[[layer]]\nname = \"l1\"", "[[layer]]\nname = \"l1\"\nhue = 1");
        assert!(message(&text).starts_with("x.toml:12: unknown key `hue`; expected one of `name`, `outputs`"));
    }

    #[test]
    fn contradictions_come_with_the_line_of_the_key_or_of_its_table() {
        let text = SMALL.replace("outputs = 64", "outputs = 0");
        assert_eq!(message(&text), "x.toml:8: layer 1 (`l0`), outputs: 0 is outside 1 to 65536");
        let text = SMALL.replace("type = \"i16\"\nscale = 16320\n", "type = \"i16\"\n");
        assert!(message(&text).starts_with("x.toml:25: tensor 4 (`l1b`), scale: is missing"), "{}", message(&text));
    }

    #[test]
    fn another_schema_is_named_before_anything_else() {
        let text = SMALL.replace("schema = 1", "schema = 2\nnovelty = true");
        let error = Architecture::from_toml(&text, "x.toml").unwrap_err();
        assert_eq!(error.to_string(), "x.toml:1: schema 2 is not known, this version reads schema 1");
        assert_eq!(error.class(), ErrorKind::Unsupported);
        assert!(message(&SMALL.replace("schema = 1", "")).contains("schema: is missing"));
    }

    #[test]
    fn what_is_not_toml_is_refused_with_a_line() {
        assert!(message("schema = 1\nname = ").starts_with("x.toml:2: "));
        assert!(message("schema = 1\nschema = 1").starts_with("x.toml:2: "));
        assert!(message(&SMALL.replace("outputs = 64", "outputs = -1")).starts_with("x.toml:8: "));
        assert!(message(&SMALL.replace("outputs = 64", "outputs = 1e3")).starts_with("x.toml:8: "));
    }

    #[test]
    fn hostile_texts_are_refused_quietly() {
        let long = " ".repeat(LIMIT_BYTES + 1);
        assert!(matches!(Architecture::from_toml(&long, "x").unwrap_err(), ArchError::TooLong { .. }));
        let _ = message(&format!("schema = 1\nname = {}", "[".repeat(100_000)));
        let _ = message(&format!("schema = 1\n{} = 1", vec!["a"; 50_000].join(".")));
        let _ = message(&format!("{} = 1", vec!["a"; LIMIT_BYTES / 2 - 2].join(".")));
        let _ = message(&format!("[{}]", vec!["a"; LIMIT_BYTES / 2 - 2].join(".")));
        let _ = message(&"\u{0}".repeat(100));
        let _ = message(&format!("schema = 1\n\"{}\" = 1", "`, expected ".repeat(50)));
    }

    #[test]
    fn every_beginning_and_every_missing_line_is_read_or_refused() {
        for end in 0..SMALL.len() {
            let _ = Architecture::from_toml(&SMALL[..end], "x");
        }
        let lines: Vec<&str> = SMALL.lines().collect();
        for missing in 0..lines.len() {
            let _ = Architecture::from_toml(&[&lines[..missing], &lines[missing + 1..]].concat().join("\n"), "x");
        }
    }

    #[test]
    fn validate_speaks_of_the_name() {
        let mut architecture = Architecture::from_toml(SMALL, "x.toml").unwrap();
        architecture.validate().unwrap();
        architecture.output.scale = 0;
        let message = architecture.validate().unwrap_err().to_string();
        assert_eq!(message, "description `small`: output.scale: 0 is outside 1 to 2147483647");
    }
}
