//! The generator of the samples.

use super::FEATURES;
use crate::format::{InputRecord, element};

/// SplitMix64, with its state: numbers that a seed alone decides. They are no secret.
///
/// ```
/// use tamis_runtime::testing::SplitMix;
/// assert_eq!(SplitMix(0).draw(), 0xE220_A839_7B1D_CDAF);
/// ```
#[derive(Debug, Clone)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next 64 bits.
    // Drawn in many places, whose constants pages and firmware would hold once each.
    #[cfg_attr(not(short_ways), inline(never))]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, 0 if that is 0: `draw() mod limit`, on the high 32 bits so that 32-bit machines divide
    /// once.
    pub fn below(&mut self, limit: u32) -> u32 {
        (self.draw() >> 32) as u32 % limit.max(1)
    }

    /// A sparse vector's features, one from each of as many ranges of equal size, and behind them their values; returns
    /// how many. As many as may be where the sample is an extreme one.
    pub(super) fn list(
        &mut self,
        record: &InputRecord,
        sample: u32,
        features: &mut [u32],
        values: &mut [i16],
    ) -> usize {
        let limit = record.max_active.min(record.size);
        let all = record.exact != 0 || sample % 4 == 3;
        let count = if all { limit } else { self.below(limit + 1) };
        let start = |place: u32| (u64::from(place) * u64::from(record.size) / u64::from(count.max(1))) as u32;
        for (place, feature) in (0..count).zip(features.iter_mut()) {
            *feature = start(place) + self.below(start(place + 1) - start(place));
        }
        if record.element == element::I16 {
            for (_, value) in (0..count).zip(values.iter_mut()) {
                let any = self.draw();
                *value = match sample % 4 {
                    3 if any & 1 == 0 => -i16::MAX,
                    3 => i16::MAX,
                    _ => (any % 511) as i16 - 255,
                };
            }
        }
        count as usize
    }

    /// −2 to 2, or an extreme.
    pub(super) fn real(&mut self, sample: u32) -> f32 {
        let any = self.draw();
        match sample % 4 {
            3 if any & 1 == 0 => -65_536.0,
            3 => 65_536.0,
            // 24 bits, which an f32 holds, times a power of two.
            _ => ((any >> 40) as i32 - (1 << 23)) as f32 / (1 << 22) as f32,
        }
    }

    /// A count of 1 to min(32, max_active), then as many draws; a feature drawn twice is taken once.
    pub(super) fn features(&mut self, size: u32, max_active: u32, list: &mut heapless::Vec<u32, FEATURES>) {
        let count = 1 + self.below(max_active.min(FEATURES as u32));
        for _ in 0..count {
            let feature = self.below(size);
            if !list.contains(&feature) && list.push(feature).is_err() {
                return;
            }
        }
    }
}
