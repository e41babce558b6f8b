//! What a [`QuantisedGraph`] computes, in obvious loops.

use tamis_quant::program::Element;
use tamis_quant::quantised::{Clamp, Multiplier, QuantisedGraph, QuantisedOp, Quantity, Weights};
use tamis_quant::spatial::Move;
use tamis_quant::spatial::{Coordinates, Rounding, Sampling, Shape, Window, taps};

/// How a sum becomes a stored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// Times a multiplier of 31 bits, rounded once, halves upwards: what the graph says.
    Integers,
    /// Times the scales' quotient in f32, halves to the even number: what XNNPACK's kernels for x86 do.
    Floats,
}

/// The values of a network for these inputs, as they are stored; reals as they are.
pub fn evaluate(graph: &QuantisedGraph, inputs: &[Vec<f64>], arithmetic: Arithmetic) -> Vec<Vec<f64>> {
    let mut values = inputs.to_vec();
    let mut quantities: Vec<Quantity> = graph.inputs.iter().map(|(_, quantity)| *quantity).collect();
    for node in &graph.nodes {
        let reads: Vec<(Vec<i32>, Quantity)> = node
            .reads
            .iter()
            .map(|read| (values[*read].iter().map(|x| *x as i32).collect(), quantities[*read]))
            .collect();
        let made = match &node.op {
            QuantisedOp::Quantise => values[node.reads[0]].iter().map(|x| quantised(*x, node.makes)).collect(),
            QuantisedOp::Dequantise => {
                let (x, from) = &reads[0];
                x.iter().map(|x| f64::from(from.scale * (x - from.zero_point) as f32)).collect()
            }
            op => of_integers(op, &reads, node.makes, arithmetic).into_iter().map(f64::from).collect(),
        };
        values.push(made);
        quantities.push(node.makes);
    }
    values
}

/// The softmax at the end of a network, of its logits as they are stored.
pub fn softmax(graph: &QuantisedGraph, logits: &[i32]) -> Vec<i32> {
    let last = graph.nodes.iter().rfind(|node| matches!(node.op, QuantisedOp::Softmax { .. })).expect("a softmax");
    let QuantisedOp::Softmax { factor } = last.op else { unreachable!() };
    powers(logits, factor, last.makes)
}

/// To the nearest, halves to the even one, as a vector unit rounds.
fn quantised(x: f64, to: Quantity) -> f64 {
    let x = f64::from((x as f32 * (1.0 / to.scale)).round_ties_even());
    (x + f64::from(to.zero_point)).clamp(-128.0, 127.0)
}

const WHOLE: Clamp = Clamp { low: -128, high: 127 };

fn of_integers(op: &QuantisedOp, reads: &[(Vec<i32>, Quantity)], to: Quantity, arithmetic: Arithmetic) -> Vec<i32> {
    let zero = i64::from(to.zero_point);
    let pair = |function: &dyn Fn(i64, i64) -> i64, clamp: Clamp| -> Vec<i32> {
        let of = |(x, from): &(Vec<i32>, Quantity), at: [usize; 3]| {
            let axes = from.shape.axes();
            let [y, column, channel] = [0, 1, 2].map(|axis| at[axis].min(axes[axis] - 1));
            i64::from(x[from.shape.at(y, column, channel)] - from.zero_point)
        };
        places(to.shape).map(|at| clamp.apply(function(of(&reads[0], at), of(&reads[1], at)))).collect()
    };
    match op {
        QuantisedOp::Constant(values) => values.clone(),
        QuantisedOp::Sum { a, b, shift, clamp } => {
            let sum = |x, y| ((i64::from(*a) * x + i64::from(*b) * y + (1 << (shift - 1))) >> shift) + zero;
            pair(&sum, *clamp)
        }
        QuantisedOp::Product { multiplier, clamp } => {
            let scale = reads[0].1.scale * reads[1].1.scale / to.scale;
            pair(&|x, y| arithmetic.scaled((x * y) as i32, *multiplier, scale) + zero, *clamp)
        }
        // Both have the scale and the zero point of what is made.
        QuantisedOp::Maximum => pair(&|x, y| x.max(y) + zero, WHOLE),
        QuantisedOp::Minimum => pair(&|x, y| x.min(y) + zero, WHOLE),
        _ => of_one(op, &reads.iter().map(|(x, from)| (x.as_slice(), *from)).collect::<Vec<_>>(), to, arithmetic),
    }
}

