//! The signature: one number that every tier and board must print for a model.
//!
//! FORMAT.md states generator, count and hash, so that any reader can compute it. It covers what a tier computes:
//! refresh, update (fused and not), and the whole output of every operation, on ordinary inputs and on extreme ones.
//! Hashing the network's output alone would hide a sum that is off by little behind the division that follows it. It
//! fills one accumulator at a time; what does two at once ([`Plan::update_both`]) is held to the definition by the
//! suite that every tier's kernels pass.

pub(crate) mod fnv;
pub(crate) mod random;

use crate::error::RunError;
use crate::features::GENERAL;
use crate::format::{element, input_kind};
use crate::input::Input;
use crate::plan::Plan;
use crate::workspace::range;
use fnv::{FNV_OFFSET, Fnv};
use random::SplitMix;

/// Positions or vectors that are hashed.
const SAMPLES: u32 = 64;
/// First state of the generator.
const SEED: u64 = 0x7461_6D69_7300_0001;
/// Features drawn for a sample, at most; also limited by the network's `max_active`.
const FEATURES: usize = 32;

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
            let features = range(words, 0..count);
            let values = if record.element == element::I16 { range(own, 0..count) } else { &[] };
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
            let element = plan.model().values().get(value).map(crate::format::ValueRecord::element);
            hash.value(element == Some(element::F32), bytes);
        })?;
        // The fused steps of an ordinary run must not hide behind the single ones that are traced. A number that is
        // only another one would hide them from whoever has nothing to compare it with.
        let traced = Fnv::of(output);
        if Fnv::of(plan.run(input, bucket, workspace)?) != traced {
            return Err(RunError::RunsDiffer { sample });
        }
    }
    Ok(hash.0)
}
