//! Bytes that are read one behind the other.

use super::error::NnueError;
use super::file_part::Place;

/// Where reading has come to.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn offset_bytes(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next so many bytes.
    pub(super) fn take(&mut self, needed: usize, place: Place) -> Result<&'a [u8], NnueError> {
        let rest = self.rest();
        match rest.get(..needed) {
            Some(bytes) => {
                self.at += needed;
                Ok(bytes)
            }
            None => Err(NnueError::CutOff { place, offset_bytes: self.at, needed, left: rest.len() }),
        }
    }

    pub(super) fn u32(&mut self, place: Place) -> Result<u32, NnueError> {
        let bytes = self.take(4, place)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}
