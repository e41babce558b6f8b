//! Four channels of a band of four rows, laid apart: the four rows of a pixel in a word, the pixels of a channel one
//! behind the other.

use core::arch::asm;

/// Channels that are laid apart at once.
pub(super) const CHANNELS: usize = 4;
/// Most columns of a band, so that what lies four bytes a column, a channel behind the other, is within a byte's reach.
pub(super) const COLUMNS: usize = 21;
/// Words of all bands.
const WORDS: usize = 4 * CHANNELS * COLUMNS;

/// As many bands as there is room for: band after band, channel after channel, four rows' bytes a column; and a vector's
/// reach behind them.
#[repr(C)]
pub(super) struct Apart([u32; WORDS], [u32; 4]);

impl Apart {
    /// With bytes of padding everywhere.
    pub fn new(padding: u8) -> Self {
        Self([u32::from(padding) * 0x0101_0101; WORDS], [0; 4])
    }

    /// Bands of as many columns, at least one and at most [`COLUMNS`].
    pub const fn bands(columns: usize) -> usize {
        if columns == 0 { 0 } else { WORDS / (CHANNELS * columns) }
    }

    pub const fn bytes(&self) -> *const u8 {
        (&raw const *self).cast()
    }

    pub const fn bytes_mut(&mut self) -> *mut u8 {
        (&raw mut *self).cast()
    }
}

/// Where sixteen bytes of a column go, four channels of a row and row after row: those of a channel side by side, and
/// the channels as many bytes apart.
pub(super) fn places(channel_bytes: usize) -> [u8; 16] {
    core::array::from_fn(|index| (index % CHANNELS * channel_bytes + index / CHANNELS) as u8)
}
const _: () = assert!((CHANNELS - 1) * 4 * COLUMNS + 3 < 256);

/// Columns of a band of four rows.
#[repr(C)]
pub(super) struct Lay {
    pub x: *const u8,
    pub to: *mut u8,
    pub columns: usize,
    /// Bytes from pixel to pixel, and from row to row.
    pub pixel: usize,
    pub row: usize,
    /// Four bits for every row that is there.
    pub mask: u32,
    /// What others count as, and what is added to each byte.
    pub padding: u32,
    pub flip: u32,
    /// Bytes from channel to channel of what is written, and [`places`] of as many.
    pub channel_bytes: usize,
    pub places: [u8; 16],
}

impl Lay {
    /// Lays four channels of a band apart.
    ///
    /// # Safety
    /// Words of the rows that are there can be read in all columns, at multiples of four, and as many columns of the four
    /// channels be written.
    #[inline(never)]
    pub unsafe fn by_words(&self) {
        let lay = self;
        if lay.columns == 0 {
            return;
        }
        // SAFETY: the loop reads and writes what the caller vouches for; VPR is no clobber that could be named, and nobody
        // keeps it across a call.
        unsafe {
            asm!(
                "movs r0, #0",
                "vidup.u32 q1, r0, #1",
                "vmul.i32 q1, q1, {row}",
                "vldrb.u8 q2, [{places}]",
                "vdup.32 q3, {padding}",
                "vmsr p0, {mask}",
                "dls lr, {columns}",
                "2:",
                "vpst",
                "vldrwt.u32 q0, [{x}, q1]",
                "vpsel q0, q0, q3",
                "vadd.i8 q0, q0, {flip}",
                "vstrb.8 q0, [{to}, q2]",
                "add {x}, {x}, {pixel}",
                "add {to}, {to}, #4",
                "le lr, 2b",
                x = inout(reg) lay.x => _, to = inout(reg) lay.to => _, columns = in(reg) lay.columns,
                pixel = in(reg) lay.pixel, row = in(reg) lay.row, mask = in(reg) lay.mask, padding = in(reg) lay.padding,
                flip = in(reg) lay.flip, places = in(reg) lay.places.as_ptr(),
                out("r0") _, out("lr") _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
                options(nostack)
            );
        }
    }

    /// The same, a channel after the other, wherever the map begins.
    ///
    /// # Safety
    /// As there, but for the multiples.
    #[inline(never)]
    pub unsafe fn by_bytes(&self) {
        let lay = self;
        if lay.columns == 0 {
            return;
        }
        for channel in 0..CHANNELS {
            // SAFETY: as above, for one byte of each word.
            unsafe {
                asm!(
                    "movs r0, #0",
                    "vidup.u32 q1, r0, #1",
                    "vmul.i32 q1, q1, {row}",
                    "vdup.32 q3, {padding}",
                    "vmsr p0, {mask}",
                    "dls lr, {columns}",
                    "2:",
                    "vpst",
                    "vldrbt.u32 q0, [{x}, q1]",
                    "vpsel q0, q0, q3",
                    "vadd.i32 q0, q0, {flip}",
                    "vstrb.32 q0, [r1], #4",
                    "add {x}, {x}, {pixel}",
                    "le lr, 2b",
                    x = inout(reg) lay.x.wrapping_add(channel) => _, columns = in(reg) lay.columns,
                    pixel = in(reg) lay.pixel, row = in(reg) lay.row, mask = in(reg) lay.mask,
                    padding = in(reg) lay.padding, flip = in(reg) lay.flip,
                    // Stores that narrow take a low register.
                    inout("r1") lay.to.wrapping_add(channel * lay.channel_bytes) => _, out("r0") _, out("lr") _,
                    out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d6") _, out("d7") _,
                    options(nostack)
                );
            }
        }
    }
}
