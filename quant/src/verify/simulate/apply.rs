//! One operation in real numbers.

use super::Switch;
use super::operands::{Operands, clipped};
use crate::program::{Element, Operation, ProgramInput, ProgramNode, QuantTensor, RealActivation};
use tamis_runtime::raw::num;

/// What node `index` makes of the values before it, of the active features, and with an output bucket's banks.
pub(super) fn apply(
    operands: &Operands<'_>,
    (index, node): (usize, &ProgramNode),
    values: &[Vec<f64>],
    active: &[(u32, f64)],
    bucket: usize,
) -> Vec<f64> {
    let x = |place: usize| -> &[f64] {
        let read = node.reads[place];
        match read.part {
            None => &values[read.value],
            Some((start, len)) => &values[read.value][start..start + len],
        }
    };
    let width = operands.program.width();
    let is_on = (operands.on)(Switch::Node(index));
    let factor = |held: f32| operands.exact.factors.get(&index).copied().unwrap_or(f64::from(held));
    match &node.op {
        Operation::ActivateDot { weights, clip, max } => {
            let activated: Vec<f64> = x(0).iter().map(|x| clipped(*clip, *max, *x)).collect();
            operands.affine(index, (weights, None), &activated, 0.0, bucket)
        }
        Operation::RoundedDot { weights, bias, max } => {
            let clipped: Vec<f64> = x(0).iter().map(|x| x.clamp(0.0, f64::from(*max))).collect();
            operands.rounded_dot(index, (weights, bias.as_ref()), &clipped, is_on, bucket)
        }
        Operation::Rescale { .. } | Operation::WideHead { .. } => {
            let head = operands.head((index, node), x(0), bucket);
            // A sum's scale need not be a whole number.
            let exact = operands.exact.factors.get(&index).filter(|_| !is_on);
            let one = |sum: &f64| {
                let value = sum * head.factor;
                exact.map_or_else(|| value / head.divisor, |unit| value * unit)
            };
            let one = |sum: &f64| if is_on { one(sum).trunc() } else { one(sum) };
            head.sums.iter().map(one).collect()
        }
        Operation::ActivateF32 { activation, inverse, left_out, .. } => {
            let inverse = factor(*inverse);
            let reals = |side: &[f64]| -> Vec<f64> { side[..width - left_out].iter().map(|x| x * inverse).collect() };
            x(0).chunks(width).flat_map(|side| activate(*activation, &reals(side))).collect()
        }
        Operation::PairwiseU8 { max, shift, is_rounded, left_out } => {
            let (max, divisor) = (f64::from(*max), (1u64 << shift) as f64);
            let half = if *is_rounded { 0.5 } else { 0.0 };
            // Finer neurons are clipped below the float network's 1.
            let ceiling = |neuron: usize| if is_on { max } else { max * operands.exact.finer(neuron) };
            let product = |a: (usize, &f64), b: (usize, &f64)| {
                let [a, b] = [a, b].map(|(neuron, x)| x.clamp(0.0, ceiling(neuron)));
                if is_on { (a * b / divisor + half).floor() } else { a * b / divisor }
            };
            let products = |side: &[f64]| -> Vec<f64> {
                let side = &side[..width - left_out];
                let pairs = side.len() / 2;
                let (first, second) = side.split_at(pairs);
                let pair = |(pair, (a, b))| product((pair, a), (pairs + pair, b));
                first.iter().zip(second).enumerate().map(pair).collect()
            };
            x(0).chunks(width).flat_map(products).collect()
        }
        Operation::ClipU8 { max, shift, left_out } => {
            let ceiling = operands.exact.ceilings.get(&index).filter(|_| !is_on);
            let (max, divisor) = (ceiling.copied().unwrap_or(f64::from(*max)), (1u64 << shift) as f64);
            let byte = |x: &f64| x.clamp(0.0, max) / divisor;
            let read = x(0).chunks(width).flat_map(|side| &side[..width - left_out]);
            read.map(|x| if is_on { byte(x).floor() } else { byte(x) }).collect()
        }
        Operation::FeatureSums { digits, bits, sides, is_bucketed } => {
            let len = node.value.len();
            let (bank, numbers) =
                if *is_bucketed { (bucket * len, operands.program.buckets() * len) } else { (0, len) };
            let number = |side: &[f64], row: usize| -> f64 {
                let digit = |place: usize| side[width - digits * numbers + place * numbers + bank + row];
                (0..*digits).map(|place| digit(place) * (1u64 << (*bits as usize * place)) as f64).sum()
            };
            let part = |row, (side, sign): (&[f64], i64)| sign as f64 * number(side, row);
            let one = |row| x(0).chunks(width).zip(sides.signs()).map(|taken| part(row, taken)).sum();
            (0..len).map(one).collect()
        }
        Operation::Affine { weights, bias } => {
            let zero = f64::from(operands.program.zero(node.read(0)));
            operands.affine(index, (weights, bias.as_ref()), x(0), zero, bucket)
        }
        Operation::AffineI32 { clip, is_dual, max, shift, weights, bias } => {
            let divisor = (1u64 << shift) as f64;
            let exact = operands.exact.factors.get(&index).copied().unwrap_or(1.0 / divisor);
            let shifted = |x: &f64| if is_on { (x / divisor).floor() } else { x * exact };
            let one = f64::from(*max);
            let activated: Vec<f64> = if *is_dual {
                let squares = x(0).iter().map(|x| shifted(x).powi(2).min(one * one));
                x(0).iter().map(|x| shifted(x).clamp(0.0, one) * one).chain(squares).collect()
            } else {
                x(0).iter().map(|x| clipped(*clip, *max, shifted(x))).collect()
            };
            operands.affine(index, (weights, bias.as_ref()), &activated, 0.0, bucket)
        }
        Operation::AffineF32 { weights, bias } => operands.affine(index, (weights, bias.as_ref()), x(0), 0.0, bucket),
        Operation::SparseAffine { weights, bias } => {
            let unit = sparse_unit(operands, node);
            let mut sums =
                if bias.is_some() { operands.of_node(index, 1).to_vec() } else { vec![0.0; weights.outputs] };
            for (feature, value) in active {
                let column = column(operands.of_node(index, 0), weights, *feature);
                sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum += value * unit * weight);
            }
            sums
        }
        Operation::SparseRows { table, requantisation } => {
            let unit = sparse_unit(operands, node);
            let limit = if node.value.element == Element::I8 { 127.0 } else { 32_767.0 };
            let made = |product: f64| match requantisation {
                None => product,
                Some((multiplier, shift)) => {
                    let scaled = product * f64::from(*multiplier) / (1u64 << shift) as f64;
                    if is_on { (scaled + 0.5).floor().clamp(-limit, limit) } else { scaled }
                }
            };
            let row = |(feature, value): &(u32, f64)| -> Vec<f64> {
                let row = column(operands.of_node(index, 0), table, *feature);
                row.iter().map(|weight| made(value * unit * weight)).collect()
            };
            let mut rows: Vec<f64> = active.iter().flat_map(row).collect();
            rows.resize(node.value.len(), 0.0);
            rows
        }
        Operation::FmTerm { width } => vec![pairwise(x(0), *width).iter().sum()],
        Operation::BiInteraction { width } => pairwise(x(0), *width),
        Operation::InnerProducts { width } => {
            let rows: Vec<&[f64]> = x(0).chunks_exact(*width).collect();
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let of = |(at, a): (usize, &&[f64])| rows[at + 1..].iter().map(|b| product(a, b)).collect::<Vec<f64>>();
            rows.iter().enumerate().flat_map(of).collect()
        }
        Operation::Concat { runs } => {
            let (first, second) = (x(0).len() / runs, x(1).len() / runs);
            x(0).chunks(first.max(1)).zip(x(1).chunks(second.max(1))).flat_map(|(a, b)| [a, b].concat()).collect()
        }
        Operation::Multiply => x(0).iter().zip(x(1)).map(|(a, b)| a * b).collect(),
        Operation::Add => x(0).iter().zip(x(1)).map(|(a, b)| a + b).collect(),
        Operation::Requantise { multipliers, shifts, low, high } if is_on => {
            let zero = node.value.zero;
            let range = (low.saturating_sub(zero), high.saturating_sub(zero));
            let each = x(0).iter().zip(multipliers.iter().zip(shifts));
            each.map(|(x, factor)| requantise(*x, (*factor.0, *factor.1), range) + f64::from(zero)).collect()
        }
        Operation::Requantise { .. } => shifted(operands.exact.fused[&index].apply(x(0)), node),
        Operation::Lookup { table } => {
            let exact = operands.exact.fused[&index].apply(x(0));
            if !is_on {
                return shifted(exact, node);
            }
            let (low, high) = table.iter().fold((i32::MAX, i32::MIN), |(low, high), y| (low.min(*y), high.max(*y)));
            let zero = f64::from(node.value.zero);
            exact.iter().map(|y| (y.round() + zero).clamp(f64::from(low), f64::from(high))).collect()
        }
        Operation::Trees { features, .. } => vec![trees(operands, (index, node), features, x(0), active)],
        Operation::ToF32 { factor, zero } => x(0).iter().map(|x| (x - f64::from(*zero)) * f64::from(*factor)).collect(),
        Operation::Dequantise { factor: held, bias } => {
            let factor = factor(*held);
            match bias {
                Some(bias) => {
                    let own = &operands.of_node(index, 0)[bias.bank(bucket)];
                    x(0).iter().zip(own).map(|(x, bias)| x * factor + bias).collect()
                }
                None => x(0).iter().map(|x| x * factor).collect(),
            }
        }
        Operation::Quantise { inverse, low, high } => {
            let zero = node.value.zero;
            let one = |x: &f64| match is_on {
                true => f64::from(num::quantise(*x as f32, *inverse, zero, *low, *high)),
                false => x / node.value.unit(0) + f64::from(zero),
            };
            x(0).iter().map(one).collect()
        }
        Operation::Activation(activation) => activate(*activation, x(0)),
        Operation::Scale(held) => x(0).iter().map(|x| x * f64::from(*held)).collect(),
        op if op.is_of_maps() => super::maps::apply(operands, (index, node), values),
        op => panic!("{} is of networks that are not taken apart", op.word()),
    }
}

