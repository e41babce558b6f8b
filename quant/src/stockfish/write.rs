//! From a [`Net`] to bytes.

use super::leb128::write_block;
use super::net::{Affine, Block, Net};

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
    write_transformer(net, &mut bytes);
    for stack in &net.stacks {
        number(&mut bytes, net.shape.stack_hash());
        for layer in stack.layers() {
            write_affine(layer, &mut bytes);
        }
    }
    bytes
}

/// The relations stand in front of the pieces on squares, each with its piece-square values unless those are joined.
fn write_transformer(net: &Net, bytes: &mut Vec<u8>) {
    let (transformer, joins) = (&net.transformer, net.shape.features.joins_psqt());
    write_block(&transformer.biases, bytes);
    for relation in &transformer.relations {
        bytes.extend(relation.weights.iter().map(|weight| weight.cast_unsigned()));
        if !joins {
            write_block(&relation.psqt, bytes);
        }
    }
    write_block(&transformer.weights, bytes);
    let Some(psqt) = &transformer.psqt else { return };
    if joins {
        let blocks = transformer.relations.iter().map(|relation| &relation.psqt).chain([psqt]);
        let values = blocks.flat_map(|block| &block.values).copied().collect();
        write_block(&Block { values, encoding: psqt.encoding }, bytes);
    } else {
        write_block(psqt, bytes);
    }
}

fn write_affine(layer: &Affine, bytes: &mut Vec<u8>) {
    layer.biases.iter().for_each(|bias| bytes.extend(bias.to_le_bytes()));
    bytes.extend(layer.weights.iter().map(|weight| weight.cast_unsigned()));
}
