//! Four channels of a band of four rows, laid apart: the four rows of a pixel in a word, the pixels of a channel one
//! behind the other.

use core::arch::asm;

/// Channels that are laid apart at once.
pub(super) const CHANNELS: usize = 4;
/// Columns of a band, so many that what lies four bytes a column, a channel behind the other, is within a byte's reach.
pub(super) const COLUMNS: usize = 21;
/// Bands that are laid apart at once.
pub(super) const BANDS: usize = 4;
/// Bytes of a band: its channels' words.
pub(super) const BAND_BYTES: usize = 4 * COLUMNS * CHANNELS;

/// Bands, channels, columns: four rows' bytes each; and a vector's reach behind them.
#[repr(C, align(4))]
pub(super) struct Apart(pub [[[u32; COLUMNS]; CHANNELS]; BANDS], pub [u32; 4]);

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
}

/// Where sixteen bytes go: those of a row side by side in their channels.
static PLACES: [u8; 16] = {
    let mut places = [0; 16];
    let mut index = 0;
    while index < 16 {
        places[index] = (index % CHANNELS * 4 * COLUMNS + index / CHANNELS) as u8;
        index += 1;
    }
    places
};
const _: () = assert!((CHANNELS - 1) * 4 * COLUMNS + 3 < 256);

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
                flip = in(reg) lay.flip, places = in(reg) PLACES.as_ptr(),
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
                    inout("r1") lay.to.wrapping_add(channel * 4 * COLUMNS) => _, out("r0") _, out("lr") _,
                    out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d6") _, out("d7") _,
                    options(nostack)
                );
            }
        }
    }
}
