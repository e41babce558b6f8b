//! The one integer program: what every front end lowers into, and what proof, packing and every report read.
//!
//! ```text
//! bullet's networks, .nnue files, graphs ──lower──> Program ──> proof, container, integer model
//! ```
//!
//! A program is an input, operations in order, and tensors in training order before any layout. Nothing behind it knows
//! which front end it came from.

mod activation;
mod clip;
mod element;
mod error;
mod input;
mod maps;
mod operation;
mod reals;
mod requantisation;
mod scores;
mod sides;
mod tensor;
mod transformer;

pub use activation::RealActivation;
pub use clip::{ByteActivation, Clip};
pub use element::Element;
pub use error::Unsupported;
pub use input::{GraphInput, ProgramInput, Stored};
pub use maps::{Convolution, Pairing, PoolKind, Rounding};
pub use operation::Operation;
pub use requantisation::requantisation;
pub use sides::Sides;
pub use tensor::{QuantTensor, UNSCALED, Values};
pub use transformer::{Lists, Tables, Transformer};

use crate::arch::ElementType;
use crate::spatial::Shape;

/// A network in the runtime's operations.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// What reports call the network.
    pub name: String,
    /// The description that the front end read or made, as the file carries it.
    pub description: String,
    /// Bytes that the front end wants back: a bare file's header, the text in a `.nnue` file's.
    pub header: Vec<u8>,
    /// Value 0.
    pub input: ProgramInput,
    /// What makes value 0 of lists of features; of other inputs none.
    pub transformer: Option<Transformer>,
    /// Node `i` makes value `i + 1`; the last one makes the output.
    pub nodes: Vec<ProgramNode>,
    /// Tensors that no operation reads.
    pub notes: Vec<Note>,
    /// Whether the file says of every value its units, its zero and what it stands for. Where it does not, the
    /// description does.
    pub keeps_units: bool,
}

/// One operation and the value that it makes.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramNode {
    /// Unique in the program.
    pub name: String,
    /// The values that it reads.
    pub reads: Vec<Read>,
    /// What it computes.
    pub op: Operation,
    /// What it makes.
    pub value: ProgramValue,
}

/// What an operation reads of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// Which value: 0 is the input, `i + 1` what node `i` makes.
    pub value: usize,
    /// The first element and their number; all of it if there is none.
    pub part: Option<(usize, usize)>,
}

impl Read {
    /// All of a value.
    #[must_use]
    pub const fn whole(value: usize) -> Self {
        Self { value, part: None }
    }
}

/// What integers stand for: `real = (integer − zero) · unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramValue {
    /// Of the integers, or reals.
    pub element: Element,
    /// Of the value.
    pub shape: Shape,
    /// (1,) for all elements, or (channels,) one a channel.
    pub units: Vec<f32>,
    /// The integer that stands for 0.
    pub zero: i32,
    /// The value of the float graph that this one stands for, if it is one.
    pub layer: Option<usize>,
    /// The channels of that value that are here, ascending, where they are not all of them.
    pub kept: Option<Vec<usize>>,
}

/// A tensor that no operation reads: the order of neurons, padding that a `.nnue` file has, units.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// How many nodes' tensors stand before it in the file; 0 is right behind the transformer's.
    pub behind: usize,
    /// A row an output, or with `by_input` a row an input.
    pub tensor: QuantTensor,
    /// How it lies in the file.
    pub by_input: bool,
}

impl Program {
    /// Whether its first layer accumulates the rows of features, which an engine keeps from move to move.
    #[must_use]
    pub const fn has_accumulators(&self) -> bool {
        self.transformer.is_some()
    }

    /// The elements of a value.
    ///
    /// # Panics
    /// If there is no such value.
    #[must_use]
    pub fn element(&self, value: usize) -> Element {
        match (value.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes[node].value.element,
            (None, ProgramInput::Dense { element, .. }) => element,
            (None, ProgramInput::Sparse { .. } | ProgramInput::Features { .. }) => Element::I16,
        }
    }

    /// The shape of a value; all but maps are vectors.
    ///
    /// # Panics
    /// If there is no such value.
    #[must_use]
    pub fn shape(&self, value: usize) -> Shape {
        match (value.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes[node].value.shape,
            (None, ProgramInput::Dense { shape, .. }) => shape,
            (None, _) => Shape::vector(self.len(0)),
        }
    }

    /// The integer of a value that stands for 0.
    ///
    /// # Panics
    /// If there is no such value.
    #[must_use]
    pub fn zero(&self, value: usize) -> i32 {
        match (value.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes[node].value.zero,
            (None, ProgramInput::Dense { zero, .. }) => zero,
            (None, _) => 0,
        }
    }

    /// The length of a value; of a sparse input `max_active`, of lists of features all accumulators together.
    ///
    /// # Panics
    /// If there is no such value.
    #[must_use]
    pub fn len(&self, value: usize) -> usize {
        match (value.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes[node].value.len(),
            (None, ProgramInput::Dense { shape, .. }) => shape.len(),
            (None, ProgramInput::Sparse { max_active, .. }) => max_active,
            (None, ProgramInput::Features { perspectives, .. }) => perspectives * self.width(),
        }
    }

