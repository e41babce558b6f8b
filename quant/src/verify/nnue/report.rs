//! The questions about a container of the family, in one value.

use crate::fault::FaultClass;
use crate::pack::{PackError, unpack_nnue};
use crate::positions::Position;
use crate::program::GraphInput;
use crate::proof::prove;
use crate::run::features_of;
use crate::stockfish::{Board, Side, evaluate, to_bytes};
use crate::verify::gates::{Findings, GateResult, Gates};
use crate::verify::report::{ProofSummary, proof_summary};
use crate::verify::runtime::{RuntimeCheck, check_runtime};
use crate::verify::{claims, stats::compare};
use serde::Serialize;
use tamis_runtime::RunError;
use tamis_runtime::format::Model;

/// Everything that was found out about a container.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NnueReport {
    /// The network's name.
    pub network: String,
    /// Its architecture in a line.
    pub architecture: String,
    /// Question 1: does the runtime equal the integer model?
    pub runtime: RuntimeCheck,
    /// Positions whose output is not what the family's own evaluation of the file says.
    pub differing_values: usize,
    /// Question 2: can anything overflow?
    pub proof: ProofSummary,
    /// Whether the `.nnue` file that was given is the one that comes back, if one was.
    pub same_file: Option<bool>,
    /// The limits and whether they were kept.
    pub gates: Vec<GateResult>,
    /// Whether all were, and nothing differed.
    pub passed: bool,
}

/// What ends a verification without a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NnueVerifyError {
    /// The container cannot be taken apart.
    #[error(transparent)]
    Unpack(#[from] PackError),
    /// The runtime refuses a position's features.
    #[error("example {index}: {error}")]
    Run {
        /// Which, from 0.
        index: usize,
        /// Why.
        error: RunError,
    },
    /// The container describes a network of chess and has another input.
    #[error("the container's input is no chess board, which its description says it is; pack the network again")]
    NotChess,
    /// Nothing to run.
    #[error("no positions; give --positions FILE.bf with at least one")]
    NoPositions,
}

impl NnueVerifyError {
    /// The class that decides the exit status.
    #[must_use]
    pub fn class(&self) -> FaultClass {
        match self {
            Self::Unpack(error) => error.class(),
            Self::Run { .. } | Self::NotChess => FaultClass::Malformed,
            Self::NoPositions => FaultClass::Usage,
        }
    }
}

/// Asks the questions, on every position and every tier. file: the `.nnue` file that the container should be made of.
///
/// # Errors
/// [`NnueVerifyError`]; findings are in the report.
pub fn verify_nnue(
    model: Model<'_>,
    positions: &[Position],
    file: Option<&[u8]>,
    limits: &Gates,
    step: &mut dyn FnMut(u64, u64),
) -> Result<NnueReport, NnueVerifyError> {
    let net = unpack_nnue(&model)?;
    if positions.is_empty() {
        return Err(NnueVerifyError::NoPositions);
    }
    let program = net.lower();
    let mut inputs = Vec::with_capacity(positions.len());
    for position in positions {
        let (lists, bucket) = features_of(&model, position).ok_or(NnueVerifyError::NotChess)?;
        inputs.push(GraphInput::Features { lists, bucket });
    }
    let (total, mut done) = (positions.len() as u64, 0);
    let mut advance = || {
        done += 1;
        step(done, total);
    };
    let (runtime, outputs) = check_runtime(model, &program, &inputs, &mut advance)
        .map_err(|(index, error)| NnueVerifyError::Run { index, error })?;
    let values: Vec<f64> = outputs.iter().flat_map(|outputs| outputs.to_reals(1.0)).collect();
    let own: Vec<f64> = positions.iter().map(|position| f64::from(evaluate(&net, &board(position)).value)).collect();
    let differing_values = values.iter().zip(&own).filter(|(value, own)| value != own).count();
    let proof = prove(&program);
    let proof = proof_summary(&proof, claims(&model, &program, &proof));
    let same_file = file.map(|file| to_bytes(&net) == file);
    let gates = limits.judge(&Findings {
        equal_runtime: runtime.equal,
        proved: proof.holds && proof.claims_hold,
        mistakes: None,
        total: &compare(&values, &own),
        top1_agreement: None,
        accuracy_loss: None,
    });
    let kept = gates.iter().all(|gate| gate.passed);
    let passed = kept && differing_values == 0 && same_file != Some(false);
    let (network, architecture) = (model.people().map_or("", |people| people.name).to_owned(), net.shape.to_string());
    Ok(NnueReport { network, architecture, runtime, differing_values, proof, same_file, gates, passed })
}

fn board(position: &Position) -> Board {
    Board::new(position, if position.is_black { Side::Black } else { Side::White })
}
