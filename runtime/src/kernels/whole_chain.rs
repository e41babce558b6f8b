//! Chains of dense layers of bytes of which nothing is left over, as [`super::table::WholeChainCall`] takes them: what
//! a kernel would have to ask of each layer, and where it finds what it needs, is settled when a plan is made.

use super::layers::{ByteLayer, CHAIN_LAYERS, CHAIN_WIDTH, OneScale};
use crate::num;
use crate::sure::at;

/// A multiple of the rows of every tier's vectors, which kernels assert.
pub const WHOLE_ROWS: usize = 16;
/// Two groups.
const WHOLE_INPUTS: usize = 8;
/// Rows of the last layer: its stride.
const LAST_ROWS: usize = 4;

/// Whole layers, each of which reads what the one before it writes, and a last layer of up to four outputs, which are
/// i32.
#[derive(Debug, Clone)]
pub struct WholeChain<'a> {
    inputs: usize,
    first: heapless::Vec<WholeLayer<'a>, CHAIN_LAYERS>,
    last: LastLayer<'a>,
}

/// A layer that fills vectors with its outputs, takes its inputs in pairs of groups, and has one scale to bytes.
#[derive(Debug, Clone, Copy)]
pub struct WholeLayer<'a> {
    weights: &'a [i8],
    bias: &'a [i32],
    inputs: usize,
    is_paired: bool,
    scale: OneScale,
    bytes: (u8, u8),
}

/// A layer of up to four outputs.
#[derive(Debug, Clone, Copy)]
pub struct LastLayer<'a> {
    weights: &'a [i8],
    inputs: usize,
    is_paired: bool,
    outputs: usize,
    rows: [LastRow; LAST_ROWS],
    /// The least and the greatest output; `None`: outputs are the sums.
    range: Option<(i32, i32)>,
}

/// What makes an output of a row's sum.
#[derive(Debug, Clone, Copy, Default)]
struct LastRow {
    bias: i32,
    multiplier: i32,
    shift: u32,
}

impl<'a> WholeChain<'a> {
    /// `None` where they are not such layers.
    pub fn of(layers: &[ByteLayer<'a>]) -> Option<Self> {
        let (last, before) = layers.split_last()?;
        let follow = layers.iter().zip(layers.iter().skip(1)).all(|(layer, next)| layer.can_lead_to(next));
        let mut first = heapless::Vec::new();
        for layer in before {
            first.push(WholeLayer::of(layer)?).ok()?;
        }
        Some(Self { inputs: layers.first()?.inputs(), first, last: LastLayer::of(last)? }).filter(|_| follow)
    }

    /// Each has as many inputs as the one before it has outputs, and the last layer as the last of them.
    pub fn first(&self) -> &[WholeLayer<'a>] {
        self.first.as_slice()
    }

    pub const fn last(&self) -> &LastLayer<'a> {
        &self.last
    }

    /// Of the first layer.
    pub const fn inputs(&self) -> usize {
        self.inputs
    }
}

impl<'a> WholeLayer<'a> {
    fn of(layer: &ByteLayer<'a>) -> Option<Self> {
        let (scale, bytes) = (*layer.common()?, layer.bytes()?);
        let (outputs, inputs) = (layer.bias().len(), layer.inputs());
        let is_whole = outputs == layer.stride()
            && outputs.is_multiple_of(WHOLE_ROWS)
            && outputs <= CHAIN_WIDTH
            && inputs.is_multiple_of(WHOLE_INPUTS);
        let (weights, bias, is_paired) = (layer.weights(), layer.bias(), layer.is_paired());
        is_whole.then_some(Self { weights, bias, inputs, is_paired, scale, bytes })
    }

    /// `4·outputs` for every four inputs.
    pub const fn weights(&self) -> &'a [i8] {
        self.weights
    }

    /// One for each output.
    pub const fn bias(&self) -> &'a [i32] {
        self.bias
    }

    /// A multiple of 16, no more than [`CHAIN_WIDTH`].
    pub const fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// A multiple of 8.
    pub const fn inputs(&self) -> usize {
        self.inputs
    }

    pub const fn is_paired(&self) -> bool {
        self.is_paired
    }

    pub const fn scale(&self) -> &OneScale {
        &self.scale
    }

    /// The least and the greatest output.
    pub const fn bytes(&self) -> (u8, u8) {
        self.bytes
    }
}

