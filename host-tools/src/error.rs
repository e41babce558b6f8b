//! What goes wrong, as the user reads it: which file, what was found and expected, and what to do next.

use crate::status::Status;
use std::error::Error;
use std::fmt::{self, Write};
use std::io;
use std::path::Path;
use tamis_quant::arch::ArchError;
use tamis_quant::data::DataError;
use tamis_quant::fault::FaultClass;
use tamis_quant::float::EvalError;
use tamis_quant::graph::description::DescriptionError;
use tamis_quant::import::ImportError;
use tamis_quant::import::hub::NetworkError;
use tamis_quant::pack::PackError;
use tamis_quant::permute::PermuteError;
use tamis_quant::positions::PositionError;
use tamis_quant::program::Unsupported;
use tamis_quant::quantise::QuantiseError;
use tamis_quant::quantise::graph::GraphQuantError;
use tamis_quant::quantised::QuantisedError;
use tamis_quant::score::ScoreError;
use tamis_quant::stockfish::NnueError;
use tamis_quant::verify::{GateError, ReferenceError, VerifyError};
use tamis_runtime::RunError;
use tamis_runtime::format::ParseError;

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
pub trait Fault: Error {
    /// Whose fault it is.
    fn class(&self) -> FaultClass;

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

impl<T, E: Fault> Explain<T> for Result<T, E> {
    fn explain(self) -> Result<T, CliError> {
        self.map_err(|error| explained(&error, chain(&error)))
    }

    fn explain_at(self, path: &Path) -> Result<T, CliError> {
        self.map_err(|error| explained(&error, format!("{}: {}", path.display(), chain(&error))))
    }
}

fn explained(error: &impl Fault, message: String) -> CliError {
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

macro_rules! classified {
    ($($error:ty),*) => {$(
        impl Fault for $error {
            fn class(&self) -> FaultClass {
                <$error>::class(self)
            }
        }
    )*};
}

classified!(EvalError, QuantiseError, QuantisedError, ReferenceError);
classified!(VerifyError);

impl Fault for ScoreError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Some("give the labels of these examples, in their order, as classes of the network")
    }
}

impl Fault for GraphQuantError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::NotCalibrated { .. } => {
                Some("--calibrate DATA shows which values occur; some hundreds of examples are enough")
            }
            _ => None,
        }
    }
}

/// What to read about a description that is refused.
const KEYS: &str = "DESCRIPTIONS.md of quant explains every key; `host-tools describe` prints a graph's description";

impl Fault for ArchError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Some(KEYS)
    }
}

impl Fault for DescriptionError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Some(KEYS)
    }
}

impl Fault for NetworkError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::In { cause, .. } => cause.advice(),
            Self::File(error) => Fault::advice(error),
            Self::Description(error) => Fault::advice(error),
            Self::Bullets(error) => Fault::advice(error),
            Self::Quantised(QuantisedError::Float) => Some(
                "`host-tools quantise FILE --calibrate DATA -o OUT` quantises it; some hundreds of examples are enough",
            ),
            Self::NoText { .. } => Some("the checkpoint stands by itself, the description behind --arch"),
            Self::UnknownFolder => Some("give the folder that holds them, or a file"),
            Self::Empty => Some("copy the file again, or make it again"),
            _ => None,
        }
    }
}

impl Fault for PositionError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::AtLine { .. } => Some("a line is a FEN, `FEN | score | result` or EPD; `#` starts a comment"),
            Self::AtRecord { .. } | Self::PartialRecord { .. } => {
                Some("BulletFormat has 32 bytes a position; text goes here, too, a position a line")
            }
            _ => Some("a FEN is `board side castling en-passant half-moves move`, or startpos"),
        }
    }
}

impl Fault for GateError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Some("VERIFICATION.md of quant lists the gates, `max_error = 5.0` for instance")
    }
}

impl Fault for NnueError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Self::advice(self)
    }
}

impl Fault for DataError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Choice { .. } => Some("--array NAME names the examples; labels are looked for under `labels`"),
            Self::Record { .. } | Self::Line { .. } => {
                Some("give the examples that the network was trained for, in a form of GUIDE.md")
            }
            Self::NoFeatures => Some("a network of chess takes --positions, a graph --inputs"),
            Self::Vocabulary { .. } => Some("make the batches with the vocabularies that the network was trained with"),
            _ => None,
        }
    }
}

impl Fault for PermuteError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::NoUse { .. } => Some("leave --permute out; the network runs as it is"),
            Self::TooFewPositions { .. } => Some("some thousands of the positions that the network meets are enough"),
            _ => None,
        }
    }
}

impl Fault for ImportError {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::In { cause, .. } => cause.advice(),
            Self::NonFinite { .. } => Some("give an earlier checkpoint of the run, or correct the description"),
            Self::FloatCheckpoint { .. } => Some("`host-tools quantise` takes it"),
            Self::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                Some("check the path and the folder it starts from")
            }
            _ => None,
        }
    }
}

impl Fault for Unsupported {
    fn class(&self) -> FaultClass {
        Self::class(self)
    }
}

impl Fault for PackError {
    fn class(&self) -> FaultClass {
        match self {
            Self::Parse(error) => Fault::class(error),
            other => Self::class(other),
        }
    }

    fn advice(&self) -> Option<&'static str> {
        if let Self::Parse(error) = self { error.advice() } else { None }
    }
}

impl Fault for ParseError {
    fn class(&self) -> FaultClass {
        match self {
            Self::Version { .. } | Self::RequiredFlags { .. } => FaultClass::Unsupported,
            _ => FaultClass::Malformed,
        }
    }

    fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotAContainer { .. } => {
                "`host-tools pack BARE --arch A.toml -o OUT` packs a trainer's quantised.bin, `host-tools quantise` a \
                 checkpoint"
            }
            Self::Version { .. } | Self::RequiredFlags { .. } => "a newer host-tools wrote the file; use that one",
            _ => "copy the file again, in binary mode, or make it again from its checkpoint",
        })
    }
}

impl Fault for RunError {
    fn class(&self) -> FaultClass {
        FaultClass::Usage
    }
}

#[cfg(test)]
mod tests {
    use super::{CliError, Explain, ParseError, Status, cut};
    use std::path::Path;

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
