//! Inputs, ordinary ones and those at the ends of what the runtime takes, which is more than the signature draws.

use crate::guarded::Guarded;
use crate::sample_models::Random;
use crate::second_reader::Given;
use tamis_runtime::Input;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{element, input_kind};

/// An input with its memory.
#[derive(Debug)]
pub enum Sample {
    /// Of the side to move, and of the other one.
    Accumulators(Vec<i16>, Vec<i16>),
    /// A vector of bytes.
    U8(Vec<u8>),
    /// One of signed bytes.
    I8(Vec<i8>),
    /// One of reals.
    F32(Vec<f32>),
    /// Features, and their values where the network has them.
    Sparse(Vec<u32>, Vec<i16>),
}

/// Reals that sums and conversions have to get over.
const REALS: [f32; 12] = [
    0.0,
    -0.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    1e-42,
    -1e-45,
    0.5,
    88.5,
];

impl Sample {
    /// Of three samples one is ordinary, one extreme and one mixed.
    pub fn draw(model: &Model<'_>, random: &mut Random, number: u32) -> Self {
        let input = *model.input();
        let (size, hidden) = (input.size as usize, input.hidden as usize);
        let is_extreme = |any: u64| number % 3 == 1 || (number % 3 == 2 && any.is_multiple_of(4));
        let mut small = |least: i64, most: i64, ordinary: i64| {
            let any = random.draw();
            let ends = [least, most];
            if is_extreme(any) {
                ends[(any >> 8) as usize % 2]
            } else {
                ((any >> 8) % (2 * ordinary as u64 + 1)) as i64 - ordinary
            }
            .clamp(least, most)
        };
        match (input.kind, input.element) {
            (input_kind::FEATURES, _) => {
                let mut side = || (0..hidden).map(|_| small(-32_768, 32_767, 400) as i16).collect();
                Self::Accumulators(side(), side())
            }
            (input_kind::SPARSE, _) => {
                let list = list(&input, random, number);
                let mut value = || [i16::MIN, i16::MAX, 0, 3, -200][random.draw() as usize % 5];
                let values =
                    if input.element == element::I16 { list.iter().map(|_| value()).collect() } else { vec![] };
                Self::Sparse(list, values)
            }
            (_, element::U8) => Self::U8((0..size).map(|_| small(0, 255, 127) as u8).collect()),
            (_, element::I8) => Self::I8((0..size).map(|_| small(-128, 127, 60) as i8).collect()),
            _ => Self::F32(
                (0..size)
                    .map(|_| {
                        let any = random.draw();
                        if is_extreme(any) { REALS[(any >> 8) as usize % REALS.len()] } else { 3.0 * random.real() }
                    })
                    .collect(),
            ),
        }
    }

    /// What a call gives that gets the input in memory that ends at a page nobody may touch.
    pub fn at_the_end_of_a_page<T>(&self, call: impl FnOnce(Input<'_>) -> T) -> T {
        match self {
            Self::Accumulators(own, other) => {
                call(Input::Accumulators(Guarded::ending(own).as_ref(), Guarded::ending(other).as_ref()))
            }
            Self::U8(x) => call(Input::U8(Guarded::ending(x).as_ref())),
            Self::I8(x) => call(Input::I8(Guarded::ending(x).as_ref())),
            Self::F32(x) => call(Input::F32(Guarded::ending(x).as_ref())),
            Self::Sparse(features, values) => {
                let (features, values) = (Guarded::ending(features), Guarded::ending(values));
                call(Input::Sparse { features: features.as_ref(), values: values.as_ref() })
            }
        }
    }

    /// For the runtime.
    pub fn input(&self) -> Input<'_> {
        match self {
            Self::Accumulators(own, other) => Input::Accumulators(own, other),
            Self::U8(x) => Input::U8(x),
            Self::I8(x) => Input::I8(x),
            Self::F32(x) => Input::F32(x),
            Self::Sparse(features, values) => Input::Sparse { features, values },
        }
    }

    /// The same for the second reader.
    pub fn given(&self) -> Given {
        match self {
            Self::Accumulators(own, other) => Given::Accumulators(own.clone(), other.clone()),
            Self::U8(x) => Given::Dense(x.iter().map(|x| (*x).into()).collect()),
            Self::I8(x) => Given::Dense(x.iter().map(|x| (*x).into()).collect()),
            Self::F32(x) => Given::Reals(x.clone()),
            Self::Sparse(features, values) => {
                let value = |place: usize| values.get(place).copied().unwrap_or(1);
                Given::Sparse(features.iter().enumerate().map(|(place, feature)| (*feature, value(place))).collect())
            }
        }
    }
}

/// Ascending and distinct, as many as there must be; an empty list, or one that is full, now and then.
fn list(input: &tamis_runtime::raw::InputRecord, random: &mut Random, number: u32) -> Vec<u32> {
    let limit = input.max_active.min(input.size) as usize;
    let count = match number % 3 {
        _ if input.exact != 0 => limit,
        0 => random.draw() as usize % (limit + 1),
        1 => limit,
        _ => 0,
    };
    let mut all: Vec<u32> = (0..input.size).collect();
    for place in 0..count {
        let other = place + random.draw() as usize % (all.len() - place);
        all.swap(place, other);
    }
    all.truncate(count);
    all.sort_unstable();
    all
}
