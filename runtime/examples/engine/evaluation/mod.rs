//! What a search asks of an evaluation. Five answer: `tamis` is how an engine uses the library, `popped` the same for
//! one that takes its moves back one by one, `copied` for one that has nothing but positions, `checked` holds the first
//! against an accumulator filled anew, at every node, and `scalar` is the plain loops that they are measured against.

pub mod network_state;
pub mod scalar;
pub mod tamis;

use crate::pieces::Moved;
use cozy_chess::Board;
use std::fmt;
use tamis_runtime::RunError;
use tamis_runtime::engine::{Colour, StateError};

/// Keeps in step with the search, and scores the position at the end of the line.
pub trait Evaluator {
    /// Starts a line at a position.
    fn refresh(&mut self, board: &Board) -> Result<(), Box<Fault>>;
    /// A move is made.
    fn push(&mut self, moved: &Moved) -> Result<(), Box<Fault>>;
    /// A null move is made.
    fn push_null(&mut self) -> Result<(), Box<Fault>>;
    /// Back to the position that many moves of either kind behind that of `refresh`.
    fn goto(&mut self, ply: usize) -> Result<(), Box<Fault>>;
    /// Centipawns for the side to move. board: the position that the line has come to; whoever keeps in step needs only
    /// its side to move.
    fn evaluate(&mut self, board: &Board) -> Result<i32, Box<Fault>>;
}

/// Which evaluator a search uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Tamis,
    Scalar,
    Checked,
    Popped,
    Copied,
}

impl Kind {
    pub const ALL: [Self; 5] = [Self::Tamis, Self::Scalar, Self::Checked, Self::Popped, Self::Copied];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Tamis => "tamis",
            Self::Scalar => "scalar",
            Self::Checked => "checked",
            Self::Popped => "popped",
            Self::Copied => "copied",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What must not happen: a search that meets it stops and says so.
#[derive(Debug)]
pub enum Fault {
    /// The line and the evaluator are out of step.
    State(StateError),
    /// The plain loops know one kind of network.
    Unsupported,
    /// The incremental accumulator is not what the position gives.
    Differs { colour: Colour, index: usize, found: i16, expected: i16 },
    /// The accumulators agree and the scores do not.
    Score { found: i32, expected: i32 },
}

impl From<StateError> for Box<Fault> {
    fn from(error: StateError) -> Self {
        Self::new(Fault::State(error))
    }
}

impl From<RunError> for Box<Fault> {
    fn from(error: RunError) -> Self {
        StateError::Run(error).into()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(error) => write!(f, "evaluator: {error}"),
            Self::Unsupported => write!(
                f,
                "the scalar evaluator runs networks of one SCReLU layer and an integer head; use the evaluator tamis"
            ),
            Self::Differs { colour, index, found, expected } => write!(
                f,
                "check: {colour:?}'s accumulator has {found} at {index}, filled anew it has {expected}: \
                 a move gave the wrong pieces"
            ),
            Self::Score { found, expected } => write!(f, "check: scored {found}, filled anew {expected}"),
        }
    }
}