    /// Elements of one accumulator; 0 of a network without.
    #[must_use]
    pub fn width(&self) -> usize {
        match &self.transformer {
            Some(transformer) => transformer.rows.outputs,
            None => 0,
        }
    }

    /// Output buckets; 1 of a network without.
    #[must_use]
    pub const fn buckets(&self) -> usize {
        match self.input {
            ProgramInput::Features { buckets, .. } => buckets,
            _ => 1,
        }
    }

    /// Whether there are no operations, which no network has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The real value of a 1 in the output.
    ///
    /// # Panics
    /// If the program is empty.
    #[must_use]
    pub fn output_unit(&self) -> f32 {
        self.nodes[self.nodes.len() - 1].value.units[0]
    }

    /// The last value that stands for value `layer` of the float graph.
    #[must_use]
    pub fn standing_for(&self, layer: usize) -> Option<usize> {
        self.nodes.iter().rposition(|node| node.value.layer == Some(layer)).map(|node| node + 1)
    }

    /// The tensors, in the order of the operations that read them.
    pub fn tensors(&self) -> impl Iterator<Item = &QuantTensor> {
        let of_transformer = self.transformer.iter().flat_map(|transformer| [&transformer.rows, &transformer.bias]);
        let further = self.transformer.iter().flat_map(|transformer| &transformer.further);
        of_transformer.chain(further).chain(self.nodes.iter().flat_map(|node| node.op.tensors()))
    }

    /// Products that operations over dense values add up for one example: weights times the pixels that they meet.
    ///
    /// # Panics
    /// If a node reads a value that there is not.
    #[must_use]
    pub fn macs(&self) -> u64 {
        self.nodes.iter().map(|node| self.macs_of(node)).sum()
    }

    /// The same of one node.
    pub(crate) fn macs_of(&self, node: &ProgramNode) -> u64 {
        let (tensor, shape) = match &node.op {
            Operation::Convolution(op) if op.transposed => (&op.weights, self.shape(node.read(0))),
            Operation::Convolution(Convolution { weights, .. })
            | Operation::Affine { weights, .. }
            | Operation::AffineF32 { weights, .. } => (weights, node.value.shape),
            _ => return 0,
        };
        shape.pixels() as u64 * (tensor.outputs * tensor.inputs) as u64
    }

    /// Bytes of all parameters, without what a file adds.
    #[must_use]
    pub fn parameter_len_bytes(&self) -> usize {
        let width = |tensor: &QuantTensor| match tensor.element {
            ElementType::I8 => 1,
            ElementType::I16 => 2,
            ElementType::I32 | ElementType::F32 => 4,
        };
        let tensors: usize = self.tensors().map(|tensor| tensor.outputs * tensor.inputs * width(tensor)).sum();
        let vectors = self.nodes.iter().map(|node| match &node.op {
            Operation::Requantise { multipliers, .. } => 5 * multipliers.len(),
            Operation::Lookup { table } => table.len(),
            Operation::Convolution(Convolution { rounding: Some(rounding), .. }) => {
                4 * rounding.multipliers.len() + rounding.shifts.len()
            }
            Operation::Resize { taps } => 12 * taps.len(),
            _ => 0,
        });
        tensors + vectors.sum::<usize>()
    }
}

impl ProgramNode {
    /// The value of its `place`th read.
    ///
    /// # Panics
    /// If it reads fewer.
    #[must_use]
    pub fn read(&self, place: usize) -> usize {
        self.reads[place].value
    }
}

impl ProgramValue {
    /// Whether a value of the float graph of this shape has the elements that are here.
    #[must_use]
    pub fn is_part_of(&self, shape: Shape) -> bool {
        match &self.kept {
            None => shape.len() == self.len(),
            Some(kept) => {
                let has_all = kept.iter().all(|channel| *channel < shape.channels);
                has_all && shape.pixels() * kept.len() == self.len()
            }
        }
    }

    /// The elements that are here of a value of the float graph, whose shape is `shape`.
    pub fn pick<'v>(&'v self, reals: &'v [f64], shape: Shape) -> Box<dyn Iterator<Item = f64> + 'v> {
        match &self.kept {
            None => Box::new(reals.iter().copied()),
            Some(kept) => {
                let of_pixel = move |pixel: &'v [f64]| kept.iter().map(move |channel| pixel[*channel]);
                Box::new(reals.chunks_exact(shape.channels.max(1)).flat_map(of_pixel))
            }
        }
    }

    /// The unit of one element.
    ///
    /// # Panics
    /// If there are no units.
    #[must_use]
    pub fn unit(&self, element: usize) -> f64 {
        f64::from(self.units[element % self.units.len()])
    }

    /// Number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.shape.len()
    }

    /// Whether there are none, which no program has.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.shape.is_empty()
    }
}
