//! A sample as the quantised network takes it.

use super::element::Element;
use crate::graph::{Input, Sample, SampleError};
use crate::spatial::Shape;
use tamis_runtime::raw::num;

/// What goes in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProgramInput {
    /// A vector, or a map.
    Dense {
        /// Of one example.
        shape: Shape,
        /// U8, I8 or F32.
        element: Element,
        /// The real value of a 1; of reals 1.
        unit: f32,
        /// The integer that stands for 0; of reals 0.
        zero: i32,
    },
    /// Active features.
    Sparse {
        /// Number of features that there are.
        features: usize,
        /// The most that are active at once.
        max_active: usize,
        /// Whether it is always that many.
        exact: bool,
        /// The real value of a 1 in a feature's i16 value; none where every active feature is 1.
        unit: Option<f32>,
    },
    /// A list of features a perspective, for accumulators; see [`super::Transformer`].
    Features {
        /// Number of features that there are.
        features: usize,
        /// Accumulators: 1 or 2.
        perspectives: usize,
        /// The most features in one list.
        max_active: usize,
        /// Output buckets.
        buckets: usize,
        /// The code of the feature set, see [`tamis_runtime::raw::feature_set`].
        set: u32,
        /// Whether the other side's accumulator comes first.
        other_first: bool,
    },
}

/// A sample as a program takes it.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphInput {
    /// (len,)
    U8(Vec<u8>),
    /// (len,)
    I8(Vec<i8>),
    /// (len,)
    F32(Vec<f32>),
    /// Lists of features for accumulators, in the order in which the network puts the perspectives.
    Features {
        /// A list a perspective; the second is not read where there is one.
        lists: [Vec<u32>; 2],
        /// The output bucket.
        bucket: usize,
    },
    /// Active features in ascending order.
    Sparse {
        /// (count,)
        features: Vec<u32>,
        /// (count,), or nothing where the network takes features without values.
        values: Vec<i16>,
    },
}

/// How a dense input stores a real number: by [`num::store`], the multiple of the unit that is nearest, behind the zero
/// point; what is beyond the type goes to its nearest end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stored {
    /// The real value of a 1.
    pub unit: f64,
    /// The integer that stands for 0.
    pub zero: i32,
}

impl Stored {
    /// As u8.
    #[inline]
    #[must_use]
    pub fn u8(self, x: f64) -> u8 {
        self.nearest(x, num::U8_ENDS) as u8
    }

    /// As i8.
    #[inline]
    #[must_use]
    pub fn i8(self, x: f64) -> i8 {
        self.nearest(x, num::I8_ENDS) as i8
    }

    #[inline]
    fn nearest(self, x: f64, [low, high]: [i32; 2]) -> i32 {
        num::store(x, self.unit, self.zero, low, high)
    }
}

impl ProgramInput {
    /// What the float graph takes.
    ///
    /// # Panics
    /// For accumulators, which no graph has.
    #[must_use]
    pub fn to_float(&self) -> Input {
        match *self {
            Self::Dense { shape, .. } => Input::Dense { shape },
            Self::Sparse { features, max_active, exact, .. } => Input::Sparse { features, max_active, exact },
            Self::Features { .. } => unreachable!("a graph has no accumulators"),
        }
    }

