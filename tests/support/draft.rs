//! A container in pieces, to be changed and put together again: offsets, counts and checksum follow from the pieces.
//!
//! The packer only makes files that are right and only those that a description can ask for; tests need others.

use bytemuck::{Zeroable, bytes_of, cast_slice};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{
    ALIGNMENT, BYTE_ORDER, BlockRecord, Header, InputRecord, Layout, MAGIC, NONE, OpRecord, TensorRecord, VERSION,
    ValueRecord, checksum, element, input_kind,
};

/// A container in pieces.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The input record.
    pub input: InputRecord,
    /// The block records.
    pub blocks: Vec<BlockRecord>,
    /// The tensor records and their bytes; offsets and lengths are set by [`Draft::bytes`].
    pub tensors: Vec<(TensorRecord, Vec<u8>)>,
    /// The value records.
    pub values: Vec<ValueRecord>,
    /// The operation records.
    pub ops: Vec<OpRecord>,
    /// The metadata section.
    pub metadata: Vec<u8>,
}

/// An operation without tensors.
pub fn blank(kind: u32) -> OpRecord {
    OpRecord { kind, second: NONE, weights: NONE, bias: NONE, multipliers: NONE, shifts: NONE, ..OpRecord::zeroed() }
}

impl Draft {
    /// Nothing but an input of features.
    pub fn of_features(perspectives: u32, hidden: u32, max_active: u32, bucket_count: u32) -> Self {
        Self::new(InputRecord {
            kind: input_kind::FEATURES,
            perspectives,
            hidden,
            max_active,
            bucket_count,
            ..Self::input()
        })
    }

    /// Nothing but a dense input.
    pub fn dense(element: u32, size: u32) -> Self {
        Self::new(InputRecord { kind: input_kind::DENSE, element, size, unit: 1.0, bucket_count: 1, ..Self::input() })
    }

    /// Nothing but a sparse input, with values of i16 or without.
    pub fn sparse(size: u32, max_active: u32, exact: bool, values: bool) -> Self {
        Self::new(InputRecord {
            kind: input_kind::SPARSE,
            size,
            max_active,
            bucket_count: 1,
            element: if values { element::I16 } else { 0 },
            unit: if values { 1.0 / 64.0 } else { 0.0 },
            exact: exact.into(),
            ..Self::input()
        })
    }

    fn input() -> InputRecord {
        InputRecord { king_table: NONE, bucket_table: NONE, output_unit: 1.0, ..InputRecord::zeroed() }
    }

    fn new(input: InputRecord) -> Self {
        let (element, len) = match input.kind {
            input_kind::DENSE => (input.element, input.size),
            input_kind::SPARSE => (element::I16, input.max_active),
            _ => (element::I16, input.perspectives * input.hidden),
        };
        let first = ValueRecord { element: element as u16, zero: 0, len, place: NONE, extent: [0; 2] };
        // Four empty texts, the hash 0 and no header: six zeros.
        let metadata = vec![0; 6];
        Self { input, blocks: vec![], tensors: vec![], values: vec![first], ops: vec![], metadata }
    }

    /// Appends a tensor of `banks` matrices of shape (rows, cols), given bank by bank and row by row.
    pub fn tensor<const SIZE: usize>(
        &mut self,
        element: u32,
        layout: Layout,
        (banks, rows, cols): (usize, usize, usize),
        mut next: impl FnMut() -> [u8; SIZE],
    ) -> u32 {
        let stride = layout.stride(rows, cols, SIZE).unwrap();
        let bank_len = layout.bank_len(rows, cols, stride).unwrap();
        let mut bytes = vec![0; banks * bank_len * SIZE];
        let (slots, _) = bytes.as_chunks_mut::<SIZE>();
        for bank in 0..banks {
            for row in 0..rows {
                for col in 0..cols {
                    slots[bank * bank_len + layout.offset(stride, row, col)] = next();
                }
            }
        }
        let (banks, rows, cols, stride) = (banks as u32, rows as u32, cols as u32, stride as u32);
        let (element, layout) = (element as u16, layout.code());
        let record = TensorRecord { element, layout, banks, rows, cols, stride, ..TensorRecord::zeroed() };
        self.tensors.push((record, bytes));
        self.tensors.len() as u32 - 1
    }

