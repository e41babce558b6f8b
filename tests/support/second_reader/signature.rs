//! The signature (section 9).

use super::{Container, Given, Numbers};

struct Generator(u64);

impl Generator {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let a = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        b ^ (b >> 31)
    }

    fn below(&mut self, limit: u32) -> u32 {
        ((self.draw() >> 32) % u64::from(limit)) as u32
    }
}

fn hash(state: &mut u64, bytes: &[u8]) {
    for byte in bytes {
        *state = (*state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    }
}

impl Container {
    /// The model's signature.
    pub fn signature(&self) -> u64 {
        let mut random = Generator(0x7461_6D69_7300_0001);
        let mut state = 0xCBF2_9CE4_8422_2325;
        for sample in 0..64 {
            let given = match (self.input.kind, self.input.element) {
                (1, _) => self.sample_of_features(sample, &mut random, &mut state),
                (3, _) => self.sample_of_a_list(sample, &mut random),
                (_, 5) => self.sample_of_reals(sample, &mut random),
                _ => self.sample_of_a_vector(sample, &mut random),
            };
            let values = self.evaluate(&given, (sample % self.input.bucket_count) as usize);
            for (index, value) in values.iter().enumerate().skip(1) {
                hash(&mut state, &value.bytes(self.element_of_value(index)));
            }
        }
        state
    }

    fn sample_of_features(&self, sample: u32, random: &mut Generator, state: &mut u64) -> Given {
        if sample % 4 == 3 {
            let mut any = || (0..self.input.hidden).map(|_| random.draw() as i16).collect();
            let own = any();
            return Given::Accumulators(own, any());
        }
        let mut side = || {
            let mut features = Vec::new();
            for _ in 0..1 + random.below(self.input.max_active.min(32)) {
                let feature = random.below(self.input.size);
                if !features.contains(&feature) {
                    features.push(feature);
                }
            }
            let (added, second) = (random.below(self.input.size), random.below(self.input.size));
            let mut sums: Vec<i64> = self.accumulate(&features).into_iter().map(i64::from).collect();
            for (feature, sign) in [(added, 1), (features[0], -1), (second, 1), (added, -1)] {
                self.add(&mut sums, feature, sign);
            }
            hash(state, &Numbers::Integers(sums.clone()).bytes(3));
            sums.into_iter().map(|sum| sum as i16).collect()
        };
        let own = side();
        Given::Accumulators(own, side())
    }

    fn sample_of_a_list(&self, sample: u32, random: &mut Generator) -> Given {
        let (size, extreme) = (u64::from(self.input.size), sample % 4 == 3);
        let limit = self.input.max_active.min(self.input.size);
        let count = if self.input.exact == 1 || extreme { limit } else { random.below(limit + 1) };
        let mut features = Vec::new();
        for k in 0..u64::from(count) {
            let (a, b) = (k * size / u64::from(count), (k + 1) * size / u64::from(count));
            features.push(a as u32 + random.below((b - a) as u32));
        }
        let mut value = || {
            let any = random.draw();
            if extreme { [-32767, 32767][(any % 2) as usize] } else { (any % 511) as i16 - 255 }
        };
        let has_values = self.input.element == 3;
        Given::Sparse(features.into_iter().map(|feature| (feature, if has_values { value() } else { 1 })).collect())
    }

    fn sample_of_reals(&self, sample: u32, random: &mut Generator) -> Given {
        let mut one = || {
            let any = random.draw();
            let fraction = ((any >> 40) as f64 - 8_388_608.0) / 4_194_304.0;
            if sample % 4 == 3 { [-65_536.0, 65_536.0][(any % 2) as usize] } else { fraction as f32 }
        };
        Given::Reals((0..self.input.size).map(|_| one()).collect())
    }

    fn sample_of_a_vector(&self, sample: u32, random: &mut Generator) -> Given {
        let signed = self.input.element == 2;
        let mut one = || {
            let any = random.draw();
            match (sample % 4 == 3, signed) {
                (true, true) => [-127, 127][(any % 2) as usize],
                (true, false) => [0, 127][(any % 2) as usize],
                (false, true) => (any % 255) as i64 - 127,
                (false, false) => (any % 128) as i64,
            }
        };
        Given::Dense((0..self.input.size).map(|_| one()).collect())
    }
}
