//! Back from the container: the same quantised network that was packed.

use super::error::PackError;
use super::tensor::Orientation;
use crate::arch::{Architecture, ElementType, Part};
use crate::program::{QuantTensor, Values};
use crate::quantised::{
    Permutation, PsqtColumns, QuantLayer, QuantNet, head, permutation_name, reorder, reorderable_pairs,
};
use crate::stockfish::order::Digits;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{Layout, Tensor, element, op};

/// Takes a container apart: description, tensors in training order, the bare file's header.
///
/// # Errors
/// [`PackError`] if the file's description is refused, if its tensors are not the description's, or if its order of the
/// neurons is none.
pub fn unpack(model: &Model<'_>) -> Result<QuantNet, PackError> {
    let metadata = model.metadata()?;
    let arch = Architecture::from_toml(metadata.description, "quantised.bin")
        .map_err(|error| PackError::Description(error.to_string()))?;
    if !arch.input.is_sparse() {
        return Err(PackError::Description(
            "a dense network without the units of a graph; quantise it again".to_owned(),
        ));
    }
    let names: Vec<&str> = metadata.tensor_names.lines().collect();
    let find = |name: &str| {
        let index = names.iter().position(|other| *other == name)?;
        model.tensor(u32::try_from(index).ok()?)
    };
    let columns = psqt_columns(model, &arch)?;
    let mut layers = Vec::with_capacity(arch.layers.len());
    let mut psqt = None;
    for index in 0..arch.layers.len() {
        let read = |name: String, part: Part| -> Result<QuantTensor, PackError> {
            let (outputs, inputs) = arch.tensor_shape(&name).unwrap_or((0, 0));
            let is_dot = arch.tensor(&name).is_some_and(|spec| spec.r#type == ElementType::I16);
            // As the file has it, digits and all.
            let (outputs, inputs) = match (&columns, index, part) {
                (Some(columns), 0, _) => (columns.width(), inputs),
                (Some(columns), 1, Part::Weights) if is_dot => (outputs, arch.perspectives() * columns.width()),
                _ => (outputs, inputs),
            };
            let missing = || PackError::Contents { tensor: name.clone(), outputs, inputs };
            let tensor = find(&name).ok_or_else(missing)?;
            let orientation = match part {
                Part::Weights if index == 0 && arch.input.is_sparse() => Orientation::InputRows,
                _ => Orientation::OutputRows,
            };
            let mut values = values(&tensor, outputs, inputs, orientation).ok_or_else(missing)?;
            let spec = arch.tensor(&name).ok_or_else(missing)?;
            if let (1, Part::Bias, Some(head)) = (index, part, head(&arch)) {
                values = trainers_bias(values, head.bias_factor, spec.r#type).ok_or_else(missing)?;
            }
            Ok(QuantTensor { name, element: spec.r#type, scale: spec.scale, banks: 1, outputs, inputs, values })
        };
        let weights = read(arch.weights_name(index), Part::Weights)?;
        let bias = read(arch.bias_name(index), Part::Bias)?;
        let mut layer = QuantLayer { weights, bias };
        match (&columns, index) {
            (Some(columns), 0) => psqt = Some(taken_apart(&arch, columns, &mut layer)?),
            (Some(columns), 1) if layer.weights.element == ElementType::I16 => {
                let weights = &mut layer.weights;
                weights.values = Values::Int(columns.own_inputs(weights.integers(), weights.outputs));
                weights.inputs = arch.layer_inputs(1);
            }
            _ => {}
        }
        layers.push(layer);
    }
    let permutation = permutation(&arch, find)?;
    if let Some(permutation) = &permutation {
        reorder(&permutation.inverse(), &mut layers);
    }
    Ok(QuantNet { arch, layers, psqt, bare_header: metadata.bare_header.to_vec(), permutation })
}

/// Where the digits of piece-square values lie, if there are any, by the record that reads them.
fn psqt_columns(model: &Model<'_>, arch: &Architecture) -> Result<Option<PsqtColumns>, PackError> {
    let Some(psqt) = &arch.psqt else { return Ok(None) };
    let (numbers, own) = (arch.psqt_rows(), arch.active_outputs(0));
    let missing = || PackError::Contents { tensor: psqt.weights.clone(), outputs: numbers, inputs: own };
    let record = model.ops().iter().find(|record| record.kind == op::FEATURE_SUMS).ok_or_else(missing)?;
    let [count, bits, ..] = record.params;
    let digits = Digits { count, bits: if bits == 0 { op::DIGIT_BITS } else { bits } };
    let columns = PsqtColumns { own, digits, numbers };
    if columns.width() == model.input().hidden as usize { Ok(Some(columns)) } else { Err(missing()) }
}

/// The piece-square values of a first layer as the file has it, which becomes the trainer's.
fn taken_apart(arch: &Architecture, columns: &PsqtColumns, layer: &mut QuantLayer) -> Result<QuantLayer, PackError> {
    let outputs = columns.numbers;
    let missing = |tensor: &str, inputs| PackError::Contents { tensor: tensor.to_owned(), outputs, inputs };
    let of = |own: &mut QuantTensor, name: &str| -> Result<QuantTensor, PackError> {
        let spec = arch.tensor(name).ok_or_else(|| missing(name, own.inputs))?;
        let values = columns.values(own.integers()).ok_or_else(|| missing(name, own.inputs))?;
        let (low, high) = spec.r#type.range();
        if values.iter().any(|value| !(low..=high).contains(value)) {
            return Err(missing(name, own.inputs));
        }
        own.values = Values::Int(columns.own(own.integers()));
        own.outputs = columns.own;
        let (name, values) = (name.to_owned(), Values::Int(values));
        Ok(QuantTensor { name, element: spec.r#type, scale: spec.scale, banks: 1, outputs, inputs: own.inputs, values })
    };
    let Some(described) = &arch.psqt else { unreachable!("digits of values that are described") };
    let weights = of(&mut layer.weights, &described.weights)?;
    // Without a tensor of its own the bias is zeros, of the weights' type.
    let bias = of(&mut layer.bias, described.bias.as_ref().unwrap_or(&described.weights))?;
    if described.bias.is_some() {
        return Ok(QuantLayer { weights, bias });
    }
    if bias.integers().iter().any(|value| *value != 0) {
        return Err(missing(&described.weights, 1));
    }
    let bias = QuantLayer::without_bias(&weights);
    Ok(QuantLayer { weights, bias })
}

/// The bias of a head that divides once, as the trainer's file has it; `None` if the container's is no multiple.
fn trainers_bias(values: Values, factor: i32, element: ElementType) -> Option<Values> {
    match values {
        Values::Int(products) if factor > 1 => {
            let one = |product: i32| {
                let value = product / factor;
                let fits = element != ElementType::I16 || i16::try_from(value).is_ok();
                (value * factor == product && fits).then_some(value)
            };
            products.into_iter().map(one).collect::<Option<_>>().map(Values::Int)
        }
        other => Some(other),
    }
}

/// The order in which the file holds the neurons, if it is not the trainer's.
fn permutation<'m>(
    arch: &Architecture,
    find: impl Fn(&str) -> Option<Tensor<'m>>,
) -> Result<Option<Permutation>, PackError> {
    let name = permutation_name(arch);
    // A description may give a layer's tensor this name; then it means the layer's.
    let Some(tensor) = find(&name).filter(|_| arch.tensor(&name).is_none()) else { return Ok(None) };
    let fault = |problem: String| PackError::Permutation { tensor: name.clone(), problem };
    let Some(pairs) = reorderable_pairs(arch) else {
        return Err(fault("the network has no pairs of neurons that may be reordered".to_owned()));
    };
    let record = tensor.record;
    let is_i32 = u32::from(record.element) == element::I32 && tensor.layout == Layout::Rows && record.banks == 1;
    match values(&tensor, pairs, 1, Orientation::OutputRows) {
        Some(Values::Int(order)) if is_i32 => {
            Permutation::new(&order).map(Some).map_err(|error| fault(error.to_string()))
        }
        _ => Err(fault(format!("expected {pairs} i32, the order of the network's pairs of neurons"))),
    }
}

/// A tensor's elements in training order; `None` if its shape or element is not what the description says.
pub(super) fn values(tensor: &Tensor<'_>, outputs: usize, inputs: usize, orientation: Orientation) -> Option<Values> {
    let record = tensor.record;
    let banks = record.banks as usize;
    let (rows, cols) = (record.rows as usize, record.cols as usize);
    let features = orientation == Orientation::InputRows;
    let shape = if features { (cols, rows) } else { (rows * banks, cols) };
    if shape != (outputs, inputs) {
        return None;
    }
    let place = |output: usize, input: usize| {
        if features {
            (0, tensor.layout.offset(tensor.stride(), input, output))
        } else {
            (output / rows, tensor.layout.offset(tensor.stride(), output % rows, input))
        }
    };
    let order = || (0..inputs).flat_map(|input| (0..outputs).map(move |output| (output, input)));
    match u32::from(record.element) {
        element::I8 => {
            order().map(|(o, i)| at::<i8>(tensor, place(o, i)).map(i32::from)).collect::<Option<_>>().map(Values::Int)
        }
        element::I16 => {
            order().map(|(o, i)| at::<i16>(tensor, place(o, i)).map(i32::from)).collect::<Option<_>>().map(Values::Int)
        }
        element::I32 => order().map(|(o, i)| at::<i32>(tensor, place(o, i))).collect::<Option<_>>().map(Values::Int),
        element::F32 => order().map(|(o, i)| at::<f32>(tensor, place(o, i))).collect::<Option<_>>().map(Values::F32),
        _ => None,
    }
}

fn at<T: bytemuck::AnyBitPattern>(tensor: &Tensor<'_>, (bank, offset): (usize, usize)) -> Option<T> {
    tensor.bank::<T>(bank).get(offset).copied()
}