    /// Appends a block of features with its rows.
    pub fn block(&mut self, feature_count: u32, weights: u32, bias: u32) {
        let first_feature = self.input.size;
        self.input.size += feature_count;
        self.blocks.push(BlockRecord { first_feature, feature_count, weights, bias, ..BlockRecord::zeroed() });
    }

    /// Appends an operation that reads the last value from `start` on and writes a new one with a place of its own.
    pub fn op(&mut self, element: u32, len: u32, start: u32, record: OpRecord) -> u32 {
        let input = self.ops.len() as u32;
        self.op_on(element, len, input, OpRecord { input_start: start, ..record })
    }

    /// The same, reading the value `input` from the record's `input_start` on; returns the new value's number.
    pub fn op_on(&mut self, element: u32, len: u32, input: u32, record: OpRecord) -> u32 {
        let input_len = self.values[input as usize].len - record.input_start;
        let place = self.workspace_len();
        let output = self.values.len() as u32;
        self.values.push(ValueRecord { element: element as u16, zero: 0, len, place, extent: [0; 2] });
        self.ops.push(OpRecord { input, input_len, output, ..record });
        self.input.output = output;
        output
    }

    fn workspace_len(&self) -> u32 {
        let end = |value: &ValueRecord| {
            let size = element::len_bytes(value.element()).unwrap_or(1) as u32;
            value.offset_bytes().saturating_add(value.len_held().saturating_mul(size)).min(u32::MAX - 63)
        };
        let used = self.values.iter().filter(|value| value.place != NONE).map(end).max();
        used.unwrap_or(0).next_multiple_of(ALIGNMENT as u32)
    }

    /// Takes a right container apart.
    pub fn read(bytes: &[u8]) -> Self {
        let model = Model::parse(bytes).unwrap();
        let start = model.header().metadata_offset_bytes as usize;
        let tensors = model.tensors().iter().enumerate();
        Self {
            input: *model.input(),
            blocks: model.blocks().to_vec(),
            tensors: tensors
                .map(|(index, record)| (*record, model.tensor(index as u32).unwrap().data.to_vec()))
                .collect(),
            values: model.values().to_vec(),
            ops: model.ops().to_vec(),
            metadata: bytes[start..start + model.header().metadata_len_bytes as usize].to_vec(),
        }
    }

    /// Puts the container together.
    pub fn bytes(&self) -> AlignedBytes {
        let tables =
            128 + self.blocks.len() * 32 + self.tensors.len() * 32 + self.values.len() * 16 + self.ops.len() * 64;
        let mut body = vec![0; tables];
        let mut records = Vec::new();
        for (record, bytes) in &self.tensors {
            body.resize(body.len().next_multiple_of(ALIGNMENT), 0);
            records.push(TensorRecord { offset_bytes: body.len() as u32, len_bytes: bytes.len() as u32, ..*record });
            body.extend_from_slice(bytes);
        }
        body.resize(body.len().next_multiple_of(ALIGNMENT), 0);
        let metadata_offset_bytes = body.len() as u32;
        body.extend_from_slice(&self.metadata);
        body.resize(body.len().next_multiple_of(ALIGNMENT), 0);
        let header = Header {
            magic: MAGIC,
            byte_order: BYTE_ORDER,
            version: VERSION,
            required_flags: 0,
            len_bytes: body.len() as u32,
            checksum: [0; 2],
            block_count: self.blocks.len() as u32,
            tensor_count: records.len() as u32,
            value_count: self.values.len() as u32,
            op_count: self.ops.len() as u32,
            metadata_offset_bytes,
            metadata_len_bytes: self.metadata.len() as u32,
            workspace_len_bytes: self.workspace_len(),
            reserved: 0,
        };
        let pieces: [&[u8]; 6] = [
            bytes_of(&header),
            bytes_of(&self.input),
            cast_slice(&self.blocks),
            cast_slice(&records),
            cast_slice(&self.values),
            cast_slice(&self.ops),
        ];
        body[..tables].copy_from_slice(&pieces.concat());
        set_checksum(&mut body);
        AlignedBytes::copy_of(&body)
    }
}

/// Writes the checksum that the bytes have.
pub fn set_checksum(bytes: &mut [u8]) {
    let sum = checksum(bytes).to_le_bytes();
    if let Some(field) = bytes.get_mut(24..32) {
        field.copy_from_slice(&sum);
    }
}
