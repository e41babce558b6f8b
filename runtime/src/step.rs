//! An operation, resolved: its kernel, its tensors and its places looked up once, when a plan is made.
//!
//! A file's records say all that through indices, which takes longer to follow than a small layer takes to run.

use crate::built::{ACCUMULATORS, GENERAL, IS_SMALL, MAPS, REALS};
use crate::format::{
    InputRecord, Layout, Model, OpRecord, Tensor, ValueRecord, activation, claim, element, input_kind, op,
    perspective_order,
};
use crate::kernels::{AffineI8, Dot, Tier};
use crate::num::Divisor;
use crate::ops::General;
use core::ops::Range;

mod fuse;
mod head;
mod operands;

pub(crate) use fuse::fused;
pub(crate) use head::Head;
pub(crate) use operands::{Banks, Bias, LayerU8, RealAffine, Requantisation, Tail};

/// Operations that a plan resolves when it is made; a longer network's others are resolved as they run. Firmware, which
/// counts its memory and has time, resolves all of them as they run.
pub(crate) const AHEAD: usize = if IS_SMALL { 0 } else { 16 };

/// Widest input of the kernels that take u7.
const U7_MAX: u32 = 127;

/// What an operation does, where it reads and where it writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step<'a> {
    pub work: Work<'a>,
    pub read: Place,
    pub write: Place,
    /// Number of the value that is written.
    pub output: usize,
    /// Whether it reads the network's input, which does not lie in the workspace.
    pub reads_input: bool,
}

/// Where the network's output lies, and as what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputPlace {
    pub place: Place,
    pub is_f32: bool,
}

impl OutputPlace {
    pub fn of(model: &Model<'_>) -> Self {
        let index = model.input().output;
        let record = model.values().get(index as usize);
        let is_f32 = record.is_some_and(|record| record.element() == element::F32);
        Self { place: place(model, index, 0, record.map_or(0, |record| record.len)), is_f32 }
    }
}

/// Bytes of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    start: u32,
    end: u32,
}

impl Place {
    pub const fn is_apart_from(self, other: Self) -> bool {
        self.end <= other.start || other.end <= self.start
    }

