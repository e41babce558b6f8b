//! Seeded numbers: every run and every tier works on the same ones.

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator with its first state.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number of `low..=high`.
    pub fn within(&mut self, low: i32, high: i32) -> i32 {
        low + (self.bits() % (high - low + 1) as u64) as i32
    }

    /// `len` of them.
    pub fn vector<T>(&mut self, len: usize, low: i32, high: i32, narrow: fn(i32) -> T) -> Vec<T> {
        (0..len).map(|_| narrow(self.within(low, high))).collect()
    }

    /// `len` reals of −1 to 1.
    pub fn reals(&mut self, len: usize) -> Vec<f32> {
        self.vector(len, -1000, 1000, |value| value as f32 / 1000.0)
    }
}
