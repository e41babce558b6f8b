//! One page of obvious code: a network's value in double precision.
//!
//! ```text
//! sums(0)       = bias + Σ of the columns of the active features     (once a perspective, side to move first)
//! x(l)          = activation(sums(l) without its last `skip`)
//! sums(l + 1)   = bias + weights · x(l)                              (of a bucketed layer only the bucket's rows)
//! psqt          = a factor · (own − other), own or other = bias + Σ of the columns of the active features
//! outputs       = output.scale · (x(last) + what skipped + psqt)
//! ```

use super::activation::activate_layer;
use super::error::EvalError;
use super::example::Example;
use super::net::{Affine, Net, ShapeMismatch};

/// Everything on the way to an output.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// Of each layer the sums before the activation, skip outputs included; the first layer's of both perspectives.
    pub sums: Vec<Vec<f64>>,
    /// Of each layer the values after the activation: the next layer's inputs.
    pub activations: Vec<Vec<f64>>,
    /// The sum of all skip outputs and piece-square values, (outputs,), zeros if there are neither.
    pub skipped: Vec<f64>,
    /// What the network reports, (outputs,), `output.scale` times the last activations plus `skipped`.
    pub outputs: Vec<f64>,
}

impl Net<f64> {
    /// The network's outputs, (outputs,), times `output.scale`.
    ///
    /// # Errors
    /// [`EvalError`] if the example does not fit the network.
    pub fn evaluate(&self, example: &Example) -> Result<Vec<f64>, EvalError> {
        Ok(self.trace(example)?.outputs)
    }

    /// The network's outputs and everything on the way to them.
    ///
    /// # Errors
    /// [`EvalError`] if the example does not fit the network.
    pub fn trace(&self, example: &Example) -> Result<Trace, EvalError> {
        if let Some(ShapeMismatch { layer, found, expected }) = self.shape_mismatch() {
            return Err(EvalError::Shape { layer, found, expected });
        }
        let bucket = self.check(example)?;
        let mut trace = Trace { skipped: vec![0.0; self.arch.output_count()], ..Trace::default() };
        let mut inputs: Vec<f64> = Vec::new();
        for (index, (layer, affine)) in self.arch.layers.iter().zip(&self.layers).enumerate() {
            let perspectives: Vec<Vec<f64>> = match (index, example) {
                (0, Example::Features { lists, .. }) => {
                    lists.iter().take(self.arch.perspectives()).map(|list| gather(affine, list)).collect()
                }
                (0, Example::Dense(vector)) => vec![multiply(affine, vector, 0, layer.outputs)],
                _ => vec![multiply(
                    affine,
                    &inputs,
                    if layer.bucketed { bucket * layer.outputs } else { 0 },
                    layer.outputs,
                )],
            };
            inputs = Vec::new();
            for sums in &perspectives {
                let (active, skipping) = sums.split_at(self.arch.active_outputs(index));
                inputs.extend(activate_layer(layer, active));
                for (sum, skip) in trace.skipped.iter_mut().zip(skipping) {
                    *sum += skip;
                }
            }
            trace.sums.push(perspectives.concat());
            trace.activations.push(inputs.clone());
        }
        if let Some(psqt) = &self.psqt {
            for (sum, value) in trace.skipped.iter_mut().zip(self.piece_squares(psqt, example, bucket)) {
                *sum += value;
            }
        }
        let scale = f64::from(self.arch.output.scale);
        trace.outputs = inputs.iter().zip(&trace.skipped).map(|(value, skip)| scale * (value + skip)).collect();
        Ok(trace)
    }

