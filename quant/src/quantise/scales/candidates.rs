//! Networks with other scales than the trainer's, near the edge of what the proofs allow.

use super::headroom::{Headroom, rounded_by};
use crate::arch::{Activation, Architecture, ElementType, HeadDivision, Rounding, TensorSpec};
use crate::float::{Affine, Net};
use crate::program::Program;
use crate::proof::accumulator_ranges;
use crate::quantised::{head, rounded_scale};

/// Bits that a rounded product loses, at most.
const ROUNDED_BITS: u32 = 15;
/// What a rounded product is divided by.
const ROUNDED: i64 = 1 << ROUNDED_BITS;
/// What the first layer's scale is a multiple of: the larger, the finer the scales of the weights behind it that keep
/// the sums' scale a whole number.
const STEPS: [i32; 4] = [8, 16, 32, 64];
/// Smaller scales of the first layer, for networks whose sums are the tighter bound.
const SHARES: [f64; 4] = [1.0, 0.84, 0.71, 0.5];

/// What rounding adds to weights and sums takes a little of the room.
const ROOM: f64 = 0.999;
/// From which share of the greatest scale on weights count as filling i16.
const FILLED: f64 = 0.9;

/// Networks to try, with other descriptions, and some with other neurons' scales; the proof decides. program: of the
/// description's own scales. rows: what the first layer's weights become.
pub fn of(net: &Net<f32>, program: &Program, rows: ElementType) -> Vec<Net<f32>> {
    let arch = &net.arch;
    let Some(accumulators) = greatest_qa(net, program) else { return Vec::new() };
    let most = match rows {
        ElementType::I16 => accumulators,
        ElementType::I8 => accumulators.min(greatest_in_bytes(&net.layers[0])),
        ElementType::I32 | ElementType::F32 => return Vec::new(),
    };
    if arch.layers[0].activation == Activation::PairwiseCrelu {
        return pairs(net, program, most);
    }
    if head(arch).is_none() {
        return Vec::new();
    }
    // Other activations have no form of their own: a file with other scales would not tell that they were chosen.
    if arch.layers[0].activation != Activation::Screlu {
        return Vec::new();
    }
    rounded(net, most).into_iter().map(|arch| Net { arch, ..net.clone() }).collect()
}

/// A scale of the first layer with which accumulators fit, and hardly less than the greatest: what they reach at the
/// description's scale, were every weight rounded the wrong way there, and again at the new one.
fn greatest_qa(net: &Net<f32>, program: &Program) -> Option<i32> {
    let qa = f64::from(net.arch.tensor(&net.arch.weights_name(0))?.scale?);
    let reached = accumulator_ranges(program).iter().map(|(low, high)| low.abs().max(high.abs())).max()?;
    let rounded = rounded_by(&net.arch);
    let real = (reached as f64 + rounded) / qa;
    let most = (f64::from(i16::MAX) - rounded) / real;
    Some(most.min(i16::MAX.into()) as i32).filter(|most| *most > 0)
}

/// The greatest scale with which every weight of a layer is a byte; 0 where there is none.
fn greatest_in_bytes(layer: &Affine<f32>) -> i32 {
    let largest = layer.weights.values.iter().fold(0f32, |largest, weight| largest.max(weight.abs()));
    // Rounding goes to the nearest, and a half away from zero.
    let most = (f64::from(i8::MAX) + 0.499) / f64::from(largest);
    if largest > 0.0 { most.min(i16::MAX.into()) as i32 } else { 0 }
}

/// Pairs whose products are rounded: the first layer's scale as it is, twice that, and so on, with products that are
/// shifted two bits further each time, so that a 1 stays what it was. Each of them as the neurons are, and with those
/// finer that have room, and the weights behind them at the finest scale that they have in front of reals.
fn pairs(net: &Net<f32>, program: &Program, most: i32) -> Vec<Net<f32>> {
    let (arch, first) = (&net.arch, &net.arch.layers[0]);
    let names = [arch.weights_name(0), arch.bias_name(0)];
    let (Some(qa), Some(shift)) = (arch.tensor(&names[0]).and_then(|spec| spec.scale), first.product_shift) else {
        return Vec::new();
    };
    let headroom = Headroom::of(net, program);
    let with = |doublings: u32| {
        let mut net = net.clone();
        let first = &mut net.arch.layers[0];
        (first.product_shift, first.product_rounded) = (Some(shift + 2 * doublings), true);
        for spec in net.arch.tensors.iter_mut().filter(|spec| names.contains(&spec.name)) {
            (spec.scale, spec.rounding) = (Some(qa << doublings), Rounding::Nearest);
        }
        let finer = headroom.as_ref().and_then(|headroom| headroom.scales(&net, qa << doublings));
        let finer = finer.map(|scales| in_front_of_reals(scales.applied(&net)));
        [Some(net), finer]
    };
    let steps = (0..=ROUNDED_BITS / 2).filter(|doublings| (1..=ROUNDED_BITS).contains(&(shift + 2 * doublings)));
    let is_fine = |doublings: &u32| {
        let one = i64::from(qa) << doublings;
        one <= i64::from(most) && one << (ROUNDED_BITS - shift - 2 * doublings) <= i64::from(i16::MAX)
    };
    steps.filter(is_fine).flat_map(with).flatten().collect()
}

