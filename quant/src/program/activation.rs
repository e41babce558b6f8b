//! Functions of reals.

/// A function of reals; section 6.1 of FORMAT.md defines each to the bit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RealActivation {
    /// `x` if above 0, else 0.
    Relu,
    /// Clipped to 0 to 1.
    Crelu,
    /// The square of that.
    Screlu,
    /// The square of ReLU.
    Sqrrelu,
    /// Products of the two halves, clipped: half as many.
    PairwiseCrelu,
    /// Clipped, and behind them the clipped squares: twice as many.
    DualCrelu,
    /// `x` if above 0, else `alpha · x`.
    LeakyRelu {
        /// The factor below 0.
        alpha: f32,
    },
    /// `x · clamp(x + 3, 0, 6) / 6`
    HardSwish,
    /// `1 / (1 + exp(−x))`
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// `exp(x[i]) / Σ exp(x)`
    Softmax,
}