    /// The values of features, of one output bucket's rows.
    fn piece_squares(&self, psqt: &Affine<f64>, example: &Example, bucket: usize) -> Vec<f64> {
        let (Example::Features { lists, .. }, Some(of)) = (example, self.arch.psqt_of()) else { return Vec::new() };
        let [first, second] = lists.each_ref().map(|list| gather(psqt, list));
        let (own, other) = if self.arch.input.other_first { (second, first) } else { (first, second) };
        let (own_share, other_share) = of.shares();
        let rows = self.arch.output_count();
        let is_bucketed = self.arch.psqt.as_ref().is_some_and(|psqt| psqt.bucketed);
        let first = if is_bucketed { bucket * rows } else { 0 };
        own.iter()
            .zip(&other)
            .skip(first)
            .take(rows)
            .map(|(own, other)| own_share * own + other_share * other)
            .collect()
    }

    /// Whether the example fits; its output bucket.
    fn check(&self, example: &Example) -> Result<usize, EvalError> {
        match (example, self.arch.input.is_sparse()) {
            (Example::Features { lists, bucket }, true) => {
                let (max, count) = (self.arch.max_active(), self.arch.feature_count());
                for (perspective, list) in lists.iter().enumerate() {
                    if perspective >= self.arch.perspectives() && !list.is_empty() {
                        return Err(EvalError::SecondPerspective { found: list.len() });
                    }
                    if list.len() > max {
                        return Err(EvalError::TooManyFeatures { perspective, found: list.len(), max });
                    }
                    if let Some(entry) = list.iter().position(|&feature| feature as usize >= count) {
                        let feature = list[entry];
                        return Err(EvalError::FeatureOutOfRange { perspective, entry, feature, count });
                    }
                }
                let count = self.arch.bucket_count();
                if *bucket >= count {
                    return Err(EvalError::BucketOutOfRange { found: *bucket, count });
                }
                Ok(*bucket)
            }
            (Example::Dense(vector), false) => {
                let expected = self.arch.feature_count();
                if vector.len() != expected {
                    return Err(EvalError::InputLength { found: vector.len(), expected });
                }
                match vector.iter().position(|value| !value.is_finite()) {
                    Some(index) => Err(EvalError::InputNotFinite { index, value: vector[index] }),
                    None => Ok(0),
                }
            }
            (Example::Features { .. }, false) => {
                Err(EvalError::ExampleKind { found: "features", expected: "a vector of numbers" })
            }
            (Example::Dense(_), true) => {
                Err(EvalError::ExampleKind { found: "numbers", expected: "lists of features" })
            }
        }
    }
}

/// bias + Σ of the columns in the list, in its order.
fn gather(affine: &Affine<f64>, list: &[u32]) -> Vec<f64> {
    let mut sums = affine.bias.clone();
    for &feature in list {
        for (sum, weight) in sums.iter_mut().zip(affine.weights.column(feature as usize)) {
            *sum += weight;
        }
    }
    sums
}