fn of_one(op: &QuantisedOp, reads: &[(&[i32], Quantity)], to: Quantity, arithmetic: Arithmetic) -> Vec<i32> {
    let Some((x, from)) = reads.first().copied() else { panic!("{op:?} reads something") };
    let zero = i64::from(to.zero_point);
    let requantised = |weights: &Weights, output: usize, sum: i64| {
        // Wraps, as engines' sums do.
        let sum = (sum + i64::from(weights.bias[output])) as i32;
        let scale = from.scale * weights.scales[output] / to.scale;
        weights.clamp.apply(arithmetic.scaled(sum, weights.multipliers[output], scale) + zero)
    };
    match op {
        QuantisedOp::Convolution { window, groups, weights } => {
            let centred: Vec<i64> = x.iter().map(|x| i64::from(x - from.zero_point)).collect();
            convolution(&centred, (from.shape, to.shape), window, *groups, weights, &requantised)
        }
        QuantisedOp::TransposedConvolution { window, weights } => {
            let centred: Vec<i64> = x.iter().map(|x| i64::from(x - from.zero_point)).collect();
            transposed(&centred, (from.shape, to.shape), window, weights, &requantised)
        }
        QuantisedOp::Linear(weights) => {
            let row = |row: &[i32]| -> Vec<i32> {
                let sum = |output: usize| -> i64 {
                    let products = row.iter().enumerate().map(|(input, x)| {
                        i64::from(x - from.zero_point) * i64::from(weights.weights.at(output, input))
                    });
                    products.sum()
                };
                let outputs = 0..weights.weights.outputs;
                outputs.map(|output| requantised(weights, output, sum(output))).collect()
            };
            x.chunks_exact(weights.weights.inputs).flat_map(row).collect()
        }
        QuantisedOp::MaxPool { window, clamp } => {
            let greatest = |seen: &[i32]| clamp.apply(seen.iter().copied().max().unwrap().into());
            pool((x, from.shape), to.shape, window, &greatest)
        }
        QuantisedOp::AveragePool { window, clamp } => {
            let mean = |seen: &[i32]| {
                let (sum, count) = (seen.iter().map(|x| i64::from(*x)).sum::<i64>(), seen.len() as i64);
                let half = if sum > 0 { count / 2 } else { -(count / 2) };
                clamp.apply((sum + half) / count)
            };
            pool((x, from.shape), to.shape, window, &mean)
        }
        QuantisedOp::Mean { over, multiplier } => {
            let kept = [0, 1, 2].map(|axis| if over[axis] { 1 } else { from.shape.axes()[axis] });
            let kept = Shape::of_axes(kept);
            let mut sums = vec![0i32; kept.len()];
            for at in places(from.shape) {
                let [y, column, channel] = [0, 1, 2].map(|axis| if over[axis] { 0 } else { at[axis] });
                sums[kept.at(y, column, channel)] += x[from.shape.at(at[0], at[1], at[2])] - from.zero_point;
            }
            let count = from.shape.len() / kept.len();
            let scale = from.scale / to.scale / count as f32;
            sums.into_iter().map(|sum| WHOLE.apply(arithmetic.scaled(sum, *multiplier, scale) + zero)).collect()
        }
        QuantisedOp::Table(table) => x.iter().map(|x| i32::from(table[usize::from(*x as u8)])).collect(),
        QuantisedOp::Softmax { factor } => {
            x.chunks_exact(from.shape.channels).flat_map(|row| powers(row, *factor, to)).collect()
        }
        QuantisedOp::Requantise { multiplier } => {
            let (low, high) = to.element.range();
            let made = |x: &i32| twice_rounded(i64::from(x - from.zero_point), *multiplier) + zero;
            x.iter().map(|x| made(x).clamp(low.into(), high.into()) as i32).collect()
        }
        QuantisedOp::Moved { by, fill } => moved((x, from.shape), to.shape, by, *fill),
        QuantisedOp::Concat(axis) => {
            let mut made = Vec::new();
            for at in places(to.shape) {
                let (mut place, axis) = (at, axis.index());
                for (x, from) in reads {
                    let len = from.shape.axes()[axis];
                    if place[axis] < len {
                        made.push(x[from.shape.at(place[0], place[1], place[2])]);
                        break;
                    }
                    place[axis] -= len;
                }
            }
            made
        }
        QuantisedOp::ResizeNearest(coordinates) => {
            let rounding = if *coordinates == Coordinates::Asymmetric { Rounding::Floor } else { Rounding::HalfUp };
            let along = |from, to| taps(from, to, Sampling::Nearest(rounding), *coordinates);
            let (rows, columns) = (along(from.shape.height, to.shape.height), along(from.shape.width, to.shape.width));
            let place = |at: [usize; 3]| x[from.shape.at(rows[at[0]].first, columns[at[1]].first, at[2])];
            places(to.shape).map(place).collect()
        }
        QuantisedOp::ResizeBilinear(coordinates) => bilinear((x, from.shape), to.shape, *coordinates),
        other => panic!("{other:?} is no operation of one value"),
    }
}

