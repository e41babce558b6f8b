//! What is wrong with a file, as the checker notes it, and the error that is made of that.

use super::rules::{SUM_HIGH, SUM_LOW};
use super::{Checker, Kind, Refused};
use crate::features::TELLS_MAPS;
use crate::format::{ParseError, VERSION, Words};
use core::cell::Cell;

/// What an error is made of, apart from the checker's index.
#[derive(Clone, Copy)]
pub(super) struct Refusal {
    words: Words,
    found: u32,
    kind: Kind,
}

impl Refusal {
    pub fn none() -> Cell<Self> {
        Cell::new(Self { words: Words::new("", ""), found: 0, kind: Kind::Field })
    }
}

impl Checker<'_> {
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(&self, words: Words, found: u32, kind: Kind) -> Refused {
        self.refusal.set(Refusal { words, found, kind });
        Refused(())
    }

    #[cold]
    #[inline(never)]
    pub(super) fn error(&self, file: &[u8]) -> ParseError {
        let Refusal { words, found, kind } = self.refusal.get();
        let ([place, expected], index) = (words.texts(), self.index.get());
        let feature = |feature| ParseError::Feature { place, index, found: found.into(), feature };
        match kind {
            Kind::Convolutions if TELLS_MAPS => feature("convolutions"),
            Kind::Maps if TELLS_MAPS => feature("maps"),
            Kind::Field | Kind::Convolutions | Kind::Maps => {
                ParseError::Field { place, index, found: found.into(), expected }
            }
            Kind::Accumulators => feature("accumulators"),
            Kind::Reals => feature("reals"),
            Kind::General => feature("general"),
            Kind::Padding => ParseError::Padding { offset_bytes: index, found: found as u8 },
            Kind::ByteOrder => ParseError::ByteOrder { found },
            Kind::Version => ParseError::Version { found, expected: VERSION },
            Kind::RequiredFlags => ParseError::RequiredFlags { found },
            Kind::Length => ParseError::Length { found: file.len(), expected: found as usize },
            Kind::Checksum => {
                let half = |which| u64::from(self.left(which));
                ParseError::Checksum {
                    found: half(SUM_LOW) | half(SUM_HIGH) << 32,
                    expected: self.model.header().checksum(),
                }
            }
        }
    }
}