/// With the zero point, unrounded.
fn shifted(values: Vec<f64>, node: &ProgramNode) -> Vec<f64> {
    values.into_iter().map(|x| x + f64::from(node.value.zero)).collect()
}

/// The runtime's own rounding of an integer; the same of a sum that is none.
fn requantise(x: f64, (multiplier, shift): (i32, u8), (low, high): (i32, i32)) -> f64 {
    if x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX) {
        return f64::from(num::requantise(x as i32, multiplier, u32::from(shift), low, high));
    }
    let scaled = x * f64::from(multiplier) / (1u64 << shift) as f64;
    (scaled + 0.5).floor().clamp(f64::from(low), f64::from(high))
}

/// What a feature's value is multiplied by where weights are reals.
fn sparse_unit(operands: &Operands<'_>, node: &ProgramNode) -> f64 {
    match operands.program.input {
        ProgramInput::Sparse { unit: Some(unit), .. } if node.value.element == Element::F32 => f64::from(unit),
        _ => 1.0,
    }
}

/// The weights of one feature.
fn column<'w>(weights: &'w [f64], tensor: &QuantTensor, feature: u32) -> &'w [f64] {
    let start = tensor.outputs * feature as usize;
    &weights[start..start + tensor.outputs]
}

/// The sum over pairs of each element.
fn pairwise(x: &[f64], width: usize) -> Vec<f64> {
    let of = |element: usize| {
        let (mut before, mut sum) = (0.0, 0.0);
        for e in x.iter().skip(element).step_by(width) {
            sum += before * e;
            before += e;
        }
        sum
    };
    (0..width).map(of).collect()
}