/// With the finest scale of the second layer's weights at which they are bytes, where their sums become reals, whatever
/// their scale. Sums that stay integers are divided by it, and keep theirs.
fn in_front_of_reals(mut net: Net<f32>) -> Net<f32> {
    let name = net.arch.weights_name(1);
    if net.arch.tensor(&net.arch.bias_name(1)).is_none_or(|bias| bias.r#type != ElementType::F32) {
        return net;
    }
    let finest = greatest_in_bytes(&net.layers[1]);
    for spec in net.arch.tensors.iter_mut().filter(|spec| spec.name == name && spec.r#type == ElementType::I8) {
        spec.scale = spec.scale.map(|scale| scale.max(finest));
        spec.rounding = Rounding::Nearest;
    }
    net
}

/// SCReLU with products that are rounded.
fn rounded(net: &Net<f32>, most: i32) -> Vec<Architecture> {
    let mut found: Vec<(i32, i32)> = Vec::new();
    let narrow = f64::from(i16::MAX) / output(net).0;
    for share in SHARES {
        for step in STEPS {
            let qa = (f64::from(most) * share) as i32 / step * step;
            if let Some(qb) = greatest_qb(net, qa)
                && !found.contains(&(qa, qb))
            {
                found.push((qa, qb));
            }
        }
        // Where the weights fill i16 a smaller scale gives nothing.
        if found.iter().any(|(_, qb)| f64::from(*qb) > FILLED * narrow) {
            break;
        }
    }
    let with = |(qa, qb): (i32, i32)| {
        let mut arch = net.arch.clone();
        arch.output.divide = HeadDivision::Rounded;
        rescale(&mut arch, qa, qb, rounded_scale(qa, qb)?);
        Some(arch)
    };
    found.into_iter().filter_map(with).collect()
}

/// Hardly less than the greatest scale of the output's weights with which they fit i16, their sums i32, and the sums'
/// scale is a whole number.
fn greatest_qb(net: &Net<f32>, qa: i32) -> Option<i32> {
    let square = i64::from(qa) * i64::from(qa);
    if square == 0 {
        return None;
    }
    let step = ROUNDED >> square.trailing_zeros().min(ROUNDED.trailing_zeros());
    let (largest, sum) = output(net);
    let narrow = f64::from(i16::MAX) / largest;
    let wide = f64::from(i32::MAX) * ROUNDED as f64 / (square as f64 * sum);
    let qb = (narrow.min(wide) * ROOM).min(f64::from(i32::MAX)) as i64 / step * step;
    i32::try_from(qb).ok().filter(|qb| *qb > 0)
}

/// The largest output weight, and the largest sum of a row's weights of one sign, with the bias.
fn output(net: &Net<f32>) -> (f64, f64) {
    let layer = &net.layers[1];
    let (mut largest, mut sums) = (0f64, vec![(0f64, 0f64); layer.weights.outputs]);
    for column in layer.weights.values.chunks(layer.weights.outputs) {
        for (sum, weight) in sums.iter_mut().zip(column.iter().copied().map(f64::from)) {
            largest = largest.max(weight.abs());
            *sum = (sum.0 + weight.max(0.0), sum.1 - weight.min(0.0));
        }
    }
    let row = |(sum, bias): (&(f64, f64), &f32)| sum.0.max(sum.1) + f64::from(bias.abs());
    (largest, sums.iter().zip(&layer.bias).map(row).fold(0.0, f64::max))
}

/// Another scale of each of the four tensors, all rounded to the nearest, the last bias in 32 bits.
fn rescale(arch: &mut Architecture, qa: i32, qb: i32, sums: i32) {
    let names = [arch.weights_name(0), arch.bias_name(0), arch.weights_name(1), arch.bias_name(1)];
    let mut set = |name: String, scale: i32, r#type: Option<ElementType>| {
        for spec in arch.tensors.iter_mut().filter(|spec| spec.name == name) {
            let r#type = r#type.unwrap_or(spec.r#type);
            *spec = TensorSpec { scale: Some(scale), rounding: Rounding::Nearest, r#type, ..spec.clone() };
        }
    };
    let [weights, bias, second, last] = names;
    set(weights, qa, None);
    set(bias, qa, None);
    set(second, qb, None);
    set(last, sums, Some(ElementType::I32));
}
