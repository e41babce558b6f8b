//! Back from the container: the same quantised graph that was packed.

use super::error::PackError;
use super::kept;
use super::maps::window_of;
use super::records::{KEPT, UNIT, VALUES};
use super::tensor::Orientation;
use super::unpack::values;
use crate::arch::ElementType;
use crate::program::{
    Convolution, Element, Operation, Pairing, PoolKind, Program, ProgramInput, ProgramNode, ProgramValue, QuantTensor,
    Read, RealActivation, Rounding, Unsupported, Values,
};
use crate::spatial::Shape;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{NONE, OpRecord, Tensor, ValueRecord, activation, element, input_kind, is_depthwise, op};

/// Whether a container holds a graph, rather than a network of layers.
#[must_use]
pub fn is_graph(model: &Model<'_>) -> bool {
    model.metadata().is_ok_and(|metadata| metadata.tensor_names.lines().any(|name| name == VALUES))
}

/// Takes a graph's container apart: operations with their tensors in training order, names and units.
///
/// # Errors
/// [`PackError`] if the file has no names or no units of a graph, or operations that no graph has.
pub fn unpack_graph(model: &Model<'_>) -> Result<Program, PackError> {
    let metadata = model.metadata()?;
    let names: Vec<&str> = metadata.tensor_names.lines().collect();
    let missing =
        |tensor: &str, rows: usize| PackError::Contents { tensor: tensor.to_owned(), outputs: rows, inputs: 1 };
    let count = model.ops().len();
    let reader = Reader { model, names: &names };
    let facts = names.iter().position(|name| *name == VALUES).and_then(|index| reader.vector(index as u32));
    let facts = facts.filter(|facts| facts.len() == 2 * count).ok_or_else(|| missing(VALUES, 2 * count))?;
    let units: Vec<usize> = (0..names.len()).filter(|index| names[*index].ends_with(UNIT)).collect();
    if units.len() != count {
        return Err(missing(&format!("…{UNIT}"), count));
    }
    let channels: Vec<usize> = model.values().iter().skip(1).map(|value| shape_of(value).channels).collect();
    let mut kept = match names.iter().position(|name| *name == KEPT) {
        Some(index) => reader.vector(index as u32).and_then(|words| kept::of_words(&words, &channels)),
        None => Some(vec![None; count]),
    }
    .ok_or_else(|| missing(KEPT, 1))?;
    let mut nodes = Vec::with_capacity(count);
    for (index, (record, unit)) in model.ops().iter().zip(units).enumerate() {
        let name = &names[unit][..names[unit].len() - UNIT.len()];
        let fault = || missing(name, 1);
        let made = model.values().get(index + 1).ok_or_else(fault)?;
        let element = Element::of_code(made.element()).ok_or_else(fault)?;
        // One unit for all elements, or one each.
        let units = reader.reals(unit as u32).filter(|units| [1, shape_of(made).channels].contains(&units.len()));
        let units = units.ok_or_else(|| missing(&format!("{name}{UNIT}"), made.len as usize))?;
        check_units(&units, name, (index + 1 == count).then(|| model.input().output_unit))?;
        let (zero, expected) = (facts[2 * index], i32::from(made.zero));
        if zero != expected {
            return Err(PackError::ZeroPoint { node: name.to_owned(), found: zero, expected });
        }
        let layer = facts.get(2 * index + 1).and_then(|layer| usize::try_from(*layer).ok());
        let mut reads = vec![record.input as usize];
        if record.second != NONE {
            reads.push(record.second as usize);
        }
        // Parts of values are not read in a graph.
        let has_len = |value: usize, len: u32| model.values().get(value).is_some_and(|value| value.len == len);
        let rest = made.len - if record.kind == op::CONCAT { record.input_len } else { 0 };
        let whole = record.input_start == 0
            && has_len(record.input as usize, record.input_len)
            && reads.get(1).is_none_or(|second| {
                record.second_start == 0 && (has_len(*second, rest) || record.kind == op::ELEMENTWISE)
            });
        let op = reader.operation(record).filter(|_| whole).ok_or_else(|| {
            PackError::from(Unsupported {
                layer: name.to_owned(),
                what: format!("operation {index} of kind {}, which no graph has", record.kind),
                instead: "pack the network again",
            })
        })?;
        let kept = kept.get_mut(index).and_then(Option::take);
        let value = ProgramValue { element, shape: shape_of(made), units, zero, layer, kept };
        let reads = reads.into_iter().map(Read::whole).collect();
        nodes.push(ProgramNode { name: name.to_owned(), reads, op, value });
    }
    Ok(Program {
        name: metadata.name.to_owned(),
        description: metadata.description.to_owned(),
        header: metadata.bare_header.to_vec(),
        input: input(model).ok_or_else(|| missing("the input", 1))?,
        transformer: None,
        nodes,
        notes: Vec::new(),
        keeps_units: true,
    })
}

