//! The report: all answers in one value that prints, serialises and draws itself elsewhere.

use super::Truth;
use super::accuracy::Accuracy;
use super::claims::ClaimCheck;
use super::gates::GateResult;
use super::mistakes::Mistake;
use super::runtime::RuntimeCheck;
use super::stats::{HISTOGRAM_BINS, Histogram, histogram};
use crate::pack::PackError;
use crate::proof::Proof;
use crate::quantise::{QuantNet, QuantTensor, Values};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the report's JSON.
pub const SCHEMA: &str = "tamis-verify-1";

/// Everything that was found out about a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The network's name.
    pub network: String,
    /// What errors are measured in.
    pub unit: &'static str,
    /// What the model was held against.
    pub truth: TruthInfo,
    /// The integers themselves.
    pub tensors: Vec<TensorSummary>,
    /// Question 1.
    pub runtime: RuntimeCheck,
    /// Question 2.
    pub proof: ProofSummary,
    /// Question 3.
    pub accuracy: Accuracy,
    /// What a description got wrong.
    pub mistakes: Vec<Mistake>,
    /// The limits and whether they were kept.
    pub gates: Vec<GateResult>,
    /// Whether all were.
    pub passed: bool,
}

/// How a tensor uses its type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TensorSummary {
    /// Name.
    pub tensor: String,
    /// Stored type.
    pub element: &'static str,
    /// Multiplier, if it has one.
    pub scale: Option<i32>,
    /// Least element.
    pub min: f64,
    /// Greatest element.
    pub max: f64,
    /// Share of zeros.
    pub zeros: f64,
    /// Of the elements, in stored units.
    pub histogram: Histogram,
}

/// Looks at every tensor of a network.
pub fn tensor_summaries(net: &QuantNet) -> Vec<TensorSummary> {
    let tensors = net.layers.iter().flat_map(|layer| [&layer.weights, &layer.bias]);
    let summary = |tensor: &QuantTensor| {
        let elements: Vec<f64> = match &tensor.values {
            Values::Int(values) => values.iter().map(|value| f64::from(*value)).collect(),
            Values::F32(values) => values.iter().map(|value| f64::from(*value)).collect(),
        };
        TensorSummary {
            tensor: tensor.name.clone(),
            element: tensor.element.word(),
            scale: tensor.scale,
            min: elements.iter().copied().fold(f64::INFINITY, f64::min),
            max: elements.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            zeros: elements.iter().filter(|value| **value == 0.0).count() as f64 / elements.len().max(1) as f64,
            histogram: histogram(&elements, HISTOGRAM_BINS),
        }
    };
    tensors.map(summary).collect()
}

/// What the model was held against.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TruthInfo {
    /// What of the checkpoint was read, if there is one.
    pub checkpoint: Option<String>,
    /// The reference's own words: device, framework, versions, seed.
    pub reference: BTreeMap<String, String>,
    /// Examples compared.
    pub examples: usize,
}

/// The overflow proof in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProofSummary {
    /// Whether nothing can leave its type.
    pub holds: bool,
    /// Every bound.
    pub bounds: Vec<Bound>,
    /// What can leave its type, with witnesses, in words.
    pub violations: Vec<String>,
    /// Whether every claim in the file was derived again.
    pub claims_hold: bool,
    /// The claims, tensor by tensor.
    pub claims: Vec<ClaimCheck>,
}

/// One bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// Weight tensor.
    pub tensor: String,
    /// `accumulator`, `sum` or `result`.
    pub quantity: String,
    /// Row of the tensor.
    pub row: usize,
    /// Output bucket, where the layer has them.
    pub bucket: Option<usize>,
    /// Lower bound.
    pub low: i64,
    /// Upper bound.
    pub high: i64,
    /// The type: `i16` or `i32`.
    pub r#type: &'static str,
    /// Share of the type that is used; above 1 it overflows.
    pub fraction: f64,
}

/// The proof, and the file's claims against it; claims that could not be derived again do not hold.
pub fn proof_summary(proof: &Proof, claims: Result<Vec<ClaimCheck>, PackError>) -> ProofSummary {
    let bounds = proof.checks.iter().map(|check| Bound {
        tensor: check.tensor.clone(),
        quantity: check.quantity.to_string(),
        row: check.row,
        bucket: check.bucket,
        low: check.low,
        high: check.high,
        r#type: check.quantity.type_word(),
        fraction: check.fraction(),
    });
    let claims_hold = claims.as_ref().is_ok_and(|claims| claims.iter().all(|claim| claim.holds));
    ProofSummary {
        holds: proof.holds(),
        bounds: bounds.collect(),
        violations: proof.violations.iter().map(ToString::to_string).collect(),
        claims_hold,
        claims: claims.unwrap_or_default(),
    }
}

pub(super) fn truth_info(truth: &Truth<'_>, examples: usize) -> TruthInfo {
    TruthInfo {
        checkpoint: truth.checkpoint.map(|checkpoint| checkpoint.source.clone()),
        reference: truth.reference.map(|reference| reference.metadata.clone()).unwrap_or_default(),
        examples,
    }
}
