//! The signature: one number that every tier and board must print for a model.
//!
//! FORMAT.md states generator, count and hash, so that any reader can compute it. It covers what a tier computes:
//! refresh, update (fused and not), and the whole output of every operation, on ordinary inputs and on extreme ones.
//! Hashing the network's output alone would hide a sum that is off by little behind the division that follows it. It
//! fills one accumulator at a time; what does two at once ([`Plan::update_both`]) is held to the definition by
//! [`crate::kernels::suite`].

use crate::built::GENERAL;
use crate::error::RunError;
use crate::exec::{Input, Output};
use crate::format::{InputRecord, element, input_kind};
use crate::plan::Plan;

/// Positions or vectors that are hashed.
pub const SAMPLES: u32 = 64;
/// First state of the generator.
pub const SEED: u64 = 0x7461_6D69_7300_0001;
/// Features drawn for a sample, at most; also limited by the network's `max_active`.
const FEATURES: usize = 32;
/// What an FNV-1a hash of 64 bits starts as.
pub const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01B3;

/// What a NaN enters the hash as: processors differ in the sign and the payload of the NaNs that they make.
const CANONICAL_NAN: u32 = 0x7FC0_0000;

/// Memory that [`signature`] needs.
#[derive(Debug)]
pub struct Buffers<'b> {
    /// (hidden,); for sparse networks (max_active,); not used by dense ones.
    pub own: &'b mut [i16],
    /// (hidden,), for networks of one perspective too.
    pub other: &'b mut [i16],
    /// (hidden,).
    pub spare: &'b mut [i16],
    /// For dense networks of bytes, (size,).
    pub bytes: &'b mut [u8],
    /// For dense networks of reals, (size,); for sparse ones, (max_active,). Not used by others.
    pub words: &'b mut [u32],
    /// As for [`Plan::run`].
    pub workspace: &'b mut [u8],
}

/// Computes the signature of a plan's model on the plan's tier.
///
/// # Errors
/// [`RunError::Length`] if a buffer has the wrong length, and as [`Plan::run`]. [`RunError::RunsDiffer`] if a way of
/// [`Plan::run`] that is shorter than the operations one by one gives another output: then there is no signature.
pub fn signature(plan: &Plan<'_>, buffers: Buffers<'_>) -> Result<u64, RunError> {
    let mut random = SplitMix(SEED);
    let mut hash = Fnv(FNV_OFFSET);
    let record = *plan.model().input();
    let Buffers { own, other, spare, bytes, words, workspace } = buffers;
    if record.kind == input_kind::SPARSE && GENERAL {
        let expected = record.max_active as usize;
        let values = if record.element == element::I16 { own.len() } else { expected };
        for (what, found) in [("words", words.len()), ("own", values)] {
            if found != expected {
                return Err(RunError::Length { what, found, expected });
            }
        }
    }
    for sample in 0..SAMPLES {
        let bucket = (sample % record.bucket_count) as usize;
        let input = if record.kind == input_kind::FEATURES {
            if sample % 4 == 3 {
                // Extremes: any i16, which no feature list need reach; clips, wraps and wide sums all show.
                own.iter_mut().for_each(|value| *value = random.draw() as i16);
                other.iter_mut().for_each(|value| *value = random.draw() as i16);
            } else {
                for side in [&mut *own, &mut *other] {
                    let mut features = heapless::Vec::<u32, FEATURES>::new();
                    random.features(record.size, record.max_active, &mut features);
                    plan.refresh(spare, &features)?;
                    let (removed, added) = (features.first().copied(), random.below(record.size));
                    plan.update(side, spare, &[added], removed.as_slice())?;
                    let second = random.below(record.size);
                    plan.update(spare, side, &[second], &[])?;
                    plan.update(side, spare, &[], &[added])?;
                    hash.i16s(side);
                }
            }
            Input::Accumulators(own, other)
        } else if record.kind == input_kind::SPARSE && GENERAL {
            let count = random.list(&record, sample, words, own);
            let features = words.get(..count).unwrap_or(&[]);
            let values = if record.element == element::I16 { own.get(..count).unwrap_or(&[]) } else { &[] };
            Input::Sparse { features, values }
        } else if record.element == element::F32 && GENERAL {
            for bits in words.iter_mut() {
                *bits = random.real(sample).to_bits();
            }
            Input::F32(bytemuck::cast_slice(words))
        } else {
            let signed = record.element == element::I8;
            for byte in bytes.iter_mut() {
                let any = random.draw();
                *byte = match sample % 4 {
                    3 if signed => (if any & 1 == 0 { -127i8 } else { 127 }) as u8,
                    3 => 127 * (any & 1) as u8,
                    _ if signed => ((any % 255) as i16 - 127) as i8 as u8,
                    _ => (any % 128) as u8,
                };
            }
            if signed { Input::I8(bytemuck::cast_slice(bytes)) } else { Input::U8(bytes) }
        };
        let output = plan.run_traced(input, bucket, workspace, |value, bytes| {
            let element = plan.model().values().get(value).map(|value| value.element);
            hash.value(element == Some(element::F32), bytes);
        })?;
        // The fused steps of an ordinary run must not hide behind the single ones that are traced. A number that is
        // only another one would hide them from whoever has nothing to compare it with.
        let mut traced = Fnv(FNV_OFFSET);
        traced.output(output);
        let mut fused = Fnv(FNV_OFFSET);
        fused.output(plan.run(input, bucket, workspace)?);
        if fused.0 != traced.0 {
            return Err(RunError::RunsDiffer { sample });
        }
    }
    Ok(hash.0)
}

