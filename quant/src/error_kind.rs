//! Whose fault a failure is, in four words: what a script can act on without reading the message.

/// The class of an error; each error type of this crate has a `class` method, and a command-line program turns the
/// class into its exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// What was asked for does not fit together: the caller must ask differently. Exit status 2.
    Usage,
    /// A file is not what it has to be. Exit status 3.
    Malformed,
    /// The file system refused. Exit status 4.
    Io,
    /// Well formed, but not something Tamis can do. Exit status 5.
    Unsupported,
}

impl ErrorKind {
    /// The exit status by which a program reports the class.
    #[must_use]
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Malformed => 3,
            Self::Io => 4,
            Self::Unsupported => 5,
        }
    }
}

/// A line behind the name of its text, if it is known: `:7`.
pub(crate) fn at_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(":{line}"))
}
