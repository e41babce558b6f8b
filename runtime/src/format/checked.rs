//! Files that were checked before, by the program that built them in.

use super::check::words;
use super::checksum::of_words;
use super::{Feature, Model, ParseError, VERSION};

/// What is known of a file that [`Model::parse`] accepted when a program was built: its checksum, and which features of
/// this crate it needs. `host-tools codegen` writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    checksum: u64,
}

impl Checked {
    /// Of a file with this checksum that needs these features of this crate.
    ///
    /// # Panics
    /// If this build leaves one of them out; in a constant, so that the build stops.
    #[must_use]
    pub const fn new(checksum: u64, needs: &[Feature]) -> Self {
        let mut rest = needs;
        while let [feature, behind @ ..] = rest {
            assert!(feature.is_built(), "{}", feature.asked_for());
            rest = behind;
        }
        Self { checksum }
    }
}

impl<'a> Model<'a> {
    /// [`Model::parse`] of a file that is a part of the program and was checked when that was built: that its bytes are
    /// still those is all that is looked at, by their checksum. Firmware saves the rest of the loader.
    ///
    /// Where `checked` is of a file that was never checked, what comes out of it means nothing, or a build with debug
    /// assertions panics; memory is safe all the same.
    ///
    /// # Errors
    /// As [`Model::parse`], of a file that is no container, too short, not aligned to 64 bytes, of another version, or
    /// whose checksum is another one.
    ///
    /// # Examples
    /// ```
    /// use tamis_runtime::format::{Checked, Feature, Model};
    /// // As `host-tools codegen` writes it into the module of a network.
    /// const CHECKED: Checked = Checked::new(0x53b0_d29a_73be_9b1e, &[Feature::Convolutions]);
    /// assert!(Model::parse_checked(&[], CHECKED).is_err());
    /// ```
    pub fn parse_checked(bytes: &'a [u8], checked: Checked) -> Result<Self, ParseError> {
        let mut model = Self::unchecked(words(bytes)?);
        let (found, expected) = (model.header().version, VERSION);
        if found != expected {
            return Err(ParseError::Version { found, expected });
        }
        let (found, expected) = (of_words(model.words()), checked.checksum);
        if found != expected {
            return Err(ParseError::Checksum { found, expected });
        }
        model.read_tables();
        Ok(model)
    }
}
