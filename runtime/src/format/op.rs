//! Codes of [`OpRecord::kind`](crate::raw::OpRecord::kind), and numbers of single kinds.

use crate::features::{Feature, least};
use crate::operations::operations;

/// Makes the codes and the words of the table.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $word:literal, if $built:ident else $missing:ident,
        $reads:ident, $second:ident, $demands:ident, $work:ty;)*) => {
        $($(#[$doc])* pub const $name: u32 = $code;)*

        /// A kind's word; `None` for a code that is not defined.
        pub const fn word(code: u32) -> Option<&'static str> {
            match code {
                $($name => Some($word),)*
                _ => None,
            }
        }

        /// The feature that adds least code of those with which a build runs a kind; `None` for a code that is not
        /// defined.
        pub const fn feature(code: u32) -> Option<Feature> {
            match code {
                $($name => Some(least::$built),)*
                _ => None,
            }
        }
    };
}

operations!(codes);

/// The most elements that WIDE_HEAD reads: no sum of theirs leaves 62 bits, and that many numbers of 16 bits add up
/// in 32.
pub const WIDE_INPUTS: u32 = 1 << 16;
/// Bits of a digit of PSQT where the record does not say another number.
pub const DIGIT_BITS: u32 = 10;
/// The most digits of PSQT.
pub const MAX_DIGITS: u32 = 5;
/// Largest magnitude of a zero point, in REQUANTISE, TO_F32 and QUANTISE.
pub const MAX_ZERO: i32 = 32_768;
