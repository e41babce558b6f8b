//! Maps and the windows over them.

use crate::format::{ValueRecord, WindowRecord, element};
use crate::workspace::{rest, typed, typed_mut};

/// The shape and the integers of a map.
#[derive(Debug, Clone, Copy)]
pub struct Map {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels of a row.
    pub width: usize,
    /// Elements of a pixel.
    pub channels: usize,
    /// Their code.
    pub element: u32,
    /// The integer that stands for 0.
    pub zero: i32,
}

impl Map {
    pub(crate) fn of(record: &ValueRecord) -> Self {
        let [height, width] = record.pixels();
        // Not 0, as the compiler does not know.
        let channels = record.len / (height * width).max(1);
        let (height, width, channels) = (height as usize, width as usize, channels as usize);
        Self { height, width, channels, element: record.element(), zero: record.zero.into() }
    }

    /// Elements of a row of pixels.
    pub const fn row(&self) -> usize {
        self.width * self.channels
    }

    /// The integer at a place of a map's bytes; 0 where there is none.
    #[inline(always)]
    pub(crate) fn at(&self, bytes: &[u8], index: usize) -> i32 {
        let byte = || first(rest(bytes, index));
        match self.element {
            element::U8 => i32::from(byte()),
            element::I8 => i32::from(byte() as i8),
            element::I16 => i32::from(first(rest(typed::<i16>(bytes), index))),
            _ => first(rest(typed::<i32>(bytes), index)),
        }
    }

    /// Writes an element of a map.
    #[inline(always)]
    pub(crate) fn put(&self, bytes: &mut [u8], index: usize, value: i32) {
        match self.element {
            element::I16 => typed_mut::<i16>(bytes).get_mut(index).into_iter().for_each(|out| *out = value as i16),
            element::I32 | element::F32 => {
                typed_mut::<i32>(bytes).get_mut(index).into_iter().for_each(|out| *out = value);
            }
            _ => bytes.get_mut(index).into_iter().for_each(|out| *out = value as u8),
        }
    }
}

/// A window and whether places and pixels are exchanged.
#[derive(Debug, Clone, Copy)]
pub struct Geometry {
    /// Taps down and across, and so are all pairs here.
    pub kernel: [usize; 2],
    /// From place to place.
    pub stride: [usize; 2],
    /// From tap to tap.
    pub dilation: [usize; 2],
    /// Padding above and to the left.
    pub before: [usize; 2],
    /// Whether places and pixels are exchanged.
    pub transposed: bool,
}

impl Geometry {
    pub(crate) fn of(window: WindowRecord, transposed: bool) -> Self {
        let wide = |pair: [u8; 2]| pair.map(usize::from);
        Self {
            kernel: wide(window.kernel),
            stride: wide(window.stride),
            dilation: wide(window.dilation),
            before: wide(window.before),
            transposed,
        }
    }

    /// The input pixel along an axis, of `size`, that a tap of an output place reads; none in the padding.
    #[inline(always)]
    pub(crate) fn input(&self, axis: usize, output: usize, tap: usize, size: usize) -> Option<usize> {
        let (stride, reach) = (self.stride[axis], tap * self.dilation[axis]);
        let at = if self.transposed {
            // Places are pixels of the output: of the input there is one for every stride.
            let from = (output + self.before[axis]).checked_sub(reach)?;
            if stride == 0 || from % stride != 0 {
                return None;
            }
            from / stride
        } else {
            (output * stride + reach).checked_sub(self.before[axis])?
        };
        (at < size).then_some(at)
    }

    /// The taps along an axis of `size` that see a pixel, of a window that does not exchange places and pixels. By
    /// steps: a division is dear where the processor has none.
    #[inline(never)]
    pub(crate) fn seen(&self, axis: usize, output: usize, size: usize) -> Seen {
        // No place of the pairs that the compiler would have to look at.
        let of = |pair: [usize; 2]| if axis == 0 { pair[0] } else { pair[1] };
        let (dilation, before) = (of(self.dilation), of(self.before));
        let (mut tap, mut at, mut end) = (0, output * of(self.stride), of(self.kernel));
        while at < before && tap < end {
            (tap, at) = (tap + 1, at + dilation);
        }
        let mut last = at + (end - tap) * dilation;
        while end > tap && last - dilation >= size + before {
            (end, last) = (end - 1, last - dilation);
        }
        Seen { tap, count: end - tap, pixel: at.wrapping_sub(before) }
    }
}

/// Taps along an axis that see a pixel.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    /// The first of them, and how many they are.
    #[cfg_attr(not(any(test, microcontroller)), expect(dead_code, reason = "pools have no weights"))]
    pub tap: usize,
    pub count: usize,
    /// What the first sees, if there is one.
    pub pixel: usize,
}

/// The first element, which a place within a map has.
#[inline(always)]
fn first<T: Copy + Default>(x: &[T]) -> T {
    debug_assert!(!x.is_empty(), "a place behind the end of a map");
    match x {
        [first, ..] => *first,
        [] => T::default(),
    }
}
