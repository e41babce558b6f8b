//! Networks of the Stockfish family: the transformer with the digits of its piece-square values, a stack of three
//! layers an output bucket, and the neuron that skips.
//!
//! ```text
//! accumulators ─┬─ products or clips ─ fc0 ─┬─ squares and clips ─ fc1 ─ clips ─ fc2 ─ + ─ + ─ /16
//!               │                           └─ the last sum · 9600 / 8128 ─────────────┘   │
//!               └─ piece-square part ──────────────────────────────────────────────────────┘
//! ```
//!
//! The wide head's second and last layer read squares and clips of all sums before them, and two of the first layer's
//! sums skip: `(fc2 + sum[30] − sum[31]) · 9600 / 16384`. Rows of relations between pieces follow those of pieces on
//! squares in blocks of bytes.
//!
//! A network that divides twice has `/16` in front of the last sum, on both of its parts, instead of behind it.

use crate::arch::ElementType;
use crate::program::{
    ByteActivation, Clip, Element, Lists, Note, Operation, Program, ProgramInput, QuantTensor, Read, Tables,
    Transformer, Values,
};
use crate::stockfish::order::{Digits, digit_columns};
use crate::stockfish::{
    ACTIVATION_MAX, Affine, Division, Head, Net, OUTPUT_SCALE, PAIRWISE_FIRST, PSQT_BUCKETS, ROW_MULTIPLE, Relation,
    RelationRows, SECOND, Stack, WEIGHT_SHIFT, WIDE_FIRST, WIDE_SHIFT, WIDE_SKIP, description,
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
/// What a 1 of the skipping neuron's sum is worth: 600 · 16 / (127 · 64).
const SKIP: (i32, i32) = (600 * OUTPUT_SCALE, ACTIVATION_MAX << WEIGHT_SHIFT);
/// What a 1 of the wide head's last sum is worth: 600 · 16 / (128 · 64 · 2).
const WIDE_SCALE: (i32, i32) = (600 * OUTPUT_SCALE, 2 << (WEIGHT_SHIFT + 7));

/// Name of the rows of a relation.
#[must_use]
pub const fn relation_name(relation: Relation) -> &'static str {
    match relation {
        Relation::Threats | Relation::FewerThreats => "threats.weight",
        Relation::PawnPairs => "pawn_pairs.weight",
    }
}

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
    let (features, width, digits) = (net.shape.features, net.shape.width, Digits::of(&net.transformer));
    let cols = width + digit_columns(digits);
    let weights = &net.transformer.weights.values;
    let mut rows = vec![0; cols * features.used_pieces()];
    for (feature, row) in rows.chunks_mut(cols).enumerate() {
        let at = features.row_of(feature);
        let own = &weights[at * width..(at + 1) * width];
        row.iter_mut().zip(own).for_each(|(column, weight)| *column = i32::from(*weight));
        let Some(psqt) = &net.transformer.psqt else { continue };
        let values = &psqt.values[at * PSQT_BUCKETS..(at + 1) * PSQT_BUCKETS];
        put_digits(digits, row, values);
    }
    let relation = |(relation, of): (&Relation, &RelationRows)| {
        let mut rows = vec![0; cols * relation.count()];
        let values = of.psqt.values.chunks(PSQT_BUCKETS);
        for ((row, weights), values) in rows.chunks_mut(cols).zip(of.weights.chunks(width)).zip(values) {
            row.iter_mut().zip(weights).for_each(|(column, weight)| *column = i32::from(*weight));
            put_digits(digits, row, values);
        }
        QuantTensor {
            name: relation_name(*relation).to_owned(),
            element: ElementType::I8,
            scale: None,
            banks: 1,
            outputs: cols,
            inputs: relation.count(),
            values: Values::Int(rows),
        }
    };
    let relations = features.relations();
    let mut bias: Vec<i32> = net.transformer.biases.values.iter().map(|bias| i32::from(*bias)).collect();
    bias.resize(cols, 0);
    Transformer {
        rows: QuantTensor {
            name: ROWS.to_owned(),
            element: ElementType::I16,
            scale: None,
            banks: 1,
            outputs: cols,
            inputs: features.used_pieces(),
            values: Values::Int(rows),
        },
        further: relations.iter().zip(&net.transformer.relations).map(relation).collect(),
        bias: QuantTensor::vector(BIAS.to_owned(), ElementType::I16, cols, Values::Int(bias)),
        tables: Some(Tables { kings: features.king_table(), buckets: features.bucket_table().to_vec(), counted: 0 }),
        lists: Lists::of_set(features.code(), features.used()),
        // No count of rows proves the sums of relations, and the family's engines let them wrap; the digits must not.
        wraps: if relations.is_empty() { 0 } else { width },
    }
}

