//! Networks of the Stockfish family: the transformer with the digits of its piece-square values, a stack of three layers an output
//! bucket, and the neuron that skips.
//!
//! ```text
//! accumulators ─┬─ products or clips ─ fc0 ─┬─ squares and clips ─ fc1 ─ clips ─ fc2 ─ + ─ + ─ /16
//!               │                           └─ the last sum · 9600 / 8128 ─────────────┘   │
//!               └─ piece-square part ──────────────────────────────────────────────────────┘
//! ```
//!
//! A network that divides twice has `/16` in front of the last sum, on both of its parts, instead of behind it.

use super::{Program, Value, blank};
use crate::pack::error::PackError;
use crate::pack::tensor::{Packed, pack_matrices, pack_vector};
use crate::proof::{Proof, Quantity};
use crate::stockfish::order::{digit, digit_columns, digits};
use crate::stockfish::{
    ACTIVATION_MAX, Affine, Division, Head, Net, OUTPUT_SCALE, PAIRWISE_FIRST, PSQT_BUCKETS, Stack, WEIGHT_SHIFT,
};
use tamis_runtime::format::{
    BlockRecord, InputRecord, Layout, NONE, OpRecord, ValueRecord, activation, claim, element, input_kind, op,
    perspective_order,
};

/// Name of the feature rows.
pub const ROWS: &str = "ft.weight";
/// Name of the accumulators' start.
pub const BIAS: &str = "ft.bias";
/// Name of the rows that no feature has.
pub const UNUSED: &str = "ft.unused";
/// Names of a stack's layers, in order.
pub const STACK: [&str; 3] = ["fc0", "fc1", "fc2"];
/// What follows a layer's name where its rows' padding is kept.
pub const PADDING: &str = ".padding";
/// Name of the bias that is none.
const ZERO: &str = "zero";
/// `127 · 127 >> 7`, the shift of products.
const PRODUCT_SHIFT: u32 = 7;
/// The shift of squares: that of both factors, and 7 bits for 1/127 squared.
const SQUARE_SHIFT: u32 = 2 * WEIGHT_SHIFT + 7;
/// What a 1 of the skipping neuron's sum is worth: 600 · 16 / (127 · 64).
const SKIP: (u32, u32) = (600 * OUTPUT_SCALE as u32, (ACTIVATION_MAX as u32) << WEIGHT_SHIFT);

/// The rule that the operations of a network with two parts divide by: what comes last is the sum, or the division.
pub fn divided(ops: &[OpRecord]) -> Division {
    match ops.last() {
        Some(OpRecord { kind: op::ADD_I32, .. }) => Division::Twice,
        _ => Division::Once,
    }
}

/// Builds the program of a network. The proof decides the claims.
pub fn build_nnue(net: &Net, proof: &Proof) -> Result<Program<'static>, PackError> {
    let mut builder = Builder { net, proof, program: empty(net) };
    builder.transformer()?;
    builder.head()?;
    builder.program.input.output = builder.program.ops.len() as u32;
    Ok(builder.program)
}

fn empty(net: &Net) -> Program<'static> {
    let features = net.shape.features;
    let hidden = (net.shape.width + digit_columns(digits(&net.transformer))) as u32;
    let input = InputRecord {
        kind: input_kind::FEATURES,
        size: features.used() as u32,
        perspectives: 2,
        hidden,
        max_active: features.max_active() as u32,
        bucket_count: features.buckets() as u32,
        feature_set: features.code(),
        king_table: NONE,
        bucket_table: NONE,
        element: 0,
        unit: 0.0,
        output: 0,
        output_unit: 1.0,
        order: perspective_order::OWN_FIRST,
        exact: 0,
        reserved: 0,
    };
    let first = ValueRecord { element: element::I16, len: 2 * hidden, offset_bytes: NONE, reserved: 0 };
    Program { input, blocks: Vec::new(), tensors: Vec::new(), values: vec![first], ops: Vec::new() }
}

struct Builder<'n> {
    net: &'n Net,
    proof: &'n Proof,
    program: Program<'static>,
}

