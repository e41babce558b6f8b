//! A tier with one wrong kernel prints another signature or none, and the suite names the operation.

use tamis_quant::run::Runner;
use tamis_runtime::RunError;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::{Tier, by_name, tiers};
use tamis_runtime::raw::activation::CRELU;
use tamis_runtime::testing::{Dequantisation, Moved, suite};
use tests::sample_models;

fn truth() -> &'static Tier {
    by_name("scalar").unwrap()
}

/// An operation's name, and what puts a wrong kernel in its place.
type Mistake = (&'static str, fn(&mut Tier));

/// A plausible mistake for every operation, in the table's order.
#[rustfmt::skip]
const MISTAKES: [Mistake; 33] = [
    // The tail of a row that is no multiple of the vector's width.
    ("update_i16", |k| k.update_i16.call = |out, source, rows, stride, added, removed| {
        let whole = out.len() / 16 * 16;
        let (source, spare) = (source.map(|source| &source[..whole]), source.map(|source| &source[whole..]));
        (truth().update_i16.call)(&mut out[..whole], source, rows, stride, added, removed);
        if let Some(spare) = spare {
            out[whole..].copy_from_slice(spare);
        }
    }),
    // Bytes widened without their sign.
    ("update_i8", |k| k.update_i8.call = |out, source, rows, stride, added, removed| {
        let rows: Vec<i16> = rows.iter().map(|weight| i16::from(*weight as u8)).collect();
        (truth().update_i16.call)(out, source, &rows, stride, added, removed);
    }),
    // The second perspective's capture forgotten.
    ("update_both_i16", |k| k.update_both_i16.call = |out, source, rows, stride, moved| {
        let moved = match *moved {
            Moved::Capture([first, [added, removed, _]]) => Moved::Capture([first, [added, removed, removed]]),
            quiet => quiet,
        };
        (truth().update_both_i16.call)(out, source, rows, stride, &moved);
    }),
    // Perspectives exchanged.
    ("update_both_i8", |k| k.update_both_i8.call = |out, source, rows, stride, moved| {
        let moved = match *moved {
            Moved::Quiet([first, second]) => Moved::Quiet([second, first]),
            capture => capture,
        };
        (truth().update_both_i8.call)(out, source, rows, stride, &moved);
    }),
    // The upper clip forgotten.
    ("dot_crelu", |k| k.dot_crelu.call = |a, b, w, _| (truth().dot_crelu.call)(a, b, w, i16::MAX)),
    // The short form where products do not fit it.
    ("dot_screlu", |k| k.dot_screlu.call = |a, b, w, max| (truth().dot_screlu_short.call)(a, b, w, max)),
    // One part in a sum of many: too little to be seen behind the division that follows.
    ("dot_screlu_short", |k| k.dot_screlu_short.call = |a, b, w, max| {
        (truth().dot_screlu_short.call)(a, b, w, max) ^ 1
    }),
    ("dot_sqrrelu", |k| k.dot_sqrrelu.call = |a, b, w, _| (truth().dot_screlu.call)(a, b, w, 255)),
    // Cut where it must be rounded.
    ("dot_screlu_rounded", |k| k.dot_screlu_rounded.call = |a, b, w, max| {
        let term = |(x, w): (&i16, &i16)| {
            let clip = i32::from((*x).clamp(0, max));
            ((clip * i32::from(*w)) >> 15) * clip
        };
        a.iter().chain(b).zip(w).map(term).fold(0, i32::wrapping_add)
    }),
    // The low half, as the dots in 32 bits have it.
    ("wide_dot_crelu", |k| k.wide_dot_crelu.call = |a, b, w, max| (truth().dot_crelu.call)(a, b, w, max).into()),
    ("wide_dot_screlu", |k| k.wide_dot_screlu.call = |a, b, w, max| (truth().dot_screlu.call)(a, b, w, max).into()),
    // Rounded where it must be cut.
    ("pairwise_u8", |k| k.pairwise_u8.call = |x, max, shift, out| {
        let (a, b) = x.split_at(x.len() / 2);
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            let clip = |x: &i16| i32::from((*x).clamp(0, max));
            *out = ((clip(a) * clip(b) + (1 << shift >> 1)) >> shift) as u8;
        }
    }),
    // Cut where it must be rounded.
    ("pairwise_u8_rounded", |k| k.pairwise_u8_rounded.call = |x, max, shift, out| {
        (truth().pairwise_u8.call)(x, max, shift, out);
    }),
    // A division in place of the multiplication by the inverse: the last bit.
    ("activate_f32", |k| k.activate_f32.call = |x, code, max, inverse, out| {
        (truth().activate_f32.call)(x, code, max, inverse, out);
        if code == CRELU {
            let quotient = |x: &i16| f32::from((*x).clamp(0, max)) / (1.0 / inverse);
            out.iter_mut().zip(x).for_each(|(out, x)| *out = quotient(x));
        }
    }),
    // The tail of a column.
    ("affine_u8", |k| k.affine_u8.call = |x, w, stride, bias, out| {
        (truth().affine_u8.call)(&x[..x.len() / 4 * 4], w, stride, bias, out);
    }),
    // A sum too large for i16, saturated.
    ("affine_u7", |k| k.affine_u7.call = |x, w, stride, bias, out| {
        (truth().affine_u8.call)(x, w, stride, bias, out);
        out.iter_mut().for_each(|out| *out = (*out).clamp(-2000, 2000));
    }),
    ("affine_u7_paired", |k| k.affine_u7_paired.call = |x, w, stride, bias, out| {
        (truth().affine_u8.call)(x, w, stride, bias, out);
        out.iter_mut().for_each(|out| *out = (*out).clamp(-2000, 2000));
    }),
    ("affine_u8_paired", |k| k.affine_u8_paired.call = |x, w, stride, bias, out| {
        (truth().affine_u8.call)(x, w, stride, bias, out);
        out.iter_mut().for_each(|out| *out = (*out).clamp(-2000, 2000));
    }),
    // The last group left out of the list.
    ("affine_u7_sparse", |k| k.affine_u7_sparse.call = |x, w, stride, bias, out| {
        (truth().affine_u8.call)(&x[..x.len().saturating_sub(4)], w, stride, bias, out);
    }),
    ("affine_i8", |k| k.affine_i8.call = |x, w, stride, _, out| (truth().affine_i8.call)(x, w, stride, &[], out)),
    // Pairs of products that saturate.
    ("affine_i16", |k| k.affine_i16.call = |x, w, stride, bias, out| {
        for (row, out) in out.iter_mut().enumerate() {
            let products = x.iter().zip(&w[row * stride..]).map(|(x, w)| (i32::from(*x) * i32::from(*w)).min(1 << 20));
            *out = products.fold(bias.get(row).copied().unwrap_or(0), i32::wrapping_add);
        }
    }),
    // Bytes widened without their sign.
    ("affine_i16_i8", |k| k.affine_i16_i8.call = |x, w, stride, bias, out| {
        let wide: Vec<i16> = w.iter().map(|w| i16::from(*w as u8)).collect();
        (truth().affine_i16.call)(x, &wide, stride, bias, out);
    }),
    // Another order of the same sum.
    ("affine_f32", |k| k.affine_f32.call = |x, w, stride, bias, _, out| {
        for (row, out) in out.iter_mut().enumerate() {
            *out = x.iter().enumerate().map(|(col, x)| x * w[row * stride + col]).sum();
            *out += bias.get(row).copied().unwrap_or(0.0);
        }
    }),
    // Product and sum rounded at once.
    ("affine_f32_columns", |k| k.affine_f32_columns.call = |x, w, stride, bias, _, out| {
        for (row, out) in out.iter_mut().enumerate() {
            let bias = bias.get(row).copied().unwrap_or(0.0);
            *out = x.iter().enumerate().fold(bias, |sum, (col, x)| x.mul_add(w[col * stride + row], sum));
        }
    }),
    // The scale before the last layer, in place of behind it.
    ("tail_f32", |k| k.tail_f32.call = |sums, first, layers, scale, out| {
        let first = Dequantisation { factor: first.factor * scale, ..*first };
        (truth().tail_f32.call)(sums, &first, layers, 1.0, out);
    }),
    // A clamp that leaves out what is below 0.
    ("activation_f32", |k| k.activation_f32.call = |x, code, out| {
        let positive: Vec<f32> = x.iter().map(|x| x.abs()).collect();
        (truth().activation_f32.call)(&positive, code, out);
    }),
    // Product and sum rounded at once.
    ("dequantise_f32", |k| k.dequantise_f32.call = |x, factor, bias, _, out| {
        for (index, (out, x)) in out.iter_mut().zip(x).enumerate() {
            *out = (*x as f32).mul_add(factor, bias.get(index).copied().unwrap_or(0.0));
        }
    }),
    // Cut where it must be rounded.
    ("requantise_u8", |k| k.requantise_u8.call = |x, multipliers, shifts, low, high, zero, out| {
        cut(x, multipliers, shifts, low, high, zero).zip(out).for_each(|(value, out)| *out = value as u8);
    }),
    ("requantise_i8", |k| k.requantise_i8.call = |x, multipliers, shifts, low, high, zero, out| {
        cut(x, multipliers, shifts, low, high, zero).zip(out).for_each(|(value, out)| *out = value as i8);
    }),
    ("requantise_i32", |k| k.requantise_i32.call = |x, multipliers, shifts, low, high, zero, out| {
        cut(x, multipliers, shifts, low, high, zero).zip(out).for_each(|(value, out)| *out = value as i32);
    }),
    // Padding that is 0 where it is the zero point.
    ("convolve", |k| k.convolve.call = |layer, x, second, out| {
        let mut wrong = *layer;
        wrong.from.zero = 0;
        (truth().convolve.call)(&wrong, x, second, out);
    }),
    // The second map forgotten, or what is read taken for its neighbour.
    ("depthwise", |k| k.depthwise.call = |layer, x, second, out| match second {
        Some(_) => (truth().depthwise.call)(layer, x, None, out),
        None => (truth().depthwise.call)(layer, &[&x[1..], &[0]].concat(), None, out),
    }),
    // The first map twice.
    ("add_maps", |k| k.add_maps.call = |sum, x, _, out| (truth().add_maps.call)(sum, x, x, out)),
];

