//! How integers are clipped on their way to integer weights, and to bytes.

/// What is done with accumulators, or sums, before integer weights, in integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clip {
    /// Nothing; of sums only.
    Identity,
    /// Clipped below 0 only.
    Relu,
    /// Clipped to 0 to `max`.
    Crelu,
    /// The square of that.
    Screlu,
    /// The square of what is above 0.
    Sqrrelu,
}

/// How i32 become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteActivation {
    /// Shifted and clipped.
    Clip,
    /// Squared, shifted and capped.
    Square,
    /// The squares, and behind them the clipped.
    Both,
}
