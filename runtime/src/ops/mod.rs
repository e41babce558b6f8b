//! The operations of general networks: sparse inputs, interactions, trees, tables, integers to reals and back; and
//! those of the Stockfish family.
//!
//! What networks of accumulators and of dense layers need is resolved in `step` and run in `exec`; the rest is here, a
//! family a file, as plain functions over slices. The dense layer on i16 and requantisation have kernels; the others
//! are the same loops on every tier.

mod convert;
mod interact;
mod join;
mod maps;
mod resolve;
mod sparse;
mod stockfish;
mod trees;

use crate::built::{GENERAL, MAPS, REALS};
use crate::exec::Input;
use crate::format::Tensor;
use crate::plan::Plan;
use crate::step::{Banks, Place, Requantisation, Step, in_order};
use crate::workspace::{around, split, typed, typed_mut};
use bytemuck::cast_slice;
pub use maps::is_depthwise;

/// An operation with its operands.
#[derive(Debug, Clone, Copy)]
pub(crate) enum General<'a> {
    SparseAffine {
        weights: Elements<'a>,
        bias: Elements<'a>,
    },
    SparseRows {
        weights: Elements<'a>,
        width: usize,
        scale: Option<Scale>,
    },
    Interactions {
        kind: u32,
        width: usize,
        element: u32,
    },
    Join {
        kind: u32,
        second: Place,
        reads_input: bool,
        runs: usize,
    },
    Lookup {
        table: Banks<'a, u8>,
    },
    AffineI16 {
        weights: Elements<'a>,
        bias: Banks<'a, i32>,
    },
    Trees(Forest<'a>),
    ToF32 {
        element: u32,
        factor: f32,
        zero: i32,
    },
    Quantise {
        element: u32,
        inverse: f32,
        low: i32,
        high: i32,
        zero: i32,
    },
    Requantise {
        requantise: Requantisation<'a>,
        zero: i32,
    },
    Activation {
        code: u32,
        alpha: f32,
    },
    ClipU8 {
        max: i16,
        shift: u32,
        left_out: usize,
    },
    Psqt {
        digits: usize,
    },
    ActivateU8 {
        code: u32,
        max: i32,
        clip_shift: u32,
        square_shift: u32,
    },
    /// Looked up as it runs: what it does takes longer, and its operands more room than all others'.
    Maps,
}

/// The factor of SPARSE_ROWS, `multiplier / 2^shift`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub multiplier: i32,
    pub shift: u32,
}

/// The operands of TREES: each tensor (trees, nodes).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forest<'a> {
    pub features: Banks<'a, i32>,
    pub thresholds: Elements<'a>,
    pub leaves: Elements<'a>,
    pub trees: usize,
    pub nodes: usize,
    /// Of the value that is read.
    pub element: u32,
}

