//! Models that tests write, node by node.

use super::{OnnxError, OnnxModel, read_onnx_model};

pub(super) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A field whose value is bytes.
pub(super) fn bytes(number: u64, value: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// A field whose value is a number.
pub(super) fn int(number: u64, value: i64) -> Vec<u8> {
    [varint(number << 3), varint(value.cast_unsigned())].concat()
}

pub(super) fn value_info(name: &str, dims: Option<&[usize]>) -> Vec<u8> {
    let shape = match dims {
        Some(dims) => bytes(2, &dims.iter().flat_map(|dim| bytes(1, &int(1, *dim as i64))).collect::<Vec<_>>()),
        None => Vec::new(),
    };
    let tensor = [int(1, 1), shape].concat();
    [bytes(1, name.as_bytes()), bytes(2, &bytes(1, &tensor))].concat()
}

pub(super) fn ints(name: &str, values: &[i64]) -> Vec<u8> {
    let values: Vec<u8> = values.iter().flat_map(|value| int(8, *value)).collect();
    bytes(5, &[bytes(1, name.as_bytes()), values, int(20, 7)].concat())
}

pub(super) fn one(name: &str, value: i64) -> Vec<u8> {
    bytes(5, &[bytes(1, name.as_bytes()), int(3, value), int(20, 2)].concat())
}

pub(super) fn tensor(name: &str, data_type: i64, dims: &[usize], data: &[u8]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|dim| int(1, *dim as i64)).collect();
    [dims, int(2, data_type), bytes(8, name.as_bytes()), bytes(9, data)].concat()
}

pub(super) fn reals(name: &str, dims: &[usize], values: &[f64]) -> Vec<u8> {
    tensor(name, 11, dims, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

pub(super) fn integers(name: &str, values: &[i64]) -> Vec<u8> {
    tensor(name, 7, &[values.len()], &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

/// A model that is being written: value `v0` is its input, the last value its output.
pub(super) struct Writer {
    pub(super) nodes: Vec<u8>,
    initializers: Vec<u8>,
    pub(super) values: usize,
    input: Vec<usize>,
    pub(super) opset: i64,
}

impl Writer {
    pub(super) fn new(input: &[usize]) -> Self {
        Self { nodes: Vec::new(), initializers: Vec::new(), values: 0, input: input.to_vec(), opset: 13 }
    }

    pub(super) fn initializer(&mut self, tensor: &[u8]) {
        self.initializers.extend(bytes(5, tensor));
    }

    /// A node that reads the last value and these.
    pub(super) fn node(&mut self, operator: &str, others: &[&str], attributes: &[Vec<u8>]) {
        let mut node = bytes(1, format!("v{}", self.values).as_bytes());
        others.iter().for_each(|other| node.extend(bytes(1, other.as_bytes())));
        self.values += 1;
        node.extend(bytes(2, format!("v{}", self.values).as_bytes()));
        node.extend(bytes(4, operator.as_bytes()));
        attributes.iter().for_each(|attribute| node.extend(attribute));
        self.nodes.extend(bytes(1, &node));
    }

    pub(super) fn model(&self) -> Vec<u8> {
        let graph = [
            self.nodes.clone(),
            self.initializers.clone(),
            bytes(11, &value_info("v0", Some(&self.input))),
            bytes(12, &value_info(&format!("v{}", self.values), None)),
        ];
        [int(1, 8), bytes(7, &graph.concat()), bytes(8, &int(2, self.opset))].concat()
    }

    pub(super) fn read(&self) -> Result<OnnxModel, OnnxError> {
        read_onnx_model(&self.model(), None, "x")
    }
}
