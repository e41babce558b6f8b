//! The operations of a container, in the order in which they run.

use super::UNKNOWN;
use crate::table::row;
use serde::Serialize;
use tamis_quant::graph::Shape;
use tamis_runtime::Plan;
use tamis_runtime::format::{Metadata, Model};
use tamis_runtime::kernels::scalar;
use tamis_runtime::raw::{NONE, OpRecord, Tensor, ValueRecord, activation, element, op};

/// One operation.
#[derive(Debug, Clone, Serialize)]
pub struct OperationReport {
    /// Its kind.
    pub kind: &'static str,
    /// The value that it reads, 0 the network's input.
    pub input: u32,
    /// How many elements of it.
    pub input_len: u32,
    /// The value that it writes.
    pub output: u32,
    /// Number of elements of that.
    pub output_len: u32,
    /// Type of its elements.
    pub output_element: &'static str,
    /// Height, width and channels of that; of a vector 1, 1 and its length.
    pub output_shape: [usize; 3],
    /// Products that it adds up, for one example.
    pub macs: u64,
    /// Bytes of the values in the workspace that are needed while it runs, what it writes among them.
    pub alive_len_bytes: usize,
    /// Rows of the output that lie in the workspace at a time; 0 for all of them.
    pub rows_held: u32,
    /// Name of its weights.
    pub weights: Option<String>,
    /// Its activation.
    pub activation: Option<&'static str>,
}

/// All of them.
pub fn operations(model: &Model<'_>, metadata: &Metadata<'_>) -> Vec<OperationReport> {
    let names: Vec<&str> = metadata.tensor_names.lines().collect();
    let name = |index: u32| {
        let found = (index != NONE).then(|| names.get(index as usize)).flatten();
        found.map(|name| (*name).to_owned())
    };
    let facts = model.ops().iter().enumerate().map(|(index, record)| {
        // The loader has checked that every operation writes a value.
        let output = &model.values()[record.output as usize];
        OperationReport {
            kind: op::word(record.kind).unwrap_or(UNKNOWN),
            input: record.input,
            input_len: record.input_len,
            output: record.output,
            output_len: output.len,
            output_element: element::word(output.element()).unwrap_or(UNKNOWN),
            output_shape: shape(output).axes(),
            macs: macs(model, record),
            alive_len_bytes: alive_len_bytes(model, index),
            rows_held: output.rows_held(),
            weights: name(record.weights),
            activation: activation::word(record.activation),
        }
    });
    facts.collect()
}

/// The shape of a value: its length is that of all pixels.
fn shape(value: &ValueRecord) -> Shape {
    let [height, width] = value.extent.map(|beyond_first| usize::from(beyond_first) + 1);
    Shape::map(height, width, value.len as usize / (height * width))
}

/// What a table says of what an operation does not have.
const NO_WORD: &str = "";

/// What an operation multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Products {
    /// Nothing, or nothing by weights: tables, features of trees, sums, moves.
    None,
    /// A row of weights for each feature that can be active.
    ActiveFeatures,
    /// The weights for every pixel that is read.
    PixelsRead,
    /// The weights for every pixel that is written; a vector is one.
    PixelsWritten,
}

/// By kind; none of a kind that is not defined.
const fn products(kind: u32) -> Option<Products> {
    Some(match kind {
        op::SPARSE_AFFINE => Products::ActiveFeatures,
        op::TRANSPOSED_CONVOLUTION => Products::PixelsRead,
        op::ACTIVATE_DOT
        | op::AFFINE_I8
        | op::AFFINE_F32
        | op::AFFINE_I16
        | op::AFFINE_I32
        | op::CONVOLUTION
        | op::ROUNDED_DOT
        | op::WIDE_HEAD => Products::PixelsWritten,
        op::RESCALE
        | op::ACTIVATE_F32
        | op::PAIRWISE_U8
        | op::DEQUANTISE
        | op::ACTIVATION_F32
        | op::ADD_F32
        | op::SCALE_F32
        | op::REQUANTISE
        | op::SPARSE_ROWS
        | op::FM_TERM
        | op::BI_INTERACTION
        | op::INNER_PRODUCTS
        | op::CONCAT
        | op::ADD_I32
        | op::LOOKUP
        | op::TREES
        | op::TO_F32
        | op::QUANTISE
        | op::CLIP_U8
        | op::PSQT
        | op::ACTIVATE_U8
        | op::POOL
        | op::ELEMENTWISE
        | op::MOVE
        | op::PAD
        | op::RESIZE
        | op::PAIRWISE_ROUNDED
        | op::MULTIPLY_F32
        | op::FEATURE_SUMS => Products::None,
        _ => return None,
    })
}

