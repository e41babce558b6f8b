//! One node: what its elements can be, and whether they fit.

use super::before::Before;
use super::maps;
use super::pairs::Embeddings;
use super::report::{Check, Quantity};
use super::span::Span;
use super::sums::{checked, checked_sums, clamped, pair, rounded_bounds, row_bounds, wide_result, with_bias};
use crate::program::{Clip, Element, Operation, ProgramInput, ProgramNode, QuantTensor};
use crate::proof::extremes::extremes;
use tamis_runtime::raw::num;

/// The largest magnitude of a feature's value.
const VALUE_MAX: i64 = 1 << 15;

/// What `node` makes, and the sums to check: rows count from 0 in the bucket.
pub(crate) fn bound(before: &Before<'_>, node: &ProgramNode) -> (Span, Vec<Check>) {
    let everything = Span::of_element(node.value.element);
    if node.value.element == Element::F32 {
        return (everything, Vec::new());
    }
    let Before { input, nodes, spans, bucket, buckets } = *before;
    // The part that it reads, element by element.
    let each = |place: usize| -> Vec<(i64, i64)> {
        let read = node.reads[place];
        let (start, len) = read.part.unwrap_or_else(|| (0, before.len(read.value)));
        (start..start + len).map(|element| spans[read.value].at(element)).collect()
    };
    let whole = |place: usize| spans[node.read(place)];
    let len = |place: usize| before.len(node.read(place));
    match &node.op {
        Operation::ActivateDot { weights, clip, max } => {
            let limits = contributions(*clip, *max, &each(0));
            checked_sums(node, &weights.name, row_bounds(weights, weights.bank(bucket), &limits))
        }
        Operation::RoundedDot { weights, bias, max } => {
            let bounds = rounded_bounds(weights, weights.bank(bucket), *max);
            checked_sums(node, &weights.name, with_bias(bounds, bias.as_ref(), bucket))
        }
        Operation::WideHead { weights, bias, clip, max, pre, factor, divisor } => {
            let limits = contributions(*clip, *max, &each(0));
            let sums = row_bounds(weights, weights.bank(bucket), &limits);
            let biases = &bias.integers()[bias.bank(bucket)];
            let end = |sum: i64, bias: i32| wide_result(sum, [*pre, bias, *factor, *divisor]);
            let of = |((low, high), bias): (&(i64, i64), &i32)| (end(*low, *bias), end(*high, *bias));
            let results = sums.iter().zip(biases).map(of).collect();
            let (_, mut checks) = checked(node, &weights.name, Quantity::WideSum, sums);
            let (span, of_results) = checked(node, &weights.name, Quantity::Result, results);
            checks.extend(of_results);
            (span, checks)
        }
        Operation::Rescale { bias, pre, factor, divisor } => {
            let biases = &bias.integers()[bias.bank(bucket)];
            let end = |sum: i64, bias: i32| num::rescale_exact(to_i32(sum), *pre, bias, *factor, *divisor);
            let of = |((low, high), bias): ((i64, i64), &i32)| {
                // A sum that can leave i32 wraps, so that all of i32 comes in.
                let fits = i32::try_from(low).is_ok() && i32::try_from(high).is_ok();
                let (low, high) = if fits { (low, high) } else { (i32::MIN.into(), i32::MAX.into()) };
                (end(low, *bias), end(high, *bias))
            };
            let bounds: Vec<(i64, i64)> = each(0).into_iter().zip(biases).map(of).collect();
            let tensor = match node.read(0).checked_sub(1).map(|before| &nodes[before].op) {
                Some(
                    Operation::ActivateDot { weights, .. }
                    | Operation::Affine { weights, .. }
                    | Operation::AffineI32 { weights, .. },
                ) => &weights.name,
                _ => &node.name,
            };
            checked(node, tensor, Quantity::Result, bounds)
        }
        Operation::PairwiseU8 { max, shift, is_rounded, .. } => {
            (Span::All((0, pair((*max).into(), (*max).into(), *shift, *is_rounded))), Vec::new())
        }
        Operation::ClipU8 { max, shift, .. } => (Span::All((0, i64::from(max >> shift))), Vec::new()),
        Operation::ActivateU8 { max, .. } => (Span::All((0, (*max).into())), Vec::new()),
        Operation::Psqt { digits, bits } => {
            // Both perspectives' columns are bounded alike, own first.
            let ends = each(0);
            let width = ends.len() / 2;
            let of = |place: usize| {
                let (low, high) = ends[width - digits * buckets + place * buckets + bucket];
                (high - low) << (*bits as usize * place)
            };
            let half = (0..*digits).map(of).sum::<i64>() / 2;
            checked(node, &node.name, Quantity::Result, vec![(-half, half)])
        }
        Operation::FeatureSums { digits, bits, sides, is_bucketed } => {
            let (ends, len) = (each(0), node.value.len());
            let (bank, numbers) = if *is_bucketed { (bucket * len, buckets * len) } else { (0, len) };
            // With one perspective the second one's sign is 0.
            let width =
                ends.len() / if matches!(input, ProgramInput::Features { perspectives: 2, .. }) { 2 } else { 1 };
            let of = |row: usize| {
                let digit = |place: usize| {
                    let (low, high) = ends[width - digits * numbers + place * numbers + bank + row];
                    let shift = *bits as usize * place;
                    (low << shift, high << shift)
                };
                let (low, high) = (0..*digits).map(digit).fold((0, 0), |sum, end| (sum.0 + end.0, sum.1 + end.1));
                let end = |sign: i64| if sign < 0 { (-high, -low) } else { (sign * low, sign * high) };
                let [first, second] = sides.signs().map(end);
                (first.0 + second.0, first.1 + second.1)
            };
            checked(node, &node.name, Quantity::Result, (0..len).map(of).collect())
        }
        Operation::Affine { weights, bias } => {
            let bounds = row_bounds(weights, weights.bank(bucket), &each(0));
            checked_sums(node, &weights.name, with_bias(bounds, bias.as_ref(), bucket))
        }
        Operation::AffineI32 { weights, bias, .. } => {
            let bounds = row_bounds(weights, weights.bank(bucket), &activated(&node.op, &each(0)));
            checked_sums(node, &weights.name, with_bias(bounds, bias.as_ref(), bucket))
        }
        Operation::SparseAffine { weights, bias } => {
            checked_sums(node, &weights.name, with_bias(sparse_sums(input, weights), bias.as_ref(), bucket))
        }
        Operation::SparseRows { .. } => {
            let greatest = rows(input, node).magnitudes.into_iter().fold(0, i64::max);
            (Span::All((-greatest, greatest)), Vec::new())
        }
        Operation::FmTerm { width } => {
            let bound = embeddings(before, node, *width, len(0)).all_pairs();
            checked_sums(node, &node.name, vec![(-bound, bound)])
        }
        Operation::BiInteraction { width } => {
            let embeddings = embeddings(before, node, *width, len(0));
            let of = |element| {
                let bound = embeddings.all_pairs_of(element);
                (-bound, bound)
            };
            checked_sums(node, &node.name, (0..*width).map(of).collect())
        }
        Operation::InnerProducts { width } => {
            let bound = embeddings(before, node, *width, len(0)).product();
            let (_, checks) = checked_sums(node, &node.name, vec![(-bound, bound)]);
            (clamped(&[(-bound, bound)], node.value.len() == 1), checks)
        }
        Operation::Concat { .. } => (maps::concat(before, node), Vec::new()),
        Operation::Add => {
            let pairs = each(0).into_iter().zip(each(1));
            checked_sums(node, &node.name, pairs.map(|(a, b)| (a.0 + b.0, a.1 + b.1)).collect())
        }
        Operation::Requantise { multipliers, shifts, low: least, high: most } => {
            let of = |((multiplier, shift), (low, high)): ((&i32, &u8), (i64, i64))| {
                let zero = node.value.zero;
                let end = |sum: i64| {
                    let shift = u32::from(*shift).clamp(1, 62);
                    let (least, most) = (least.saturating_sub(zero), most.saturating_sub(zero));
                    i64::from(num::requantise(to_i32(sum), *multiplier, shift, least, most)) + i64::from(zero)
                };
                (end(low), end(high))
            };
            (Span::Each(multipliers.iter().zip(shifts).zip(each(0)).map(of).collect()), Vec::new())
        }
        Operation::Lookup { table } => {
            let (low, high) = whole(0).hull();
            let reached = (low..=high).map(|x| i64::from(table[(x & 255) as usize]));
            let ends = reached.fold((i64::MAX, i64::MIN), |ends, y| (ends.0.min(y), ends.1.max(y)));
            (Span::All(ends), Vec::new())
        }
        Operation::Trees { leaves, .. } => {
            let mut bound = (0i64, 0i64);
            for tree in 0..leaves.outputs {
                let leaf = |value: &i32| i64::from(*value);
                let of_tree = leaves.integers().iter().skip(tree).step_by(leaves.outputs).map(leaf);
                bound.0 += of_tree.clone().fold(0, i64::min);
                bound.1 += of_tree.fold(0, i64::max);
            }
            checked_sums(node, &leaves.name, vec![bound])
        }
        op if op.is_of_maps() => maps::bound(before, node),
        Operation::Quantise { low, high, .. } => (Span::All((i64::from(*low), i64::from(*high))), Vec::new()),
        Operation::ActivateF32 { .. }
        | Operation::AffineF32 { .. }
        | Operation::ToF32 { .. }
        | Operation::Dequantise { .. }
        | Operation::Activation(_)
        | Operation::Multiply
        | Operation::Scale(_) => (everything, Vec::new()),
        op => unreachable!("`{}` is on maps", op.word()),
    }
}

