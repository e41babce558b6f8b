//! From a record to an operation with its operands.

use super::{Elements, Forest, General, Scale};
use crate::built::{GENERAL, MAPS, REALS};
use crate::format::{Model, OpRecord, ValueRecord, element, op};
use crate::step::{Banks, Requantisation, place};

impl<'a> General<'a> {
    /// Looks everything up; `None` for a kind that is not defined or not in this build, which the loader rules out.
    pub fn resolve(model: &Model<'a>, record: &OpRecord) -> Option<Self> {
        if MAPS && record.kind >= op::CONVOLUTION {
            return Some(Self::Maps);
        }
        let beside_maps = MAPS && [op::CONCAT, op::LOOKUP, op::AFFINE_I16].contains(&record.kind);
        if !(GENERAL || beside_maps || REALS && record.kind == op::ADD_F32) {
            return None;
        }
        let element_of = |value: u32| model.values().get(value as usize).map_or(0, ValueRecord::element);
        let (from, to) = (element_of(record.input), element_of(record.output));
        let weights = model.tensor(record.weights);
        let bias = model.tensor(record.bias);
        let [p0, p1, p2, p3] = record.params;
        let real = f32::from_bits(p0);
        Some(match record.kind {
            op::ACTIVATION_F32 => Self::Activation { code: record.activation, alpha: real },
            op::REQUANTISE => Self::Requantise { requantise: Requantisation::resolve(model, record), zero: p2 as i32 },
            op::SPARSE_AFFINE => Self::SparseAffine { weights: Elements::new(weights), bias: Elements::new(bias) },
            op::SPARSE_ROWS => {
                let scaled = to != element::F32 && model.input().element == element::I16;
                Self::SparseRows {
                    weights: Elements::new(weights),
                    width: weights.map_or(0, |weights| weights.record.cols as usize),
                    scale: scaled.then_some(Scale { multiplier: p0 as i32, shift: p1 }),
                }
            }
            op::FM_TERM | op::BI_INTERACTION | op::INNER_PRODUCTS => {
                Self::Interactions { kind: record.kind, width: p0 as usize, element: from }
            }
            op::CONCAT | op::ADD_I32 | op::ADD_F32 => {
                let written = model.values().get(record.output as usize).map_or(0, |value| value.len);
                let len = if record.kind == op::CONCAT { written.saturating_sub(record.input_len) } else { written };
                let second = place(model, record.second, record.second_start, len);
                let runs = if record.kind == op::CONCAT { p0.max(1) as usize } else { 1 };
                Self::Join { kind: record.kind, second, reads_input: record.second == 0, runs }
            }
            op::LOOKUP => Self::Lookup { table: Banks::new(weights) },
            op::AFFINE_I16 => Self::AffineI16 { weights: Elements::new(weights), bias: Banks::new(bias) },
            op::TREES => Self::Trees(Forest {
                features: Banks::new(model.tensor(record.multipliers)),
                thresholds: Elements::new(weights),
                leaves: Elements::new(bias),
                trees: p0 as usize,
                nodes: p1 as usize,
                element: from,
            }),
            op::TO_F32 => Self::ToF32 { element: from, factor: real, zero: p1 as i32 },
            op::QUANTISE => {
                Self::Quantise { element: to, inverse: real, low: p1 as i32, high: p2 as i32, zero: p3 as i32 }
            }
            op::CLIP_U8 => Self::ClipU8 { max: p0 as i16, shift: p1, left_out: p2 as usize },
            op::PSQT => Self::Psqt { digits: p0 as usize },
            op::ACTIVATE_U8 => {
                Self::ActivateU8 { code: record.activation, max: p0 as i32, clip_shift: p1, square_shift: p2 }
            }
            _ => return None,
        })
    }
}
