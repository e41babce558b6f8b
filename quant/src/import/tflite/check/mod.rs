//! What has to hold of a file before anything is made of it: tensors are defined once and before they are read,
//! operators have their operands, shapes follow from one another, and scales are scales.

mod scales;
mod shapes;

use super::error::TfliteError;
use super::operators::{Builtin, Known};
use super::types::Model;
use std::ops::RangeInclusive;

/// Checks everything; remarks go to the model's.
pub(super) fn check(model: &mut Model<'_>) -> Result<(), TfliteError> {
    order(model)?;
    let remarks = scales::check(model)?;
    model.remarks.extend(remarks);
    for operator in &model.operators {
        let Builtin::Known(known) = operator.builtin else {
            let what = format!("the operator {}", operator.builtin.name());
            return Err(TfliteError::unsupported(&*operator.place, what, ""));
        };
        operands(operator, known)?;
        scales::of_operator(model, operator, known)?;
        shapes::check(model, operator, known)?;
    }
    Ok(())
}

/// Every tensor is a constant, an input, or made by one operator before those that read it.
fn order(model: &Model<'_>) -> Result<(), TfliteError> {
    let mut is_there: Vec<bool> = model.tensors.iter().map(|tensor| tensor.data.is_some()).collect();
    for (index, tensor) in model.tensors.iter().enumerate() {
        if tensor.is_variable {
            return Err(TfliteError::Stateful { place: model.place(index) });
        }
    }
    for input in &model.inputs {
        let tensor = &model.tensors[*input];
        if tensor.is_dynamic {
            let instead = "convert with a fixed shape; a batch may be left open";
            let what = "an input with a dimension that is left open";
            return Err(TfliteError::unsupported(model.place(*input), what, instead));
        }
        if std::mem::replace(&mut is_there[*input], true) {
            let expected = "no constant, and once among the inputs";
            return Err(TfliteError::malformed("SubGraph 0", "an input", model.place(*input), expected));
        }
    }
    for operator in &model.operators {
        for input in operator.inputs.iter().flatten() {
            if !is_there[*input] {
                let expected = "an input, a constant, or made by an operator before this one";
                return Err(TfliteError::malformed(&*operator.place, "what it reads", model.place(*input), expected));
            }
        }
        for output in &operator.outputs {
            if std::mem::replace(&mut is_there[*output], true) {
                let expected = "a tensor that is no constant, no input, and made by no other operator";
                return Err(TfliteError::malformed(&*operator.place, "what it makes", model.place(*output), expected));
            }
        }
    }
    if let Some(missing) = model.outputs.iter().find(|output| !is_there[**output]) {
        return Err(TfliteError::malformed("SubGraph 0", "an output", model.place(*missing), "made by an operator"));
    }
    Ok(())
}

/// How many tensors an operator reads, and makes. The last that some of them may read, the bias, may be absent.
fn operands(operator: &super::types::Operator, known: Known) -> Result<(), TfliteError> {
    use Known::{
        Add, Concatenation, Conv, DepthwiseConv, Div, ExpandDims, FullyConnected, Maximum, Mean, Minimum, MirrorPad,
        Mul, PRelu, Pack, Pad, PadV2, ReduceMax, Reshape, ResizeBilinear, ResizeNearest, Slice, Split, SplitV,
        StridedSlice, Sub, Sum, Transpose, TransposeConv, Unpack,
    };
    let reads: RangeInclusive<usize> = match known {
        Conv | DepthwiseConv | FullyConnected => 2..=3,
        TransposeConv => 3..=4,
        Add | Sub | Mul | Div | Maximum | Minimum | PRelu => 2..=2,
        Pad | MirrorPad | Transpose | Mean | Sum | ReduceMax | Split | ExpandDims => 2..=2,
        ResizeBilinear | ResizeNearest => 2..=2,
        PadV2 | Slice | SplitV => 3..=3,
        StridedSlice => 4..=4,
        Reshape => 1..=2,
        Concatenation | Pack => 1..=usize::MAX,
        _ => 1..=1,
    };
    let makes = if matches!(known, Split | SplitV | Unpack) { 1..=usize::MAX } else { 1..=1 };
    let counts =
        [("the number of its inputs", operator.inputs.len(), reads), ("of its outputs", operator.outputs.len(), makes)];
    for (what, found, expected) in counts {
        if !expected.contains(&found) {
            let expected = format!("{} to {}", expected.start(), expected.end());
            return Err(TfliteError::malformed(&*operator.place, what, found, expected));
        }
    }
    let bias = match known {
        Conv | DepthwiseConv | FullyConnected => 2,
        TransposeConv => 3,
        _ => usize::MAX,
    };
    match operator.inputs.iter().enumerate().position(|(index, input)| input.is_none() && index != bias) {
        Some(index) => {
            Err(TfliteError::malformed(&*operator.place, "an input", format!("absent (number {index})"), "a tensor"))
        }
        None => Ok(()),
    }
}