/// The extremes of what accumulators contribute to a sum: the activation, squared where the network squares it. A clip
/// makes the accumulators' own bounds irrelevant, its absence makes them the limit.
pub(super) fn contributions(clip: Clip, max: i32, accumulators: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let max = i64::from(max);
    let of = |(low, high): &(i64, i64)| match clip {
        Clip::Identity => (*low, *high),
        Clip::Relu => (0, (*high).clamp(0, max)),
        Clip::Crelu => (0, max),
        Clip::Screlu => (0, max * max),
        Clip::Sqrrelu => (0, (*high).clamp(0, max).pow(2)),
    };
    accumulators.iter().map(of).collect()
}

/// The extremes of what the weights of a layer on sums meet.
pub(super) fn activated(op: &Operation, sums: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let Operation::AffineI32 { clip, is_dual, max, shift, .. } = op else {
        unreachable!("`{}` reads no sums", op.word())
    };
    if *is_dual {
        return vec![(0, i64::from(*max).pow(2)); 2 * sums.len()];
    }
    let shifted: Vec<(i64, i64)> = sums.iter().map(|(low, high)| (low >> shift, high >> shift)).collect();
    contributions(*clip, *max, &shifted)
}

fn to_i32(value: i64) -> i32 {
    value.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// Sums over at most `max_active` distinct features.
fn sparse_sums(input: &ProgramInput, weights: &QuantTensor) -> Vec<(i64, i64)> {
    let ProgramInput::Sparse { max_active, unit, .. } = input else {
        unreachable!("sums over a list of features, and the input is none")
    };
    if unit.is_none() {
        return extremes(weights.integers(), weights.outputs, *max_active);
    }
    let magnitudes: Vec<i32> = weights.integers().iter().map(|weight| weight.saturating_abs()).collect();
    let sums = extremes(&magnitudes, weights.outputs, *max_active);
    sums.into_iter().map(|(_, sum)| (sum.saturating_mul(-VALUE_MAX), sum.saturating_mul(VALUE_MAX))).collect()
}

/// The rows that SPARSE_ROWS may write, by their magnitudes.
fn rows(input: &ProgramInput, node: &ProgramNode) -> Embeddings {
    let (ProgramInput::Sparse { max_active, .. }, Operation::SparseRows { table, requantisation }) = (input, &node.op)
    else {
        unreachable!("rows of a list of features, and the input is none")
    };
    let limit = if node.value.element == Element::I8 { i64::from(i8::MAX) } else { i64::from(i16::MAX) };
    let magnitude = |weight: &i32| {
        let weight = i64::from(weight.unsigned_abs());
        match requantisation {
            // The largest value's product, rounded away from 0 by one at most.
            Some((multiplier, shift)) => {
                let product = i128::from(weight * VALUE_MAX) * i128::from(*multiplier);
                limit.min(((product >> shift) + 1).min(limit.into()) as i64)
            }
            None => weight,
        }
    };
    Embeddings {
        magnitudes: table.integers().iter().map(magnitude).collect(),
        width: table.outputs,
        count: *max_active,
    }
}

/// The embeddings that a node reads: rows of a table, or slots of a value of another kind.
fn embeddings(before: &Before<'_>, node: &ProgramNode, width: usize, len: usize) -> Embeddings {
    let value = node.read(0);
    if let Some(source) = value.checked_sub(1).map(|source| &before.nodes[source])
        && let Operation::SparseRows { table, .. } = &source.op
        && table.outputs == width
    {
        return rows(before.input, source);
    }
    let magnitude = |(low, high): (i64, i64)| low.abs().max(high.abs());
    let magnitudes = before.spans[value].each(len).into_iter().map(magnitude).collect();
    Embeddings { magnitudes, width, count: len / width }
}