impl Arithmetic {
    fn scaled(self, sum: i32, multiplier: Multiplier, scale: f32) -> i64 {
        match self {
            Self::Integers => multiplier.apply(sum),
            Self::Floats => (sum as f32 * scale).round_ties_even() as i64,
        }
    }
}

/// The product in multiples of 2^31, halves upwards, and that by what is left of the shift, halves away from 0.
fn twice_rounded(x: i64, by: Multiplier) -> i64 {
    let left = 31u32.saturating_sub(by.shift);
    let high = ((x << left) * i64::from(by.multiplier) + (1 << 30)) >> 31;
    let exact = high as f64 / f64::from(by.shift.max(31) as i32 - 31).exp2();
    (exact.abs() + 0.5).floor().copysign(exact) as i64
}

/// What becomes of an output's sum.
type Requantised<'r> = &'r dyn Fn(&Weights, usize, i64) -> i32;

fn convolution(
    x: &[i64],
    (from, to): (Shape, Shape),
    window: &Window,
    groups: usize,
    weights: &Weights,
    requantised: Requantised<'_>,
) -> Vec<i32> {
    let (inputs, outputs) = (from.channels / groups, to.channels / groups);
    let mut made = Vec::new();
    for [y, column, output] in places(to) {
        let mut sum = 0;
        for (tap, row, place) in seen(window, [y, column], from) {
            for input in 0..inputs {
                let channel = output / outputs * inputs + input;
                let weight = weights.weights.at(output, tap * inputs + input);
                sum += x[from.at(row, place, channel)] * i64::from(weight);
            }
        }
        made.push(requantised(weights, output, sum));
    }
    made
}

fn transposed(
    x: &[i64],
    (from, to): (Shape, Shape),
    window: &Window,
    weights: &Weights,
    requantised: Requantised<'_>,
) -> Vec<i32> {
    let mut sums = vec![0i64; to.len()];
    for [y, column, input] in places(from) {
        for (tap, row, place) in seen(window, [y, column], to) {
            for output in 0..to.channels {
                let weight = weights.weights.at(output, tap * from.channels + input);
                sums[to.at(row, place, output)] += x[from.at(y, column, input)] * i64::from(weight);
            }
        }
    }
    let channels = (0..to.channels).cycle();
    sums.iter().zip(channels).map(|(sum, output)| requantised(weights, output, *sum)).collect()
}

/// The taps of a window that lie on the map, with where they lie.
fn seen(window: &Window, at: [usize; 2], from: Shape) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..window.taps()).filter_map(move |tap| {
        let row = window.input(0, at[0], tap / window.kernel[1], from.height)?;
        Some((tap, row, window.input(1, at[1], tap % window.kernel[1], from.width)?))
    })
}