fn cut<'a>(
    x: &'a [i32],
    multipliers: &'a [i32],
    shifts: &'a [u8],
    low: i32,
    high: i32,
    zero: i32,
) -> impl Iterator<Item = i64> + 'a {
    let products = x.iter().zip(multipliers).map(|(x, multiplier)| i64::from(*x) * i64::from(*multiplier));
    products
        .zip(shifts)
        .map(move |(product, shift)| ((product >> shift) + i64::from(zero)).clamp(low.into(), high.into()))
}

#[test]
fn every_operation_has_its_mistake() {
    assert!(truth().operations().map(|(name, _)| name).eq(MISTAKES.map(|(name, _)| name)));
}

#[test]
fn one_wrong_kernel_changes_a_signature() {
    let sample_models = sample_models::all();
    // The signature fills one accumulator at a time, in the memory that a small board has; the suite and the games of
    // `plies` hold what does two at once.
    for (name, spoil) in MISTAKES.into_iter().filter(|(name, _)| !name.starts_with("update_both")) {
        for tier in tiers() {
            let mut wrong = *tier;
            spoil(&mut wrong);
            let wrong: &'static Tier = Box::leak(Box::new(wrong));
            let shows = sample_models.iter().filter(|sample| {
                let model = Model::parse(sample.bytes.as_ref()).unwrap();
                let right = Runner::new(model, truth()).signature().unwrap();
                // A kernel that only the fused steps call leaves no number at all.
                Runner::new(model, wrong).signature() != Ok(right)
            });
            assert!(shows.count() > 0, "a wrong {name} of {} shows in no signature", tier.name);
        }
    }
}

