//! Thousands of inputs a model, for small ones: what comes out of a plain run, as one number.
//!
//! The signature has 64 inputs and every intermediate value; here are many inputs and only outputs. Ordinary inputs and
//! extreme ones, those that the signature never draws among them: accumulators of any size, in any bucket.

use tamis_runtime::raw::{FNV_OFFSET, InputRecord, element, fnv1a, input_kind};
use tamis_runtime::testing::SplitMix;
use tamis_runtime::{Input, Output, Plan, RunError};

/// Inputs of a model; fewer where the build is told that nobody has a night for them.
pub const INPUTS: u32 = if option_env!("TAMIS_FEW_INPUTS").is_some() { 320 } else { 5120 };
/// First state of the generator.
const SEED: u64 = 0x7374_7265_7463_6800;
/// A longer file is a network of somebody's, whose signature has to do.
const LONGEST_FILE_BYTES: usize = 8 << 10;
/// What a NaN counts as: processors differ in its sign and payload.
const NAN: [u8; 4] = 0x7FC0_0000u32.to_le_bytes();

/// Memory for inputs, as long as [`crate::model`] has cut it for the model.
pub struct Buffers<'b> {
    pub own: &'b mut [i16],
    pub other: &'b mut [i16],
    pub bytes: &'b mut [u8],
    pub words: &'b mut [u32],
    pub workspace: &'b mut [u8],
}

/// Whether a model of such a file is small enough.
pub const fn is_for(file_len_bytes: usize) -> bool {
    file_len_bytes <= LONGEST_FILE_BYTES
}

/// The hash of the outputs.
///
/// # Errors
/// As [`Plan::run`].
pub fn outputs(plan: &Plan<'_>, buffers: &mut Buffers<'_>) -> Result<u64, RunError> {
    let (mut random, mut hash) = (SplitMix(SEED), FNV_OFFSET);
    let record = *plan.model().input();
    for number in 0..INPUTS {
        let is_extreme = number % 4 == 3;
        let bucket = random.below(record.bucket_count) as usize;
        let count = fill(&mut random, &record, is_extreme, buffers);
        let Buffers { own, other, bytes, words, workspace } = buffers;
        let input = match (record.kind, record.element) {
            (input_kind::FEATURES, _) => Input::Accumulators(own, other),
            (input_kind::SPARSE, element) => {
                // Only values of i16 are given; of other lists every feature counts once.
                let values: &[i16] = if element == element::I16 { &own[..count] } else { &[] };
                Input::Sparse { features: &words[..count], values }
            }
            (_, element::F32) => Input::F32(bytemuck::cast_slice(words)),
            (_, element::I8) => Input::I8(bytemuck::cast_slice(bytes)),
            _ => Input::U8(bytes),
        };
        match plan.run(input, bucket, workspace)? {
            Output::I32(values) => hash = fnv1a(hash, bytemuck::cast_slice(values)),
            Output::F32(values) => {
                for value in values {
                    hash = fnv1a(hash, &if value.is_nan() { NAN } else { value.to_le_bytes() });
                }
            }
            _ => hash = 0,
        }
    }
    Ok(hash)
}

/// Draws an input into the buffers that its kind has; how many features of a list.
fn fill(random: &mut SplitMix, record: &InputRecord, is_extreme: bool, buffers: &mut Buffers<'_>) -> usize {
    match (record.kind, record.element) {
        (input_kind::FEATURES, _) => {
            for value in buffers.own.iter_mut().chain(buffers.other.iter_mut()) {
                let any = random.draw();
                *value = if is_extreme { any as i16 } else { (any % 801) as i16 - 400 };
            }
            0
        }
        (input_kind::SPARSE, _) => {
            let limit = record.max_active.min(record.size);
            let count = if record.exact != 0 || is_extreme { limit } else { random.below(limit + 1) };
            let start = |place: u32| (u64::from(place) * u64::from(record.size) / u64::from(count.max(1))) as u32;
            for (place, feature) in (0..count).zip(buffers.words.iter_mut()) {
                *feature = start(place) + random.below(start(place + 1) - start(place));
            }
            for value in buffers.own.iter_mut().take(count as usize) {
                *value = random.draw() as i16;
            }
            count as usize
        }
        (_, element::F32) => {
            for bits in buffers.words.iter_mut() {
                let any = random.draw();
                let small = ((any >> 40) as i32 - (1 << 23)) as f32 / (1 << 22) as f32;
                *bits = if is_extreme { (any >> 32) as u32 } else { small.to_bits() };
            }
            0
        }
        (_, element) => {
            for byte in buffers.bytes.iter_mut() {
                let any = random.draw();
                let ends = if element == element::I8 { [0x81, 0x7F] } else { [0, 127] };
                let ordinary = if element == element::I8 { any as u8 } else { any as u8 & 127 };
                *byte = if is_extreme { ends[(any >> 8) as usize & 1] } else { ordinary };
            }
            0
        }
    }
}
