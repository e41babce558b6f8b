//! ELEMENTWISE: two maps of one shape, or a map and a pixel that meets all of its pixels.

use super::moved::put;
use super::{Bytes, OnMaps, Running, bytes, integers};
use crate::format::{OpRecord, activation};
use crate::kernels::maps::{Map, rounded};

/// ELEMENTWISE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elementwise;

impl OnMaps for Elementwise {
    fn run(
        on: &Running<'_, '_>,
        record: &OpRecord,
        from: Bytes<'_>,
        second: Option<Bytes<'_>>,
        to: (Map, &mut [u8]),
    ) -> Option<()> {
        let [.., low, high] = record.params;
        let how = How {
            code: record.activation,
            // Maxima and minima have none.
            multipliers: if let [a, b] = *integers(on.model, record.multipliers) { [a, b] } else { [0; 2] },
            shift: bytes(on.model, record.shifts).first().map_or(1, |shift| u32::from(*shift)),
            ends: [low as i32, high as i32],
        };
        run(&how, from, second?, to);
        Some(())
    }
}

struct How {
    code: u32,
    multipliers: [i32; 2],
    shift: u32,
    ends: [i32; 2],
}

/// x, second: (height, width, channels), or one of both (1, 1, channels).
fn run(how: &How, (from, x): Bytes<'_>, (other, second): Bytes<'_>, (to, out): (Map, &mut [u8])) {
    let [low, high] = how.ends;
    let len = |map: &Map| (map.height * map.row()).max(1);
    for index in 0..to.height * to.row() {
        let (a, b) = (from.at(x, index % len(&from)), other.at(second, index % len(&other)));
        let (real_a, real_b) = (i64::from(a - from.zero), i64::from(b - other.zero));
        let [first, last] = how.multipliers.map(i64::from);
        let value = match how.code {
            activation::MAX => a.max(b).max(low).min(high),
            activation::MIN => a.min(b).max(low).min(high),
            // Of i16 the product has 34 bits, of what else there is less than 32.
            activation::PRODUCT => {
                rounded(real_a.wrapping_mul(real_b).wrapping_mul(first), how.shift, to.zero, low, high)
            }
            _ => rounded(real_a * first + real_b * last, how.shift, to.zero, low, high),
        };
        put(&to, out, index, value);
    }
}
