//! The hash.

use crate::output::Output;

/// What an FNV-1a hash of 64 bits starts as.
pub const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01B3;

/// What a NaN enters the hash as: processors differ in the sign and the payload of the NaNs that they make.
const CANONICAL_NAN: u32 = 0x7FC0_0000;

/// FNV-1a with 64 bits: goes on from `hash`, which is [`FNV_OFFSET`] before the first byte. A name for bytes, not a
/// protection against anybody.
///
/// ```
/// use tamis_runtime::raw::{FNV_OFFSET, fnv1a};
/// assert_eq!(fnv1a(FNV_OFFSET, b"foobar"), 0x8594_4171_f739_67e8);
/// ```
pub fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// A hash that grows.
pub(super) struct Fnv(pub(super) u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0 = fnv1a(self.0, bytes);
    }

    /// A value as it lies in the workspace, which is little-endian like every machine that the loader accepts.
    pub(super) fn value(&mut self, real: bool, bytes: &[u8]) {
        if !real {
            return self.bytes(bytes);
        }
        let (elements, _) = bytes.as_chunks::<4>();
        for element in elements {
            let is_nan = f32::from_le_bytes(*element).is_nan();
            self.bytes(&if is_nan { CANONICAL_NAN.to_le_bytes() } else { *element });
        }
    }

    /// The hash of an output alone.
    pub(super) fn of(output: Output<'_>) -> u64 {
        let mut hash = Self(FNV_OFFSET);
        match output {
            Output::I32(values) => hash.value(false, bytemuck::cast_slice(values)),
            Output::F32(values) => hash.value(true, bytemuck::cast_slice(values)),
        }
        hash.0
    }

    pub(super) fn i16s(&mut self, values: &[i16]) {
        values.iter().for_each(|value| self.bytes(&value.to_le_bytes()));
    }
}
