//! Every tolerance in the tests, in one table, with its reason. Integers have none.

/// Real tail in f32 against centipawns computed in f64 and printed with four decimals: sums of up to 1536 products.
pub const F32_TAIL_CENTIPAWNS: f64 = 0.01;
/// The f64 evaluator against values printed with four decimals.
pub const F64_PRINTED_CENTIPAWNS: f64 = 0.001;
/// Statistics against figures published with two decimals.
pub const PRINTED_TWO_DECIMALS: f64 = 0.005;
/// Statistics against figures published with one decimal.
pub const PRINTED_ONE_DECIMAL: f64 = 0.05;
