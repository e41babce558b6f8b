//! The report: all answers in one value that prints, serialises and draws itself elsewhere.

use super::accuracy::Accuracy;
use super::claims::ClaimCheck;
use super::family::NnueFindings;
use super::mistakes::Mistake;
use super::runtime::RuntimeCheck;
use super::stats::{HISTOGRAM_BINS, Histogram, histogram};
use crate::import::{Checkpoint, Imported, Remark};
use crate::pack::PackError;
use crate::program::{Program, QuantTensor, Values};
use crate::proof::Proof;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the report's JSON.
pub const SCHEMA: &str = "tamis-verify-2";

/// Everything that was found out about a model, of whichever kind. What one kind only can be asked is empty or absent
/// for the others.
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
    /// Whether there is a description whose facts could be wrong; elsewhere none are found because none are sought.
    pub looked_for_mistakes: bool,
    /// What a description got wrong.
    pub mistakes: Vec<Mistake>,
    /// What may be wrong and is not decided by the evidence; no gate asks for it.
    pub remarks: Vec<Mistake>,
    /// What is the same everywhere, of weights, of the truth and of the outputs, and so shows nothing.
    pub constants: Vec<String>,
    /// Whether that is meant.
    pub allows_constants: bool,
    /// Of networks of the Stockfish family.
    #[serde(flatten)]
    pub nnue: Option<NnueFindings>,
    /// The limits and whether they were kept.
    pub gates: Vec<GateResult>,
    /// Whether all were, and nothing in [`Report::failures`].
    pub passed: bool,
}

impl Report {
    /// What failed beside gates, in words: a `.nnue` file is this one or it is not, whatever the limits.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let mut failures = if self.allows_constants { Vec::new() } else { self.constants.clone() };
        let Some(nnue) = &self.nnue else { return failures };
        if nnue.differing_values > 0 {
            failures.push(format!("{} values are not those of the .nnue file", nnue.differing_values));
        }
        if nnue.same_file == Some(false) {
            let file = self.truth.checkpoint.as_deref().unwrap_or("the .nnue file");
            failures.push(format!("{file}: the container was made from another file"));
        }
        failures
    }
}

/// One gate's verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateResult {
    /// The gate's key in the file.
    pub gate: &'static str,
    /// What was found.
    pub found: String,
    /// What was demanded.
    pub limit: String,
    /// The verdict.
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

/// Looks at every tensor of a program.
pub(super) fn tensor_summaries(program: &Program) -> Vec<TensorSummary> {
    let summary = |tensor: &QuantTensor| match &tensor.values {
        Values::Int(values) => of_elements(tensor, values.iter().copied().map(f64::from)),
        Values::F32(values) => of_elements(tensor, values.iter().copied().map(f64::from)),
    };
    program.tensors().map(summary).collect()
}

/// In passes over the elements, of which a large network has more than should stand in memory as f64.
fn of_elements(tensor: &QuantTensor, elements: impl Iterator<Item = f64> + Clone) -> TensorSummary {
    let (mut count, mut zeros, mut min, mut max) = (0usize, 0usize, f64::INFINITY, f64::NEG_INFINITY);
    for element in elements.clone() {
        count += 1;
        zeros += usize::from(element == 0.0);
        (min, max) = (min.min(element), max.max(element));
    }
    TensorSummary {
        tensor: tensor.name.clone(),
        element: tensor.element.word(),
        scale: tensor.scale,
        min,
        max,
        zeros: zeros as f64 / count.max(1) as f64,
        histogram: histogram(elements, HISTOGRAM_BINS),
    }
}

/// What the model was held against.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TruthInfo {
    /// The checkpoint's file, where the caller names it.
    pub checkpoint: Option<String>,
    /// What of the checkpoint was read, if there is one in full precision.
    pub import: Option<ImportInfo>,
    /// The reference's own words: device, framework, versions, seed.
    pub reference: BTreeMap<String, String>,
    /// The file of the examples, where the caller names one.
    pub inputs: Option<String>,
    /// Examples compared.
    pub examples: usize,
}

impl TruthInfo {
    /// Adds further examples, held against the same; of files with several names none is named.
    pub(super) fn join(&mut self, other: Self) {
        self.examples += other.examples;
        for (own, other) in [(&mut self.checkpoint, other.checkpoint), (&mut self.inputs, other.inputs)] {
            if *own != other {
                *own = None;
            }
        }
    }
}

/// Where a checkpoint's numbers came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportInfo {
    /// The form that was read, in words.
    pub source: String,
    /// FNV-1a of the bytes read, 16 hexadecimal digits.
    pub hash: String,
    /// What was decided on the way.
    pub remarks: Vec<Remark>,
}

impl From<&Checkpoint> for ImportInfo {
    fn from(checkpoint: &Checkpoint) -> Self {
        let hash = format!("{:016x}", checkpoint.bytes_hash);
        Self { source: checkpoint.source.clone(), hash, remarks: Vec::new() }
    }
}

impl From<&Imported> for ImportInfo {
    fn from(imported: &Imported) -> Self {
        let Imported { source, bytes_hash, remarks, .. } = imported;
        Self { source: source.clone(), hash: format!("{bytes_hash:016x}"), remarks: remarks.clone() }
    }
}

/// The overflow proof in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProofSummary {
    /// Whether nothing can leave its type, but for what `wraps` says.
    pub holds: bool,
    /// Every bound.
    pub bounds: Vec<Bound>,
    /// What can leave its type, with witnesses, in words.
    pub violations: Vec<String>,
    /// Accumulators that can leave i16 where the network's own arithmetic wraps there too, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wraps: Vec<String>,
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
        wraps: proof.wraps.iter().map(ToString::to_string).collect(),
        claims_hold,
        // None of them is known where they could not be derived, and `claims_hold` says that they do not hold.
        claims: claims.into_iter().flatten().collect(),
    }
}
