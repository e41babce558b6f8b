//! Networks of the Stockfish family: the transformer with the digits of its piece-square values, a stack of three
//! layers an output bucket, and the neuron that skips.
//!
//! ```text
//! accumulators ─┬─ products or clips ─ fc0 ─┬─ squares and clips ─ fc1 ─ clips ─ fc2 ─ + ─ + ─ /16
//!               │                           └─ the last sum · 9600 / 8128 ─────────────┘   │
//!               └─ piece-square part ──────────────────────────────────────────────────────┘
//! ```
//!
//! A network that divides twice has `/16` in front of the last sum, on both of its parts, instead of behind it.

use crate::arch::ElementType;
use crate::program::{
    ByteActivation, Element, Lists, Note, Operation, Program, ProgramInput, QuantTensor, Read, Tables, Transformer,
    Values,
};
use crate::stockfish::order::{digit, digit_columns, digits};
use crate::stockfish::{
    ACTIVATION_MAX, Affine, Division, Head, Net, OUTPUT_SCALE, PAIRWISE_FIRST, PSQT_BUCKETS, ROW_MULTIPLE, Stack,
    WEIGHT_SHIFT, description,
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
const SKIP: (i32, i32) = (600 * OUTPUT_SCALE, ACTIVATION_MAX << WEIGHT_SHIFT);

impl Net {
    /// The network as a program.
    #[must_use]
    pub fn lower(&self) -> Program {
        let features = self.shape.features;
        let program = Program {
            name: format!("nnue-{}", self.shape.width),
            description: description::of(self),
            header: self.description.clone(),
            input: ProgramInput::Features {
                features: features.used(),
                perspectives: 2,
                max_active: features.max_active(),
                buckets: features.buckets(),
                set: features.code(),
                other_first: false,
            },
            transformer: Some(transformer(self)),
            nodes: Vec::new(),
            notes: Vec::new(),
            keeps_units: false,
        };
        let mut lowering = Lowering { net: self, program };
        lowering.unused_rows();
        lowering.head();
        lowering.program
    }
}

/// Rows of features in the container's numbering, the digits of the piece-square values behind the file's columns.
fn transformer(net: &Net) -> Transformer {
    let (features, width, count) = (net.shape.features, net.shape.width, digits(&net.transformer));
    let cols = width + digit_columns(count);
    let weights = &net.transformer.weights.values;
    let mut rows = vec![0; cols * features.used()];
    for (feature, row) in rows.chunks_mut(cols).enumerate() {
        let at = features.row_of(feature);
        let own = &weights[at * width..(at + 1) * width];
        row.iter_mut().zip(own).for_each(|(column, weight)| *column = i32::from(*weight));
        let Some(psqt) = &net.transformer.psqt else { continue };
        let values = &psqt.values[at * PSQT_BUCKETS..(at + 1) * PSQT_BUCKETS];
        // The lowest digits of all buckets first.
        for (place, columns) in row[cols - count * PSQT_BUCKETS..].chunks_mut(PSQT_BUCKETS).enumerate() {
            for (column, value) in columns.iter_mut().zip(values) {
                *column = i32::from(digit(*value, place as u32, count as u32) as i16);
            }
        }
    }
    let mut bias: Vec<i32> = net.transformer.biases.values.iter().map(|bias| i32::from(*bias)).collect();
    bias.resize(cols, 0);
    Transformer {
        rows: QuantTensor {
            name: ROWS.to_owned(),
            element: ElementType::I16,
            scale: None,
            banks: 1,
            outputs: cols,
            inputs: features.used(),
            values: Values::Int(rows),
        },
        bias: QuantTensor::vector(BIAS.to_owned(), ElementType::I16, cols, Values::Int(bias)),
        tables: Some(Tables { kings: features.king_table(), buckets: features.bucket_table() }),
        lists: Lists::Board { per_bucket: features.per_king_bucket(), buckets: features.king_buckets() },
    }
}

struct Lowering<'n> {
    net: &'n Net,
    program: Program,
}

