//! Which kernels a network does not call in firmware, so that its module leaves them out of the tier.

use crate::needs::Form;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{OpRecord, ValueRecord, activation, element, op};

/// Whether an operation may call a kernel.
type Calls = fn(&Model<'_>, &OpRecord) -> bool;

/// The kernels of a tier that weigh in firmware, and which operation may call each. What is not named here stays: a
/// kernel too many costs flash, one too few the result.
const CALLED: [(&str, Calls); 17] = [
    ("affine_u8", is_dense_u8),
    ("affine_u7", is_dense_u8),
    ("affine_u7_paired", is_dense_u8),
    ("affine_u8_paired", is_dense_u8),
    ("affine_u7_sparse", is_dense_u8),
    ("affine_i8", |model, record| record.kind == op::AFFINE_I8 && reads(model, record) == Some(element::I8)),
    ("affine_i16", |model, record| record.kind == op::AFFINE_I16 && weights(model, record) != Some(element::I8)),
    ("affine_i16_i8", |model, record| {
        record.kind == op::AFFINE_I16 && weights(model, record) != Some(element::I16)
            || Form::of(model, record) == Some(Form::Gathered)
    }),
    ("affine_f32", |_, record| record.kind == op::AFFINE_F32),
    ("affine_f32_columns", |_, record| record.kind == op::AFFINE_F32),
    ("dequantise_f32", |_, record| record.kind == op::DEQUANTISE),
    // Softmax and its like are no kernel's.
    ("activation_f32", |_, record| record.kind == op::ACTIVATION_F32 && record.activation <= activation::DUAL_CRELU),
    ("requantise_u8", |model, record| record.kind == op::REQUANTISE && writes(model, record) == Some(element::U8)),
    ("requantise_i8", |model, record| record.kind == op::REQUANTISE && writes(model, record) == Some(element::I8)),
    ("requantise_i32", |model, record| {
        record.kind == op::REQUANTISE && !matches!(writes(model, record), Some(element::U8 | element::I8))
    }),
    ("convolve", |model, record| Form::of(model, record) == Some(Form::Whole)),
    ("depthwise", |model, record| Form::of(model, record) == Some(Form::Depthwise)),
];

/// The names of kernels that no operation of the network calls, as the runtime's tiers have them.
pub fn left_out(model: &Model<'_>) -> Vec<&'static str> {
    let is_called = |calls: Calls| model.ops().iter().any(|record| calls(model, record));
    CALLED.into_iter().filter_map(|(name, calls)| (!is_called(calls)).then_some(name)).collect()
}

/// The words of the kinds of operations that a network has, each once, in the order of their codes.
pub fn kinds(model: &Model<'_>) -> Vec<&'static str> {
    let mut kinds: Vec<u32> = model.ops().iter().map(|record| record.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.into_iter().filter_map(op::word).collect()
}

fn is_dense_u8(model: &Model<'_>, record: &OpRecord) -> bool {
    record.kind == op::AFFINE_I8 && reads(model, record) != Some(element::I8)
}

/// The element of the value that an operation reads.
fn reads(model: &Model<'_>, record: &OpRecord) -> Option<u32> {
    model.values().get(record.input as usize).map(ValueRecord::element)
}

/// That of the value that it writes.
fn writes(model: &Model<'_>, record: &OpRecord) -> Option<u32> {
    model.values().get(record.output as usize).map(ValueRecord::element)
}

/// That of its weights.
fn weights(model: &Model<'_>, record: &OpRecord) -> Option<u32> {
    model.tensor(record.weights).map(|weights| weights.record.element.into())
}

#[cfg(test)]
mod tests {
    use super::CALLED;
    use tamis_runtime::kernels::scalar;

    /// A module with another name would stop the build of the firmware that has it.
    #[test]
    fn the_names_are_those_of_the_tiers() {
        for (name, _) in CALLED {
            assert!(scalar::KERNELS.operations().any(|(known, _)| known == name), "{name}");
        }
    }
}
