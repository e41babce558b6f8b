//! ELEMENTWISE: two maps of one shape, or a map and a pixel that meets all of its pixels. The sum of two maps of one
//! shape is a kernel of the tier.

use super::{Bytes, OnMaps, Running, bytes, integers};
use crate::features::ADDS_MAPS;
use crate::format::{OpRecord, activation};
use crate::kernels::maps::{Map, Sum, rounded};

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
        let second = second?;
        let [.., low, high] = record.params;
        let how = Sum {
            // Maxima and minima have none.
            multipliers: if let [a, b] = *integers(on.model, record.multipliers) { [a, b] } else { [0; 2] },
            shift: bytes(on.model, record.shifts).first().map_or(1, |shift| u32::from(*shift)),
            low: low as i32,
            high: high as i32,
        };
        let shape = |map: &Map| [map.height, map.width, map.channels];
        if ADDS_MAPS && record.activation == activation::SUM && shape(&from.0) == shape(&second.0) {
            (on.kernels.add_maps.call)(&how, from, second, to);
        } else {
            run(record.activation, &how, from, second, to);
        }
        Some(())
    }
}

/// x, second: (height, width, channels), or one of both (1, 1, channels).
fn run(code: u32, how: &Sum, (from, x): Bytes<'_>, (other, second): Bytes<'_>, (to, out): (Map, &mut [u8])) {
    let len = |map: &Map| (map.height * map.row()).max(1);
    for index in 0..to.height * to.row() {
        let (a, b) = (from.at(x, index % len(&from)), other.at(second, index % len(&other)));
        let (real_a, real_b) = (a - from.zero, b - other.zero);
        let value = match code {
            activation::MAX => a.max(b).max(how.low).min(how.high),
            activation::MIN => a.min(b).max(how.low).min(how.high),
            // Of i16 the product has 34 bits, of what else there is less than 32.
            activation::PRODUCT => {
                let product = i64::from(real_a).wrapping_mul(real_b.into()).wrapping_mul(how.multipliers[0].into());
                rounded(product, how.shift, to.zero, how.low, how.high)
            }
            _ => how.of(real_a, real_b, to.zero),
        };
        to.put(out, index, value);
    }
}
