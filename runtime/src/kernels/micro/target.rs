//! What a target does of a tile: it spreads inputs, and multiplies them by the weights of some outputs.

use super::finish::{Bytes, FourBeside};

/// Words of inputs that are spread at once.
pub(in crate::kernels) const SPREAD: usize = 320;
/// Bytes of a place that are gathered at once, where its inputs are no whole groups of four.
pub(super) const GATHERED: usize = 160;
/// The outputs of a tile.
#[repr(C)]
pub(in crate::kernels) struct Rows {
    /// Groups of inputs, of the first place.
    pub x: *const u32,
    /// The first output's weights, in K4, and bytes from group to group.
    pub w: *const i8,
    pub stride_bytes: usize,
    /// What the sums begin with; null: with themselves.
    pub bias: *const i32,
    /// (outputs, places)
    pub sums: *mut i32,
    /// How they end; null: as sums.
    pub bytes: *const Bytes,
    /// At least one of each.
    pub groups: usize,
    pub outputs: usize,
    /// Bytes from place to place of the inputs.
    pub place_bytes: usize,
    /// Those of a tile; of several only where the target takes them, with biases, all groups and bytes.
    pub places: usize,
}

/// A target's way through a tile, exact modulo 2³².
pub(in crate::kernels) trait Tile {
    /// Places of a tile.
    const PLACES: usize;
    /// Words of a group of four inputs, of all places.
    const GROUP: usize;
    /// Words from place to place, and of a place from group to group.
    const PLACE: usize = 1;
    const NEXT: usize = Self::GROUP;
    /// Whether inputs of bytes with a sign need not be spread where they lie side by side.
    const READS_PIXELS: bool = false;
    /// Whether spread inputs still have their zero point, which biases are then freed of.
    const FOLDS_ZERO: bool = false;

    /// Spreads `groups` groups of four inputs of one place, and `minus_zero` added to each.
    ///
    /// # Safety
    /// As many bytes can be read at `x`, and groups of a place that begin at `out` be written.
    unsafe fn spread(x: *const u8, groups: usize, is_signed: bool, minus_zero: i16, out: *mut u32);

    /// Whether inputs are spread to bytes side by side, so that rows of taps of any length follow each other.
    const SPREADS_BYTES: bool = false;

    /// Spreads `len` inputs of a place to as many bytes, where [`Tile::SPREADS_BYTES`].
    ///
    /// # Safety
    /// As many bytes can be read at `x` and written at `out`.
    unsafe fn spread_bytes(_x: *const u8, _len: usize, _is_signed: bool, _out: *mut u8) {
        debug_assert!(false, "this target spreads inputs to more than bytes");
    }

    /// For every output: `sums[output][place] += Σ x[k, place]·w[output, k]`, and their beginning and end. More places
    /// than a tile has come only where [`Tile::READS_PIXELS`] or [`Tile::SPREADS_BYTES`], with biases and bytes.
    ///
    /// # Safety
    /// All that `rows` points to can be read, and of inputs all that `SPREAD` words hold; sums and bytes of all places
    /// can be written; weights are at a multiple of four, as is their stride. Of a tile that folds the zero point,
    /// biases and sums are there for an even number of outputs.
    unsafe fn rows(rows: &Rows);

    /// Whether [`Tile::beside`] is there.
    const HAS_BESIDE: bool = false;

    /// Sums of four places and what stands beside them, to bytes.
    ///
    /// # Safety
    /// All that the record speaks of can be read and written.
    unsafe fn beside(_: &FourBeside) {
        debug_assert!(false, "sums of two products, which this target has no way for");
    }
}
