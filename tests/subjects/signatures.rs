//! A tier with one wrong kernel prints another signature, and the suite names the operation.

use tamis_quant::run::Runner;
use tamis_runtime::format::Model;
use tamis_runtime::format::activation::CRELU;
use tamis_runtime::kernels::{Kernels, TIERS, by_name, suite};
use tests::zoo;

fn truth() -> &'static Kernels {
    by_name("scalar").unwrap()
}

/// An operation's name, and what puts a wrong kernel in its place.
type Mistake = (&'static str, fn(&mut Kernels));

/// A plausible mistake for every operation, in the table's order.
#[rustfmt::skip]
const MISTAKES: [Mistake; 18] = [
    // The tail of a row that is no multiple of the vector's width.
    ("add_i16", |k| k.add_i16.call = |acc, row| {
        let whole = acc.len() / 16 * 16;
        (truth().add_i16.call)(&mut acc[..whole], &row[..whole]);
    }),
    ("sub_i16", |k| k.sub_i16.call = |acc, row| {
        let whole = acc.len() / 16 * 16;
        (truth().sub_i16.call)(&mut acc[..whole], &row[..whole]);
    }),
    // Bytes widened without their sign.
    ("add_i8", |k| k.add_i8.call = |acc, row| {
        acc.iter_mut().zip(row).for_each(|(sum, weight)| *sum = sum.wrapping_add(i16::from(*weight as u8)));
    }),
    ("sub_i8", |k| k.sub_i8.call = |acc, row| {
        acc.iter_mut().zip(row).for_each(|(sum, weight)| *sum = sum.wrapping_sub(i16::from(*weight as u8)));
    }),
    ("move_i16", |k| k.move_i16.call = |out, source, added, removed| {
        (truth().move_i16.call)(out, source, removed, added);
    }),
    // The upper clip forgotten.
    ("dot_crelu", |k| k.dot_crelu.call = |x, w, _| (truth().dot_crelu.call)(x, w, i16::MAX)),
    // The short form where products do not fit it.
    ("dot_screlu", |k| k.dot_screlu.call = |x, w, max| (truth().dot_screlu_short.call)(x, w, max)),
    // One part in a sum of many: too little to be seen behind the division that follows.
    ("dot_screlu_short", |k| k.dot_screlu_short.call = |x, w, max| (truth().dot_screlu_short.call)(x, w, max) ^ 1),
    ("dot_sqrrelu", |k| k.dot_sqrrelu.call = |x, w, _| (truth().dot_screlu.call)(x, w, 255)),
    // Rounded where it must be cut.
    ("pairwise_u8", |k| k.pairwise_u8.call = |x, max, shift, out| {
        let (a, b) = x.split_at(x.len() / 2);
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            let clip = |x: &i16| i32::from((*x).clamp(0, max));
            *out = ((clip(a) * clip(b) + (1 << shift >> 1)) >> shift) as u8;
        }
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
    ("affine_i8", |k| k.affine_i8.call = |x, w, stride, _, out| (truth().affine_i8.call)(x, w, stride, &[], out)),
    // Another order of the same sum.
    ("affine_f32", |k| k.affine_f32.call = |x, w, stride, bias, out| {
        for (row, out) in out.iter_mut().enumerate() {
            *out = x.iter().enumerate().map(|(col, x)| x * w[row * stride + col]).sum();
            *out += bias.get(row).copied().unwrap_or(0.0);
        }
    }),
    // A clamp that leaves out what is below 0.
    ("activation_f32", |k| k.activation_f32.call = |x, code, out| {
        let positive: Vec<f32> = x.iter().map(|x| x.abs()).collect();
        (truth().activation_f32.call)(&positive, code, out);
    }),
    // Cut where it must be rounded.
    ("requantise_u8", |k| k.requantise_u8.call = |x, multipliers, shifts, low, high, out| {
        cut(x, multipliers, shifts, low, high).zip(out).for_each(|(value, out)| *out = value as u8);
    }),
    ("requantise_i8", |k| k.requantise_i8.call = |x, multipliers, shifts, low, high, out| {
        cut(x, multipliers, shifts, low, high).zip(out).for_each(|(value, out)| *out = value as i8);
    }),
    ("requantise_i32", |k| k.requantise_i32.call = |x, multipliers, shifts, low, high, out| {
        cut(x, multipliers, shifts, low, high).zip(out).for_each(|(value, out)| *out = value as i32);
    }),
];

fn cut<'a>(
    x: &'a [i32],
    multipliers: &'a [i32],
    shifts: &'a [u8],
    low: i32,
    high: i32,
) -> impl Iterator<Item = i64> + 'a {
    let products = x.iter().zip(multipliers).map(|(x, multiplier)| i64::from(*x) * i64::from(*multiplier));
    products.zip(shifts).map(move |(product, shift)| (product >> shift).clamp(low.into(), high.into()))
}

#[test]
fn every_operation_has_its_mistake() {
    assert!(truth().operations().map(|(name, _)| name).eq(MISTAKES.map(|(name, _)| name)));
}

#[test]
fn one_wrong_kernel_changes_a_signature() {
    let zoo = zoo::all();
    for (name, spoil) in MISTAKES {
        for tier in TIERS {
            let mut wrong = *tier;
            spoil(&mut wrong);
            let wrong: &'static Kernels = Box::leak(Box::new(wrong));
            let shows = zoo.iter().filter(|animal| {
                let model = Model::parse(animal.bytes.as_ref()).unwrap();
                let right = Runner::new(model, truth()).signature().unwrap();
                Runner::new(model, wrong).signature().unwrap() != right
            });
            assert!(shows.count() > 0, "a wrong {name} of {} shows in no signature", tier.name);
        }
    }
}

#[test]
fn the_suite_names_the_wrong_kernel() {
    for tier in TIERS {
        assert_eq!(suite::check(tier), Ok(()));
    }
    for (name, spoil) in MISTAKES {
        let mut wrong = *truth();
        spoil(&mut wrong);
        let mismatch = suite::check(&wrong).unwrap_err();
        assert_eq!(mismatch.operation, name);
    }
}
