//! Elements of tensors: ordinary ones, and the ends of their ranges.

use super::Choices;
use crate::sample_models::Random;

/// What the elements of a tensor are like.
#[derive(Debug, Clone, Copy)]
enum Flavour {
    Ordinary,
    Any,
    Ends,
    MostlyZero,
    OneEnd,
}

/// Elements of one tensor, as many as are asked for.
#[derive(Debug)]
pub(super) struct Weights {
    random: Random,
    flavour: Flavour,
}

impl Weights {
    pub fn new(choices: &mut Choices<'_>) -> Self {
        let flavours = [
            Flavour::Ordinary,
            Flavour::Ordinary,
            Flavour::Ordinary,
            Flavour::Any,
            Flavour::Ends,
            Flavour::MostlyZero,
            Flavour::OneEnd,
        ];
        Self { flavour: choices.pick(&flavours), random: choices.numbers() }
    }

    /// From `low` to `high`; an ordinary one is at most `ordinary` from 0, or from `low` where 0 is out of range.
    pub fn integer(&mut self, low: i64, high: i64, ordinary: i64) -> i64 {
        let any = self.random.draw();
        let from = |low: i64, high: i64| low + (any % (high - low + 1) as u64) as i64;
        let centre = 0.clamp(low, high);
        match self.flavour {
            Flavour::Ordinary => from(low.max(centre - ordinary), high.min(centre + ordinary)),
            Flavour::Any => from(low, high),
            Flavour::Ends => [low, high][(any % 2) as usize],
            Flavour::MostlyZero if !any.is_multiple_of(8) => centre,
            Flavour::MostlyZero => from(low, high),
            Flavour::OneEnd => high,
        }
    }

    /// A finite number.
    pub fn real(&mut self) -> f32 {
        let any = self.random.draw();
        let tiny = f32::from_bits(any as u32 & 0x807F_FFFF);
        match self.flavour {
            Flavour::Ordinary => self.random.real(),
            Flavour::Any => {
                let real = f32::from_bits(any as u32);
                if real.is_finite() { real } else { tiny }
            }
            Flavour::Ends => [f32::MAX, f32::MIN, f32::MIN_POSITIVE, tiny, 0.0, -0.0][(any % 6) as usize],
            Flavour::MostlyZero if !any.is_multiple_of(8) => [0.0, -0.0][(any >> 8) as usize % 2],
            Flavour::MostlyZero => self.random.real(),
            Flavour::OneEnd => f32::MAX,
        }
    }
}
