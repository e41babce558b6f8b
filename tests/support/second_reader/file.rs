//! Bytes to records.

/// "No such record."
pub(super) const NOTHING: u32 = 0xFFFF_FFFF;

/// A container taken apart. Field names are those of FORMAT.md.
#[derive(Debug, Clone)]
pub struct Container {
    pub(super) input: Input,
    pub(super) blocks: Vec<Block>,
    pub(super) tensors: Vec<Tensor>,
    pub(super) values: Vec<Value>,
    pub(super) ops: Vec<Op>,
    /// The metadata section.
    pub metadata: Metadata,
}

#[derive(Debug, Clone)]
pub(super) struct Input {
    pub kind: u32,
    pub size: u32,
    pub perspectives: u32,
    pub hidden: u32,
    pub max_active: u32,
    pub bucket_count: u32,
    pub feature_set: u32,
    pub king_table: u32,
    pub bucket_table: u32,
    pub element: u32,
    pub unit: f32,
    pub order: u32,
    pub exact: u32,
    pub counted: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Block {
    pub first_feature: u32,
    pub feature_count: u32,
    pub weights: u32,
    pub bias: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Tensor {
    pub element: u16,
    pub layout: u16,
    pub banks: usize,
    pub rows: usize,
    pub stride: usize,
    pub cols: usize,
    pub claims: u32,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone)]
pub(super) struct Value {
    pub element: u32,
    pub zero: i64,
    pub len: usize,
    /// Height and width.
    pub pixels: [usize; 2],
}

#[derive(Debug, Clone)]
pub(super) struct Op {
    pub kind: u32,
    pub input: usize,
    pub input_start: usize,
    pub input_len: usize,
    pub second: u32,
    pub second_start: usize,
    pub output: usize,
    pub weights: u32,
    pub bias: u32,
    pub multipliers: u32,
    pub shifts: u32,
    pub activation: u32,
    pub params: [u32; 4],
}

/// The metadata section (section 8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// Name of the network.
    pub name: String,
    /// Its description in TOML.
    pub description: String,
    /// A line a tensor.
    pub tensor_names: String,
    /// What was quantised.
    pub source: String,
    /// FNV-1a of its bytes.
    pub source_hash: u64,
    /// The bare file's header.
    pub bare_header: Vec<u8>,
}

