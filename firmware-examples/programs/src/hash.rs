//! What a log says of many numbers.

/// FNV-1a in 32 bits.
pub fn fnv1a(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