impl Lowering<'_> {
    fn push(&mut self, name: &str, reads: &[Read], op: Operation, element: Element, len: usize) -> Read {
        Read::whole(self.program.push(name.to_owned(), reads.to_vec(), op, element, len))
    }

    /// Rows of the file that no feature has, for the way back.
    fn unused_rows(&mut self) {
        let (width, unused) = (self.net.shape.width, self.net.shape.features.unused_rows());
        if unused.is_empty() {
            return;
        }
        let weights = &self.net.transformer.weights.values;
        let values = unused.iter().flat_map(|row| &weights[row * width..(row + 1) * width]);
        let tensor = QuantTensor {
            name: UNUSED.to_owned(),
            element: ElementType::I16,
            scale: None,
            banks: 1,
            outputs: width,
            inputs: unused.len(),
            values: Values::Int(values.map(|weight| i32::from(*weight)).collect()),
        };
        self.program.notes.push(Note { behind: 0, tensor, by_input: true });
    }

    fn head(&mut self) {
        let (shape, accumulators) = (self.net.shape, Read::whole(0));
        let (max, left_out) = (ACTIVATION_MAX, self.program.width() - shape.width);
        let (op, len) = match shape.head {
            Head::Clipped { .. } => (Operation::ClipU8 { max, shift: 0, left_out }, 2 * shape.width),
            Head::Pairwise { .. } => {
                (Operation::PairwiseU8 { max, shift: PRODUCT_SHIFT, is_rounded: false, left_out }, shape.width)
            }
        };
        let inputs = self.push("ft.activations", &[accumulators], op, Element::U8, len);
        let psqt = self.net.transformer.psqt.as_ref().map(|_| {
            let op = Operation::Psqt { digits: digits(&self.net.transformer) };
            self.push("psqt", &[accumulators], op, Element::I32, 1)
        });
        let sums = self.affine(0, inputs, |stack| &stack.first);
        let (read, form) = match shape.head {
            Head::Clipped { .. } => (sums, ByteActivation::Clip),
            Head::Pairwise { squares } => {
                let form = if squares { ByteActivation::Both } else { ByteActivation::Clip };
                (Read { part: Some((0, PAIRWISE_FIRST)), ..sums }, form)
            }
        };
        let activations = self.activate(0, read, form);
        let second = self.affine(1, activations, |stack| &stack.second);
        let activations = self.activate(1, second, ByteActivation::Clip);
        let mut positional = self.affine(2, activations, |stack| &stack.output);
        if matches!(shape.head, Head::Pairwise { .. }) {
            let last = Read { part: Some((PAIRWISE_FIRST, 1)), ..sums };
            let skip = self.rescale("skip", last, 1, SKIP);
            positional = self.push("positional", &[positional, skip], Operation::Add, Element::I32, 1);
        }
        match (psqt, self.net.division) {
            (Some(psqt), Division::Twice) => {
                let positional = self.rescale("positional/16", positional, OUTPUT_SCALE, (1, 1));
                let psqt = self.rescale("psqt/16", psqt, OUTPUT_SCALE, (1, 1));
                self.push("value", &[positional, psqt], Operation::Add, Element::I32, 1);
            }
            (Some(psqt), Division::Once) => {
                let sum = self.push("sum", &[positional, psqt], Operation::Add, Element::I32, 1);
                self.rescale("value", sum, OUTPUT_SCALE, (1, 1));
            }
            (None, _) => {
                self.rescale("value", positional, OUTPUT_SCALE, (1, 1));
            }
        }
    }

    /// One number over another, and times a factor by a divisor, without a bias.
    fn rescale(&mut self, name: &str, read: Read, pre: i32, (factor, divisor): (i32, i32)) -> Read {
        let bias = QuantTensor::vector(ZERO.to_owned(), ElementType::I16, 1, Values::Int(vec![0]));
        self.push(name, &[read], Operation::Rescale { bias, pre, factor, divisor }, Element::I32, 1)
    }

    /// Layer `index` of all stacks; its rows' padding, of which the file may have some that is not zero, for the way
    /// back.
    fn affine(&mut self, index: usize, input: Read, layer: fn(&Stack) -> &Affine) -> Read {
        let layers: Vec<&Affine> = self.net.stacks.iter().map(layer).collect();
        let Affine { inputs, outputs, .. } = *layers[0];
        let (banks, name) = (layers.len(), STACK[index]);
        let columns = |name: String, columns: std::ops::Range<usize>| {
            let column = |column: usize| {
                let of = move |layer: &&Affine| -> Vec<i32> {
                    let row = |row: usize| i32::from(layer.weights[row * layer.row_len() + column]);
                    (0..layer.outputs).map(row).collect()
                };
                layers.iter().flat_map(of).collect::<Vec<i32>>()
            };
            QuantTensor {
                name,
                element: ElementType::I8,
                scale: None,
                banks,
                outputs: banks * outputs,
                inputs: columns.len(),
                values: Values::Int(columns.flat_map(column).collect()),
            }
        };
        let weights = columns(format!("{name}.weight"), 0..inputs);
        let padded = inputs.next_multiple_of(ROW_MULTIPLE);
        let padding = (padded > inputs).then(|| columns(format!("{name}{PADDING}"), inputs..padded));
        let biases = Values::Int(layers.iter().flat_map(|layer| layer.biases.iter().copied()).collect());
        let bias = QuantTensor::vector(format!("{name}.bias"), ElementType::I32, banks * outputs, biases);
        let op = Operation::Affine { weights, bias: Some(QuantTensor { banks, ..bias }) };
        let sums = self.push(&format!("{name}.sums"), &[input], op, Element::I32, outputs);
        if let Some(tensor) = padding {
            self.program.notes.push(Note { behind: self.program.nodes.len(), tensor, by_input: false });
        }
        sums
    }

    /// Sums to bytes.
    fn activate(&mut self, index: usize, sums: Read, form: ByteActivation) -> Read {
        let read = sums.part.map_or_else(|| self.program.len(sums.value), |(_, len)| len);
        let (len, square_shift) = if form == ByteActivation::Both { (2 * read, SQUARE_SHIFT) } else { (read, 0) };
        let op = Operation::ActivateU8 { form, max: ACTIVATION_MAX, clip_shift: WEIGHT_SHIFT, square_shift };
        self.push(&format!("{}.activations", STACK[index]), &[sums], op, Element::U8, len)
    }
}
