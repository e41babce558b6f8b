//! Inputs for the benchmarks: seeded, so that every run and every tier works on the same numbers.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tamis_quant::arch::Architecture;
use tamis_quant::float::Net;
use tamis_quant::import::{read_checkpoint, read_raw};
use tamis_quant::pack::{Provenance, to_container};
use tamis_quant::proof::prove;
use tamis_quant::quantise::quantise;
use tamis_quant::run::AlignedBytes;

/// Weights and biases of two layers, 255 and 64.
const TENSORS: &str = "[[tensor]]\nname = \"l0w\"\ntype = \"i16\"\nscale = 255\nrounding = \"nearest\"\n\
    [[tensor]]\nname = \"l0b\"\ntype = \"i16\"\nscale = 255\nrounding = \"nearest\"\n\
    [[tensor]]\nname = \"l1w\"\ntype = \"i16\"\nscale = 64\nrounding = \"nearest\"\n\
    [[tensor]]\nname = \"l1b\"\ntype = \"i16\"\nscale = 16320\nrounding = \"nearest\"\n";

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

/// The reference network of `tests/reference` as a container.
pub fn reference() -> AlignedBytes {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let text = std::fs::read_to_string(tests.join("architectures/reference.toml")).unwrap();
    let arch = Architecture::from_toml(&text, "reference.toml").unwrap();
    container(&read_checkpoint(&tests.join("reference/nnue.weights.bin"), &arch).unwrap().net)
}

/// A container of 4 MiB, almost all of it one tensor: (768 -> 2720)x2 -> 1, weights of any values.
pub fn four_mebibytes() -> AlignedBytes {
    let text = format!(
        "schema = 1\nname = \"large\"\ninput = {{ kind = \"chess\" }}\noutput = {{ scale = 400 }}\n\
         [[layer]]\nname = \"l0\"\noutputs = 2720\nactivation = \"screlu\"\n\
         [[layer]]\nname = \"l1\"\noutputs = 1\n{TENSORS}"
    );
    let arch = Architecture::from_toml(&text, "large").unwrap();
    let weights = Random::new(4).reals(arch.raw_len_bytes() as usize / 4);
    let raw: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    container(&read_raw(&raw, &arch).unwrap())
}

/// (768 × `king_buckets` -> `hidden`)x2 -> 1x8 with SCReLU, and a `raw.bin` for it: weights as training leaves them, most near
/// zero. 1024 wide, 16 king buckets make 50.4 MB of f32 and 32 make a container of 50.4 MB.
pub fn king_buckets(king_buckets: usize, hidden: usize) -> (Architecture, Vec<u8>) {
    let table: Vec<String> = (0..64).map(|square| (square * king_buckets / 64).to_string()).collect();
    let text = format!(
        "schema = 1\nname = \"buckets\"\ninput = {{ kind = \"chess\", king_buckets = [{}] }}\n\
         buckets = {{ count = 8 }}\noutput = {{ scale = 400 }}\n\
         [[layer]]\nname = \"l0\"\noutputs = {hidden}\nactivation = \"screlu\"\n\
         [[layer]]\nname = \"l1\"\noutputs = 1\nbucketed = true\n{TENSORS}",
        table.join(", ")
    );
    let arch = Architecture::from_toml(&text, "buckets").unwrap();
    let mut random = Random::new(50);
    // The sum of four uniform numbers has tails like the normal distribution's; a standard deviation of 0.15.
    let mut weight = || (0..4).map(|_| random.within(-1000, 1000) as f32).sum::<f32>() * (0.15 / 1155.0);
    let raw = (0..arch.raw_len_bytes() / 4).flat_map(|_| weight().to_le_bytes()).collect();
    (arch, raw)
}

/// The container of [`king_buckets`].
pub fn king_buckets_container(count: usize, hidden: usize) -> AlignedBytes {
    let (arch, raw) = king_buckets(count, hidden);
    container(&read_raw(&raw, &arch).unwrap())
}

/// Processor time of this thread, so that neighbours on a shared machine count less; wall-clock time where the system does not
/// say. Differences between two calls mean something, a single value does not.
pub fn processor_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    // Linux writes the account down when the thread gives way, not when it is asked.
    std::thread::yield_now();
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = account.and_then(|text| text.split(' ').next()?.parse().ok()).map(Duration::from_nanos);
    nanoseconds.unwrap_or_else(|| START.get_or_init(Instant::now).elapsed())
}

fn container(net: &Net<f32>) -> AlignedBytes {
    let net = quantise(net).unwrap();
    AlignedBytes::copy_of(&to_container(&net, &prove(&net), &Provenance::default()).unwrap())
}
