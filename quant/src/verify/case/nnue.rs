//! Networks of the Stockfish family: is what the integers give what the `.nnue` file says, and does the file come back?
//! Full precision is no question: the family's files are integers already.

use super::{Case, Special};
use crate::pack::unpack_nnue;
use crate::positions::Position;
use crate::program::GraphInput;
use crate::run::features_of;
use crate::stockfish::{Basis, Board, Division, Net, Shape, Side, decide, evaluate, to_bytes};
use crate::verify::accuracy::Outputs;
use crate::verify::comparison::{Compared, Full};
use crate::verify::error::VerifyError;
use crate::verify::report::TruthInfo;
use serde::Serialize;
use std::fmt;
use tamis_runtime::format::Model;

/// What is asked of networks of the Stockfish family only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NnueFindings {
    /// The architecture in a line.
    pub architecture: String,
    /// How the value is made of its two parts: as the container says, also where a file is given.
    pub divide: DivideInfo,
    /// Positions whose output is not what the family's own evaluation of the file says.
    pub differing_values: usize,
    /// Whether the `.nnue` file that was given is the one that comes back, if one was.
    pub same_file: Option<bool>,
    /// Where the file that was given leaves the one that comes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// A rule of division, and why it was taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DivideInfo {
    /// `once` or `twice`.
    pub rule: &'static str,
    /// What decided: `architecture`, `file`, `default`, `option` or `container`.
    pub by: &'static str,
    /// The same in words.
    pub why: String,
    /// The rule itself.
    #[serde(skip)]
    pub division: Division,
}

impl DivideInfo {
    /// A rule by what decided, and the words for it.
    #[must_use]
    pub const fn new(division: Division, by: &'static str, why: String) -> Self {
        Self { rule: division.word(), by, why, division }
    }

    /// Of a container, which says it.
    #[must_use]
    pub fn of_container(shape: &Shape, division: Division) -> Self {
        let decision = decide(shape, None);
        let why = match decision.basis {
            Basis::Architecture { releases } if decision.division == division => {
                format!("by the container; so does its architecture, that of {releases}")
            }
            Basis::Architecture { releases } => {
                format!("by the container; its architecture, that of {releases}, divides {}", decision.division.word())
            }
            _ => "by the container; its architecture does not tell".to_owned(),
        };
        Self::new(division, "container", why)
    }
}

impl fmt::Display for DivideInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}; {}", self.rule, self.division.formula(), self.why)
    }
}

/// Two files that are not the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The first byte in which they differ, from 0; none where the shorter one is the longer one's start.
    pub byte: Option<usize>,
    /// Of the file that was given.
    pub len_bytes: usize,
    /// Of the file that comes back.
    pub expected_len_bytes: usize,
}

impl Difference {
    fn of(given: &[u8], expected: &[u8]) -> Option<Self> {
        let byte = given.iter().zip(expected).position(|(given, expected)| given != expected);
        let (len_bytes, expected_len_bytes) = (given.len(), expected.len());
        (byte.is_some() || len_bytes != expected_len_bytes).then_some(Self { byte, len_bytes, expected_len_bytes })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.byte {
            Some(byte) => write!(f, "byte {byte} is the first that differs"),
            None => write!(f, "{} bytes, expected {}", self.len_bytes, self.expected_len_bytes),
        }
    }
}

/// What is known of the file before anything is run.
pub(super) struct Family {
    architecture: String,
    divide: DivideInfo,
    /// Where a file that was given differs, if one was.
    given: Option<Option<Difference>>,
}

impl Family {
    /// The part of the report.
    pub fn about(&self, found: &Compared) -> NnueFindings {
        NnueFindings {
            architecture: self.architecture.clone(),
            divide: self.divide.clone(),
            differing_values: found.integer.iter().zip(&found.truth).filter(|(value, own)| value != own).count(),
            same_file: self.given.map(|difference| difference.is_none()),
            difference: self.given.flatten(),
        }
    }
}

impl<'a> Case<'a> {
    /// A container of the family and the family's own arithmetic over the file in it. file: the `.nnue` file that the
    /// container should be made of.
    ///
    /// # Errors
    /// [`VerifyError`]: a container that cannot be taken apart, or is of another game.
    pub fn of_nnue(model: Model<'a>, positions: &[Position], file: Option<&[u8]>) -> Result<Self, VerifyError> {
        let net = unpack_nnue(&model)?;
        let program = net.lower();
        let mut inputs = Vec::with_capacity(positions.len());
        for position in positions {
            let (lists, bucket) = features_of(&model, position).ok_or(VerifyError::NotChess)?;
            inputs.push(GraphInput::Features { lists, bucket });
        }
        let family = Family {
            architecture: net.shape.to_string(),
            divide: DivideInfo::of_container(&net.shape, net.division),
            given: file.map(|file| Difference::of(file, &to_bytes(&net))),
        };
        Ok(Self {
            truth: TruthInfo { examples: inputs.len(), ..TruthInfo::default() },
            network: model.people().map_err(crate::pack::PackError::from)?.name.to_owned(),
            unit: "output units",
            model,
            value: program.nodes.len(),
            program,
            inputs,
            full: Full::Outputs(positions.iter().map(|position| own_value(&net, position)).collect()),
            outputs: Outputs { against: "file", of_positions: true, scale: 1.0, centipawns: false },
            labels: None,
            split: None,
            special: Special::File(Box::new(family)),
            allows_constants: false,
        })
    }
}

fn own_value(net: &Net, position: &Position) -> f64 {
    let side = if position.is_black { Side::Black } else { Side::White };
    f64::from(evaluate(net, &Board::new(position, side)).value)
}
