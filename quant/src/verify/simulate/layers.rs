//! Bullet's networks: tensors times their scales, and the layers by their sums.

use super::Simulation;
use super::exact::{Exact, Function, Fused, LayerSums, Pair, Place};
use crate::arch::{Activation, ElementType};
use crate::float::{Affine, Net};
use crate::pack::PackError;
use crate::program::{Element, Operation, Program, QuantTensor};
use crate::quantised::{
    IntegerActivation, IntegerTail, NeuronScales, PsqtColumns, QuantLayer, QuantNet, as_stored, head, integer_tail,
};
use std::collections::BTreeMap;

/// What a layer's integers stand for.
struct Units {
    /// One an output: stored weights of a real 1.
    weights: Vec<f64>,
    /// One an output: stored biases of a real 1.
    bias: Vec<f64>,
    /// The sums of a real 1.
    sums: f64,
}

impl Simulation {
    /// A float network beside its quantised form; they must have the same shapes.
    ///
    /// # Errors
    /// [`PackError::Unsupported`] for what the runtime has no operation for.
    pub fn of_layers(float: &Net<f32>, quantised: &QuantNet) -> Result<Self, PackError> {
        let scales = NeuronScales::of(float, quantised);
        let float = &*as_stored(float, quantised);
        // In the trainer's order, as the float network is.
        let program = QuantNet { permutation: None, ..quantised.clone() }.lower()?;
        let tail = integer_tail(&quantised.arch).ok().flatten();
        let units = units(quantised, tail.as_ref());
        let mut parts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for ((real, stored), units) in float.layers.iter().zip(&quantised.layers).zip(&units) {
            let scaled = |values: &[f32], scale: &[f64]| -> Vec<f64> {
                values.iter().zip(scale.iter().cycle()).map(|(value, scale)| f64::from(*value) * scale).collect()
            };
            parts.insert(stored.weights.name.clone(), scaled(&real.weights.values, &units.weights));
            parts.insert(stored.bias.name.clone(), scaled(&real.bias, &units.bias));
        }
        let columns = PsqtColumns::of(quantised).ok().flatten();
        if let (Some(columns), Some(real), Some(psqt)) = (&columns, &float.psqt, &quantised.psqt) {
            psqt_parts(quantised, columns, (real, psqt), &mut parts);
        }
        let pair = |tensor: &QuantTensor| match parts.remove(tensor.name.as_str()) {
            Some(exact) => Pair::fitted(tensor, exact),
            None => panic!("`{}` is no tensor of the float network", tensor.name),
        };
        let mut exact = Exact::new(&program, program.tensors().map(pair).collect());
        if let Some(psqt) = &quantised.psqt {
            // Their digits are elements of the same tensors.
            for (pair, values) in exact.pairs.iter_mut().zip([&psqt.weights, &psqt.bias]) {
                if quantised.arch.tensor(&values.name).is_some() {
                    pair.name = format!("{} and {}", pair.name, values.name);
                }
            }
        }
        exact.neurons = scales.map(|scales| scales.as_slice().to_vec());
        features(quantised, &program, (&units, tail.as_ref()), &mut exact);
        let value = program.nodes.len();
        Ok(Self::new(program, exact, value))
    }
}

/// The first layer's parts with piece-square values behind them, and zeros for those where whole accumulators are read.
/// What rounding took off a value is in its lowest digit.
fn psqt_parts(
    net: &QuantNet,
    columns: &PsqtColumns,
    (real, stored): (&Affine<f32>, &QuantLayer),
    parts: &mut BTreeMap<String, Vec<f64>>,
) {
    let scale = f64::from(stored.weights.multiplier());
    let [first, second] = [&net.layers[0], &net.layers[1]];
    for (own, real, stored) in
        [(&first.weights, &real.weights.values, &stored.weights), (&first.bias, &real.bias, &stored.bias)]
    {
        let part = part_of(parts, own);
        let mut rows = columns.rows(part, stored.integers());
        let rests =
            real.iter().zip(stored.integers()).map(|(real, stored)| f64::from(*real) * scale - f64::from(*stored));
        let lowest =
            rows.chunks_mut(columns.width()).flat_map(|row| row[columns.first()..].iter_mut().take(columns.numbers));
        lowest.zip(rests).for_each(|(digit, rest)| *digit += rest);
        *part = rows;
    }
    // The bias of the head that is theirs.
    parts.insert(QuantLayer::without_bias(&stored.weights).name, vec![0.0; net.arch.output_count()]);
    if second.weights.element == ElementType::I16 {
        let part = part_of(parts, &second.weights);
        *part = columns.inputs(part, second.weights.outputs);
    }
}

fn part_of<'p>(parts: &'p mut BTreeMap<String, Vec<f64>>, tensor: &QuantTensor) -> &'p mut Vec<f64> {
    let part = parts.get_mut(&tensor.name);
    part.unwrap_or_else(|| unreachable!("`{}` is a tensor of the float network", tensor.name))
}

