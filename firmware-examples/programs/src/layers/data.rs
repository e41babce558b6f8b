//! The layers' numbers: random ones, computed by the compiler, so that weights lie in flash and no file is needed.
//!
//! A test on the host includes this file and computes from it what a board must print.

use tamis_runtime::Aligned;
use tamis_runtime::raw::Layout;

/// Most inputs of a layer.
pub const COLS_MAX: usize = 784;
/// Most outputs of a layer.
pub const ROWS_MAX: usize = 256;

/// A fully connected layer of bytes.
#[derive(Debug, Clone, Copy)]
pub struct Layer {
    /// Number of inputs, a multiple of 4.
    pub cols: usize,
    /// Number of outputs.
    pub rows: usize,
    /// (rows, cols) in `Layout::K4`, random over all of i8.
    pub weights: &'static [i8],
}

impl Layer {
    /// Rows of a group of four columns, padding included.
    pub fn stride(&self) -> usize {
        self.rows.next_multiple_of(4)
    }
}

macro_rules! layer {
    ($cols:literal, $rows:literal) => {{
        const STRIDE: usize = match Layout::K4.stride($rows, $cols, 1) {
            Some(stride) => stride,
            None => 0,
        };
        static WEIGHTS: Aligned<[i8; STRIDE * $cols]> = Aligned(weights($rows, STRIDE));
        Layer { cols: $cols, rows: $rows, weights: &WEIGHTS.0 }
    }};
}

/// Large ones, small ones, and 64 to 32 and 32 to 10, which are those of `digits`.
pub static LAYERS: [Layer; 9] = [
    layer!(784, 128),
    layer!(768, 256),
    layer!(256, 32),
    layer!(128, 10),
    layer!(64, 32),
    layer!(32, 32),
    layer!(32, 10),
    layer!(32, 1),
    layer!(16, 1),
];

/// Any bytes.
pub static INPUTS_I8: [i8; COLS_MAX] = random_bytes(1);
/// Bytes from 0 to 127.
pub static INPUTS_U7: [u8; COLS_MAX] = {
    let signed: [i8; COLS_MAX] = random_bytes(2);
    let mut inputs = [0; COLS_MAX];
    let mut index = 0;
    while index < COLS_MAX {
        inputs[index] = signed[index] as u8 & 127;
        index += 1;
    }
    inputs
};
/// One a row, within ±2¹⁵.
pub static BIAS: [i32; ROWS_MAX] = {
    let mut state = 3;
    let mut bias = [0; ROWS_MAX];
    let mut row = 0;
    while row < ROWS_MAX {
        state = next(state);
        bias[row] = state as i32 >> 16;
        row += 1;
    }
    bias
};
/// One a row, in the upper half of i32's positive numbers, as a quantiser makes them.
pub static MULTIPLIERS: [i32; ROWS_MAX] = {
    let mut state = 4;
    let mut multipliers = [0; ROWS_MAX];
    let mut row = 0;
    while row < ROWS_MAX {
        state = next(state);
        multipliers[row] = (1 << 30 | state >> 2) as i32;
        row += 1;
    }
    multipliers
};
/// One a row. With these the large layers' results fill i8 and sometimes leave it.
pub static SHIFTS: [u8; ROWS_MAX] = {
    let mut shifts = [0; ROWS_MAX];
    let mut row = 0;
    while row < ROWS_MAX {
        shifts[row] = 41 + (row % 3) as u8;
        row += 1;
    }
    shifts
};

/// Numerical Recipes' 32-bit congruential generator; its high bits are random enough.
const fn next(state: u32) -> u32 {
    state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

const fn random_bytes<const N: usize>(seed: u32) -> [i8; N] {
    let mut state = seed;
    let mut bytes = [0; N];
    let mut index = 0;
    while index < N {
        state = next(state);
        bytes[index] = (state >> 24) as i8;
        index += 1;
    }
    bytes
}

/// Random weights, and zeros in the rows that only pad.
const fn weights<const N: usize>(rows: usize, stride: usize) -> [i8; N] {
    let mut weights = random_bytes(5);
    let mut index = 0;
    while rows != stride && index < N {
        if index % (4 * stride) / 4 >= rows {
            weights[index] = 0;
        }
        index += 1;
    }
    weights
}
