//! How the program can end.

use std::process::ExitCode;
use tamis_quant::error_kind::ErrorKind;

/// An exit status: what a script can act on without reading a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Done, and nothing to complain about.
    Fine = 0,
    /// Done, but what was checked does not hold: an overflow proof, a stored claim, a limit.
    GateFailed = 1,
    /// What was asked for does not fit together.
    Usage = 2,
    /// A file is not what it has to be.
    Malformed = 3,
    /// The file system refused.
    Io = 4,
    /// Well formed, but not something that this version can do.
    Unsupported = 5,
}

/// The statuses as `--help` and the manual show them.
pub const EXPLAINED: &str = "\
Exit status:
  0  fine
  1  a gate failed: an overflow proof, a stored claim, a limit of verify
  2  usage
  3  malformed input
  4  input or output refused by the file system
  5  well formed, but not supported";

impl Status {
    /// The number.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

impl From<ErrorKind> for Status {
    fn from(class: ErrorKind) -> Self {
        match class {
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Malformed => Self::Malformed,
            ErrorKind::Io => Self::Io,
            ErrorKind::Unsupported => Self::Unsupported,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.number())
    }
}

#[cfg(test)]
mod tests {
    use super::{EXPLAINED, ErrorKind, Status};

    #[test]
    fn numbers_are_those_of_the_library() {
        for class in [ErrorKind::Usage, ErrorKind::Malformed, ErrorKind::Io, ErrorKind::Unsupported] {
            assert_eq!(Status::from(class).number(), class.exit_status());
        }
    }

    #[test]
    fn every_number_is_explained() {
        for number in 0..=Status::Unsupported.number() {
            assert!(EXPLAINED.contains(&format!("\n  {number}  ")), "{number}");
        }
    }
}
