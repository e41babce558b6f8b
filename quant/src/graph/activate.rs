//! Activations in double precision.

use super::node::Activation;

impl Activation {
    /// The function on the (n,) values of a pixel.
    #[must_use]
    pub fn apply(self, x: &[f64]) -> Vec<f64> {
        let each = |function: &dyn Fn(f64) -> f64| x.iter().map(|x| function(*x)).collect();
        match self {
            Self::Relu => each(&|x| if x > 0.0 { x } else { 0.0 }),
            Self::Crelu => each(&|x| x.clamp(0.0, 1.0)),
            Self::LeakyRelu { alpha } => each(&|x| if x > 0.0 { x } else { alpha * x }),
            Self::Sigmoid => each(&|x| 1.0 / (1.0 + libm::exp(-x))),
            Self::Tanh => each(&libm::tanh),
            Self::Softmax => {
                let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let powers: Vec<f64> = x.iter().map(|x| libm::exp(x - largest)).collect();
                let sum: f64 = powers.iter().sum();
                powers.iter().map(|power| power / sum).collect()
            }
            Self::LogSoftmax => {
                let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = x.iter().map(|x| libm::exp(x - largest)).sum();
                each(&|x| x - largest - libm::log(sum))
            }
            Self::Clip { low, high } => each(&|x| x.max(low).min(high)),
            Self::HardSigmoid { alpha, beta } => each(&|x| (alpha * x + beta).clamp(0.0, 1.0)),
            Self::HardSwish => each(&|x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0),
            Self::Elu { alpha } => each(&|x| if x > 0.0 { x } else { alpha * libm::expm1(x) }),
            Self::Abs => each(&f64::abs),
            Self::Exp => each(&libm::exp),
            Self::Sqrt => each(&f64::sqrt),
            Self::Erf => each(&libm::erf),
        }
    }
}
