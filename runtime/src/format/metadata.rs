//! The metadata section: names, description, provenance. Nothing in it is needed to run the network, so firmware
//! never decodes it; host tools always do.
//!
//! It is postcard, and canonical: decoding and encoding again must give the same bytes, so that one network has one
//! file.

use super::ParseError;
use serde::{Deserialize, Serialize};

/// What the file says to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Metadata<'a> {
    /// Name of the network.
    pub name: &'a str,
    /// The architecture description, canonical TOML.
    pub description: &'a str,
    /// Names of the tensors, in the order of their records, a line each.
    pub tensor_names: &'a str,
    /// What was quantised: `raw.bin`, `weights.bin`, `quantised.bin`.
    pub source: &'a str,
    /// FNV-1a (64 bits) of the bytes that were quantised.
    pub source_hash: u64,
    /// The bare file's header, kept so that the container can be turned back.
    pub bare_header: &'a [u8],
}

impl<'a> Metadata<'a> {
    /// Decodes and checks that the encoding is canonical.
    ///
    /// # Errors
    /// [`ParseError::Metadata`], with `offset_bytes` as the place.
    pub(super) fn decode(bytes: &'a [u8], offset_bytes: usize) -> Result<Self, ParseError> {
        let fault = |problem| ParseError::Metadata { offset_bytes, problem };
        let (metadata, rest) = postcard::take_from_bytes::<Self>(bytes)
            .map_err(|_| fault("is not valid postcard; pack the network again"))?;
        if !rest.is_empty() {
            return Err(fault("has bytes behind its end; pack the network again"));
        }
        let compare = Compare { expected: bytes };
        match postcard::serialize_with_flavor(&metadata, compare) {
            Ok(true) => Ok(metadata),
            _ => Err(fault("is not in canonical postcard; pack the network again")),
        }
    }
}

/// A postcard output that compares instead of storing: canonical means that every byte matches and none is left.
struct Compare<'a> {
    expected: &'a [u8],
}

impl postcard::ser_flavors::Flavor for Compare<'_> {
    type Output = bool;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        match self.expected.split_first() {
            Some((first, rest)) if *first == byte => {
                self.expected = rest;
                Ok(())
            }
            _ => Err(postcard::Error::SerializeBufferFull),
        }
    }

    fn finalize(self) -> postcard::Result<bool> {
        Ok(self.expected.is_empty())
    }
}
