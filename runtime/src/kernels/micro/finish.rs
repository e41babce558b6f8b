//! The end of a convolution: from the sums of a tile to what is written.
//!
//! Where the shift of a channel is above 32, as the quantiser writes it for a single product, a value is the high word
//! of its product, shifted by all places but one, half of a bit added and that place shifted out; the zero point is
//! added with the half. Targets do that where the sums are ([`Bytes`]). Other shifts, and sums of two products, take
//! both words. What does not become bytes goes through the definition.

use crate::format::element;
use crate::kernels::maps::{Beside, Layer, Map, Rounding, rounded_words};
use crate::num::HIGH_WORD_ONLY;
use crate::num::mul_high;
use crate::sure::at;

/// Where what is rounded goes, and what is added to it before.
pub(in crate::kernels) struct End<'a, 'o> {
    rounding: Rounding<'a>,
    to: Map,
    second: Option<(Map, &'a [u8])>,
    out: &'o mut [u8],
    is_high: bool,
    /// Whether all shifts are of 2 to 32 and a second map is there.
    is_short: bool,
}

/// Which sums are rounded: of `outputs` outputs and `places` places, the first of them output `first` of the place that
/// begins with element `start` of the map.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Part {
    pub first: usize,
    pub outputs: usize,
    pub start: usize,
    pub places: usize,
    /// Elements from place to place.
    pub step: usize,
}

/// How sums become bytes: `clamp(((high word of sum · multiplier >> less) + half) >> 1, low, high)`, with `less` the
/// shift less 33.
#[repr(C)]
pub(in crate::kernels) struct Bytes {
    pub multipliers: *const i32,
    pub shifts: *const u8,
    /// The first output's element of the first place.
    pub out: *mut u8,
    /// Elements from place to place.
    pub step: usize,
    /// Half of a bit, and twice the zero point.
    pub half: i32,
    pub low: i32,
    pub high: i32,
    /// Whether the ends are those of bytes with a sign.
    pub is_all: u32,
}

/// `out[place, o] = clamp(zero + ((sums[o, place]·multipliers[o] + (others[place, o] + minus_zero)·of_others[o] +
/// 2^(shifts[o]−1)) >> shifts[o]), low, high)` of four places, shifts of 2 to 32.
#[repr(C)]
pub(in crate::kernels) struct FourBeside {
    pub minus_zero: i32,
    pub one: i32,
    pub zero: i32,
    /// (outputs, 4)
    pub sums: *const i32,
    /// Bytes of the second map, and what is written; elements of both from place to place.
    pub others: *const u8,
    pub out: *mut u8,
    pub multipliers: *const i32,
    pub of_others: *const i32,
    pub shifts: *const u8,
    pub step: usize,
    /// At least one.
    pub outputs: usize,
    pub low: i32,
    pub high: i32,
    /// Whether the second map's bytes have a sign.
    pub is_signed: bool,
}

