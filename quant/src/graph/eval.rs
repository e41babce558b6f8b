//! One page of obvious code: a graph's values in double precision.

use super::node::{Fill, Graph, Input, Op};
use super::spatial;
use crate::spatial::taps;
use thiserror::Error;

/// What a graph is asked about.
#[derive(Debug, Clone, PartialEq)]
pub enum Sample {
    /// A vector, (len,).
    Dense(Vec<f64>),
    /// Active features in ascending order, each with its value.
    Sparse(Vec<(u32, f64)>),
}

/// A sample that does not fit the graph.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SampleError {
    /// Features for a vector network, or a vector for one of features.
    #[error("the network takes {expected}, found {found}")]
    Kind {
        /// What was given.
        found: &'static str,
        /// What the network takes.
        expected: &'static str,
    },
    /// A vector of another length.
    #[error("a vector of {found} elements, expected {expected}")]
    Len {
        /// Elements that were given.
        found: usize,
        /// Elements that the network takes.
        expected: usize,
    },
    /// Outputs that are no numbers, as the root of a negative number is.
    #[error("{side} gives {value} for output {output}, which is no finite number")]
    NoNumber {
        /// Whose outputs.
        side: &'static str,
        /// Which output.
        output: usize,
        /// What it is.
        value: f64,
    },
    /// A feature that the network does not have.
    #[error("feature {feature} of a network with {features} features, 0 to {}", features.saturating_sub(1))]
    Feature {
        /// What was given.
        feature: u32,
        /// Number of features.
        features: usize,
    },
    /// Too many features, or not one a field.
    #[error("{found} active features, expected {}{expected}", if *exact { "exactly " } else { "at most " })]
    Active {
        /// Features that were given.
        found: usize,
        /// The limit.
        expected: usize,
        /// Whether fewer are wrong, too.
        exact: bool,
    },
    /// Features that are not in ascending order, or one that comes twice.
    #[error("feature {next} follows feature {previous}; features are given once each, in ascending order")]
    Order {
        /// A feature.
        previous: u32,
        /// The one behind it.
        next: u32,
    },
    /// A feature with a value, for a network that takes features without.
    #[error(
        "feature {feature} has the value {value}; the network takes features that are there or not, of the value 1"
    )]
    Value {
        /// Which feature.
        feature: u32,
        /// Its value.
        value: f64,
    },
    /// NaN or an infinity.
    #[error("element {index} is {value}; inputs are finite")]
    NotFinite {
        /// Which.
        index: usize,
        /// What it is.
        value: f64,
    },
}

impl Graph {
    /// The outputs for one sample.
    ///
    /// # Errors
    /// [`SampleError`] if the sample does not fit.
    pub fn evaluate(&self, sample: &Sample) -> Result<Vec<f64>, SampleError> {
        let mut values = self.trace(sample)?;
        Ok(values.swap_remove(self.output()))
    }

    /// The outputs before the last sigmoid or softmax.
    ///
    /// # Errors
    /// [`SampleError`] if the sample does not fit.
    pub fn evaluate_logits(&self, sample: &Sample) -> Result<Vec<f64>, SampleError> {
        Ok(self.trace(sample)?.swap_remove(self.logits()))
    }

