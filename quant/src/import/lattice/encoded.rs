//! Bytes in JSON: an array of 0 to 255, as the crate writes them, or base64, as its documentation shows them.
//!
//! An array becomes bytes while it is read, a string stays a part of the file until it is decoded, so that no more
//! memory is taken than the bytes themselves have.

use base64::alphabet;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

use super::error::LatticeError;
use crate::import::bounded_json::without_place;
use crate::import::chain::MAX_PARAMETERS;

/// The most bytes of weights.
const MAX_LEN_BYTES: usize = 4 * MAX_PARAMETERS;

/// What stands under `weights`.
#[derive(Debug)]
pub(super) enum Encoded<'a> {
    Bytes(Vec<u8>),
    Base64(Cow<'a, str>),
}

/// Of `optimizer_state` only the number of bytes.
#[derive(Debug, Default)]
pub(super) struct Count(pub(super) usize);

impl Encoded<'_> {
    /// The bytes, at most [`MAX_LEN_BYTES`].
    pub(super) fn bytes(self) -> Result<Vec<u8>, LatticeError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Base64(text) => decode(&text),
        }
    }
}

pub(super) fn weights<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Encoded<'de>, D::Error> {
    deserializer.deserialize_any(WeightsVisitor)
}

pub(super) fn optimizer_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
    deserializer.deserialize_any(CountVisitor)
}

struct WeightsVisitor;

impl<'de> Visitor<'de> for WeightsVisitor {
    type Value = Encoded<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`weights` as an array of bytes or as base64")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Encoded::Base64(Cow::Borrowed(text)))
    }

    /// A text with escapes.
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Encoded::Base64(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = next_byte(&mut list, "weights", bytes.len())? {
            if bytes.len() == MAX_LEN_BYTES {
                return Err(A::Error::custom(format_args!("`weights` has more than {MAX_LEN_BYTES} bytes")));
            }
            bytes.push(byte);
        }
        Ok(Encoded::Bytes(bytes))
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`optimizer_state` as an array of bytes or as base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        // Four letters hold three bytes, three letters two, two letters one.
        Ok(Count(text.trim_end_matches('=').len() * 3 / 4))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut count = 0;
        while next_byte(&mut list, "optimizer_state", count)?.is_some() {
            count += 1;
        }
        Ok(Count(count))
    }
}

fn next_byte<'de, A: SeqAccess<'de>>(list: &mut A, what: &str, index: usize) -> Result<Option<u8>, A::Error> {
    list.next_element().map_err(|error| {
        let text = error.to_string();
        let why = without_place(&text);
        // Faults of the text itself come from the parser as they are; faults of a value get their place in the list.
        if why.starts_with("invalid") {
            A::Error::custom(format_args!("element {index} of `{what}`, which is a list of bytes, 0 to 255: {why}"))
        } else {
            error
        }
    })
}

/// Standard or URL-safe letters, padded or not; bits behind the last byte have to be 0.
fn decode(text: &str) -> Result<Vec<u8>, LatticeError> {
    if text.len() / 4 * 3 > MAX_LEN_BYTES {
        let why = format!("more than {MAX_LEN_BYTES} bytes");
        return Err(LatticeError::Base64 { index: 0, why });
    }
    let is_url_safe = text.contains(['-', '_']);
    let padding =
        if text.ends_with('=') { DecodePaddingMode::RequireCanonical } else { DecodePaddingMode::RequireNone };
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(padding).with_decode_allow_trailing_bits(false);
    let letters = if is_url_safe { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    GeneralPurpose::new(letters, config).decode(text).map_err(|error| {
        use base64::DecodeError::{InvalidByte, InvalidLastSymbol, InvalidLength, InvalidPadding};
        let (index, why) = match error {
            InvalidByte(index, b'=') => (index, "padding that does not belong there".to_owned()),
            InvalidByte(index, byte) => (index, format!("`{}` is no letter of base64", byte.escape_ascii())),
            InvalidLength(len) => (len, "a letter too many or too few".to_owned()),
            InvalidLastSymbol(index, letter) => {
                (index, format!("the last letter `{}` has bits behind the last byte", letter.escape_ascii()))
            }
            InvalidPadding => (text.len(), "the padding is not what its length needs".to_owned()),
        };
        LatticeError::Base64 { index, why }
    })
}