/// The scales of every layer's tensors.
fn units(net: &QuantNet, tail: Option<&IntegerTail>) -> Vec<Units> {
    let arch = &net.arch;
    let (head, activation) = (head(arch), IntegerActivation::of(arch));
    let mut units = Vec::with_capacity(net.layers.len());
    for (index, layer) in net.layers.iter().enumerate() {
        let outputs = layer.weights.outputs;
        let each = |unit: &dyn Fn(usize) -> f64| (0..outputs).map(unit).collect::<Vec<f64>>();
        units.push(match layer.weights.scale {
            Some(scale) if layer.weights.element != ElementType::F32 && (index < 2 || tail.is_some()) => {
                let input = match (&activation, tail) {
                    (Some(activation), _) if index == 1 => activation.units(),
                    (_, Some(tail)) if index > 1 => tail.activations[index - 2].units(),
                    _ => 1.0,
                };
                let sums = match head {
                    Some(head) if index == 1 && head.is_rounded => f64::from(head.divisor),
                    _ => f64::from(scale) * input,
                };
                // The integer head adds its bias behind the first division, at QA·QB.
                let bias = match head {
                    Some(head) if index == 1 => f64::from(head.divisor),
                    _ if layer.bias.element == ElementType::F32 => 1.0,
                    _ => sums,
                };
                Units { weights: each(&|_| f64::from(scale)), bias: each(&|_| bias), sums }
            }
            _ => Units { weights: each(&|_| 1.0), bias: each(&|_| 1.0), sums: 1.0 },
        });
    }
    units
}

/// Layers behind accumulators: factors that the file holds as f32, and where the sums are.
fn features(net: &QuantNet, program: &Program, (units, tail): (&[Units], Option<&IntegerTail>), exact: &mut Exact) {
    let mut places =
        vec![(Element::I16, Place::Accumulators { own: net.layers[0].weights.outputs, scale: units[0].sums })];
    let is_psqt = |value: usize| {
        let made = value.checked_sub(1).map(|node| &program.nodes[node].op);
        matches!(made, Some(Operation::FeatureSums { .. }))
    };
    let scale = f64::from(net.arch.output.scale);
    for (index, node) in program.nodes.iter().enumerate() {
        match &node.op {
            // What becomes of piece-square values is no layer.
            Operation::Requantise { .. } if is_psqt(node.read(0)) => {
                let unit = psqt_unit(net);
                exact.fused.insert(
                    index,
                    Fused { units: vec![unit], zero: 0, functions: vec![Function::Scale(scale)], made: vec![1.0] },
                );
                exact.labels.insert(index, "the piece-square values".to_owned());
            }
            Operation::Dequantise { .. } if is_psqt(node.read(0)) => {
                exact.factors.insert(index, psqt_unit(net));
            }
            Operation::Rescale { .. } if is_psqt(node.read(0)) => {}
            Operation::ActivateF32 { .. } => {
                exact.factors.insert(index, 1.0 / units[0].sums);
            }
            // What integers saturate at, reals do not.
            Operation::ClipU8 { .. } if net.arch.layers[0].activation == Activation::Relu => {
                exact.ceilings.insert(index, f64::INFINITY);
            }
            // The last layer's sums are its head's.
            Operation::Affine { .. } | Operation::AffineI32 { .. } if tail.is_some() => {
                let layer = places.len();
                if let (Some(tail), Some(before)) = (tail, layer.checked_sub(2)) {
                    exact.factors.insert(index, f64::from(tail.activations[before].one) / units[layer - 1].sums);
                }
                if layer + 1 < net.layers.len() {
                    places.push((Element::I32, Place::Value { value: index + 1, scale: units[layer].sums }));
                }
            }
            Operation::Dequantise { .. } => {
                exact.factors.insert(index, 1.0 / units[1].sums);
                places.push((Element::F32, Place::Value { value: index + 1, scale: 1.0 }));
            }
            Operation::AffineF32 { .. } => {
                places.push((Element::F32, Place::Value { value: index + 1, scale: 1.0 }));
            }
            Operation::RoundedDot { .. } => {
                places.push((Element::I32, Place::Value { value: index + 1, scale: units[1].sums }));
            }
            Operation::Requantise { .. } => {
                let (units, functions) =
                    (vec![1.0 / units[1].sums], vec![Function::Scale(net.arch.output.scale.into())]);
                exact.fused.insert(index, Fused { units, zero: 0, functions, made: vec![1.0] });
                exact.labels.insert(index, net.arch.layers[1].name.clone());
            }
            Operation::Rescale { .. } | Operation::WideHead { .. } => {
                if tail.is_some() {
                    exact.factors.insert(index, 1.0 / units[places.len()].sums);
                }
                places.push((Element::I32, Place::Head { node: index }));
            }
            _ => {}
        }
    }
    name_layers(net, places, exact);
}

/// What a 1 of the sums of piece-square values adds to the network's output before its scale.
fn psqt_unit(net: &QuantNet) -> f64 {
    let (Some(of), Some(psqt)) = (net.arch.psqt_of(), &net.psqt) else {
        unreachable!("sums of values that there are not")
    };
    of.shares().0 / f64::from(psqt.weights.multiplier())
}

fn name_layers(net: &QuantNet, places: Vec<(Element, Place)>, exact: &mut Exact) {
    assert_eq!(places.len(), net.layers.len(), "sums of every layer of `{}`", net.arch.name);
    let layer = |((element, place), description): ((Element, Place), &crate::arch::Layer)| LayerSums {
        name: description.name.clone(),
        element,
        place,
    };
    exact.layers = places.into_iter().zip(&net.arch.layers).map(layer).collect();
}
