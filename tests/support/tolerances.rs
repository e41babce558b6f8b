//! Every tolerance in the tests, in one table, with its reason. Integers have none.

/// Real tail in f32 against centipawns computed in f64 and printed with four decimals: sums of up to 1536 products.
pub const F32_TAIL_CENTIPAWNS: f64 = 0.01;
/// The f64 evaluator against values printed with four decimals.
pub const F64_PRINTED_CENTIPAWNS: f64 = 0.001;
/// Statistics against figures published with two decimals.
pub const PRINTED_TWO_DECIMALS: f64 = 0.005;
/// Statistics against figures published with one decimal.
pub const PRINTED_ONE_DECIMAL: f64 = 0.05;
/// The f64 evaluator against a framework's f32 forward pass of 256 products, in network outputs (1 is 400 centipawns).
pub const FRAMEWORK_F32: f64 = 1e-5;
/// The same for logits of up to about 30 after two dense layers.
pub const FRAMEWORK_LOGITS_F32: f64 = 5e-5;
/// Least signal to quantisation noise of a lightly trained network whose values are tens of centipawns: 30 dB is the limit that
/// PyTorch's own end-to-end tests of quantised models use.
pub const QUANTISED_SQNR_DB: f64 = 30.0;