/// That units are those of values: a container says the output's a second time, in its input record.
fn check_units(units: &[f32], node: &str, output: Option<f32>) -> Result<(), PackError> {
    let fault = |found: f32, expected: String| Err(PackError::Unit { node: node.to_owned(), found, expected });
    if let Some(found) = units.iter().find(|unit| !(unit.is_finite() && **unit > 0.0)) {
        return fault(*found, "a positive number".to_owned());
    }
    match output {
        Some(expected) if units[0] != expected => fault(units[0], format!("{expected} as in the input record")),
        _ => Ok(()),
    }
}

/// The input that the records say; none where they say no value.
fn input(model: &Model<'_>) -> Option<ProgramInput> {
    let record = model.input();
    if record.kind == input_kind::SPARSE {
        return Some(ProgramInput::Sparse {
            features: record.size as usize,
            max_active: record.max_active as usize,
            exact: record.exact == 1,
            unit: (record.element == element::I16).then_some(record.unit),
        });
    }
    let (element, value) = (Element::of_code(record.element)?, model.values().first()?);
    Some(ProgramInput::Dense { shape: shape_of(value), element, unit: record.unit, zero: value.zero.into() })
}

/// The shape that a record says.
fn shape_of(record: &ValueRecord) -> Shape {
    let [height, width] = record.extent.map(|beyond| usize::from(beyond) + 1);
    Shape::map(height, width, record.len as usize / (height * width))
}

struct Reader<'r, 'm> {
    model: &'r Model<'m>,
    names: &'r [&'r str],
}

impl Reader<'_, '_> {
    fn operation(&self, record: &OpRecord) -> Option<Operation> {
        let [first, second, third, _] = record.params;
        let output = Orientation::OutputRows;
        let real = |bits: u32| f32::from_bits(bits);
        Some(match record.kind {
            op::AFFINE_I8 | op::AFFINE_I16 => {
                Operation::Affine { weights: self.tensor(record.weights, output)?, bias: self.optional(record.bias)? }
            }
            op::AFFINE_F32 => {
                let (weights, bias) = (self.tensor(record.weights, output)?, self.optional(record.bias)?);
                Operation::AffineF32 { weights, bias }
            }
            op::SPARSE_AFFINE => {
                let weights = self.tensor(record.weights, Orientation::InputRows)?;
                Operation::SparseAffine { weights, bias: self.optional(record.bias)? }
            }
            op::SPARSE_ROWS => {
                let table = self.tensor(record.weights, Orientation::InputRows)?;
                Operation::SparseRows { table, requantisation: (second > 0).then_some((first as i32, second)) }
            }
            op::FM_TERM => Operation::FmTerm { width: first as usize },
            op::BI_INTERACTION => Operation::BiInteraction { width: first as usize },
            op::INNER_PRODUCTS => Operation::InnerProducts { width: first as usize },
            op::CONCAT => Operation::Concat { runs: first.max(1) as usize },
            op::ADD_I32 | op::ADD_F32 => Operation::Add,
            op::MULTIPLY_F32 => Operation::Multiply,
            op::REQUANTISE => Operation::Requantise {
                multipliers: self.vector(record.multipliers)?,
                shifts: self.bytes(record.shifts)?,
                low: first as i32,
                high: second as i32,
            },
            op::LOOKUP => {
                let tensor = self.model.tensor(record.weights)?;
                let signed = u32::from(tensor.record.element) == element::I8;
                let entry = |byte: u8| if signed { i32::from(byte as i8) } else { i32::from(byte) };
                Operation::Lookup { table: self.bytes(record.weights)?.into_iter().map(entry).collect() }
            }
            op::TREES => Operation::Trees {
                features: self.tensor(record.multipliers, output)?,
                thresholds: self.tensor(record.weights, output)?,
                leaves: self.tensor(record.bias, output).filter(|leaves| leaves.element == ElementType::I32)?,
            },
            op::TO_F32 => Operation::ToF32 { factor: real(first), zero: second as i32 },
            op::DEQUANTISE => Operation::Dequantise { factor: real(first), bias: self.optional(record.bias)? },
            op::QUANTISE => Operation::Quantise { inverse: real(first), low: second as i32, high: third as i32 },
            op::ACTIVATION_F32 => Operation::Activation(match record.activation {
                activation::RELU => RealActivation::Relu,
                activation::CRELU => RealActivation::Crelu,
                activation::SCRELU => RealActivation::Screlu,
                activation::SQRRELU => RealActivation::Sqrrelu,
                activation::PAIRWISE_CRELU => RealActivation::PairwiseCrelu,
                activation::DUAL_CRELU => RealActivation::DualCrelu,
                activation::LEAKY_RELU => RealActivation::LeakyRelu { alpha: real(first) },
                activation::HARD_SWISH => RealActivation::HardSwish,
                activation::SIGMOID => RealActivation::Sigmoid,
                activation::TANH => RealActivation::Tanh,
                activation::SOFTMAX => RealActivation::Softmax,
                _ => return None,
            }),
            op::SCALE_F32 => Operation::Scale(real(first)),
            _ => return self.maps(record),
        })
    }

