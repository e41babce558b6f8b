//! What can be wrong with an architecture description, each with its place.

use thiserror::Error;

use crate::error_kind::ErrorKind;

/// Why a description was refused. The message starts with the origin (usually a path) and, where known, the line.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ArchError {
    /// The text is too long to be a description.
    #[error(
        "{origin}: {len_bytes} bytes are too many for a description (at most {limit_bytes}); is it the right file?"
    )]
    TooLong {
        /// Where the text came from.
        origin: String,
        /// Length of the text.
        len_bytes: usize,
        /// The longest text that is read.
        limit_bytes: usize,
    },
    /// Not TOML, or a value of the wrong kind.
    #[error("{origin}:{line}: {message}")]
    Syntax {
        /// Where the text came from.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// What the TOML reader says.
        message: String,
    },
    /// A key that no description has.
    #[error("{origin}:{line}: unknown key `{key}`; {advice}")]
    UnknownKey {
        /// Where the text came from.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// The key, shortened and escaped.
        key: String,
        /// The nearest known key, or all of them.
        advice: String,
    },
    /// A word that is none of those allowed there.
    #[error("{origin}:{line}: unknown value `{value}`; {advice}")]
    UnknownValue {
        /// Where the text came from.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// The value, shortened and escaped.
        value: String,
        /// The nearest allowed value, or all of them.
        advice: String,
    },
    /// An activation of the field that is not supported.
    #[error("{origin}:{line}: `{value}` is not supported; there are {known}")]
    UnsupportedValue {
        /// Where the text came from.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// The activation.
        value: String,
        /// Those that are.
        known: String,
    },
    /// The description is of another schema.
    #[error("{origin}:{line}: schema {found} is not known, this version reads schema {expected}")]
    Schema {
        /// Where the text came from.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// The number in the text.
        found: i64,
        /// The number that is read.
        expected: u32,
    },
    /// Every key and value can be read, and they contradict one another.
    #[error("{origin}{}: {place}: {cause}", crate::error_kind::at_line(*line))]
    Contradiction {
        /// Where the text came from.
        origin: String,
        /// Line, from 1; none for a description that did not come from text.
        line: Option<usize>,
        /// The table and key.
        place: Place,
        /// What is wrong there.
        cause: Box<Cause>,
    },
}

impl ArchError {
    /// Always [`ErrorKind::Malformed`], but [`ErrorKind::Unsupported`] for another schema or activation.
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::Schema { .. } | Self::UnsupportedValue { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Malformed,
        }
    }
}