/// bias + weights · x, rows `first..first + rows` only; inputs in ascending order.
fn multiply(affine: &Affine<f64>, x: &[f64], first: usize, rows: usize) -> Vec<f64> {
    let mut sums = affine.bias[first..][..rows].to_vec();
    for (input, value) in x.iter().enumerate() {
        for (sum, weight) in sums.iter_mut().zip(&affine.weights.column(input)[first..]) {
            *sum += weight * value;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::{Affine, Example, Matrix, Net};
    use super::EvalError;
    use crate::arch::Architecture;

    /// Two perspectives of three features -> 2 (relu, and the pair side by side) -> 2 + 1 skip -> 1, two buckets.
    fn net() -> Net<f64> {
        let tensors: String = ["aw", "ab", "bw", "bb", "cw", "cb"]
            .map(|name| format!("[[tensor]]\nname = \"{name}\"\ntype = \"f32\"\n"))
            .concat();
        let text = format!(
            "schema = 1\nname = \"x\"\noutput = {{ scale = 10 }}\nbuckets = {{ count = 2 }}\n\
             input = {{ kind = \"features\", size = 3, max_active = 2, perspectives = 2 }}\n\
             [[layer]]\nname = \"a\"\noutputs = 2\nactivation = \"relu\"\n\
             [[layer]]\nname = \"b\"\noutputs = 3\nskip = 1\nactivation = \"relu\"\nbucketed = true\n\
             [[layer]]\nname = \"c\"\noutputs = 1\n{tensors}"
        );
        let affine = |outputs, inputs, weights: &[f64], bias: &[f64]| Affine {
            weights: Matrix::new(outputs, inputs, weights.to_vec()).unwrap(),
            bias: bias.to_vec(),
        };
        let layers = vec![
            affine(2, 3, &[1.0, -1.0, 2.0, -2.0, 3.0, 30.0], &[0.5, 0.25]),
            // Four columns of two buckets of three rows; bucket 0 is all zeros.
            affine(
                6,
                4,
                &[
                    [0.0, 0.0, 0.0, 1.0, 0.0, 2.0],
                    [0.0, 0.0, 0.0, 10.0, 0.0, 0.0],
                    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
                    [0.0, 0.0, 0.0, 0.0, -10.0, 0.0],
                ]
                .concat(),
                &[0.0, 0.0, 7.0, 0.0, 0.0, 0.5],
            ),
            affine(1, 2, &[1.0, 100.0], &[0.125]),
        ];
        Net { arch: Architecture::from_toml(&text, "x").unwrap(), layers, psqt: None }
    }

    fn features(own: &[u32], other: &[u32], bucket: usize) -> Example {
        Example::Features { lists: [own.to_vec(), other.to_vec()], bucket }
    }

    #[test]
    fn a_network_small_enough_for_pencil_and_paper() {
        // own: (0.5 + 1 + 2, 0.25 − 1 − 2) = (3.5, −2.75); other: (0.5 + 3, 0.25 + 30) = (3.5, 30.25)
        let trace = net().trace(&features(&[0, 1], &[2], 1)).unwrap();
        assert_eq!(trace.sums[0], [3.5, -2.75, 3.5, 30.25]);
        assert_eq!(trace.activations[0], [3.5, 0.0, 3.5, 30.25]);
        // bucket 1: 1·3.5 + 10·0; 1·3.5 − 10·30.25; skip 2·3.5 + 0.5
        assert_eq!(trace.sums[1], [3.5, -299.0, 7.5]);
        assert_eq!(trace.activations[1], [3.5, 0.0]);
        assert_eq!(trace.skipped, [7.5]);
        assert_eq!(trace.activations[2], [3.625]);
        assert_eq!(trace.outputs, [111.25]);
        assert_eq!(net().evaluate(&features(&[0, 1], &[2], 0)).unwrap(), [71.25]);
    }

    #[test]
    fn examples_that_do_not_fit_are_refused() {
        let refused = |example| net().evaluate(&example).unwrap_err();
        assert!(matches!(refused(Example::Dense(vec![])), EvalError::ExampleKind { .. }));
        assert_eq!(refused(features(&[], &[], 2)), EvalError::BucketOutOfRange { found: 2, count: 2 });
        assert_eq!(
            refused(features(&[], &[0, 3], 0)),
            EvalError::FeatureOutOfRange { perspective: 1, entry: 1, feature: 3, count: 3 }
        );
        assert_eq!(
            refused(features(&[0, 1, 2], &[], 0)),
            EvalError::TooManyFeatures { perspective: 0, found: 3, max: 2 }
        );
        let message = refused(features(&[u32::MAX], &[], 0)).to_string();
        assert_eq!(message, "perspective 0, entry 0: feature 4294967295 of a network with 3 (0 to 2)");
    }

    #[test]
    fn a_network_of_the_wrong_shape_is_refused() {
        for spoil in [
            (|net: &mut Net<f64>| net.layers.truncate(2)) as fn(&mut Net<f64>),
            |net| net.layers.push(net.layers[0].clone()),
            |net| net.layers[1].bias.truncate(5),
            |net| net.layers[0].weights.values.truncate(5),
            |net| net.layers[2].weights.inputs = 3,
        ] {
            let mut spoiled = net();
            spoil(&mut spoiled);
            assert!(matches!(spoiled.evaluate(&features(&[], &[], 0)), Err(EvalError::Shape { .. })));
        }
    }
}