    /// Rounds a sample to the input's unit, halves away from 0, what is beyond its range to the nearest end.
    ///
    /// A network that takes features without values takes values of 1, and of 0 for features that are not there.
    ///
    /// # Errors
    /// [`SampleError::Kind`] for a vector in place of features or the other way round, [`SampleError::Value`] for a
    /// feature's value that the network cannot be given, [`SampleError::Len`]. The runtime checks the rest.
    pub fn quantise(&self, sample: &Sample) -> Result<GraphInput, SampleError> {
        match (self, sample) {
            (Self::Dense { shape, element, unit, zero }, Sample::Dense(x)) => {
                if x.len() != shape.len() {
                    return Err(SampleError::Len { found: x.len(), expected: shape.len() });
                }
                let stored = Stored { unit: f64::from(*unit), zero: *zero };
                Ok(match element {
                    Element::U8 => GraphInput::U8(x.iter().map(|x| stored.u8(*x)).collect()),
                    Element::I8 => GraphInput::I8(x.iter().map(|x| stored.i8(*x)).collect()),
                    _ => GraphInput::F32(x.iter().map(|x| *x as f32).collect()),
                })
            }
            (Self::Sparse { unit: None, .. }, Sample::Sparse(active)) => {
                if let Some((feature, value)) = active.iter().find(|(_, value)| *value != 1.0 && *value != 0.0) {
                    return Err(SampleError::Value { feature: *feature, value: *value });
                }
                let features = active.iter().filter(|(_, value)| *value != 0.0).map(|(feature, _)| *feature).collect();
                Ok(GraphInput::Sparse { features, values: Vec::new() })
            }
            (Self::Sparse { unit: Some(unit), .. }, Sample::Sparse(active)) => {
                let integer = |(_, x): &(u32, f64)| (x / f64::from(*unit)).round().clamp(-32_767.0, 32_767.0) as i16;
                let features = active.iter().map(|(feature, _)| *feature).collect();
                Ok(GraphInput::Sparse { features, values: active.iter().map(integer).collect() })
            }
            (Self::Features { .. }, _) => {
                Err(SampleError::Kind { found: "a sample of a graph", expected: "lists of features for accumulators" })
            }
            (Self::Dense { .. }, Sample::Sparse(_)) => {
                Err(SampleError::Kind { found: "a list of features", expected: "a vector" })
            }
            (Self::Sparse { .. }, Sample::Dense(_)) => {
                Err(SampleError::Kind { found: "a vector", expected: "a list of features" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_are_rounded_and_clamped() {
        let input = |element, unit| ProgramInput::Dense { shape: Shape::vector(4), element, unit, zero: 0 };
        let sample = Sample::Dense(vec![0.3, -0.25, 1000.0, -1000.0]);
        let quantise = |input: ProgramInput| input.quantise(&sample).unwrap();
        assert_eq!(quantise(input(Element::I8, 0.5)), GraphInput::I8(vec![1, -1, 127, -128]), "halves away from 0");
        assert_eq!(quantise(input(Element::U8, 0.5)), GraphInput::U8(vec![1, 0, 255, 0]));
        assert_eq!(quantise(input(Element::F32, 1.0)), GraphInput::F32(vec![0.3, -0.25, 1000.0, -1000.0]));
        let short = input(Element::U8, 1.0).quantise(&Sample::Dense(vec![1.0])).unwrap_err();
        assert_eq!(short, SampleError::Len { found: 1, expected: 4 });
    }

    #[test]
    fn the_nearest_is_that_of_round() {
        for unit in [1.0f32, 0.5, 0.1, 1.0 / 255.0, 3.7e-3, 1e30, 1e-30] {
            for zero in [0, -3, 128] {
                let stored = Stored { unit: f64::from(unit), zero };
                let steps = (-70_000..70_000).map(|step| f64::from(step) / 256.0);
                let ends = [0.0, -0.0, 1e300, -1e300, f64::MIN_POSITIVE, 0.5, -0.5, 0.49999999999999994, 1e6, -1e6];
                for x in steps.chain(ends).map(|x| x * f64::from(unit)) {
                    let rounded = (x / f64::from(unit)).round() + f64::from(zero);
                    assert_eq!(stored.u8(x), rounded.clamp(0.0, 255.0) as u8, "{x} {unit} {zero}");
                    assert_eq!(stored.i8(x), rounded.clamp(-128.0, 127.0) as i8, "{x} {unit} {zero}");
                }
            }
        }
    }

    #[test]
    fn features_have_values_or_are_there() {
        let sparse = |unit| ProgramInput::Sparse { features: 9, max_active: 3, exact: false, unit };
        let sample = Sample::Sparse(vec![(1, 1.0), (4, 0.0), (7, 1.0)]);
        let there = GraphInput::Sparse { features: vec![1, 7], values: vec![] };
        assert_eq!(sparse(None).quantise(&sample), Ok(there));
        let values = GraphInput::Sparse { features: vec![1, 4, 7], values: vec![4, 0, 4] };
        assert_eq!(sparse(Some(0.25)).quantise(&sample), Ok(values));
        let half = sparse(None).quantise(&Sample::Sparse(vec![(2, 0.5)])).unwrap_err();
        assert!(half.to_string().starts_with("feature 2 has the value 0.5"), "{half}");
        assert!(sparse(None).quantise(&Sample::Dense(vec![])).is_err());
    }
}