/// The digits of a row's piece-square values, at its end, the lowest of all buckets first.
fn put_digits(digits: Digits, row: &mut [i32], values: &[i32]) {
    let start = row.len() - digits.count as usize * PSQT_BUCKETS;
    for (place, columns) in row[start..].chunks_mut(PSQT_BUCKETS).enumerate() {
        for (column, value) in columns.iter_mut().zip(values) {
            *column = digits.digit(*value, place as u32);
        }
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
        let (max, left_out) = (shape.features.clip(), self.program.width() - shape.width);
        let shift = shape.features.product_shift();
        let (op, len) = match shape.head {
            Head::Clipped { .. } => (Operation::ClipU8 { max, shift: 0, left_out }, 2 * shape.width),
            Head::Pairwise { .. } | Head::Wide => {
                (Operation::PairwiseU8 { max, shift, is_rounded: false, left_out }, shape.width)
            }
        };
        let inputs = self.push("ft.activations", &[accumulators], op, Element::U8, len);
        let psqt = self.net.transformer.psqt.as_ref().map(|_| {
            let Digits { count, bits } = Digits::of(&self.net.transformer);
            let op = Operation::Psqt { digits: count as usize, bits };
            self.push("psqt", &[accumulators], op, Element::I32, 1)
        });
        let sums = self.affine(0, inputs, |stack| &stack.first);
        let positional = match shape.head {
            Head::Clipped { .. } => self.narrow(sums, ByteActivation::Clip),
            Head::Pairwise { squares } => {
                let form = if squares { ByteActivation::Both } else { ByteActivation::Clip };
                let positional = self.narrow(Read { part: Some((0, PAIRWISE_FIRST)), ..sums }, form);
                let last = Read { part: Some((PAIRWISE_FIRST, 1)), ..sums };
                let skip = self.rescale("skip", last, 1, SKIP);
                self.push("positional", &[positional, skip], Operation::Add, Element::I32, 1)
            }
            Head::Wide => self.wide(sums),
        };
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

    /// The last two layers of the narrow heads on what is read of the first one's sums.
    fn narrow(&mut self, read: Read, form: ByteActivation) -> Read {
        let activations = self.activate(0, read, form, WEIGHT_SHIFT);
        let second = self.affine(1, activations, |stack| &stack.second);
        let activations = self.activate(1, second, ByteActivation::Clip, WEIGHT_SHIFT);
        self.affine(2, activations, |stack| &stack.output)
    }

    /// The last two layers of the wide head, and the sums that skip.
    fn wide(&mut self, sums: Read) -> Read {
        let first = self.activate(0, sums, ByteActivation::Both, WIDE_SHIFT);
        let second = self.affine(1, first, |stack| &stack.second);
        let second = self.activate(1, second, ByteActivation::Both, WEIGHT_SHIFT);
        let len = 2 * (WIDE_FIRST + SECOND);
        let both = self.push("fc2.inputs", &[first, second], Operation::Concat { runs: 1 }, Element::U8, len);
        let output = self.affine(2, both, |stack| &stack.output);
        let weights = QuantTensor {
            name: "skip.weight".to_owned(),
            element: ElementType::I8,
            scale: None,
            banks: 1,
            outputs: 1,
            inputs: 2,
            values: Values::Int(vec![1, -1]),
        };
        let op =
            Operation::AffineI32 { clip: Clip::Identity, is_dual: false, max: i32::MAX, shift: 0, weights, bias: None };
        let skipped = Read { part: Some((WIDE_SKIP, 2)), ..sums };
        let skip = self.push("skip", &[skipped], op, Element::I32, 1);
        let sum = self.push("output", &[output, skip], Operation::Add, Element::I32, 1);
        self.rescale("positional", sum, 1, WIDE_SCALE)
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
    fn activate(&mut self, index: usize, sums: Read, form: ByteActivation, clip_shift: u32) -> Read {
        let read = sums.part.map_or_else(|| self.program.len(sums.value), |(_, len)| len);
        // That of both factors, and 7 bits for 1/127 squared.
        let (len, square_shift) = if form == ByteActivation::Both { (2 * read, 2 * clip_shift + 7) } else { (read, 0) };
        let op = Operation::ActivateU8 { form, max: ACTIVATION_MAX, clip_shift, square_shift };
        self.push(&format!("{}.activations", STACK[index]), &[sums], op, Element::U8, len)
    }
}
