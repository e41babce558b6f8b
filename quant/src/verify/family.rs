//! What a report says of networks of the Stockfish family only.

use super::comparison::Compared;
use crate::stockfish::{Basis, Division, Net, Shape, decide};
use serde::{Deserialize, Serialize};
use std::fmt;

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

impl NnueFindings {
    /// Of what a container holds. given: where a file that was given differs from it, if one was.
    pub(super) fn of(net: &Net, given: Option<Option<Difference>>, found: &Compared) -> Self {
        Self {
            architecture: net.shape.to_string(),
            divide: DivideInfo::of_container(&net.shape, net.division),
            differing_values: found.integer.iter().zip(&found.truth).filter(|(value, own)| value != own).count(),
            same_file: given.map(|difference| difference.is_none()),
            difference: given.flatten(),
        }
    }
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The first byte in which they differ, from 0; none where the shorter one is the longer one's start.
    pub byte: Option<usize>,
    /// Of the file that was given.
    pub len_bytes: usize,
    /// Of the file that comes back.
    pub expected_len_bytes: usize,
}

impl Difference {
    pub(super) fn of(given: &[u8], expected: &[u8]) -> Option<Self> {
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
