//! What goes wrong, as the user reads it: which file, what was found and expected, and what to do next.

mod advice;

use crate::status::Status;
use std::error::Error;
use std::fmt::{self, Write};
use std::io;
use std::path::Path;
use tamis_quant::error_kind::ErrorKind;

/// The one error of the program: a status, a message, and often a next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    status: Status,
    message: String,
    help: Option<String>,
}

impl CliError {
    /// An error with this message.
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), help: None }
    }

    /// A request that does not fit together.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Status::Usage, message)
    }

    /// The file system's refusal to `act` ("read", "write") on a path.
    pub fn io(act: &str, path: &Path, error: &io::Error) -> Self {
        let plain = Self::new(Status::Io, format!("{}: cannot {act}: {error}", path.display()));
        match error.kind() {
            io::ErrorKind::NotFound => plain.help("check the path and the folder it starts from"),
            io::ErrorKind::PermissionDenied => plain.help("check who may read and write there"),
            _ => plain,
        }
    }

    /// Adds the next step.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The status, the message, and the next step.
    pub fn into_parts(self) -> (Status, String, Option<String>) {
        (self.status, self.message, self.help)
    }

    /// The exit status.
    pub const fn status(&self) -> Status {
        self.status
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

/// An error of the libraries: its class, and the next step where the message does not say it already.
pub trait Advice: Error {
    /// Whose fault it is.
    fn class(&self) -> ErrorKind;

    /// What to do next.
    fn advice(&self) -> Option<&'static str> {
        None
    }
}

/// Turns a library's error into the program's.
pub trait Explain<T> {
    /// For errors that name their file themselves.
    ///
    /// # Errors
    /// The same, explained.
    fn explain(self) -> Result<T, CliError>;

    /// For errors that do not know which file they are about.
    ///
    /// # Errors
    /// The same, explained, with the path in front.
    fn explain_at(self, path: &Path) -> Result<T, CliError>;
}

impl<T, E: Advice> Explain<T> for Result<T, E> {
    fn explain(self) -> Result<T, CliError> {
        self.map_err(|error| explained(&error, chain(&error)))
    }

    fn explain_at(self, path: &Path) -> Result<T, CliError> {
        self.map_err(|error| explained(&error, format!("{}: {}", path.display(), chain(&error))))
    }
}

fn explained(error: &impl Advice, message: String) -> CliError {
    let plain = CliError::new(error.class().into(), cut(&message));
    match error.advice() {
        Some(advice) => plain.help(advice),
        None => plain,
    }
}

/// The same with the middle left out of long lines: a message quotes its input, which can be one line of a megabyte.
fn cut(message: &str) -> String {
    const END_CHARS: usize = 200;
    let line = |line: &str| {
        let count = line.chars().count();
        if count <= 2 * END_CHARS {
            return line.to_owned();
        }
        let (start, end) = (line.chars().take(END_CHARS), line.chars().skip(count - END_CHARS));
        start.chain(" … ".chars()).chain(end).collect()
    };
    message.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The message and those of its sources that it does not repeat itself.
fn chain(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let text = source.to_string();
        if !message.contains(&text) {
            let _ = write!(message, ": {text}");
        }
        next = source.source();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::{CliError, Explain, Status, cut};
    use std::path::Path;
    use tamis_runtime::format::ParseError;

    #[test]
    fn a_message_names_its_file_and_the_next_step() {
        let refused: Result<(), _> = Err(ParseError::TooShort { found: 3, expected: 128 });
        let error = refused.explain_at(Path::new("net.bin")).unwrap_err();
        assert_eq!(error.status(), Status::Malformed);
        let text = error.to_string();
        assert!(text.starts_with("net.bin: 3 bytes; a container has at least 128"), "{text}");
        assert!(text.contains("\nhelp: copy the file again"), "{text}");
    }

    #[test]
    fn long_lines_lose_their_middle() {
        let text = cut(&format!("a\n{}é{}\nb", "x".repeat(1 << 20), "y".repeat(1 << 20)));
        assert!(text.starts_with("a\nxx") && text.contains("x … y") && text.ends_with("yy\nb"), "{text}");
        assert_eq!(text.chars().count(), 4 + 403);
        assert_eq!(cut("short\n"), "short\n");
    }

    #[test]
    fn an_unknown_version_is_not_malformed() {
        let refused: Result<(), _> = Err(ParseError::Version { found: 9, expected: 1 });
        assert_eq!(refused.explain().unwrap_err().status(), Status::Unsupported);
    }

    #[test]
    fn a_missing_file_is_the_file_systems_fault() {
        let error = CliError::io("read", Path::new("x"), &std::io::ErrorKind::NotFound.into());
        assert_eq!(error.status(), Status::Io);
        assert!(error.to_string().contains("help: check the path"));
    }
}