/// The checksum (section 3).
pub fn checksum(file: &[u8]) -> u64 {
    let mut lanes: [u32; 16] = std::array::from_fn(|lane| lane as u32 + 1);
    for at in (0..file.len()).step_by(4) {
        let word = if at == 24 || at == 28 { 0 } else { u32_at(file, at) };
        let lane = &mut lanes[at / 4 % 16];
        *lane = (*lane ^ word).wrapping_mul(0x9E37_79B1).rotate_left(13);
    }
    let mut state = file.len() as u64;
    for lane in lanes {
        state = (state ^ u64::from(lane)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        state ^= state >> 29;
    }
    state
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(bytes[at])
        | u32::from(bytes[at + 1]) << 8
        | u32::from(bytes[at + 2]) << 16
        | u32::from(bytes[at + 3]) << 24
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

impl Container {
    /// Reads a container.
    ///
    /// # Errors
    /// What does not fit the header, or a false claim of bit 8, in words.
    pub fn read(file: &[u8]) -> Result<Self, String> {
        if file.len() < 128 || file[..8] != [0x89, b'T', b'A', b'M', b'I', b'S', 0x0D, 0x0A] {
            return Err("not a container".to_owned());
        }
        let header = |at| u32_at(file, at);
        if header(8) != 0x0A0B_0C0D || header(12) != 1 || header(16) != 0 || header(20) as usize != file.len() {
            return Err("byte order, version, flags or length".to_owned());
        }
        if u64_at(file, 24) != checksum(file) {
            return Err(format!("checksum {:016x}", checksum(file)));
        }
        let mut at = 128;
        let mut record = |len: usize| {
            at += len;
            at - len
        };
        let blocks = (0..header(32)).map(|_| block(file, record(32))).collect();
        let tensors = (0..header(36)).map(|_| tensor(file, record(32))).collect();
        let values = (0..header(40)).map(|_| value(file, record(16))).collect();
        let ops = (0..header(44)).map(|_| op(file, record(64))).collect();
        let (start, len) = (header(48) as usize, header(52) as usize);
        let metadata = metadata(&file[start..start + len]);
        let container = Self { input: input(file), blocks, tensors, values, ops, metadata };
        container.false_claim().map_or(Ok(container), Err)
    }

    pub(super) fn tensor(&self, index: u32) -> Option<&Tensor> {
        if index == NOTHING { None } else { Some(&self.tensors[index as usize]) }
    }
}

fn input(file: &[u8]) -> Input {
    let word = |field: usize| u32_at(file, 64 + field);
    Input {
        kind: word(0),
        size: word(4),
        perspectives: word(8),
        hidden: word(12),
        max_active: word(16),
        bucket_count: word(20),
        feature_set: word(24),
        king_table: word(28),
        bucket_table: word(32),
        element: word(36),
        unit: f32::from_bits(word(40)),
        order: word(52),
        exact: word(56),
        counted: word(60),
    }
}

fn block(file: &[u8], at: usize) -> Block {
    let word = |field: usize| u32_at(file, at + field);
    Block { first_feature: word(0), feature_count: word(4), weights: word(8), bias: word(12) }
}

fn tensor(file: &[u8], at: usize) -> Tensor {
    let word = |field: usize| u32_at(file, at + field) as usize;
    let (start, len) = (word(20), word(24));
    Tensor {
        element: (word(0) & 0xFFFF) as u16,
        layout: (word(0) >> 16) as u16,
        banks: word(4),
        rows: word(8),
        cols: word(12),
        stride: word(16),
        claims: word(28) as u32,
        bytes: file[start..start + len].to_vec(),
    }
}

fn value(file: &[u8], at: usize) -> Value {
    let (first, last) = (u32_at(file, at), u32_at(file, at + 12));
    Value {
        element: first & 0xFFFF,
        zero: i64::from((first >> 16) as i16),
        len: u32_at(file, at + 4) as usize,
        pixels: [(last & 0xFFFF) as usize + 1, (last >> 16) as usize + 1],
    }
}

fn op(file: &[u8], at: usize) -> Op {
    let word = |field: usize| u32_at(file, at + field);
    Op {
        kind: word(0),
        input: word(4) as usize,
        input_start: word(8) as usize,
        input_len: word(12) as usize,
        second: word(16),
        second_start: word(20) as usize,
        output: word(24) as usize,
        weights: word(28),
        bias: word(32),
        multipliers: word(36),
        shifts: word(40),
        activation: word(44),
        params: [word(48), word(52), word(56), word(60)],
    }
}

fn metadata(section: &[u8]) -> Metadata {
    let mut rest = section;
    let name = text(&mut rest);
    let description = text(&mut rest);
    let tensor_names = text(&mut rest);
    let source = text(&mut rest);
    let source_hash = varint(&mut rest);
    let bare_header = counted(&mut rest);
    assert!(rest.is_empty(), "bytes behind the metadata section");
    Metadata { name, description, tensor_names, source, source_hash, bare_header }
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for place in 0.. {
        let byte = rest[0];
        *rest = &rest[1..];
        value |= u64::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

fn counted(rest: &mut &[u8]) -> Vec<u8> {
    let len = varint(rest) as usize;
    let (head, tail) = rest.split_at(len);
    *rest = tail;
    head.to_vec()
}

fn text(rest: &mut &[u8]) -> String {
    String::from_utf8(counted(rest)).unwrap()
}

impl Tensor {
    fn index(&self, bucket: usize, row: usize, col: usize) -> usize {
        let bank = if self.banks == 1 { 0 } else { bucket };
        let group = self.stride * 4;
        match self.layout {
            1 => bank * self.rows * self.stride + row * self.stride + col,
            2 => bank * group * self.cols.div_ceil(4) + (col / 4) * group + row * 4 + col % 4,
            3 => bank * self.cols * self.stride + col * self.stride + row,
            other => panic!("layout {other}"),
        }
    }

    /// Element (row, col) of a bucket's bank, of any integer type.
    pub(super) fn integer(&self, bucket: usize, row: usize, col: usize) -> i64 {
        let at = self.index(bucket, row, col);
        match self.element {
            1 => i64::from(self.bytes[at]),
            2 => i64::from(self.bytes[at] as i8),
            3 => i64::from(i16::from_le_bytes([self.bytes[2 * at], self.bytes[2 * at + 1]])),
            4 => i64::from(u32_at(&self.bytes, 4 * at) as i32),
            other => panic!("element {other} is no integer"),
        }
    }

    /// Element (row, col) of a bucket's bank, of f32.
    pub(super) fn real(&self, bucket: usize, row: usize, col: usize) -> f32 {
        assert_eq!(self.element, 5, "element");
        f32::from_bits(u32_at(&self.bytes, 4 * self.index(bucket, row, col)))
    }
}
