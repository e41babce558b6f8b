//! Examples to run a graph on, and their labels.
//!
//! | form | told by | inputs | labels |
//! |------|---------|--------|--------|
//! | idx of MNIST | two zero bytes, a type, a rank | bytes divided by 255, all but the first dimension in a row | bytes |
//! | npy | its magic | all but the first dimension are an example's; numbers as they are | one dimension |
//! | npz, safetensors | their beginnings | the array that is named, else `inputs`, else the only one of two dimensions or more | `labels`, or the only one of one dimension |
//! | safetensors of `host-tools batches` | its metadata | rows of ids as features, each with its share of the row | `batch.N.labels` |
//! | libsvm | text, `label id:value …` | features, the ids as given | in front of the line |
//! | dummy | text, `label id id …` | features, each of value 1 | in front of the line |
//! | text | a number a line | | a number a line |
//!
//! Arrays of bytes, u8 or i8, are numbers as they are, too, unless an [`Encoding`] says what they stand for: 200 is
//! 200.0.
//! Where a container's input is of the same type, [`Inputs::as_stored`] makes them that input's own integers. Arrays of
//! maps are (n, height, width, channels), or (n, channels, height, width) where [`Selection::channels_first`] says so.
//!
//! Networks of accumulators over features that only their author's program knows take lines of their own,
//! [`read_feature_lists`].
//!
//! Any of them may be packed with gzip. Everything is a pure function of bytes, and every error names the record or the
//! line.

mod arrays;
mod batches;
mod encoding;
mod error;
mod feature_lists;
mod idx;
mod inputs;
mod labels;
mod read;
mod text;
mod tokens;

pub use encoding::{ByteType, Encoding};
pub use error::DataError;
pub use feature_lists::{FeatureLine, read_feature_lists};
pub use inputs::{Inputs, Outputs};
pub use labels::{classes, read_labels};
pub use read::Selection;

use crate::import::tensors::{MAX_UNPACKED_LEN_BYTES, gunzip, is_gzip};
use std::borrow::Cow;

/// The longest file of examples, in bytes.
pub const MAX_FILE_LEN_BYTES: u64 = 1 << 30;

/// The bytes themselves, or what they hold if they are a gzip.
fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, DataError> {
    Ok(if is_gzip(bytes) { Cow::Owned(gunzip(bytes, MAX_UNPACKED_LEN_BYTES)?) } else { Cow::Borrowed(bytes) })
}