/// The sum of the leaves.
fn trees(
    operands: &Operands<'_>,
    (index, node): (usize, &ProgramNode),
    features: &QuantTensor,
    x: &[f64],
    active: &[(u32, f64)],
) -> f64 {
    let is_sparse = matches!(operands.program.input, ProgramInput::Sparse { .. }) && node.read(0) == 0;
    let of = |feature: u32| match is_sparse {
        // A feature that is not active is 0.
        true => active.iter().filter(|(other, _)| *other == feature).map(|(_, value)| *value).sum(),
        false => x[feature as usize],
    };
    let (thresholds, leaves) = (operands.of_node(index, 1), operands.of_node(index, 2));
    let (count, nodes) = (features.outputs, features.inputs);
    let leaf = |tree: usize| {
        let mut at = 0;
        loop {
            let place = tree + count * at;
            // −1 in a leaf.
            let Ok(feature) = u32::try_from(features.integers()[place]) else { return leaves[place] };
            at = 2 * at + if of(feature) <= thresholds[place] { 1 } else { 2 };
            if at >= nodes {
                return leaves[place];
            }
        }
    };
    (0..count).map(leaf).sum()
}

fn activate(activation: RealActivation, x: &[f64]) -> Vec<f64> {
    let each = |function: fn(f64) -> f64| x.iter().map(|x| function(*x)).collect();
    let crelu = |x: f64| x.clamp(0.0, 1.0);
    match activation {
        RealActivation::Relu => each(|x| x.max(0.0)),
        RealActivation::Crelu => each(|x| x.clamp(0.0, 1.0)),
        RealActivation::Screlu => each(|x| x.clamp(0.0, 1.0).powi(2)),
        RealActivation::Sqrrelu => each(|x| x.max(0.0).powi(2)),
        RealActivation::PairwiseCrelu => {
            let (first, second) = x.split_at(x.len() / 2);
            first.iter().zip(second).map(|(a, b)| crelu(*a) * crelu(*b)).collect()
        }
        RealActivation::DualCrelu => x.iter().map(|x| crelu(*x)).chain(x.iter().map(|x| crelu(x * x))).collect(),
        RealActivation::LeakyRelu { alpha } => {
            x.iter().map(|x| if *x > 0.0 { *x } else { f64::from(alpha) * x }).collect()
        }
        RealActivation::HardSwish => crate::graph::Activation::HardSwish.apply(x),
        RealActivation::Sigmoid => crate::graph::Activation::Sigmoid.apply(x),
        RealActivation::Tanh => crate::graph::Activation::Tanh.apply(x),
        RealActivation::Softmax => crate::graph::Activation::Softmax.apply(x),
    }
}