impl<'a> LastLayer<'a> {
    fn of(layer: &ByteLayer<'a>) -> Option<Self> {
        let outputs = layer.bias().len();
        if layer.stride() != LAST_ROWS || outputs == 0 || layer.bytes().is_some() {
            return None;
        }
        let mut rows = [LastRow::default(); LAST_ROWS];
        for (index, (row, bias)) in rows.iter_mut().zip(layer.bias()).enumerate() {
            row.bias = *bias;
            if let Some(by) = layer.rounding() {
                (row.multiplier, row.shift) = (*by.multipliers.get(index)?, u32::from(*by.shifts.get(index)?));
            }
        }
        let range = layer.rounding().map(|by| (by.low, by.high));
        let (weights, inputs, is_paired) = (layer.weights(), layer.inputs(), layer.is_paired());
        Some(Self { weights, inputs, is_paired, outputs, rows, range })
    }

    /// Sixteen for every four inputs, begun ones included.
    pub const fn weights(&self) -> &'a [i8] {
        self.weights
    }

    pub const fn inputs(&self) -> usize {
        self.inputs
    }

    pub const fn is_paired(&self) -> bool {
        self.is_paired
    }

    /// 1 to 4.
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// The output of a row, of which `sum` are the products.
    #[inline(always)]
    pub fn output(&self, sum: i32, row: usize) -> i32 {
        let LastRow { bias, multiplier, shift } = at(&self.rows, row);
        let sum = sum.wrapping_add(bias);
        match self.range {
            Some((low, high)) => num::requantise(sum, multiplier, shift, low, high),
            None => sum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layers::{ByteLayer, Rounding};
    use super::WholeChain;

    static WEIGHTS: [i8; 4096] = [1; 4096];
    static BIAS: [i32; 64] = [3; 64];
    static MULTIPLIERS: [i32; 64] = [1 << 30; 64];
    static SHIFTS: [u8; 64] = [36; 64];

    fn layer(inputs: usize, outputs: usize, multipliers: &'static [i32], to_bytes: bool) -> ByteLayer<'static> {
        let (low, high) = if to_bytes { (0, 127) } else { (-9, 9) };
        let rounding =
            Rounding { multipliers: &multipliers[..outputs], shifts: &SHIFTS[..outputs], low, high, to_bytes };
        let stride = outputs.next_multiple_of(4);
        ByteLayer::new(&WEIGHTS, stride, &BIAS[..outputs], inputs, false, Some(rounding)).expect("operands that fit")
    }

    fn inputs_of(layers: &[ByteLayer<'static>]) -> Option<usize> {
        WholeChain::of(layers).map(|chain| chain.inputs())
    }

    #[test]
    fn a_whole_chain_has_nothing_left_over() {
        static TWO: [i32; 64] = {
            let mut all = MULTIPLIERS;
            all[15] += 1;
            all
        };
        let bytes = |inputs, outputs| layer(inputs, outputs, &MULTIPLIERS, true);
        let last = |inputs, outputs| layer(inputs, outputs, &MULTIPLIERS, false);
        assert_eq!(inputs_of(&[bytes(24, 16), bytes(16, 48), last(48, 3)]), Some(24));
        assert_eq!(inputs_of(&[last(5, 4)]), Some(5));
        // In turn: none, inputs that begin a pair of groups, outputs that begin a vector, two scales, layers that do
        // not follow each other, a last layer of five outputs, and one of bytes.
        assert_eq!(inputs_of(&[]), None);
        assert_eq!(inputs_of(&[bytes(20, 16), last(16, 1)]), None);
        assert_eq!(inputs_of(&[bytes(24, 24), last(24, 1)]), None);
        assert_eq!(inputs_of(&[layer(24, 16, &TWO, true), last(16, 1)]), None);
        assert_eq!(inputs_of(&[bytes(24, 16), last(32, 1)]), None);
        assert_eq!(inputs_of(&[bytes(24, 16), last(16, 5)]), None);
        assert_eq!(inputs_of(&[bytes(24, 16), bytes(16, 4)]), None);
    }

    #[test]
    fn an_output_is_the_requantised_sum() {
        let rounded = WholeChain::of(&[layer(8, 2, &MULTIPLIERS, false)]).expect("a last layer");
        // (13 + 3)·2^30 / 2^36 = 1/4, (29 + 3)·2^30 / 2^36 = 1/2, and beyond the greatest.
        assert_eq!([13, 29, 10_000].map(|sum| rounded.last().output(sum, 1)), [0, 1, 9]);
        let sums = ByteLayer::new(&WEIGHTS, 4, &BIAS[..1], 8, false, None).expect("operands that fit");
        assert_eq!(WholeChain::of(&[sums]).expect("a last layer").last().output(-5, 0), -2);
    }
}
