//! The parameters of operations that slide a window, and how a convolution's weights lie.

use super::{OpRecord, op};
use bytemuck::{Pod, Zeroable};

/// The window of CONVOLUTION, TRANSPOSED_CONVOLUTION and POOL: the first two words of their parameters, a byte each.
/// Every pair is (down, across).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct WindowRecord {
    /// Taps.
    pub kernel: [u8; 2],
    /// Pixels from one place of the window to the next.
    pub stride: [u8; 2],
    /// Pixels from one tap to the next.
    pub dilation: [u8; 2],
    /// Padding above and to the left.
    pub before: [u8; 2],
}

impl WindowRecord {
    /// Of an operation's record.
    pub const fn of(record: &OpRecord) -> Self {
        let [a, b, c, d] = record.params[0].to_le_bytes();
        let [e, f, g, h] = record.params[1].to_le_bytes();
        Self { kernel: [a, b], stride: [c, d], dilation: [e, f], before: [g, h] }
    }

    /// The two words.
    pub const fn words(self) -> [u32; 2] {
        let Self { kernel: [a, b], stride: [c, d], dilation: [e, f], before: [g, h] } = self;
        [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
    }
}

/// Whether a convolution has a filter for every channel, whose weights lie by taps: a matrix of (taps, channels). One
/// of that shape with a row an output would have as many taps as channels and one channel to read; then both are the
/// same but for the order, and this is it.
pub const fn is_depthwise(kind: u32, [rows, cols]: [usize; 2], taps: usize, channels: [usize; 2]) -> bool {
    kind == op::CONVOLUTION && channels[0] == channels[1] && channels[0] > 1 && rows == taps && cols == channels[0]
}
