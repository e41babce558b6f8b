//! From a [`Net`] to bytes.

use super::leb128::write_block;
use super::net::{Affine, Net};

/// The file of a network. Of what [`read`](super::read()) gave, it is the file that was read, byte for byte.
///
/// Version and hashes are those of the shape. A network that was put together by hand must have tensors of the lengths
/// that its shape says: they are written as they are.
#[must_use]
pub fn to_bytes(net: &Net) -> Vec<u8> {
    let mut bytes = Vec::new();
    let number = |bytes: &mut Vec<u8>, value: u32| bytes.extend(value.to_le_bytes());
    number(&mut bytes, net.shape.features.version());
    number(&mut bytes, net.shape.header_hash());
    number(&mut bytes, net.description.len() as u32);
    bytes.extend(&net.description);

    number(&mut bytes, net.shape.transformer_hash());
    write_block(&net.transformer.biases, &mut bytes);
    write_block(&net.transformer.weights, &mut bytes);
    if let Some(psqt) = &net.transformer.psqt {
        write_block(psqt, &mut bytes);
    }
    for stack in &net.stacks {
        number(&mut bytes, net.shape.stack_hash());
        for layer in stack.layers() {
            write_affine(layer, &mut bytes);
        }
    }
    bytes
}

fn write_affine(layer: &Affine, bytes: &mut Vec<u8>) {
    layer.biases.iter().for_each(|bias| bytes.extend(bias.to_le_bytes()));
    bytes.extend(layer.weights.iter().map(|weight| weight.cast_unsigned()));
}