#[test]
fn a_wrong_kernel_of_the_fused_steps_alone_leaves_no_signature() {
    let (_, spoil) = MISTAKES.into_iter().find(|(name, _)| *name == "tail_f32").unwrap();
    let mut wrong = *truth();
    spoil(&mut wrong);
    let wrong: &'static Tier = Box::leak(Box::new(wrong));
    let signatures = sample_models::all().into_iter().map(|sample| {
        let model = Model::parse(sample.bytes.as_ref()).unwrap();
        (Runner::new(model, truth()).signature().unwrap(), Runner::new(model, wrong).signature())
    });
    let found: Vec<_> = signatures.filter(|(right, found)| *found != Ok(*right)).map(|(_, found)| found).collect();
    assert!(!found.is_empty());
    assert!(found.iter().all(|found| matches!(found, Err(RunError::RunsDiffer { .. }))), "{found:?}");
}

#[test]
fn the_suite_names_the_wrong_kernel() {
    for tier in tiers() {
        assert_eq!(suite::check(tier), Ok(()));
    }
    for (name, spoil) in MISTAKES {
        let mut wrong = *truth();
        spoil(&mut wrong);
        let mismatch = suite::check(&wrong).unwrap_err();
        assert_eq!(mismatch.operation, name);
    }
}