    /// An operation on maps.
    fn maps(&self, record: &OpRecord) -> Option<Operation> {
        let shape = |value: u32| self.model.values().get(value as usize).map(shape_of);
        let (from, to) = (shape(record.input)?, shape(record.output)?);
        let sizes = |shape: Shape| [shape.height, shape.width];
        let transposed = record.kind == op::TRANSPOSED_CONVOLUTION;
        let window = || window_of(record, transposed, sizes(from), sizes(to));
        let [first, second, low, high] = record.params;
        let (low, high) = (low as i32, high as i32);
        Some(match record.kind {
            op::CONVOLUTION | op::TRANSPOSED_CONVOLUTION => {
                let (window, tensor) = (window(), self.model.tensor(record.weights)?.record);
                let shape = [tensor.rows as usize, tensor.cols as usize];
                let depthwise = is_depthwise(record.kind, shape, window.taps(), [from.channels, to.channels]);
                let orientation = if depthwise { Orientation::InputRows } else { Orientation::OutputRows };
                let weights = self.tensor(record.weights, orientation)?;
                let groups = (window.taps() * from.channels).checked_div(weights.inputs)?;
                let rounding = match record.multipliers {
                    NONE => None,
                    multipliers => {
                        let (multipliers, shifts) = (self.vector(multipliers)?, self.bytes(record.shifts)?);
                        Some(Rounding { multipliers, shifts, low, high })
                    }
                };
                let bias = self.optional(record.bias)?;
                Operation::Convolution(Convolution { window, transposed, groups, weights, bias, rounding })
            }
            op::POOL => match record.activation {
                activation::MAX => Operation::Pool { window: window(), kind: PoolKind::Max, low, high },
                activation::MEAN => Operation::Pool { window: window(), kind: PoolKind::Mean, low, high },
                _ => Operation::Pool { window: window(), kind: PoolKind::Sum, low, high },
            },
            op::ELEMENTWISE => {
                let pairing = match record.activation {
                    activation::MAX => Pairing::Max,
                    activation::MIN => Pairing::Min,
                    activation::SUM => Pairing::Sum,
                    _ => Pairing::Product,
                };
                let (multipliers, shift) = match record.multipliers {
                    NONE => ([0; 2], 1),
                    index => (self.vector(index)?.try_into().ok()?, u32::from(*self.bytes(record.shifts)?.first()?)),
                };
                Operation::Elementwise { pairing, multipliers, shift, low, high }
            }
            op::MOVE => Operation::Move { start: first as usize, steps: [second as i32, low, high] },
            op::PAD => Operation::Pad { before: [first as usize, second as usize] },
            op::RESIZE => {
                let numbers = self.vector(record.multipliers)?;
                Operation::Resize { taps: numbers.as_chunks().0.to_vec() }
            }
            _ => return None,
        })
    }

    /// A vector of a row an output; none for [`NONE`].
    fn optional(&self, index: u32) -> Option<Option<QuantTensor>> {
        if index == NONE { Some(None) } else { self.tensor(index, Orientation::OutputRows).map(Some) }
    }

    /// A matrix in training order.
    fn tensor(&self, index: u32, orientation: Orientation) -> Option<QuantTensor> {
        let tensor = self.model.tensor(index)?;
        let (rows, cols) = (tensor.record.rows as usize, tensor.record.cols as usize);
        let (outputs, inputs) = if orientation == Orientation::InputRows { (cols, rows) } else { (rows, cols) };
        let element = match u32::from(tensor.record.element) {
            element::I8 => ElementType::I8,
            element::I16 => ElementType::I16,
            element::I32 => ElementType::I32,
            element::F32 => ElementType::F32,
            _ => return None,
        };
        let values = values(&tensor, outputs, inputs, orientation)?;
        let name = (*self.names.get(index as usize)?).to_owned();
        Some(QuantTensor { name, element, scale: None, banks: 1, outputs, inputs, values })
    }

    /// A column of i32.
    fn vector(&self, index: u32) -> Option<Vec<i32>> {
        match self.tensor(index, Orientation::OutputRows)? {
            QuantTensor { inputs: 1, element: ElementType::I32, values: Values::Int(values), .. } => Some(values),
            _ => None,
        }
    }

    /// A column of f32.
    fn reals(&self, index: u32) -> Option<Vec<f32>> {
        match self.tensor(index, Orientation::OutputRows)? {
            QuantTensor { inputs: 1, values: Values::F32(values), .. } => Some(values),
            _ => None,
        }
    }

    /// A column of bytes.
    fn bytes(&self, index: u32) -> Option<Vec<u8>> {
        let tensor: Tensor<'_> = self.model.tensor(index)?;
        let is_bytes = matches!(u32::from(tensor.record.element), element::U8 | element::I8);
        let rows = tensor.record.rows as usize;
        let column = |row| tensor.bank::<u8>(0).get(tensor.layout.offset(tensor.stride(), row, 0)).copied();
        if is_bytes && tensor.record.cols == 1 { (0..rows).map(column).collect() } else { None }
    }
}
