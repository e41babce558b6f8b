//! What can be wrong with a folder of Angel, and where.

use std::path::PathBuf;

use thiserror::Error;

use super::location::Place;
use crate::error_kind::ErrorKind;
use crate::graph::GraphError;
use crate::import::ImportError;

/// Why a matrix folder or a model folder was not read. The pure readers know no path; [`AngelError::In`] adds it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AngelError {
    /// Anything below, of a folder that has a path.
    #[error("{}: {cause}", folder.display())]
    In {
        /// The folder of the matrix or the model.
        folder: PathBuf,
        /// What is wrong with it.
        cause: Box<AngelError>,
    },
    /// A file that cannot be read, or is too long.
    #[error(transparent)]
    Read(#[from] ImportError),
    /// A folder without matrices.
    #[error(
        "holds neither `_meta`, which a matrix has, nor folders of matrices; give the model's folder, or save again if \
         the saving was cut short"
    )]
    NothingThere,
    /// Folders beyond any model.
    #[error("has more than {limit} entries; is it a model's folder?")]
    TooManyEntries {
        /// The most that are looked at.
        limit: usize,
    },
    /// A folder of data without a description.
    #[error("`_meta` is missing; Angel writes it last, so the saving was cut short, or the files were not all copied")]
    NoMeta,
    /// One matrix where a model is wanted.
    #[error("is one matrix, `{name}`, and a model has several; give the folder above it")]
    OneMatrix {
        /// Of the matrix.
        name: String,
    },
    /// `_meta` without the length that stands before its JSON.
    #[error(
        "`_meta`: begins with `{{`, expected the length of the JSON in 4 bytes before it, high byte first; was the \
         file edited?"
    )]
    MetaNoLength,
    /// `_meta` whose length is another.
    #[error(
        "`_meta`: the length at its start says {found} bytes, and {expected} follow; the file is cut, or was edited"
    )]
    MetaLength {
        /// As it is written.
        found: i64,
        /// Bytes that follow.
        expected: u64,
    },
    /// `_meta` from before JSON.
    #[error(
        "`_meta`: no JSON at byte 2 or 4 of {found} bytes; Angel wrote binary `_meta` files until 15 October 2018, \
         which are not read: load the model with a newer Angel and save it again"
    )]
    MetaBinary {
        /// Length of the file.
        found: u64,
    },
    /// JSON that is none, or says a thing twice, or is too deep.
    #[error("`{file}`: {why}")]
    Json {
        /// `_meta` or `graph.json`.
        file: &'static str,
        /// What is wrong, and where.
        why: String,
    },
    /// A field that cannot be.
    #[error("`_meta`: {field} is {found}, expected {expected}; was the file damaged or edited?")]
    Field {
        /// Its path in the JSON.
        field: String,
        /// What it says.
        found: String,
        /// What it may say.
        expected: String,
    },
    /// A format that is not one of the eight.
    #[error("`_meta`: formatClassName is `{found}`, expected one of {expected}; save the model in one of them")]
    UnknownFormat {
        /// The class.
        found: String,
        /// The eight.
        expected: String,
    },
    /// A matrix of objects.
    #[error("`_meta`: rowType is {found}, a matrix of objects; 0 to 27, numbers, are read")]
    ObjectRows {
        /// The id.
        found: i64,
    },
    /// Values without the columns that they belong to.
    #[error("`_meta`: {format} writes no column ids, and {why}; save the matrix as ColIdValueBinaryRowFormat")]
    NoColumnIds {
        /// The format.
        format: &'static str,
        /// Why they cannot be told.
        why: String,
    },
    /// Partitions that cover an element twice.
    #[error("`_meta`: partitions {first} and {second} overlap: {found}; every element belongs to one partition")]
    Overlap {
        /// Id of a partition.
        first: u32,
        /// Id of the other.
        second: u32,
        /// Their ranges.
        found: String,
    },
    /// Elements that no partition covers.
    #[error("`_meta`: no partition holds the columns {start} to {end} of the rows {rows}; is a partition missing?")]
    Gap {
        /// The first column without a partition.
        start: i64,
        /// The last.
        end: i64,
        /// The rows.
        rows: String,
    },
    /// A data file that is not there.
    #[error("the file `{file}` is missing, which holds partition {partition}; were all files copied?")]
    NoDataFile {
        /// Its name.
        file: String,
        /// The first partition in it.
        partition: u32,
    },
    /// A data file that its partitions do not fill exactly.
    #[error(
        "file `{file}`, byte {offset}: {found}, expected {expected}; the file is cut, or not the one that `_meta` \
         describes"
    )]
    Extent {
        /// Its name.
        file: String,
        /// Where.
        offset: u64,
        /// What is there.
        found: String,
        /// What `_meta` says.
        expected: String,
    },
    /// A record that is none.
    #[error("{place}: {what} {found}, expected {expected}{hint}")]
    Record {
        /// Where.
        place: Place,
        /// What is wrong: `the column is`, `the line has`, …
        what: &'static str,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
        /// What may have happened, or empty.
        hint: &'static str,
    },
    /// An element twice.
    #[error("row {row}, column {column} is there twice; Angel writes an element once, so the data is damaged")]
    Duplicate {
        /// The row.
        row: u32,
        /// The column.
        column: u64,
    },
    /// A dense row with holes.
    #[error(
        "row {row} has {found} of {expected} columns, and column {missing} is the first that is missing; the matrix is \
         dense, so all are needed"
    )]
    Incomplete {
        /// The row.
        row: u32,
        /// Columns that are there.
        found: u64,
        /// Columns of the matrix.
        expected: u64,
        /// The first that is not there.
        missing: u64,
    },
    /// A matrix that would be too large with its zeros.
    #[error(
        "matrix `{matrix}` has {rows} by {cols} elements and stores {stored}; the network would need it with its \
         zeros, and at most {limit} elements are made for so few. A model over a hashed space has to be saved over the \
         features that it has"
    )]
    TooLarge {
        /// Its name.
        matrix: String,
        /// Rows that are needed.
        rows: u64,
        /// Columns.
        cols: u64,
        /// Elements that are stored.
        stored: u64,
        /// The most.
        limit: u64,
    },
    /// Two folders of one matrix.
    #[error("the folders `{first}` and `{second}` both say that they are matrix `{name}`; which one is the model's?")]
    SameName {
        /// A folder.
        first: String,
        /// The other.
        second: String,
        /// `matrixName` of both.
        name: String,
    },
    /// A matrix that the model needs.
    #[error("matrix `{name}` is missing, found {present}{hint}")]
    NoMatrix {
        /// Its name.
        name: String,
        /// What there is.
        present: String,
        /// What to do, or empty.
        hint: String,
    },
    /// A matrix that does not fit the model.
    #[error("matrix `{matrix}`: {found}, expected {expected}; does {decider} belong to these matrices?")]
    Shape {
        /// Its name.
        matrix: String,
        /// What it has.
        found: String,
        /// What the model needs.
        expected: String,
        /// What says so: `graph.json`, or the kind of model.
        decider: String,
    },
    /// Something in `graph.json` that cannot be built.
    #[error("`graph.json`: layer `{layer}`: {found}, expected {expected}")]
    Layer {
        /// The layer.
        layer: String,
        /// What it says.
        found: String,
        /// What is read.
        expected: String,
    },
    /// A model that its matrices do not tell.
    #[error("without graph.json: {why}; say which model it is with `--kind` ({kinds})")]
    UnknownKind {
        /// What was looked at.
        why: String,
        /// The words for kinds that would fit.
        kinds: String,
    },
    /// A number that is in no file.
    #[error("{what} is in no file of this model; give it with `{option}`")]
    Ask {
        /// What is missing.
        what: &'static str,
        /// The option that gives it.
        option: &'static str,
    },
    /// An option that cannot be.
    #[error("`{option}` is {found}, expected {expected}")]
    Option {
        /// Which.
        option: &'static str,
        /// What it is.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// A network that does not fit together.
    #[error("{0}; do graph.json and the matrices belong together?")]
    Graph(#[from] GraphError),
}

impl AngelError {
    /// [`ErrorKind::Io`] for the file system's refusals, [`ErrorKind::Unsupported`] for what is too large, too old or
    /// no matrix of numbers, [`ErrorKind::Usage`] for what an option has to say, else [`ErrorKind::Malformed`].
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::In { cause, .. } => cause.class(),
            Self::Read(error) => error.class(),
            Self::MetaBinary { .. } | Self::UnknownFormat { .. } | Self::ObjectRows { .. } => ErrorKind::Unsupported,
            Self::NoColumnIds { .. } | Self::TooLarge { .. } => ErrorKind::Unsupported,
            Self::NothingThere | Self::OneMatrix { .. } | Self::TooManyEntries { .. } => ErrorKind::Usage,
            Self::UnknownKind { .. } | Self::Ask { .. } | Self::Option { .. } => ErrorKind::Usage,
            _ => ErrorKind::Malformed,
        }
    }

    /// The same with the folder before it; a file that could not be read has its path already.
    pub(super) fn within(self, folder: &std::path::Path) -> Self {
        match self {
            Self::Read(_) | Self::In { .. } => self,
            _ => Self::In { folder: folder.to_owned(), cause: Box::new(self) },
        }
    }
}
