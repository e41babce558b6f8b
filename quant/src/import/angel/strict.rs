//! JSON that says everything once and is not deep: looked at before anything is read from it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::error::AngelError;

/// The deepest nesting; `_meta` needs 5, `graph.json` 5.
const MAX_DEPTH: usize = 16;

/// `bytes` as JSON for a `T`, after a look that it has no key twice in one object and is not nested deeper than
/// [`MAX_DEPTH`]. `first` is the offset of `bytes` in `file`, for messages.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8], file: &'static str, first: usize) -> Result<T, AngelError> {
    let json = |why: String| AngelError::Json { file, why };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| json(format!("byte {} is not UTF-8; is the file damaged?", first + error.valid_up_to())))?;
    let reason = |error: serde_json::Error| {
        let behind = if first == 0 { String::new() } else { format!(" of the JSON that begins at byte {first}") };
        json(format!("{error}{behind}; was the file cut or edited?"))
    };
    let mut look = serde_json::Deserializer::from_str(text);
    Look { depth: MAX_DEPTH }.deserialize(&mut look).map_err(reason)?;
    look.end().map_err(reason)?;
    serde_json::from_str(text).map_err(reason)
}

/// Visits everything and keeps only the keys of the objects that are open.
#[derive(Clone, Copy)]
struct Look {
    /// How many levels more are allowed.
    depth: usize,
}

impl Look {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        depth.map(|depth| Self { depth }).ok_or_else(|| E::custom(format!("nested deeper than {MAX_DEPTH} levels")))
    }
}

impl<'de> DeserializeSeed<'de> for Look {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let deeper = self.deeper()?;
        while list.next_element_seed(deeper)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let deeper = self.deeper()?;
        let mut keys: HashSet<Cow<'de, str>> = HashSet::new();
        while let Some(key) = map.next_key_seed(Key)? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format!("`{}` is there twice", super::shown(key.as_bytes()))));
            }
            keys.insert(key);
            map.next_value_seed(deeper)?;
        }
        Ok(())
    }
}

/// A key, borrowed from the text where it has no escapes.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use serde::de::IgnoredAny;

    #[test]
    fn keys_come_once_and_nesting_ends() {
        let look = |text: &str| parse::<IgnoredAny>(text.as_bytes(), "_meta", 4).map(drop).map_err(|e| e.to_string());
        assert_eq!(look(r#"{"a": [1, -2, 3.5, "x", true, null, {"a": {}}], "b": {"a": 1}}"#), Ok(()));
        let twice = look(r#"{"x": {"a": 1, "\u0061": 2}}"#).unwrap_err();
        assert!(twice.contains("`a` is there twice at line 1 column 23 of the JSON that begins at byte 4"), "{twice}");
        assert_eq!(look(&format!("{}{}", "[".repeat(16), "]".repeat(16))), Ok(()));
        let deep = look(&"[".repeat(100_000)).unwrap_err();
        assert!(deep.contains("nested deeper than 16 levels"), "{deep}");
        assert!(look("{} x").unwrap_err().contains("trailing characters"));
        assert!(parse::<IgnoredAny>(b"\"\xff", "_meta", 4).unwrap_err().to_string().contains("byte 5 is not UTF-8"));
    }
}