    /// Every value, by its number; value 0 is the dense input, and empty for a sparse one.
    ///
    /// # Errors
    /// [`SampleError`] if the sample does not fit.
    ///
    /// # Panics
    /// If the graph is not one that [`Graph::check`] accepts.
    pub fn trace(&self, sample: &Sample) -> Result<Vec<Vec<f64>>, SampleError> {
        self.check_sample(sample)?;
        let (dense, active) = match sample {
            Sample::Dense(x) => (x.clone(), &[][..]),
            Sample::Sparse(active) => (Vec::new(), &active[..]),
        };
        let shapes = self.shapes();
        let mut values: Vec<Vec<f64>> = vec![dense];
        for (index, node) in self.nodes.iter().enumerate() {
            let x = |place: usize| -> &[f64] { &values[node.reads[place]] };
            let shape = |place: usize| shapes[node.reads[place]];
            let made = shapes[index + 1];
            let value = match &node.op {
                Op::Linear { weights, bias } => {
                    let of_pixel = |x: &[f64]| -> Vec<f64> {
                        let row = |output| (0..weights.inputs).map(|i| weights.at(output, i) * x[i]).sum::<f64>();
                        bias.iter().enumerate().map(|(output, bias)| row(output) + bias).collect()
                    };
                    x(0).chunks_exact(weights.inputs).flat_map(of_pixel).collect()
                }
                Op::SparseLinear { weights, bias } => {
                    let mut sums = bias.clone();
                    for (feature, value) in active {
                        let column = weights.column(*feature as usize);
                        sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum += value * weight);
                    }
                    sums
                }
                Op::Embed { table } => {
                    let row = |(feature, x): &(u32, f64)| {
                        let x = *x;
                        table.column(*feature as usize).iter().map(move |weight| x * weight)
                    };
                    let mut rows: Vec<f64> = active.iter().flat_map(row).collect();
                    rows.resize(self.max_active() * table.outputs, 0.0);
                    rows
                }
                Op::FmTerm { width } => vec![bi_interaction(x(0), *width).iter().sum()],
                Op::BiInteraction { width } => bi_interaction(x(0), *width),
                Op::InnerProducts { width } => inner_products(x(0), *width),
                Op::Concat { axis } => {
                    let parts: Vec<_> = (0..node.reads.len()).map(|place| (x(place), shape(place))).collect();
                    spatial::concat(&parts, axis.index())
                }
                Op::Add => {
                    let mut sums = x(0).to_vec();
                    for place in 1..node.reads.len() {
                        sums.iter_mut().zip(x(place)).for_each(|(sum, x)| *sum += x);
                    }
                    sums
                }
                Op::Scale(factor) => x(0).iter().map(|x| factor * x).collect(),
                Op::Binary(binary) => spatial::binary(*binary, (x(0), shape(0)), (x(1), shape(1)), made),
                Op::Constant { values, .. } => values.clone(),
                Op::PerChannel { factors, offsets } => {
                    let channels = factors.iter().zip(offsets).cycle();
                    x(0).iter().zip(channels).map(|(x, (factor, offset))| x * factor + offset).collect()
                }
                Op::Quantise { scales, zero_points, low, high } => {
                    let channels = scales.iter().zip(zero_points).cycle();
                    let quantised = |(x, (scale, zero_point)): (&f64, (&f64, &f64))| {
                        let steps = (*x as f32 / *scale as f32).round_ties_even();
                        (f64::from(steps) + zero_point).clamp(*low, *high)
                    };
                    x(0).iter().zip(channels).map(quantised).collect()
                }
                Op::PRelu { slopes } => {
                    let slopes = slopes.iter().cycle();
                    x(0).iter().zip(slopes).map(|(x, slope)| if *x > 0.0 { *x } else { slope * x }).collect()
                }
                Op::Activation(activation) => {
                    x(0).chunks_exact(made.channels).flat_map(|pixel| activation.apply(pixel)).collect()
                }
                Op::Flatten | Op::Reshape(_) => x(0).to_vec(),
                Op::Transpose(order) => {
                    let source = |at: [usize; 3]| {
                        let mut place = [0; 3];
                        order.iter().zip(at).for_each(|(axis, at)| place[*axis] = at);
                        Some(place)
                    };
                    spatial::moved(x(0), (shape(0), made), source, 0.0)
                }
                Op::Slice { start, step, .. } => {
                    let source = |at: [usize; 3]| Some([0, 1, 2].map(|axis| start[axis] + at[axis] * step[axis]));
                    spatial::moved(x(0), (shape(0), made), source, 0.0)
                }
                Op::Pad { before, fill, .. } => {
                    let value = if let Fill::Value(value) = fill { *value } else { 0.0 };
                    let source = |at| spatial::padded(at, shape(0), *before, *fill);
                    spatial::moved(x(0), (shape(0), made), source, value)
                }
                Op::Resize { size, sampling, coordinates } => {
                    let along = |from, to| taps(from, to, *sampling, *coordinates);
                    let (rows, columns) = (along(shape(0).height, size[0]), along(shape(0).width, size[1]));
                    spatial::resize(x(0), shape(0), (&rows, &columns))
                }
                Op::Convolution { window, groups, weights, bias } => {
                    spatial::convolution(x(0), (shape(0), made), window, *groups, (weights, bias))
                }
                Op::TransposedConvolution { window, groups, weights, bias, .. } => {
                    spatial::transposed(x(0), (shape(0), made), window, *groups, (weights, bias))
                }
                Op::Pool { window, kind } => spatial::pool(x(0), (shape(0), made), window, *kind),
                Op::Trees(forest) => {
                    // A feature that is not active is 0.
                    let of_sparse = |feature: u32| match active.binary_search_by_key(&feature, |(feature, _)| *feature)
                    {
                        Ok(at) => active[at].1,
                        Err(_) => 0.0,
                    };
                    let of_dense = |feature: u32| values[0][feature as usize];
                    vec![match sample {
                        Sample::Dense(_) => forest.evaluate(of_dense),
                        Sample::Sparse(_) => forest.evaluate(of_sparse),
                    }]
                }
            };
            values.push(value);
        }
        Ok(values)
    }

    /// Whether a sample can be handed in.
    ///
    /// # Errors
    /// [`SampleError`], the first that is found.
    pub fn check_sample(&self, sample: &Sample) -> Result<(), SampleError> {
        match (self.input, sample) {
            (Input::Dense { shape }, Sample::Dense(x)) => {
                let len = shape.len();
                if x.len() != len {
                    return Err(SampleError::Len { found: x.len(), expected: len });
                }
                finite(x.iter().copied())
            }
            (Input::Sparse { features, max_active, exact }, Sample::Sparse(active)) => {
                if active.len() > max_active || (exact && active.len() != max_active) {
                    return Err(SampleError::Active { found: active.len(), expected: max_active, exact });
                }
                if let Some((feature, _)) = active.iter().find(|(feature, _)| *feature as usize >= features) {
                    return Err(SampleError::Feature { feature: *feature, features });
                }
                if let Some(pair) = active.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
                    return Err(SampleError::Order { previous: pair[0].0, next: pair[1].0 });
                }
                finite(active.iter().map(|(_, value)| *value))
            }
            (Input::Dense { .. }, Sample::Sparse(_)) => {
                Err(SampleError::Kind { found: "a list of features", expected: "a vector" })
            }
            (Input::Sparse { .. }, Sample::Dense(_)) => {
                Err(SampleError::Kind { found: "a vector", expected: "a list of features" })
            }
        }
    }
}

