//! JSON of unknown origin: how deep it may nest, that objects are objects, and where a fault is.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// How deep objects and arrays may nest. Checkpoints need five levels.
const MAX_DEPTH: usize = 64;

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(super) struct JsonFault {
    /// From the start of the text; behind a value that is not what was expected.
    pub(super) offset: usize,
    /// In words, without the place.
    pub(super) why: String,
}

/// Reads an object. Keys that `T` does not have are passed over; one that it has and that comes twice is a fault.
pub(super) fn parse_object<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, JsonFault> {
    check_depth(text)?;
    let object: Object<T> = serde_json::from_slice(text).map_err(|error| {
        let offset = offset_of(text, error.line(), error.column());
        JsonFault { offset, why: without_place(&error.to_string()).to_owned() }
    })?;
    Ok(object.0)
}

/// A message of `serde_json` without the line and column behind it.
pub(super) fn without_place(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(why, _)| why)
}

/// A `T` that was an object in the text; by itself a struct would take an array, too, by position.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// The first key of an object, if `start`, the first bytes of a text, holds it whole.
pub(super) fn first_key(start: &[u8]) -> Option<&str> {
    let inside = start.trim_ascii_start().strip_prefix(b"{")?;
    let key = inside.trim_ascii_start().strip_prefix(b"\"")?;
    let len = key.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&key[..len]).ok()
}

/// One pass without recursion; what is no JSON at all is left to the parser.
fn check_depth(text: &[u8]) -> Result<(), JsonFault> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (offset, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(JsonFault { offset, why: format!("nested deeper than {MAX_DEPTH} levels") });
        }
    }
    Ok(())
}

/// The offset of a place that is given as line and column, both from 1.
fn offset_of(text: &[u8], line: usize, column: usize) -> usize {
    let lines = text.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1));
    let before: usize = lines.map(<[u8]>::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::{first_key, parse_object};
    use serde::Deserialize;

    #[derive(Deserialize, Debug)]
    struct Pair {
        a: u8,
        #[serde(default)]
        b: u8,
    }

    fn fault(text: &str) -> (usize, String) {
        let fault = parse_object::<Pair>(text.as_bytes()).map(|pair| pair.a + pair.b).unwrap_err();
        (fault.offset, fault.why)
    }

    #[test]
    fn faults_have_a_place() {
        assert_eq!(parse_object::<Pair>(br#"{"a":1,"b":2,"c":[{}]}"#).map(|pair| pair.b).unwrap(), 2);
        assert_eq!(fault("{\"a\":1,\n\"a\":2}"), (10, "duplicate field `a`".to_owned()));
        assert_eq!(fault("[1, 2]"), (0, "invalid type: sequence, expected an object".to_owned()));
        assert_eq!(fault("{\"a\":1} x").0, 8);
        assert!(fault("{\"a\":").1.contains("EOF"));
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        let nested = |depth: usize| format!("{{\"a\":1,\"c\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        assert!(parse_object::<Pair>(nested(64).as_bytes()).is_ok());
        let (offset, why) = fault(&nested(65));
        assert_eq!((offset, why.as_str()), (11 + 63, "nested deeper than 64 levels"));
        let quoted = format!("{{\"a\":1,\"c\":\"\\\"{}\"}}", "[".repeat(100));
        assert!(parse_object::<Pair>(quoted.as_bytes()).is_ok());
        assert!(fault(&"[".repeat(1_000_000)).1.contains("nested"), "no recursion");
    }

    #[test]
    fn first_keys() {
        assert_eq!(first_key(b" {\n \"layers\": ["), Some("layers"));
        assert_eq!((first_key(b"{\"lay"), first_key(b"[\"a\"]"), first_key(b"")), (None, None, None));
    }
}
