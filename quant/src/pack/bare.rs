//! The bare form: the trainer's own `quantised.bin`, byte for byte.

use super::error::PackError;
use crate::arch::ElementType;
use crate::program::{QuantTensor, Values};
use crate::quantised::QuantNet;

/// Header, tensors in the description's order and orientation, tail.
///
/// # Errors
/// [`PackError::NoHeader`] if the description wants a header that neither it nor the network holds.
pub fn to_bare(net: &QuantNet) -> Result<Vec<u8>, PackError> {
    let mut file = header(net)?;
    for spec in &net.arch.tensors {
        let (outputs, inputs) = net.arch.tensor_shape(&spec.name).unwrap_or((0, 0));
        let missing = || PackError::Contents { tensor: spec.name.clone(), outputs, inputs };
        let tensor = net.tensor(&spec.name).ok_or_else(missing)?;
        push(&mut file, tensor, spec.transposed);
    }
    let missing = net.arch.bare_len_bytes().saturating_sub(file.len() as u64);
    file.extend(net.arch.file.tail.letters().iter().cycle().take(missing as usize));
    Ok(file)
}

fn header(net: &QuantNet) -> Result<Vec<u8>, PackError> {
    let len_bytes = net.arch.file.header_len_bytes;
    if net.bare_header.len() == len_bytes {
        return Ok(net.bare_header.clone());
    }
    net.arch.file.header_bytes().ok_or(PackError::NoHeader { len_bytes })
}

/// Appends a tensor in training order, or with each output's inputs in a row.
fn push(file: &mut Vec<u8>, tensor: &QuantTensor, transposed: bool) {
    let (outputs, inputs) = (tensor.outputs, tensor.inputs);
    let order = (0..outputs * inputs).map(|at| if transposed { at / inputs + outputs * (at % inputs) } else { at });
    match &tensor.values {
        Values::Int(values) => {
            for value in order.filter_map(|index| values.get(index)) {
                match tensor.element {
                    ElementType::I8 => file.extend_from_slice(&(*value as i8).to_le_bytes()),
                    ElementType::I16 => file.extend_from_slice(&(*value as i16).to_le_bytes()),
                    ElementType::I32 | ElementType::F32 => file.extend_from_slice(&value.to_le_bytes()),
                }
            }
        }
        Values::F32(values) => {
            for value in order.filter_map(|index| values.get(index)) {
                file.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
}