fn pool((x, from): (&[i32], Shape), to: Shape, window: &Window, of: &dyn Fn(&[i32]) -> i32) -> Vec<i32> {
    let at = |[y, column, channel]: [usize; 3]| {
        let seen: Vec<i32> =
            seen(window, [y, column], from).map(|(_, row, place)| x[from.at(row, place, channel)]).collect();
        of(&seen)
    };
    places(to).map(at).collect()
}

fn moved((x, from): (&[i32], Shape), to: Shape, by: &Move, fill: i32) -> Vec<i32> {
    let source = |at: [usize; 3]| -> Option<[usize; 3]> {
        match by {
            Move::Reshape(_) => None,
            Move::Transpose(order) => {
                let mut place = [0; 3];
                order.iter().zip(at).for_each(|(axis, at)| place[*axis] = at);
                Some(place)
            }
            Move::Slice { start, step, .. } => Some([0, 1, 2].map(|axis| start[axis] + at[axis] * step[axis])),
            Move::Pad { before, .. } => {
                let mut place = at;
                for axis in 0..3 {
                    place[axis] = at[axis].checked_sub(before[axis]).filter(|at| *at < from.axes()[axis])?;
                }
                Some(place)
            }
        }
    };
    if matches!(by, Move::Reshape(_)) {
        return x.to_vec();
    }
    places(to).map(|at| source(at).map_or(fill, |[y, column, channel]| x[from.at(y, column, channel)])).collect()
}

/// LiteRT's optimised kernel: a table of f32 powers, their sum, one rounding to the even one.
fn powers(row: &[i32], factor: f32, to: Quantity) -> Vec<i32> {
    let greatest = row.iter().copied().max().unwrap();
    let power = |x: &i32| f64::from(-factor * (greatest - x) as f32).exp() as f32;
    let sum: f32 = row.iter().map(power).sum();
    let inverse = 1.0 / (sum * to.scale);
    let (low, high) = if to.element == Element::I16 { (-32768, 32767) } else { (-128, 127) };
    let rounded = |x: &i32| (power(x) * inverse).round_ties_even() as i32 + to.zero_point;
    row.iter().map(|x| rounded(x).clamp(low, high)).collect()
}

/// XNNPACK's kernel: weights of 11 bits along each axis, one rounding, halves upwards.
fn bilinear((x, from): (&[i32], Shape), to: Shape, coordinates: Coordinates) -> Vec<i32> {
    let along = |from: usize, to: usize| -> Vec<(usize, usize, i64)> {
        let corners = coordinates == Coordinates::AlignCorners && to > 1;
        let scale = if corners { (from - 1) as f32 / (to - 1) as f32 } else { from as f32 / to as f32 };
        let offset = if coordinates == Coordinates::HalfPixel { 0.5 * scale - 0.5 } else { 0.0 };
        let tap = |at: usize| {
            let place = (at as f32 * scale + offset).clamp(0.0, (from - 1) as f32);
            let first = place as usize;
            let weight = f64::from((place - first as f32) * 2048.0).round_ties_even() as i64;
            (first, (first + 1).min(from - 1), weight)
        };
        (0..to).map(tap).collect()
    };
    let (rows, columns) = (along(from.height, to.height), along(from.width, to.width));
    let at = |[y, column, channel]: [usize; 3]| {
        let ((top, bottom, down), (left, right, across)) = (rows[y], columns[column]);
        let pixel = |y: usize, x_: usize| i64::from(x[from.at(y, x_, channel)]);
        let row = |y: usize| (pixel(y, left) << 11) + (pixel(y, right) - pixel(y, left)) * across;
        let sum = (row(top) << 11) + (row(bottom) - row(top)) * down;
        WHOLE.apply((sum + (1 << 21)) >> 22)
    };
    places(to).map(at).collect()
}

fn places(shape: Shape) -> impl Iterator<Item = [usize; 3]> {
    let [height, width, channels] = shape.axes();
    let pixels = (0..height).flat_map(move |y| (0..width).map(move |x| [y, x]));
    pixels.flat_map(move |[y, x]| (0..channels).map(move |channel| [y, x, channel]))
}
