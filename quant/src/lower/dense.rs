//! Dense networks of bullet's descriptions: affine, requantise, and again.

use crate::arch::{Architecture, DenseType};
use crate::pack::PackError;
use crate::program::{Element, Note, Operation, Program, ProgramInput, Read};
use crate::quantise::{OUTPUT_UNIT, QuantNet, QuantTensor, Values, input_unit, requantisation};

/// The input.
pub fn input(arch: &Architecture) -> ProgramInput {
    let element = match arch.input.r#type {
        Some(DenseType::I8) => Element::I8,
        _ => Element::U8,
    };
    ProgramInput::Dense { len: arch.feature_count(), element, unit: input_unit(arch) as f32 }
}

/// Appends the layers.
///
/// # Errors
/// [`PackError::Unsupported`] for what the runtime has no operation for.
pub fn layers(net: &QuantNet, program: &mut Program) -> Result<(), PackError> {
    let mut value = 0;
    for (layer, description) in net.layers.iter().zip(&net.arch.layers) {
        let unsupported =
            |what: String, instead| PackError::Unsupported { layer: description.name.clone(), what, instead };
        let Some(scales) = &layer.dense else {
            let what = "a dense layer without int8 scales".to_owned();
            return Err(unsupported(what, "use i8 weights and i32 biases"));
        };
        let outputs = layer.weights.outputs;
        let op = Operation::Affine { weights: layer.weights.clone(), bias: Some(layer.bias.clone()) };
        let sums = format!("{}.sums", description.name);
        let sums = program.push(sums, vec![Read::whole(value)], op, Element::I32, outputs);
        let (mut multipliers, mut shifts) = (Vec::with_capacity(outputs), Vec::with_capacity(outputs));
        for output in 0..outputs {
            let factor = scales.factor(output);
            let (multiplier, shift) = requantisation(factor).ok_or_else(|| {
                let what = format!("a factor of {factor:e} between sum and output");
                unsupported(what, "raise `activation_max`, or scale the last layer's weights down")
            })?;
            multipliers.push(multiplier);
            shifts.push(shift as u8);
        }
        let element = match (scales.low, scales.high) {
            (0, 127) => Element::U8,
            (-127, 127) => Element::I8,
            _ => Element::I32,
        };
        let op = Operation::Requantise { multipliers, shifts, low: scales.low, high: scales.high };
        // The file's tensors are called after the weights.
        let name = layer.weights.name.clone();
        value = program.push(name.clone(), vec![Read::whole(sums)], op, element, outputs);
        program.nodes[value - 1].value.units = vec![scales.output_unit as f32];
        let values = Values::F32(scales.weight_units.clone());
        program.notes.push(Note {
            behind: program.nodes.len(),
            tensor: QuantTensor::vector(format!("{name}.units"), crate::arch::ElementType::F32, outputs, values),
            by_input: false,
        });
    }
    if let Some(last) = program.nodes.last_mut() {
        last.value.units = vec![(OUTPUT_UNIT * f64::from(net.arch.output.scale)) as f32];
    }
    Ok(())
}
