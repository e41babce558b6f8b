//! What can be wrong with a corpus, a vocabulary or a request for batches.

use super::alignment::AlignmentFault;
use super::{MAX_LINE_LEN_BYTES, MAX_LINES, MAX_TOKENS};
use crate::text::printable;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Who is to blame for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// What was asked for does not fit together.
    Request,
    /// A file is not what it has to be.
    File,
    /// The system refused.
    System,
}

/// Why there are no batches.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The file system refused, or a gzip is damaged.
    #[error("{}: cannot {act}: {why}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What was tried: `read`.
        act: &'static str,
        /// The system's words.
        why: String,
        /// Whether the bytes are to blame, not the file system.
        is_damage: bool,
    },
    /// A corpus that cannot be opened twice.
    #[error("{}: is not a regular file, which could be read more than once", file.display())]
    NotRegular {
        /// The pipe or device.
        file: PathBuf,
    },
    /// A folder in place of a file.
    #[error("{}: is a directory, expected a file", file.display())]
    Directory {
        /// The folder.
        file: PathBuf,
    },
    /// A line that is not what it has to be.
    #[error("{}: line {line}: {cause}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// From 1.
        line: u64,
        /// What is wrong there.
        cause: LineFault,
    },
    /// Parallel files that are not parallel.
    #[error(
        "{}: line {}: the file has {lines} lines, {} goes on; parallel files have a line for a line",
        short.display(), lines + 1, long.display()
    )]
    Unequal {
        /// The file that ends.
        short: PathBuf,
        /// Its lines.
        lines: u64,
        /// The file that does not.
        long: PathBuf,
    },
    /// A corpus without a line.
    #[error("{}: line 1: there is none; expected a sentence a line", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// More lines than line numbers.
    #[error("{}: line {}: at most {MAX_LINES} lines are read", file.display(), MAX_LINES + 1)]
    TooManyLines {
        /// The file.
        file: PathBuf,
    },
    /// A batch that would take too much memory.
    #[error("{}: line {line}: a batch with this line has {elements} elements in one tensor, at most \
             {limit}", file.display())]
    BatchTooLarge {
        /// The source's file.
        file: PathBuf,
        /// The longest line's number, from 1.
        line: u64,
        /// Elements with padding.
        elements: u64,
        /// The most.
        limit: u64,
    },
    /// A file that is not what it was in the first pass.
    #[error("{}: line {line}: the file changed while it was read", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
        /// From 1.
        line: u64,
    },
    /// Options that do not fit together.
    #[error(transparent)]
    Options(#[from] OptionFault),
    /// The thread that prepares batches is gone.
    #[error("the thread that prepares batches ended without a word")]
    Lost,
}

/// What is wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LineFault {
    /// Not text.
    #[error("byte {byte} of the line is not UTF-8")]
    NotUtf8 {
        /// From 0, in the line.
        byte: usize,
    },
    /// A line without end.
    #[error("longer than {MAX_LINE_LEN_BYTES} bytes")]
    TooLong,
    /// A vocabulary that does not start as it has to.
    #[error(
        "`{}`, expected `{expected}`: a vocabulary starts with <blank>, <s> and </s>, a token a line",
        printable(found)
    )]
    Special {
        /// What stands there.
        found: String,
        /// What has to.
        expected: &'static str,
    },
    /// A vocabulary that ends before its third line.
    #[error("the vocabulary ends, expected `{expected}`: it starts with <blank>, <s> and </s>, a token a line")]
    NoSpecial {
        /// What has to stand there.
        expected: &'static str,
    },
    /// A vocabulary's line without a token.
    #[error("there is no token on it")]
    NoToken,
    /// A token that no text can hold.
    #[error("`{}` has a blank in it; tokens are what stands between blanks", printable(token))]
    Blank {
        /// The token.
        token: String,
    },
    /// A token that has two ids.
    #[error("`{}` is there twice, first in line {first}", printable(token))]
    Duplicate {
        /// The token.
        token: String,
        /// From 1.
        first: u64,
    },
    /// The unknown token, which has the id behind the last line.
    #[error(
        "`<unk>` is not listed in a vocabulary: every unknown token has the id behind the last line; remove the line"
    )]
    Unknown,
    /// More tokens than embeddings may have rows.
    #[error("at most {MAX_TOKENS} tokens")]
    TooManyTokens,
    /// An alignment.
    #[error(transparent)]
    Alignment(#[from] AlignmentFault),
}

