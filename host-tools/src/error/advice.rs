//! Whose fault an error of the libraries is, and what to do next.

use super::Advice;
use std::io;
use tamis_quant::arch::ArchError;
use tamis_quant::data::DataError;
use tamis_quant::error_kind::ErrorKind;
use tamis_quant::float::EvalError;
use tamis_quant::graph::description::DescriptionError;
use tamis_quant::import::ImportError;
use tamis_quant::import::importers::NetworkError;
use tamis_quant::pack::PackError;
use tamis_quant::permute::PermuteError;
use tamis_quant::positions::PositionError;
use tamis_quant::program::Unsupported;
use tamis_quant::quantise::QuantiseError;
use tamis_quant::quantise::fit::FitError;
use tamis_quant::quantise::graph::GraphQuantError;
use tamis_quant::quantise::scales::ScalesError;
use tamis_quant::quantised::QuantisedError;
use tamis_quant::score::ScoreError;
use tamis_quant::stockfish::NnueError;
use tamis_quant::verify::{GateError, PartError, ReferenceError, VerifyError};
use tamis_runtime::RunError;
use tamis_runtime::format::ParseError;

macro_rules! classified {
    ($($error:ty),*) => {$(
        impl Advice for $error {
            fn class(&self) -> ErrorKind {
                <$error>::class(self)
            }
        }
    )*};
}

classified!(EvalError, FitError, QuantiseError, QuantisedError, ReferenceError, Unsupported, VerifyError);

impl Advice for PartError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Malformed(_) | Self::Checksum { .. } => "give files that `verify --partial` wrote, copied whole",
            _ => "give parts of one container, held against one checkpoint or reference",
        })
    }
}

impl Advice for ScalesError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Wide { .. } => Some("leave --rows out: the first layer's weights are then i16"),
            Self::Coarse { .. } => Some("allow more with --rows-limit, or leave --rows out"),
            _ => None,
        }
    }
}

impl Advice for ScoreError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Some("give the labels of these examples, in their order, as classes of the network")
    }
}

impl Advice for GraphQuantError {
    fn class(&self) -> ErrorKind {
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

/// What to do about a file that is damaged.
const AGAIN: &str = "copy the file again, in binary mode and whole, or make it again";

/// What to read about a description that is refused.
const KEYS: &str = "DESCRIPTIONS.md of quant explains every key; `host-tools describe` prints a graph's description";

impl Advice for ArchError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Some(KEYS)
    }
}

impl Advice for DescriptionError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Some(KEYS)
    }
}

impl Advice for NetworkError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::In { cause, .. } => cause.advice(),
            Self::File(error) => Advice::advice(error),
            Self::Description(error) => Advice::advice(error),
            Self::Bullets(error) => Advice::advice(error),
            Self::Quantised(QuantisedError::Float) => Some(
                "`host-tools quantise FILE --calibrate DATA -o OUT` quantises it; some hundreds of examples are enough",
            ),
            Self::NoText { .. } => Some("the checkpoint stands by itself, the description behind --arch"),
            Self::UnknownFolder => Some("give the folder that holds them, or a file"),
            Self::Empty => Some(AGAIN),
            Self::Container => {
                Some("give the checkpoint that it was made from; `host-tools inspect` shows what is in a container")
            }
            Self::NoDescription { .. } => Some("give the network where it belongs, and its description here"),
            // The message says the next step.
            Self::NeedlessArch | Self::NeedlessOption { .. } | Self::Bullet | Self::NoLayers => None,
            other if other.class() == ErrorKind::Malformed => Some(AGAIN),
            _ => None,
        }
    }
}

impl Advice for PositionError {
    fn class(&self) -> ErrorKind {
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

impl Advice for GateError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Some("DESCRIPTIONS.md of quant lists the limits, `max_error = 5.0` for instance")
    }
}

impl Advice for NnueError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        Self::advice(self)
    }
}

impl Advice for DataError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Choice { .. } => Some("--array NAME names the examples; labels are looked for under `labels`"),
            Self::Record { .. } | Self::Line { .. } => {
                Some("give the examples that the network was trained for, in a form of GUIDE.md")
            }
            Self::NotRecognised { .. } => Some(
                "a table of text becomes an array by `import numpy; numpy.save(\"examples.npy\", \
                 numpy.loadtxt(FILE, delimiter=\",\"))`",
            ),
            Self::NoFeatures => Some("a network of chess takes --positions, a graph --inputs"),
            Self::Vocabulary { .. } => Some("make the batches with the vocabularies that the network was trained with"),
            _ => None,
        }
    }
}

impl Advice for PermuteError {
    fn class(&self) -> ErrorKind {
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

impl Advice for ImportError {
    fn class(&self) -> ErrorKind {
        Self::class(self)
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::In { cause, .. } => cause.advice(),
            Self::NonFinite { .. } => Some("give an earlier checkpoint of the run, or correct the description"),
            Self::FloatCheckpoint { .. } => Some("`host-tools quantise` takes it"),
            Self::Length { .. }
            | Self::TensorLength { .. }
            | Self::UnknownTensors { .. }
            | Self::MissingTensors { .. }
            | Self::Magic { .. }
            | Self::Tail { .. }
            | Self::NotRecognised { .. } => Some(
                "correct the description, whose keys DESCRIPTIONS.md of quant explains; or copy the file again, if it \
                 is cut off",
            ),
            Self::Weights { .. } | Self::DuplicateTensor { .. } | Self::Empty => Some(AGAIN),
            Self::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                Some("check the path and the folder it starts from")
            }
            _ => None,
        }
    }
}

impl Advice for PackError {
    fn class(&self) -> ErrorKind {
        match self {
            Self::Parse(error) => Advice::class(error),
            other => Self::class(other),
        }
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Parse(error) => error.advice(),
            Self::Budget { .. } => Some(
                "give --ram as much, or make the maps smaller: fewer channels or a larger stride where they are \
                 largest; `host-tools inspect` of the network without --ram shows where that is",
            ),
            _ => None,
        }
    }
}

impl Advice for ParseError {
    fn class(&self) -> ErrorKind {
        match self {
            Self::Version { .. } | Self::RequiredFlags { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Malformed,
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

impl Advice for RunError {
    fn class(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}