/// A tensor whose element its record says.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Elements<'a> {
    None,
    I8(Banks<'a, i8>),
    I16(Banks<'a, i16>),
    I32(Banks<'a, i32>),
    F32(Banks<'a, f32>),
}

impl<'a> Elements<'a> {
    fn new(tensor: Option<Tensor<'a>>) -> Self {
        use crate::format::element;
        let Some(tensor) = tensor else { return Self::None };
        match u32::from(tensor.record.element) {
            element::I8 => Self::I8(Banks::new(Some(tensor))),
            element::I16 => Self::I16(Banks::new(Some(tensor))),
            element::I32 => Self::I32(Banks::new(Some(tensor))),
            element::F32 => Self::F32(Banks::new(Some(tensor))),
            _ => Self::None,
        }
    }

    fn i32s(&self, bucket: usize) -> &'a [i32] {
        if let Self::I32(banks) = self { banks.bank(bucket) } else { &[] }
    }

    fn f32s(&self, bucket: usize) -> &'a [f32] {
        if let Self::F32(banks) = self { banks.bank(bucket) } else { &[] }
    }
}

impl Plan<'_> {
    /// Runs one of these operations.
    pub(crate) fn general(
        &self,
        work: &General<'_>,
        step: &Step<'_>,
        input: &Input<'_>,
        bucket: usize,
        all: &mut [u8],
    ) {
        if let (Input::Sparse { features, values }, true, true) = (*input, step.reads_input, GENERAL) {
            let out = all.get_mut(step.write.range()).unwrap_or(&mut []);
            let record = self.model.input();
            let list = sparse::List { features, values, unit: record.unit };
            return sparse::run(work, &list, bucket, out);
        }
        if let (Input::Accumulators(own, other), true, true) = (*input, step.reads_input, GENERAL) {
            let out = all.get_mut(step.write.range()).unwrap_or(&mut []);
            let record = self.model.input();
            return stockfish::run(work, in_order(record, own, other), record.bucket_count as usize, bucket, out);
        }
        if MAPS && let General::Maps = work {
            return self.maps(step, input, all);
        }
        let (x, out): (&[u8], &mut [u8]) = if step.reads_input {
            let out = all.get_mut(step.write.range()).unwrap_or(&mut []);
            (input.bytes().get(step.read.range()).unwrap_or(&[]), out)
        } else {
            split(all, step.read.range(), step.write.range())
        };
        if let (General::Join { kind, second, reads_input, runs }, true) = (*work, REALS || MAPS) {
            // First one value, then the other: three places cannot be borrowed at once where two of them may be the
            // same.
            let end = x.len().min(out.len());
            if MAPS && runs > 1 {
                join::spread(x, runs, 0, out);
            } else {
                let (head, _) = out.split_at_mut(end);
                head.copy_from_slice(&x[..end]);
            }
            let (second, out): (&[u8], &mut [u8]) = if reads_input {
                let out = all.get_mut(step.write.range()).unwrap_or(&mut []);
                (input.bytes().get(second.range()).unwrap_or(&[]), out)
            } else {
                split(all, second.range(), step.write.range())
            };
            return join::run(kind, (end, runs), second, out);
        }
        if let (General::AffineI16 { weights, bias }, true) = (*work, GENERAL || MAPS) {
            let (x, bias, out) = (typed(x), bias.bank(bucket), typed_mut(out));
            return match weights {
                Elements::I8(w) => (self.kernels.affine_i16_i8.call)(x, w.bank(bucket), w.stride, bias, out),
                Elements::I16(w) => (self.kernels.affine_i16.call)(x, w.bank(bucket), w.stride, bias, out),
                _ => {}
            };
        }
        if let (General::Lookup { table }, true) = (*work, MAPS && !GENERAL) {
            return convert::lookup(x, table.bank(bucket), out);
        }
        if !GENERAL {
            return;
        }
        match *work {
            General::Interactions { kind, width, element } => interact::run(kind, element, width, x, out),
            General::Lookup { table } => convert::lookup(x, table.bank(bucket), out),
            General::Trees(forest) => trees::run(&forest, x, bucket, out),
            General::ToF32 { element, factor, zero } => convert::to_f32(element, x, factor, zero, typed_mut(out)),
            General::Quantise { element, inverse, low, high, zero } => {
                convert::quantise(element, typed(x), |x| crate::num::quantise(x, inverse, zero, low, high), out);
            }
            General::Requantise { requantise, zero } => {
                convert::requantise(self.kernels, &requantise, zero, bucket, typed(x), out);
            }
            General::ActivateU8 { code, max, clip_shift, square_shift } => {
                stockfish::activate(code, max, clip_shift, square_shift, typed(x), out);
            }
            General::Activation { code, alpha } => convert::activation(code, alpha, typed(x), typed_mut(out)),
            // Done above.
            General::Join { .. } | General::AffineI16 { .. } => {}
            // These read the sparse input, or accumulators.
            General::SparseAffine { .. } | General::SparseRows { .. } => {}
            General::ClipU8 { .. } | General::Psqt { .. } | General::Maps => {}
        }
    }

    /// An operation on maps.
    fn maps(&self, step: &Step<'_>, input: &Input<'_>, all: &mut [u8]) {
        let record = step.output.checked_sub(1).and_then(|index| self.model.ops().get(index));
        let Some(maps) = record.and_then(|record| maps::Maps::resolve(&self.model, record)) else { return };
        let (given, (before, out, behind)) = (input.bytes(), around(all, step.write.range()));
        let end = step.write.range().end;
        let read = |place: Place, is_input: bool| -> &[u8] {
            let range = place.range();
            if is_input {
                given.get(range).unwrap_or(&[])
            } else if range.start >= end {
                behind.get(range.start - end..range.end - end).unwrap_or(&[])
            } else {
                before.get(range).unwrap_or(&[])
            }
        };
        let second = maps.second.map_or(&[][..], |second| read(second.place, second.is_input));
        maps.run(self.kernels, read(step.read, step.reads_input), second, out);
    }
}

impl<'a> Input<'a> {
    /// A dense vector as it lies in memory; nothing of any other input.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        match *self {
            Self::U8(x) => x,
            Self::I8(x) => cast_slice(x),
            Self::F32(x) => cast_slice(x),
            Self::Accumulators(..) | Self::Sparse { .. } => &[],
        }
    }
}