impl<'a, 'o> End<'a, 'o> {
    pub fn new(layer: &Layer<'a>, second: Option<(Map, &'a [u8])>, out: &'o mut [u8]) -> Self {
        let is_high = second.is_none()
            && matches!(layer.to.element, element::U8 | element::I8)
            && layer.rounding.shifts.iter().all(|shift| u32::from(*shift) >= HIGH_WORD_ONLY);
        let is_short = second.is_some() && layer.rounding.shifts.iter().all(|shift| matches!(shift, 2..=32));
        Self { rounding: layer.rounding, to: layer.to, second, out, is_high, is_short }
    }

    /// How a part becomes bytes, if the high words are enough for it. All that the pointers say is there: multipliers
    /// and shifts of its outputs, all of which are above 32, and its elements.
    #[inline(always)]
    pub fn bytes(&mut self, part: Part) -> Option<Bytes> {
        let Part { first, outputs, start, places, step } = part;
        let is_there = outputs > 0
            && places > 0
            && start + (places - 1) * step + first + outputs <= self.out.len()
            && first + outputs <= self.rounding.multipliers.len().min(self.rounding.shifts.len());
        let Rounding { multipliers, shifts, low, high } = self.rounding;
        (self.is_high && is_there).then(|| Bytes {
            multipliers: multipliers.as_ptr().wrapping_add(first),
            shifts: shifts.as_ptr().wrapping_add(first),
            out: self.out.as_mut_ptr().wrapping_add(start + first),
            step,
            half: self.half(),
            low,
            high,
            is_all: self.is_all(),
        })
    }

    /// Whether all outputs are bytes that the high words of their products are enough for.
    pub const fn is_high(&self) -> bool {
        self.is_high
    }

    /// Half of a bit, and twice the zero point.
    pub const fn half(&self) -> i32 {
        half(self.to)
    }

    /// Whether the ends are those of bytes with a sign.
    pub fn is_all(&self) -> u32 {
        u32::from((self.rounding.low, self.rounding.high) == (i8::MIN.into(), i8::MAX.into()))
    }

    /// Rounds the sums of a part and writes them. strides: sums from output to output, and from place to place.
    #[inline(never)]
    pub fn part(&mut self, sums: &[i32], part: Part, strides: [usize; 2]) {
        let Part { first, outputs, start, places, step } = part;
        if outputs == 0 || places == 0 {
            return;
        }
        let end = start + (places - 1) * step + first + outputs;
        let is_there = end <= self.out.len()
            && (outputs - 1) * strides[0] + (places - 1) * strides[1] < sums.len()
            && first + outputs <= self.rounding.shifts.len();
        if !matches!(self.to.element, element::U8 | element::I8) || !is_there {
            return self.by_definition(sums, part, strides);
        }
        match self.second {
            Some((map, bytes)) if matches!(map.element, element::U8 | element::I8) => {
                self.beside(sums, part, strides, Others::new(map, bytes))
            }
            Some(_) => self.by_definition(sums, part, strides),
            None => {
                // SAFETY: the last sum and the last element were found to lie within their slices.
                unsafe {
                    each_byte(self.out, sums, part, strides, |output| Output::of(&self.rounding, self.to, output))
                }
            }
        }
    }

    /// With the bytes of a second map.
    #[inline(never)]
    fn beside(&mut self, sums: &[i32], part: Part, strides: [usize; 2], others: Others<'_>) {
        let Part { first, outputs, start, places, step } = part;
        let channels = self.to.channels;
        if start + (places - 1) * step + first + outputs > others.bytes.len()
            || channels + first + outputs > self.rounding.multipliers.len()
        {
            debug_assert!(false, "a second map that is not there");
            return;
        }
        for output in 0..outputs {
            let own = Output::of(&self.rounding, self.to, first + output);
            let of_other = i64::from(at(self.rounding.multipliers, channels + first + output));
            let added = own.added(self.to.zero, i64::from(others.zero) * of_other);
            let (mut index, mut sum) = (start + first + output, output * strides[0]);
            for _ in 0..places {
                // SAFETY: `part` and the comparison above have found the last of each to lie within its slice.
                unsafe {
                    let other = others.get(index);
                    let sum = i64::from(*sums.get_unchecked(sum));
                    *self.out.get_unchecked_mut(index) = match added {
                        Some(added) => own.within_a_word(added + sum * own.multiplier + i64::from(other) * of_other),
                        None => own.by_both_words(sum * own.multiplier + i64::from(other - others.zero) * of_other),
                    };
                }
                (index, sum) = (index + step, sum + strides[1]);
            }
        }
    }

    /// What a target does itself of sums of four places, if bytes of a second map stand beside them and shifts are of 2
    /// to 32. All that the pointers say is there.
    #[inline(never)]
    pub fn four_beside(&mut self, sums: &[i32], part: Part) -> Option<FourBeside> {
        let (map, others) = self.second?;
        let Part { first, outputs, start, places, step } = part;
        let Rounding { multipliers, shifts, low, high } = self.rounding;
        let (of_others, end) = (self.to.channels + first, start + 3 * step + first + outputs);
        let is_fit = self.is_short
            && places == 4
            && outputs > 0
            && matches!(map.element, element::U8 | element::I8)
            && matches!(self.to.element, element::U8 | element::I8)
            && end <= others.len().min(self.out.len())
            && 4 * outputs <= sums.len()
            && of_others + outputs <= multipliers.len()
            && first + outputs <= shifts.len();
        is_fit.then(|| FourBeside {
            minus_zero: -map.zero,
            one: 1,
            zero: self.to.zero,
            sums: sums.as_ptr(),
            others: others.as_ptr().wrapping_add(start + first),
            out: self.out.as_mut_ptr().wrapping_add(start + first),
            multipliers: multipliers.as_ptr().wrapping_add(first),
            of_others: multipliers.as_ptr().wrapping_add(of_others),
            shifts: shifts.as_ptr().wrapping_add(first),
            step,
            outputs,
            low,
            high,
            is_signed: map.element == element::I8,
        })
    }

    /// Any map.
    #[inline(never)]
    fn by_definition(&mut self, sums: &[i32], part: Part, [to_output, to_place]: [usize; 2]) {
        for place in 0..part.places {
            for output in 0..part.outputs {
                let sum = at(sums, output * to_output + place * to_place);
                let start = part.start + place * part.step + part.first + output;
                let beside = self.second.map(|(map, bytes)| Beside { map, bytes, start });
                self.rounding.block(&[sum], part.first + output, beside, (self.to, self.out, start));
            }
        }
    }
}