/// SplitMix64, with its state: numbers that a seed alone decides. They are no secret.
///
/// ```
/// use tamis_runtime::signature::SplitMix;
/// assert_eq!(SplitMix(0).draw(), 0xE220_A839_7B1D_CDAF);
/// ```
#[derive(Debug, Clone)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next 64 bits.
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
    fn list(&mut self, record: &InputRecord, sample: u32, features: &mut [u32], values: &mut [i16]) -> usize {
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
    fn real(&mut self, sample: u32) -> f32 {
        let any = self.draw();
        match sample % 4 {
            3 if any & 1 == 0 => -65_536.0,
            3 => 65_536.0,
            // 24 bits, which an f32 holds, times a power of two.
            _ => ((any >> 40) as i32 - (1 << 23)) as f32 / (1 << 22) as f32,
        }
    }

    /// A count of 1 to min(32, max_active), then as many draws; a feature drawn twice is taken once.
    fn features(&mut self, size: u32, max_active: u32, list: &mut heapless::Vec<u32, FEATURES>) {
        let count = 1 + self.below(max_active.min(FEATURES as u32));
        for _ in 0..count {
            let feature = self.below(size);
            if !list.contains(&feature) && list.push(feature).is_err() {
                return;
            }
        }
    }
}

/// FNV-1a with 64 bits: goes on from `hash`, which is [`FNV_OFFSET`] before the first byte. A name for bytes, not a
/// protection against anybody.
///
/// ```
/// use tamis_runtime::signature::{FNV_OFFSET, fnv1a};
/// assert_eq!(fnv1a(FNV_OFFSET, b"foobar"), 0x8594_4171_f739_67e8);
/// ```
pub fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// A hash that grows.
struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0 = fnv1a(self.0, bytes);
    }

    /// A value as it lies in the workspace, which is little-endian like every machine that the loader accepts.
    fn value(&mut self, real: bool, bytes: &[u8]) {
        if !real {
            return self.bytes(bytes);
        }
        let (elements, _) = bytes.as_chunks::<4>();
        for element in elements {
            let is_nan = f32::from_le_bytes(*element).is_nan();
            self.bytes(&if is_nan { CANONICAL_NAN.to_le_bytes() } else { *element });
        }
    }

    fn output(&mut self, output: Output<'_>) {
        match output {
            Output::I32(values) => self.value(false, bytemuck::cast_slice(values)),
            Output::F32(values) => self.value(true, bytemuck::cast_slice(values)),
        }
    }

    fn i16s(&mut self, values: &[i16]) {
        values.iter().for_each(|value| self.bytes(&value.to_le_bytes()));
    }
}
