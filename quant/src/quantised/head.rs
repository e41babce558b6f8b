//! The integer head of a bullet-family network: which divisions and factors turn a sum into centipawns, and the layers
//! of integers before them.

use crate::arch::{Activation, Architecture, ElementType, HeadDivision, TensorSpec};

/// `((sum / pre_divisor + bias · bias_factor) · factor) / divisor`, see [`tamis_runtime::raw::num::rescale`]; the
/// container holds the product with the bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerHead {
    /// QA after a squared activation, which carries QA²; 1 where that is divided once, and after others.
    pub pre_divisor: i32,
    /// QA after a squared activation that is divided once; else 1. The file's bias carries QA·QB all the same.
    pub bias_factor: i32,
    /// The output's scale; the format takes 1 to 2³⁰.
    pub factor: i32,
    /// QA·QB, times `bias_factor`; QA·QA·QB / 2¹⁵ where products are rounded.
    pub divisor: i32,
    /// Whether products are rounded at 15 bits, and the result once to nearest: `(sum + bias) · factor / divisor`.
    pub is_rounded: bool,
}

/// Bits that a rounded product loses.
const ROUNDED_BITS: u32 = 15;

/// The scale of sums of rounded products, where it is a whole number: `QA·QA·QB / 2¹⁵`.
#[must_use]
pub fn rounded_scale(qa: i32, qb: i32) -> Option<i32> {
    let product = i64::from(qa).checked_mul(qa.into())?.checked_mul(qb.into())?;
    let whole = qa > 0 && qb > 0 && product % (1 << ROUNDED_BITS) == 0;
    whole.then(|| i32::try_from(product >> ROUNDED_BITS).ok()).flatten()
}

impl IntegerHead {
    /// The scale of the bias in the trainer's file: QA·QB, or that of the sums of rounded products.
    #[must_use]
    pub const fn bias_scale(&self) -> i32 {
        self.divisor / self.bias_factor
    }
}

/// The integer head, for a network of two layers whose second has integer weights and an integer bias.
pub fn head(arch: &Architecture) -> Option<IntegerHead> {
    let [first, _] = arch.layers.as_slice() else { return None };
    let (weights, bias) = (arch.tensor(&arch.weights_name(1))?, arch.tensor(&arch.bias_name(1))?);
    let squared = matches!(first.activation, Activation::Screlu | Activation::Sqrrelu);
    let plain = matches!(first.activation, Activation::Relu | Activation::Crelu);
    if weights.r#type != ElementType::I16 || bias.r#type == ElementType::F32 || !(squared || plain) {
        return None;
    }
    let (qa, qb) = (arch.tensor(&arch.weights_name(0))?.scale?, weights.scale?);
    let factor = arch.output.scale;
    let (pre_divisor, bias_factor) = match arch.output.divide {
        _ if !squared => (1, 1),
        HeadDivision::Rounded => {
            let divisor = rounded_scale(qa, qb)?;
            return Some(IntegerHead { pre_divisor: 1, bias_factor: 1, factor, divisor, is_rounded: true });
        }
        HeadDivision::Twice => (qa, 1),
        HeadDivision::Once => (1, qa),
    };
    let divisor = qa.checked_mul(qb)?.checked_mul(bias_factor)?;
    Some(IntegerHead { pre_divisor, bias_factor, factor, divisor, is_rounded: false })
}

/// The shift of sums that a description gives none.
const UNSHIFTED: u32 = 0;

/// Layers of integers from the second one to the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerTail {
    /// Of all layers but the first and the last: what is done with its sums before the next one's weights.
    pub activations: Vec<SumActivation>,
    /// Of the last layer's sums.
    pub head: IntegerHead,
}

/// What is done with sums before integer weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumActivation {
    /// Which function.
    pub activation: Activation,
    /// How far sums are shifted right before.
    pub shift: u32,
    /// The shifted sum that stands for 1.
    pub one: i32,
}

impl SumActivation {
    /// The activation that stands for 1.
    #[must_use]
    pub fn units(&self) -> f64 {
        let one = f64::from(self.one);
        if is_squared(self.activation) { one * one } else { one }
    }
}

const fn is_squared(activation: Activation) -> bool {
    matches!(activation, Activation::Screlu | Activation::Sqrrelu | Activation::DualCrelu)
}

/// The layers behind bytes, where their biases are integers. What stands for 1 follows from the biases' scales: a bias
/// is added to sums, whose scale is that of the weights times that of what they meet.
///
/// # Errors
/// The layer, what is wrong with it, and what to do instead.
pub fn integer_tail(arch: &Architecture) -> Result<Option<IntegerTail>, (usize, String, &'static str)> {
    let spec = |index: usize| Some((arch.tensor(&arch.weights_name(index))?, arch.tensor(&arch.bias_name(index))?));
    let has_bytes = |(weights, bias): &(&TensorSpec, &TensorSpec)| {
        weights.r#type == ElementType::I8 && bias.r#type != ElementType::F32
    };
    if !spec(1).as_ref().is_some_and(has_bytes) {
        return Ok(None);
    }
    let last = arch.layers.len() - 1;
    // The weights' scale and the bias's, the sums'.
    let scales = |index: usize| -> Result<(i32, i32), (usize, String, &'static str)> {
        let both = spec(index).and_then(|(weights, bias)| Some((weights.scale?, bias.scale?)));
        let reals = || (index, "reals behind integers".to_owned(), "store weights and bias as integers");
        if arch.layers[index].skip > 0 {
            return Err((index, "a skip between layers of integers".to_owned(), "store the second bias as f32"));
        }
        both.ok_or_else(reals)
    };
    let (_, mut sums) = scales(1)?;
    let mut activations = Vec::with_capacity(last);
    for index in 1..last {
        let layer = &arch.layers[index];
        let (weights, next) = scales(index + 1)?;
        let met = next / weights;
        let one = if is_squared(layer.activation) { met.isqrt() } else { met };
        let found =
            SumActivation { activation: layer.activation, shift: layer.activation_shift.unwrap_or(UNSHIFTED), one };
        if found.units() * f64::from(weights) != f64::from(next) || !(1..=i32::from(i16::MAX)).contains(&one) {
            let what = format!("a bias of scale {next} behind weights of scale {weights}");
            let instead = "make the bias's scale the weights' times the integer that stands for 1 (its square behind \
                           screlu, sqrrelu and dual-crelu), of at most 32767";
            return Err((index + 1, what, instead));
        }
        let ratio = f64::from(sums) / (1u64 << found.shift) as f64 / f64::from(one);
        if !(0.5..2.0).contains(&ratio) {
            let what = format!("sums of scale {sums}, shifted right by {}, where {one} stands for 1,", found.shift);
            return Err((index, what, "choose the `activation_shift` that makes one of the other"));
        }
        activations.push(found);
        sums = next;
    }
    let factor = arch.output.scale;
    let head = IntegerHead { pre_divisor: 1, bias_factor: 1, factor, divisor: sums, is_rounded: false };
    Ok(Some(IntegerTail { activations, head }))
}