impl Builder<'_> {
    fn transformer(&mut self) -> Result<(), PackError> {
        let Net { shape, transformer, .. } = self.net;
        let (features, width, count) = (shape.features, shape.width, digits(transformer));
        let cols = width + digit_columns(count);
        let first = cols - count * PSQT_BUCKETS;
        let weights = &transformer.weights.values;
        let psqt = transformer.psqt.as_ref().map_or(&[][..], |psqt| &psqt.values);
        let at = |feature: usize, col: usize| {
            let row = features.row_of(feature);
            match col.checked_sub(first) {
                None if col >= width => 0,
                None => weights.get(row * width + col).copied().unwrap_or(0),
                // The lowest digits of all buckets first.
                Some(col) => {
                    let value = psqt.get(row * PSQT_BUCKETS + col % PSQT_BUCKETS).copied().unwrap_or(0);
                    digit(value, (col / PSQT_BUCKETS) as u32, count as u32) as i16
                }
            }
        };
        let shape = (1, features.used(), cols);
        let weights = pack_matrices(ROWS, element::I16, Layout::Rows, shape, |_, row, col| at(row, col).to_le_bytes())?;
        let weights = self.add(weights);
        let bias = |col: usize| transformer.biases.values.get(col).copied().unwrap_or(0);
        let bias = pack_matrices(BIAS, element::I16, Layout::Rows, (1, cols, 1), |_, row, _| bias(row).to_le_bytes())?;
        let bias = self.add(bias);
        let fits = self.proof.fits(ROWS, Quantity::Accumulator);
        let claims = if fits { claim::ACCUMULATOR_FITS } else { 0 };
        let feature_count = features.used() as u32;
        let block = BlockRecord { first_feature: 0, feature_count, weights, bias, claims, reserved: [0; 3] };
        self.program.blocks.push(block);
        let table = features.king_table().map(|bucket| [bucket]);
        self.program.input.king_table = self.add(pack_vector("king_table", element::U8, &table)?);
        let table = features.bucket_table().map(|bucket| [bucket]);
        self.program.input.bucket_table = self.add(pack_vector("bucket_table", element::U8, &table)?);
        let unused = features.unused_rows();
        if !unused.is_empty() {
            let rows = &transformer.weights.values;
            let at = |_, row: usize, col: usize| {
                let row = unused.get(row).copied().unwrap_or(usize::MAX);
                row.checked_mul(width).and_then(|start| rows.get(start + col)).copied().unwrap_or(0).to_le_bytes()
            };
            let packed = pack_matrices(UNUSED, element::I16, Layout::Rows, (1, unused.len(), width), at)?;
            self.add(packed);
        }
        Ok(())
    }

    fn head(&mut self) -> Result<(), PackError> {
        let (shape, net) = (self.net.shape, self.net);
        let accumulators = Value { index: 0, start: 0, len: self.program.input.hidden * 2 };
        let left_out = self.program.input.hidden - shape.width as u32;
        let max = ACTIVATION_MAX as u32;
        let (inputs, record) = match shape.head {
            Head::Clipped { .. } => {
                let params = [max, 0, left_out, 0];
                (2 * shape.width, OpRecord { kind: op::CLIP_U8, activation: activation::CRELU, params, ..blank() })
            }
            Head::Pairwise { .. } => {
                let params = [max, PRODUCT_SHIFT, left_out, 0];
                (
                    shape.width,
                    OpRecord { kind: op::PAIRWISE_U8, activation: activation::PAIRWISE_CRELU, params, ..blank() },
                )
            }
        };
        let inputs = self.push(element::U8, inputs as u32, accumulators, record);
        let psqt = net.transformer.psqt.as_ref().map(|_| {
            let params = [digits(&net.transformer) as u32, 0, 0, 0];
            self.push(element::I32, 1, accumulators, OpRecord { kind: op::PSQT, params, ..blank() })
        });
        let sums = self.affine(0, inputs, |stack| &stack.first)?;
        let (read, code) = match shape.head {
            Head::Clipped { .. } => (sums, activation::SHIFT_CLIP),
            Head::Pairwise { squares } => {
                let code = if squares { activation::SQUARE_AND_CLIP } else { activation::SHIFT_CLIP };
                (Value { len: PAIRWISE_FIRST as u32, ..sums }, code)
            }
        };
        let activations = self.activate(read, code);
        let sums_of_second = self.affine(1, activations, |stack| &stack.second)?;
        let activations = self.activate(sums_of_second, activation::SHIFT_CLIP);
        let mut sum = self.affine(2, activations, |stack| &stack.output)?;
        let bias = self.add(pack_vector(ZERO, element::I16, &[[0u8; 2]])?);
        if matches!(shape.head, Head::Pairwise { .. }) {
            let last = Value { start: PAIRWISE_FIRST as u32, len: 1, ..sums };
            let (factor, divisor) = SKIP;
            let record = OpRecord { kind: op::RESCALE, bias, params: [1, factor, divisor, 0], ..blank() };
            let skip = self.push(element::I32, 1, last, record);
            sum = self.push(element::I32, 1, sum, OpRecord { kind: op::ADD_I32, second: skip.index, ..blank() });
        }
        let divide = OpRecord { kind: op::RESCALE, bias, params: [OUTPUT_SCALE as u32, 1, 1, 0], ..blank() };
        let add = |second: Value| OpRecord { kind: op::ADD_I32, second: second.index, ..blank() };
        match (psqt, net.division) {
            (Some(psqt), Division::Twice) => {
                let positional = self.push(element::I32, 1, sum, divide);
                let psqt = self.push(element::I32, 1, psqt, divide);
                self.push(element::I32, 1, positional, add(psqt));
            }
            (Some(psqt), Division::Once) => {
                let sum = self.push(element::I32, 1, sum, add(psqt));
                self.push(element::I32, 1, sum, divide);
            }
            (None, _) => {
                self.push(element::I32, 1, sum, divide);
            }
        }
        Ok(())
    }

    /// Layer `index` of all stacks; its rows' padding, of which the file may have some that is not zero, for `unpack`.
    fn affine(&mut self, index: usize, input: Value, layer: fn(&Stack) -> &Affine) -> Result<Value, PackError> {
        let layers: Vec<&Affine> = self.net.stacks.iter().map(layer).collect();
        let Some(Affine { inputs, outputs, .. }) = layers.first().copied().cloned() else { return Ok(input) };
        let name = STACK.get(index).copied().unwrap_or_default();
        let at = |bank: usize, row: usize, col: usize| -> i8 {
            let layer = layers.get(bank);
            layer.and_then(|layer| layer.weights.get(row * layer.row_len() + col)).copied().unwrap_or(0)
        };
        let weight = format!("{name}.weight");
        let claims = if self.proof.fits(&weight, Quantity::Sum) { claim::SUM_FITS } else { 0 };
        let shape = (layers.len(), outputs, inputs);
        let mut packed =
            pack_matrices(&weight, element::I8, Layout::K4, shape, |bank, row, col| at(bank, row, col).to_le_bytes())?;
        packed.record.claims |= claims | if packed.quads_fit() { claim::QUADS_FIT_I16 } else { 0 };
        let weights = self.add(packed);
        let bias = |bank: usize, row: usize, _| -> [u8; 4] {
            let layer = layers.get(bank);
            layer.and_then(|layer| layer.biases.get(row)).copied().unwrap_or(0).to_le_bytes()
        };
        let shape = (layers.len(), outputs, 1);
        let bias = self.add(pack_matrices(&format!("{name}.bias"), element::I32, Layout::Rows, shape, bias)?);
        let padding = inputs.next_multiple_of(crate::stockfish::ROW_MULTIPLE) - inputs;
        if padding > 0 {
            let shape = (layers.len(), outputs, padding);
            let at = |bank, row, col| at(bank, row, inputs + col).to_le_bytes();
            let packed = pack_matrices(&format!("{name}{PADDING}"), element::I8, Layout::Rows, shape, at)?;
            self.add(packed);
        }
        Ok(self.push(element::I32, outputs as u32, input, OpRecord { kind: op::AFFINE_I8, weights, bias, ..blank() }))
    }

    /// Sums to bytes.
    fn activate(&mut self, sums: Value, code: u32) -> Value {
        let (len, square_shift) =
            if code == activation::SQUARE_AND_CLIP { (2 * sums.len, SQUARE_SHIFT) } else { (sums.len, 0) };
        let params = [ACTIVATION_MAX as u32, WEIGHT_SHIFT, square_shift, 0];
        self.push(element::U8, len, sums, OpRecord { kind: op::ACTIVATE_U8, activation: code, params, ..blank() })
    }

    fn add(&mut self, packed: Packed<'static>) -> u32 {
        self.program.tensors.push(packed);
        self.program.tensors.len() as u32 - 1
    }

    /// Appends an operation that writes a new value of `len` elements.
    fn push(&mut self, element: u32, len: u32, input: Value, record: OpRecord) -> Value {
        self.program.push(element, len, input, record)
    }
}
