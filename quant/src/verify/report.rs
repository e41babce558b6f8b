//! The report: all answers in one value that prints, serialises and draws itself elsewhere.

use super::Truth;
use super::accuracy::Accuracy;
use super::gates::GateResult;
use super::mistakes::Mistake;
use super::runtime::RuntimeCheck;
use super::stats::{Histogram, histogram};
use crate::pack::{Provenance, to_container};
use crate::proof::Proof;
use crate::quantise::{QuantNet, QuantTensor, Values};
use crate::run::AlignedBytes;
use serde::Serialize;
use std::collections::BTreeMap;
use tamis_runtime::format::{Model, claim};

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
            histogram: histogram(&elements, 48),
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
    /// Whether every claim in the file can be derived again.
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

/// The claims of one tensor or feature block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimCheck {
    /// Tensor.
    pub tensor: String,
    /// The bits in the file.
    pub stored: u32,
    /// The bits that follow from the integers.
    pub derived: u32,
    /// Whether the file claims nothing that does not follow.
    pub holds: bool,
}

/// The proof, and the file's claims against it.
pub fn proof_summary(model: &Model<'_>, net: &QuantNet, proof: &Proof) -> ProofSummary {
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
    let claims = claims(model, net, proof);
    ProofSummary {
        holds: proof.holds(),
        bounds: bounds.collect(),
        violations: proof.violations.iter().map(ToString::to_string).collect(),
        claims_hold: claims.iter().all(|claim| claim.holds),
        claims,
    }
}

/// Packs the network again and compares every claim with the file's.
fn claims(model: &Model<'_>, net: &QuantNet, proof: &Proof) -> Vec<ClaimCheck> {
    let Ok(bytes) = to_container(net, proof, &Provenance::default()) else { return Vec::new() };
    let bytes = AlignedBytes::copy_of(&bytes);
    let Ok(derived) = Model::parse(bytes.as_ref()) else { return Vec::new() };
    let names: Vec<&str> = model.people().map(|people| people.tensor_names.lines().collect()).unwrap_or_default();
    let name = |index: usize| names.get(index).copied().unwrap_or("?").to_owned();
    let check = |tensor: String, stored: u32, derived: u32| ClaimCheck {
        tensor,
        stored,
        derived,
        holds: stored & !derived == 0,
    };
    let mut claims = Vec::new();
    for (stored, derived) in model.blocks().iter().zip(derived.blocks()) {
        claims.push(check(name(stored.weights as usize), stored.claims, derived.claims));
    }
    for (index, (stored, derived)) in model.tensors().iter().zip(derived.tensors()).enumerate() {
        if stored.claims | derived.claims != 0 {
            claims.push(check(name(index), stored.claims, derived.claims));
        }
    }
    claims
}

/// The words for a set of claims.
pub fn claim_words(bits: u32) -> String {
    let words = [
        (claim::ACCUMULATOR_FITS, "accumulators fit i16"),
        (claim::SUM_FITS, "sums fit i32"),
        (claim::PRODUCT_FITS_I16, "products fit i16"),
    ];
    let words: Vec<&str> = words.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, word)| word).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

pub(super) fn truth_info(truth: &Truth<'_>, examples: usize) -> TruthInfo {
    TruthInfo {
        checkpoint: truth.checkpoint.map(|checkpoint| checkpoint.source.clone()),
        reference: truth.reference.map(|reference| reference.metadata.clone()).unwrap_or_default(),
        examples,
    }
}