/// Options that do not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OptionFault {
    /// A number out of its range.
    #[error("{option} {found}: expected {low} to {high}")]
    Range {
        /// As it is typed.
        option: &'static str,
        /// What was given.
        found: u64,
        /// The least.
        low: u64,
        /// The most.
        high: u64,
    },
    /// Tokens are counted by bucket.
    #[error(
        "--batch-type tokens needs --length-bucket-width: how many rows a batch has follows from its bucket's length"
    )]
    TokensWithoutWidth,
    /// There is no boundary to pad to.
    #[error(
        "--pad-to-bucket-boundary needs --length-bucket-width, --max-src and --max-tgt: they say where the boundaries \
         are"
    )]
    BoundaryWithoutMaxima,
}

impl BatchError {
    /// [`Blame::System`], [`Blame::Request`] for options and pipes, else [`Blame::File`].
    #[must_use]
    pub const fn blame(&self) -> Blame {
        match self {
            Self::Io { is_damage: false, .. } | Self::Lost => Blame::System,
            Self::Options(_) | Self::NotRegular { .. } | Self::Directory { .. } => Blame::Request,
            _ => Blame::File,
        }
    }

    /// What to do next, where the message does not say it.
    #[must_use]
    pub const fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unequal { .. } => {
                "--truncate stops at the shortest file, as OpenNMT-tf does; first see whether a line was lost"
            }
            Self::BatchTooLarge { .. } => {
                "--max-src and --max-tgt drop such lines; a smaller --batch-size makes smaller batches"
            }
            Self::Line { cause: LineFault::NotUtf8 { .. }, .. } => "convert the file to UTF-8, with iconv for instance",
            Self::Line { cause: LineFault::Duplicate { .. }, .. } => {
                "remove one of the lines; every id behind it then changes"
            }
            Self::Line { cause: LineFault::TooLong, .. } => "give text with a sentence a line",
            Self::Line { cause: LineFault::Special { .. } | LineFault::NoSpecial { .. }, .. } => {
                "make the vocabulary with onmt-build-vocab, or put these three lines in front; every id then moves by \
                 what was added"
            }
            Self::Line {
                cause: LineFault::Alignment(AlignmentFault::Source { .. } | AlignmentFault::Target { .. }),
                ..
            } => "align the text as it was tokenised for these files, source first: SOURCE-TARGET",
            Self::Line { cause: LineFault::Alignment(_), .. } => {
                "write pairs as fast_align and eflomal do: 0-0 1-2, blanks between them"
            }
            Self::Io { is_damage: true, .. } => {
                "the gzip is cut off or damaged: copy or make it again; `gzip -t` tests it"
            }
            Self::Io { .. } => "check the path, and who may read there",
            Self::NotRegular { .. } => "write it to a file first, and give that",
            Self::Changed { .. } => "start again when nothing writes to the file any more",
            Self::TooManyLines { .. } => "split the corpus, and make batches of each part",
            _ => return None,
        })
    }

    pub(super) fn io(file: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let is_damage = matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof);
        Self::Io { file: file.to_owned(), act: "read", why: error.to_string(), is_damage }
    }

    pub(super) fn line(file: &Path, line: u64, cause: impl Into<LineFault>) -> Self {
        Self::Line { file: file.to_owned(), line, cause: cause.into() }
    }
}
