//! Small networks of every kind, with random integers of ordinary size: what a test runs when it means "any model".

mod described;
mod drafted;
mod general;
mod maps;
mod stockfish;

use tamis_quant::run::AlignedBytes;

/// A network and its container.
#[derive(Debug, Clone)]
pub struct SampleModel {
    /// What it stands for.
    pub name: &'static str,
    /// The container.
    pub bytes: AlignedBytes,
}

/// Every network: those that a description can ask for, and those that only the format allows.
pub fn all() -> Vec<SampleModel> {
    let mut all = described::described();
    all.extend(drafted::drafted());
    all.extend(general::general());
    all.extend(maps::maps());
    all.extend(stockfish::stockfish());
    all
}

/// Those of less than eight kilobytes, for tests that run thousands of variants.
pub fn small() -> Vec<SampleModel> {
    all().into_iter().filter(|sample| sample.bytes.as_ref().len() < 8 * 1024).collect()
}

/// Numbers that look random and are the same everywhere (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// Any 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// −limit to limit.
    pub fn within(&mut self, limit: i32) -> i32 {
        (self.draw() % (2 * limit as u64 + 1)) as i32 - limit
    }

    /// −1 to 1, in f32.
    pub fn real(&mut self) -> f32 {
        self.within(1 << 20) as f32 / (1 << 20) as f32
    }
}