/// A second map's bytes, u8 or i8, by one loop for both: what has no sign is one that has, 128 lower, once its top bit
/// is turned.
#[derive(Clone, Copy)]
struct Others<'a> {
    bytes: &'a [u8],
    turned: u8,
    zero: i32,
}

impl<'a> Others<'a> {
    fn new(map: Map, bytes: &'a [u8]) -> Self {
        let (turned, lower) = if map.element == element::U8 { (0x80, 128) } else { (0, 0) };
        Self { bytes, turned, zero: map.zero - lower }
    }

    /// An element, as a number whose zero point is `zero`.
    ///
    /// # Safety
    /// There are more bytes than `index`.
    #[inline(always)]
    unsafe fn get(self, index: usize) -> i32 {
        // SAFETY: the caller's.
        let byte = unsafe { *self.bytes.get_unchecked(index) };
        (byte ^ self.turned).cast_signed().into()
    }
}

/// How an output becomes bytes.
#[derive(Clone, Copy)]
struct Output {
    multiplier: i64,
    shift: u32,
    half: i32,
    low: i32,
    high: i32,
}

impl Output {
    fn of(rounding: &Rounding<'_>, to: Map, output: usize) -> Self {
        Self {
            multiplier: at(rounding.multipliers, output).into(),
            shift: at(rounding.shifts, output).into(),
            half: half(to),
            low: rounding.low,
            high: rounding.high,
        }
    }

    /// What is added to a sum of products that [`Self::within_a_word`] rounds: half of a bit and the zero point, less
    /// what the second map's zero point has in it. None for shifts above 32, of which that does not speak.
    fn added(&self, zero: i32, of_zero: i64) -> Option<i64> {
        matches!(self.shift, 1..=32).then(|| (1 << (self.shift - 1)) + (i64::from(zero) << self.shift) - of_zero)
    }

    /// `clamp(product >> shift, low, high)` for shifts of 1 to 32: what leaves 32 bits is as good as their end.
    #[inline(always)]
    fn within_a_word(&self, product: i64) -> u8 {
        let less = self.shift.wrapping_sub(1) & 31;
        let (low, high) = (product as u32, (product >> 32) as i32);
        let value = (high << (31 - less)) | (low >> less >> 1) as i32;
        let above = high >> less >> 1;
        let value = if value >> 31 == above { value } else { above >> 31 ^ i32::MAX };
        value.max(self.low).min(self.high) as u8
    }

    #[inline(always)]
    fn by_both_words(&self, product: i64) -> u8 {
        rounded_words(product, self.shift, self.half).max(self.low).min(self.high) as u8
    }
}

/// Half of a bit, and twice the zero point.
const fn half(to: Map) -> i32 {
    1 + 2 * to.zero
}

/// Rounds sums alone.
///
/// # Safety
/// The last sum and the last element of the part lie within their slices.
#[inline(always)]
unsafe fn each_byte(out: &mut [u8], sums: &[i32], part: Part, strides: [usize; 2], of: impl Fn(usize) -> Output) {
    for output in 0..part.outputs {
        let own = of(part.first + output);
        let less = own.shift.wrapping_sub(HIGH_WORD_ONLY);
        let (mut index, mut sum) = (part.start + part.first + output, output * strides[0]);
        for _ in 0..part.places {
            // SAFETY: no place and no output is behind the last.
            unsafe {
                let value = *sums.get_unchecked(sum);
                *out.get_unchecked_mut(index) = if less < 32 {
                    let high = mul_high(value, own.multiplier as i32);
                    (((high >> less) + own.half) >> 1).max(own.low).min(own.high) as u8
                } else {
                    own.by_both_words(i64::from(value) * own.multiplier)
                };
            }
            (index, sum) = (index + part.step, sum + strides[1]);
        }
    }
}