/// A place in a description.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Place {
    /// A key outside all tables.
    #[error("{0}")]
    Top(&'static str),
    /// A key of a single table: `input`, `buckets`, `output` or `file`.
    #[error("{0}.{1}")]
    Table(&'static str, &'static str),
    /// A key of a `[[layer]]`: index from 0, name, key.
    #[error("layer {} (`{}`), {}", .0 + 1, .1.escape_debug(), .2)]
    Layer(usize, String, &'static str),
    /// A key of a `[[tensor]]`: index from 0, name, key.
    #[error("tensor {} (`{}`), {}", .0 + 1, .1.escape_debug(), .2)]
    Tensor(usize, String, &'static str),
}

/// What contradicts what. Each message says what was found, what is expected and, where it helps, what to do.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Cause {
    /// A number outside its range.
    #[error("{found} is outside {min} to {max}")]
    OutOfRange {
        /// The number.
        found: i64,
        /// The smallest allowed.
        min: i64,
        /// The largest allowed.
        max: i64,
    },
    /// A real that must be finite and above zero.
    #[error("{found} is not a finite number above zero")]
    NotPositive {
        /// The number.
        found: f64,
    },
    /// A key that is needed here.
    #[error("is missing; {why}")]
    Missing {
        /// What needs it, and what to write.
        why: &'static str,
    },
    /// A key that has no meaning here.
    #[error("has no meaning here: {why}; leave it out")]
    Meaningless {
        /// Why not.
        why: &'static str,
    },
    /// A name that cannot be written in a file or a message.
    #[error("{found:?} is not a name: 1 to {max_len} printable ASCII characters without spaces")]
    BadName {
        /// The name.
        found: String,
        /// The longest name.
        max_len: usize,
    },
    /// A name used twice.
    #[error("the name `{name}` is already used by {first}")]
    Duplicate {
        /// The name.
        name: String,
        /// Who has it first.
        first: String,
    },
    /// A tensor that is named outside the layers, and that the list does not have.
    #[error("no [[tensor]] is called `{name}`; list it with its type and scale, in the order of the file")]
    NotListed {
        /// Name of the tensor.
        name: String,
    },
    /// A tensor that does not fit who names it.
    #[error("the tensor `{name}` {why}")]
    UnfitTensor {
        /// Name of the tensor.
        name: String,
        /// What is wrong with it, and what to write.
        why: &'static str,
    },
    /// A table with a wrong number of entries.
    #[error("has {found} entries, expected {expected}")]
    TableLength {
        /// Number of entries.
        found: usize,
        /// What is expected, in words.
        expected: &'static str,
    },
    /// A mirrored network's 64-entry table whose halves differ.
    #[error(
        "square {square} has bucket {found} and its mirror image {mirror} has {mirror_found}; a mirrored network's \
         table must be the same on both wings (32 entries, files a to d, say it once)"
    )]
    NotMirrored {
        /// A square on files a to d.
        square: String,
        /// Its bucket.
        found: u8,
        /// The square on files e to h.
        mirror: String,
        /// That one's bucket.
        mirror_found: u8,
    },
    /// An entry that names no bucket.
    #[error("entry {index} is bucket {found}, but there are {count} (0 to {})", count - 1)]
    NoSuchBucket {
        /// Index of the entry, from 0.
        index: usize,
        /// The entry.
        found: u8,
        /// Number of buckets.
        count: usize,
    },
    /// Too few or too many layers.
    #[error("there are {found} layers, expected {min} to {max}{why}")]
    LayerCount {
        /// How many.
        found: usize,
        /// At least.
        min: usize,
        /// At most.
        max: usize,
        /// Why so many, or empty.
        why: &'static str,
    },
    /// An activation that cannot stand at this place.
    #[error("`{found}` cannot stand here: {why}")]
    Activation {
        /// The activation, as it is written.
        found: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// A pairwise activation over an odd number of values.
    #[error(
        "pairwise activation needs an even number of values, but {values} remain of {outputs} outputs after {skip} skip"
    )]
    OddPairs {
        /// Outputs minus skip.
        values: usize,
        /// Outputs.
        outputs: usize,
        /// Skip outputs.
        skip: usize,
    },
    /// Skip outputs that cannot be added to the network's output.
    #[error("{found} outputs skip to the end, but the network has {outputs} outputs: expected as many, or none")]
    SkipCount {
        /// How many skip.
        found: usize,
        /// How many outputs the network has.
        outputs: usize,
    },
    /// A layer that skips everything.
    #[error("all {outputs} outputs skip: at least one must go on to the next layer")]
    SkipAll {
        /// Outputs of the layer.
        outputs: usize,
    },
    /// The network is too big.
    #[error("the network has {found} weights and biases up to here, more than the {limit} that can be handled")]
    TooManyValues {
        /// How many, counted up to the layer.
        found: u64,
        /// The most.
        limit: u64,
    },
    /// A tensor in the list that no layer uses.
    #[error("no layer uses this tensor; {advice}")]
    UnusedTensor {
        /// The nearest name, or all of them.
        advice: String,
    },
    /// A tensor that a layer uses and the list lacks.
    #[error("the tensor `{name}` of layer `{layer}` is not listed; add a [[tensor]] at its place in the file")]
    UnlistedTensor {
        /// The tensor.
        name: String,
        /// Its layer.
        layer: String,
    },
    /// Text that is not the header it claims to be.
    #[error("{why}")]
    Header {
        /// What does not fit.
        why: String,
    },
}
