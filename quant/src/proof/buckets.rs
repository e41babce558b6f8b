//! What depends on the output bucket.

use super::span::Span;
use crate::program::{Operation, Program, ProgramNode};

/// Whether what a node makes depends on the output bucket.
pub(super) fn is_bucketed(program: &Program, node: &ProgramNode, spans: &[Vec<Span>]) -> bool {
    program.buckets() > 1 && (has_rows_a_bucket(node) || node.reads.iter().any(|read| spans[read.value].len() > 1))
}

/// Whether each output bucket has rows of its own.
pub(super) fn has_rows_a_bucket(node: &ProgramNode) -> bool {
    chooses_by_bucket(&node.op) || node.op.tensors().any(|tensor| tensor.banks > 1)
}

/// Whether what it makes of the same values depends on the output bucket, tensors with a bank a bucket apart.
const fn chooses_by_bucket(operation: &Operation) -> bool {
    match operation {
        Operation::Psqt { .. } => true,
        Operation::FeatureSums { is_bucketed, .. } => *is_bucketed,
        Operation::ActivateDot { .. }
        | Operation::RoundedDot { .. }
        | Operation::Rescale { .. }
        | Operation::WideHead { .. }
        | Operation::ActivateF32 { .. }
        | Operation::PairwiseU8 { .. }
        | Operation::ClipU8 { .. }
        | Operation::ActivateU8 { .. }
        | Operation::Affine { .. }
        | Operation::AffineI32 { .. }
        | Operation::AffineF32 { .. }
        | Operation::SparseAffine { .. }
        | Operation::SparseRows { .. }
        | Operation::FmTerm { .. }
        | Operation::BiInteraction { .. }
        | Operation::InnerProducts { .. }
        | Operation::Concat { .. }
        | Operation::Add
        | Operation::Multiply
        | Operation::Requantise { .. }
        | Operation::Lookup { .. }
        | Operation::Trees { .. }
        | Operation::ToF32 { .. }
        | Operation::Dequantise { .. }
        | Operation::Quantise { .. }
        | Operation::Activation(_)
        | Operation::Scale(_)
        | Operation::Convolution(_)
        | Operation::Pool { .. }
        | Operation::Elementwise { .. }
        | Operation::Move { .. }
        | Operation::Pad { .. }
        | Operation::Resize { .. } => false,
    }
}
