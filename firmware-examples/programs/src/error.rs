//! Why a program ends with another status than 0.

use tamis_runtime::RunError;
use tamis_runtime::engine::StateError;
use tamis_runtime::format::ParseError;
use tamis_runtime::testing::suite::Mismatch;

/// Any error of the runtime, or a fact that the program relies on and that does not hold. Its log line is the runtime's
/// own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// A container that the loader refuses.
    Parse(ParseError),
    /// A call that the runtime refuses.
    Run(RunError),
    /// A tier that leaves the definition.
    Tier(&'static str, Mismatch),
    /// What does not hold.
    Because(&'static str),
}

impl defmt::Format for Error {
    fn format(&self, to: defmt::Formatter<'_>) {
        match self {
            Self::Parse(error) => defmt::write!(to, "the container is refused: {}", error),
            Self::Run(error) => defmt::write!(to, "the call is refused: {}", error),
            Self::Tier(name, mismatch) => defmt::write!(to, "tier {=str} leaves the definition: {}", name, mismatch),
            Self::Because(reason) => defmt::write!(to, "{=str}", reason),
        }
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        Self::Parse(error)
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<StateError> for Error {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Run(error) => Self::Run(error),
            // The examples play legal moves; the words of every refusal would be flash.
            _ => Self::Because("the state refuses the pieces"),
        }
    }
}