fn finite(mut values: impl Iterator<Item = f64>) -> Result<(), SampleError> {
    let mut index = 0;
    match values.find(|value| {
        index += 1;
        !value.is_finite()
    }) {
        Some(value) => Err(SampleError::NotFinite { index: index - 1, value }),
        None => Ok(()),
    }
}

/// `½ ((Σ e)² − Σ e²)` of each element.
fn bi_interaction(embeddings: &[f64], width: usize) -> Vec<f64> {
    let of = |element: usize| {
        let column = embeddings.iter().skip(element).step_by(width);
        let (sum, squares) = column.fold((0.0, 0.0), |(sum, squares), e| (sum + e, squares + e * e));
        0.5 * (sum * sum - squares)
    };
    (0..width).map(of).collect()
}

/// `<e_i, e_j>` of every pair, i < j.
fn inner_products(embeddings: &[f64], width: usize) -> Vec<f64> {
    let rows: Vec<&[f64]> = embeddings.chunks_exact(width).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    let of = |(index, a): (usize, &&[f64])| rows[index + 1..].iter().map(|b| product(a, b)).collect::<Vec<f64>>();
    rows.iter().enumerate().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::node::{Activation, Node, Value};
    use super::*;
    use crate::float::Matrix;

    fn node(name: &str, reads: &[Value], op: Op) -> Node {
        Node { name: name.to_owned(), reads: reads.to_vec(), op }
    }

    #[test]
    fn quantising_divides_in_f32_and_rounds_to_even() {
        let (scales, zero_points) = (vec![f64::from(0.1f32); 4], vec![3.0; 4]);
        let op = Op::Quantise { scales, zero_points, low: 0.0, high: 255.0 };
        let graph = Graph {
            name: "quantise".to_owned(),
            input: Input::Dense { shape: crate::spatial::Shape::vector(4) },
            nodes: vec![node("q", &[0], op)],
        };
        graph.check().unwrap();
        // 0.35 / 0.1 is 3.5 in f32 and less in f64; 0.25 / 0.1 is 2.5, of two as near the even one.
        let x = [0.35f32, 0.25, -1.0, 1e9].map(f64::from).to_vec();
        assert_eq!(graph.evaluate(&Sample::Dense(x)).unwrap(), [7.0, 5.0, 0.0, 255.0]);
    }

    #[test]
    fn interactions_are_sums_over_pairs() {
        let table = Matrix::new(2, 4, vec![1.0, 2.0, 3.0, -1.0, 0.5, 4.0, 7.0, 7.0]).unwrap();
        let graph = Graph {
            name: "pairs".to_owned(),
            input: Input::Sparse { features: 4, max_active: 3, exact: false },
            nodes: vec![
                node("e", &[0], Op::Embed { table }),
                node("fm", &[1], Op::FmTerm { width: 2 }),
                node("bi", &[1], Op::BiInteraction { width: 2 }),
                node("ip", &[1], Op::InnerProducts { width: 2 }),
            ],
        };
        graph.check().unwrap();
        let values = graph.trace(&Sample::Sparse(vec![(0, 1.0), (1, 2.0), (2, 1.0)])).unwrap();
        assert_eq!(values[1], [1.0, 2.0, 6.0, -2.0, 0.5, 4.0]);
        // 1·6 + 2·−2 = 2, 1·0.5 + 2·4 = 8.5, 6·0.5 − 2·4 = −5
        assert_eq!(values[4], [2.0, 8.5, -5.0]);
        assert_eq!(values[3], [1.0 * 6.0 + 0.5 + 6.0 * 0.5, -4.0 + 8.0 - 8.0]);
        assert_eq!(values[2], [values[4].iter().sum::<f64>()]);
        let one = graph.trace(&Sample::Sparse(vec![(3, 1.0)])).unwrap();
        assert_eq!((one[1].len(), one[4].as_slice()), (6, &[0.0, 0.0, 0.0][..]), "absent features are zeros");
    }

    #[test]
    fn activations_have_their_values() {
        assert_eq!(Activation::LeakyRelu { alpha: 0.1 }.apply(&[-2.0, 3.0]), [-0.2, 3.0]);
        assert_eq!(Activation::Relu.apply(&[-2.0, f64::NAN, 3.0]), [0.0, 0.0, 3.0]);
        assert_eq!(Activation::Sigmoid.apply(&[0.0, -1000.0, 1000.0]), [0.5, 0.0, 1.0]);
        let softmax = Activation::Softmax.apply(&[1000.0, 1000.0]);
        assert_eq!(softmax, [0.5, 0.5]);
    }

    #[test]
    fn samples_that_do_not_fit_are_named() {
        let weights = Matrix::new(1, 3, vec![1.0; 3]).unwrap();
        let graph = Graph {
            name: "lr".to_owned(),
            input: Input::Sparse { features: 3, max_active: 2, exact: true },
            nodes: vec![node("w", &[0], Op::SparseLinear { weights, bias: vec![0.0] })],
        };
        for (sample, words) in [
            (Sample::Dense(vec![]), "takes a list of features, found a vector"),
            (Sample::Sparse(vec![(0, 1.0)]), "1 active features, expected exactly 2"),
            (Sample::Sparse(vec![(0, 1.0), (3, 1.0)]), "feature 3 of a network with 3 features, 0 to 2"),
            (Sample::Sparse(vec![(1, 1.0), (1, 1.0)]), "feature 1 follows feature 1"),
            (Sample::Sparse(vec![(0, 1.0), (1, f64::NAN)]), "element 1 is NaN"),
        ] {
            assert!(graph.evaluate(&sample).unwrap_err().to_string().contains(words), "{words}");
        }
    }
}
