//! exp, tanh and softmax (section 6.1).

/// A constant as its bits.
const fn bits(bits: u32) -> f32 {
    f32::from_bits(bits)
}

pub(super) fn exp(x: f32) -> f32 {
    if x.is_nan() || x > 89.0 {
        return if x.is_nan() { x } else { f32::INFINITY };
    } else if x < -104.0 {
        return 0.0;
    }
    // A variable for every operation, so that each is rounded by itself.
    let scaled = x * bits(0x3FB8_AA3B);
    let shifted = scaled + bits(0x4B40_0000);
    let k = shifted - bits(0x4B40_0000);
    let high = k * bits(0x3F31_7200);
    let low = k * bits(0x35BF_BE8E);
    let r = (x - high) - low;
    let mut q = bits(0x3950_0D01);
    for c in [0x3AB6_0B61, 0x3C08_8889, 0x3D2A_AAAB, 0x3E2A_AAAB, 0x3F00_0000] {
        let product = q * r;
        q = product + bits(c);
    }
    let square = r * r;
    let tail = square * q;
    let e = (tail + r) + 1.0;
    let a = (f64::from(k) / 2.0).floor();
    let power = |n: f64| n.exp2() as f32;
    let first = e * power(a);
    first * power(f64::from(k) - a)
}

pub(super) fn tanh(x: f32) -> f32 {
    if x.is_nan() {
        return x;
    }
    if x.abs() <= 0.625 {
        let u = x * x;
        let above = (u + 105.0) * u;
        let above = x * (above + 945.0);
        let below = (15.0 * u + 420.0) * u;
        return above / (below + 945.0);
    }
    let z = if x < 0.0 { -x } else { x };
    let y = 1.0 - 2.0 / (exp(z + z) + 1.0);
    if x < 0.0 { -y } else { y }
}

pub(super) fn softmax(x: &[f32]) -> Vec<f32> {
    let mut m = x[0];
    for x in &x[1..] {
        if *x > m {
            m = *x;
        }
    }
    let powers: Vec<f32> = x.iter().map(|x| exp(x - m)).collect();
    let sum = in_lanes(&powers);
    powers.iter().map(|power| power / sum).collect()
}

/// The sum of terms in eight lanes (section 6.8).
pub(super) fn in_lanes(terms: &[f32]) -> f32 {
    let lane = |lane: usize| terms.iter().skip(lane).step_by(8).fold(0.0, |sum: f32, term| sum + term);
    let [l0, l1, l2, l3, l4, l5, l6, l7] = [0, 1, 2, 3, 4, 5, 6, 7].map(lane);
    ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7))
}