    const fn len_bytes(self) -> usize {
        (self.end - self.start) as usize
    }

    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A kind of operation with its operands.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work<'a> {
    ActivateDot {
        dot: Dot,
        max: i16,
        weights: Banks<'a, i16>,
    },
    ActivateF32 {
        activation: u32,
        max: i16,
        inverse: f32,
    },
    PairwiseU8 {
        max: i16,
        shift: u32,
        /// Elements at the end of each accumulator that it does not read.
        left_out: usize,
    },
    AffineU8 {
        affine: AffineI8<u8>,
        weights: Banks<'a, i8>,
        bias: Banks<'a, i32>,
    },
    /// AFFINE_I8 on u8, then REQUANTISE to u8 or i32.
    LayerU8(LayerU8<'a>),
    AffineI8 {
        weights: Banks<'a, i8>,
        bias: Banks<'a, i32>,
    },
    Rescale {
        pre: Divisor,
        factor: i32,
        divisor: Divisor,
        bias: Bias<'a>,
    },
    Dequantise {
        factor: f32,
        bias: Banks<'a, f32>,
        activation: u32,
    },
    AffineF32(RealAffine<'a>),
    /// DEQUANTISE, then one AFFINE_F32 or two, each with an activation behind it or none, then SCALE_F32 or nothing.
    Tail(Tail<'a>),
    ActivationF32 {
        activation: u32,
    },
    ScaleF32 {
        factor: f32,
    },
    Requantise(Requantisation<'a>),
    /// What `ops` runs.
    General(General<'a>),
}

impl<'a> Step<'a> {
    /// Looks everything up; `None` for a kind that is not defined, which the loader rules out.
    pub fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        let tensor = |index: u32| model.tensor(index);
        let [first, second, ..] = record.params;
        let (max, real) = (first as i16, f32::from_bits(first));
        let work = match record.kind {
            op::ACTIVATE_DOT if ACCUMULATORS => {
                let weights = tensor(record.weights);
                let short = weights.is_some_and(|weights| weights.record.claims & claim::PRODUCT_FITS_I16 != 0);
                let dot = match record.activation {
                    activation::CRELU => kernels.dot_crelu.call,
                    activation::SQRRELU => kernels.dot_sqrrelu.call,
                    _ if short => kernels.dot_screlu_short.call,
                    _ => kernels.dot_screlu.call,
                };
                Work::ActivateDot { dot, max, weights: Banks::new(weights) }
            }
            op::ACTIVATE_F32 if ACCUMULATORS && REALS => {
                Work::ActivateF32 { activation: record.activation, max, inverse: f32::from_bits(second) }
            }
            op::PAIRWISE_U8 if ACCUMULATORS => {
                Work::PairwiseU8 { max, shift: second, left_out: record.params[2] as usize }
            }
            op::AFFINE_I8 => {
                let weights = tensor(record.weights);
                let (banks, bias) = (Banks::new(weights), Banks::new(tensor(record.bias)));
                let from = model.values().get(record.input as usize).map(ValueRecord::element);
                if from == Some(element::I8) {
                    Work::AffineI8 { weights: banks, bias }
                } else {
                    let affine = affine_of(model, kernels, record, weights);
                    Work::AffineU8 { affine, weights: banks, bias }
                }
            }
            op::RESCALE if ACCUMULATORS => {
                let bias = tensor(record.bias);
                let narrow = bias.is_some_and(|bias| u32::from(bias.record.element) == element::I16);
                let bias = if narrow { Bias::I16(Banks::new(bias)) } else { Bias::I32(Banks::new(bias)) };
                let [pre, factor, divisor, _] = record.params.map(|param| param as i32);
                Work::Rescale { pre: Divisor::new(pre), factor, divisor: Divisor::new(divisor), bias }
            }
            op::DEQUANTISE if REALS => Work::Dequantise {
                factor: real,
                bias: Banks::new(tensor(record.bias)),
                activation: activation::IDENTITY,
            },
            op::AFFINE_F32 if REALS => {
                let (weights, bias) = (tensor(record.weights), Banks::new(tensor(record.bias)));
                let layout = weights.map_or(Layout::Rows, |weights| weights.layout);
                let outputs = model.values().get(record.output as usize).map_or(0, |value| value.len as usize);
                let (weights, activation) = (Banks::new(weights), activation::IDENTITY);
                Work::AffineF32(RealAffine { layout, weights, bias, activation, outputs })
            }
            op::ACTIVATION_F32 if REALS && record.activation <= activation::DUAL_CRELU => {
                Work::ActivationF32 { activation: record.activation }
            }
            op::SCALE_F32 if REALS => Work::ScaleF32 { factor: real },
            op::REQUANTISE if Requantisation::is_plain(model, record) => {
                Work::Requantise(Requantisation::resolve(model, record))
            }
            _ if GENERAL || REALS || MAPS => Work::General(General::resolve(model, record)?),
            _ => return None,
        };
        let output = model.values().get(record.output as usize)?;
        Some(Self {
            work,
            read: place(model, record.input, record.input_start, record.input_len),
            write: place(model, record.output, 0, output.len),
            output: record.output as usize,
            reads_input: record.input == 0,
        })
    }
}

/// The kernel of a dense layer on u8, by what is known of its inputs and its weights.
pub(crate) fn affine_of(
    model: &Model<'_>,
    kernels: &Tier,
    record: &OpRecord,
    weights: Option<Tensor<'_>>,
) -> AffineI8<u8> {
    let quads = weights.is_some_and(|weights| weights.record.claims & claim::QUADS_FIT_I16 != 0);
    let source = Source::of(model, record.input);
    match source {
        Source::Products => kernels.affine_u7_sparse.call,
        Source::Narrow if quads => kernels.affine_u7_paired.call,
        Source::Narrow => kernels.affine_u7.call,
        Source::Caller if quads => kernels.affine_u8_paired.call,
        Source::Caller | Source::Wide => kernels.affine_u8.call,
    }
}

/// Where bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The network's input.
    Caller,
    /// Products of clipped halves, most of them zero, up to 127.
    Products,
    /// Another operation that clamps to 127.
    Narrow,
    /// One that does not.
    Wide,
}

impl Source {
    fn of(model: &Model<'_>, value: u32) -> Self {
        let Some(writer) = value.checked_sub(1).and_then(|index| model.ops().get(index as usize)) else {
            return Self::Caller;
        };
        let [first, second, ..] = writer.params;
        match writer.kind {
            op::REQUANTISE if second <= U7_MAX => Self::Narrow,
            op::PAIRWISE_U8 if ACCUMULATORS && (first * first) >> second <= U7_MAX => Self::Products,
            _ if !GENERAL => Self::Wide,
            op::CLIP_U8 if first >> second <= U7_MAX => Self::Narrow,
            op::ACTIVATE_U8 if first <= U7_MAX => Self::Narrow,
            op::QUANTISE if writer.params[2] <= U7_MAX => Self::Narrow,
            op::LOOKUP if model.tensor(writer.weights).is_some_and(|table| table.data.is_ascii()) => Self::Narrow,
            _ => Self::Wide,
        }
    }
}

/// Elements of a value as bytes of the workspace; for the network's input, which lies elsewhere, as bytes of the input.
pub(crate) fn place(model: &Model<'_>, value: u32, start: u32, len: u32) -> Place {
    let Some(record) = model.values().get(value as usize) else { return Place { start: 0, end: 0 } };
    let shift = element::shift(record.element());
    let base = if value == 0 { 0 } else { record.offset_bytes };
    // Within the workspace, as the loader has checked.
    let start = base.wrapping_add(start << shift);
    Place { start, end: start.wrapping_add(len << shift) }
}

/// Accumulators in the network's order, as many as it has perspectives.
pub(crate) fn in_order<'x>(record: &InputRecord, own: &'x [i16], other: &'x [i16]) -> (&'x [i16], &'x [i16]) {
    debug_assert_eq!(record.kind, input_kind::FEATURES);
    match (record.perspectives, record.order) {
        (2, perspective_order::OTHER_FIRST) => (other, own),
        (2, _) => (own, other),
        _ => (own, &[]),
    }
}