/// Rows times columns of the weights, for every pixel; of a sparse input as many columns as features can be active.
fn macs(model: &Model<'_>, record: &OpRecord) -> u64 {
    let output = model.values().get(record.output as usize).map_or(Shape::vector(0), shape);
    let weights = || elements(model.tensor(record.weights));
    match products(record.kind).unwrap_or_else(|| unreachable!("the loader knows operation {}", record.kind)) {
        Products::None => 0,
        Products::ActiveFeatures => u64::from(model.input().max_active) * output.len() as u64,
        // A kernel around every pixel that is read, a row of weights an output.
        Products::PixelsRead => {
            let input = model.values().get(record.input as usize).map_or(Shape::vector(0), shape);
            input.pixels() as u64 * weights()
        }
        Products::PixelsWritten => output.pixels() as u64 * weights(),
    }
}

/// Elements of the weights; of an operation without weights none.
fn elements(weights: Option<Tensor<'_>>) -> u64 {
    weights.iter().map(|tensor| u64::from(tensor.record.rows) * u64::from(tensor.record.cols)).sum()
}

/// Of all values that are written up to this operation and read by it or behind it, the bytes of the workspace in which
/// they lie, those of two that share a place once; the output is read at the end. Operations that hand on rows run at
/// the same time.
fn alive_len_bytes(model: &Model<'_>, index: usize) -> usize {
    let values = model.values();
    let last = values.len().saturating_sub(1);
    let is_held = |value: usize| values.get(value).is_some_and(|value| value.rows_held() > 0);
    let first = (0..=index).rev().find(|op| !is_held(*op)).unwrap_or(index);
    let end = (index..last).find(|op| !is_held(op + 1)).unwrap_or(index);
    let is_read = |value: usize| {
        let mut behind = model.ops().iter().skip(first);
        value == last || behind.any(|op| op.input as usize == value || op.second as usize == value)
    };
    let written = values.iter().enumerate().take(end + 2).skip(1);
    let alive = written.filter(|(value, _)| *value == index + 1 || is_read(*value));
    let mut places: Vec<(usize, usize)> = alive.map(|(_, value)| place(value)).collect();
    places.sort_unstable();
    let (mut sum, mut reached) = (0, 0);
    for (start, end) in places {
        sum += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    sum
}

/// Where a value lies in the workspace, from its first byte to its end.
fn place(value: &ValueRecord) -> (usize, usize) {
    let start = value.offset_bytes() as usize;
    (start, start + value.len_held() as usize * element::len_bytes(value.element()).unwrap_or(NO_BYTES))
}

/// What a workspace would be if every value lay whole, where it is less; empty if it is not.
pub fn saved(len_bytes: usize, whole_len_bytes: usize) -> String {
    if len_bytes >= whole_len_bytes {
        return String::new();
    }
    format!("; {whole_len_bytes} if every value lay whole and apart, with as many multiplications")
}

/// Bytes of the network's outputs.
pub fn output_len_bytes(model: &Model<'_>) -> usize {
    model.values().get(model.input().output as usize).map_or(NO_BYTES, len_bytes)
}

/// Scratch memory of one evaluation whose outputs lie elsewhere, `Plan::run_into`.
pub fn beside_outputs_len_bytes(model: &Model<'_>) -> usize {
    Plan::new(*model, &scalar::KERNELS).beside_outputs_len_bytes()
}

/// Whether outputs that lie elsewhere leave less than half of the workspace.
pub fn is_mostly_outputs(model: &Model<'_>) -> bool {
    2 * beside_outputs_len_bytes(model) < model.workspace_len_bytes()
}

/// Of a value that there is not, which the loader rules out.
const NO_BYTES: usize = 0;

fn len_bytes(value: &ValueRecord) -> usize {
    value.len as usize * element::len_bytes(value.element()).unwrap_or(NO_BYTES)
}

impl OperationReport {
    /// A heading for [`OperationReport::row`].
    pub fn heading() -> Vec<String> {
        row!["operation", "reads", "writes", "MACs", "alive", "weights", "activation"]
    }

    /// The operation as a row of a table.
    pub fn row(&self) -> Vec<String> {
        let rows = match self.rows_held {
            0 => String::new(),
            rows => format!(", {rows} rows at a time"),
        };
        row![
            self.kind,
            format!("value {} ({})", self.input, self.input_len),
            format!("value {} ({} {}{rows})", self.output, Shape::of_axes(self.output_shape), self.output_element),
            self.macs,
            self.alive_len_bytes,
            self.weights.as_deref().unwrap_or(NO_WORD),
            self.activation.unwrap_or(NO_WORD),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::{op, products};

    /// A new row of the runtime's table has to be said here, too.
    #[test]
    fn every_operation_says_what_it_multiplies() {
        for kind in (0..256).filter(|kind| op::word(*kind).is_some()) {
            assert!(products(kind).is_some(), "{kind}: {:?}", op::word(kind));
        }
    }
}
