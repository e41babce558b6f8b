//! A proof that no accumulator, sum or result leaves its type, or a witness that one does.
//!
//! Everything follows from the integers alone, node by node; each node's bounds follow from those of what it reads:
//! - an accumulator starts at its bias and adds at most `max_active` distinct rows: its extremes are the bias plus the
//!   largest positive, or the most negative, weights of that hidden unit; of a chessboard's fewer can come together,
//!   one on a square, sixteen of a side, of one king bucket;
//! - a sum over activations lies between the sum of its negative and the sum of its positive contributions, each
//!   activation at the extreme of its range; so does every partial sum, whatever the order;
//! - the result of the integer head follows from the sum by division, addition and multiplication in 64 bits. Where the
//!   bound of its sums leaves i32, the head is one whose sums are of 64 bits too, and only the result has to fit.
//!
//! A caller's vector can be anything that its element holds. What leaves its type is a violation; what comes behind it
//! is bounded as if it were any number of the type.

mod accumulators;
mod before;
mod board;
mod bounds;
mod buckets;
mod extremes;
mod maps;
mod pairs;
mod report;
mod search;
mod sides;
mod span;
mod sums;
mod wide;
mod witness;

pub(crate) use before::Before;
pub(crate) use bounds::bound;
pub(crate) use maps::{rounded, rounded_sum};
pub use report::{Check, Proof, Quantity, Violation, Witness};
pub(crate) use span::Span;
pub(crate) use wide::leaves_i32;

use crate::program::Program;
use buckets::{has_rows_a_bucket, is_bucketed};

/// Derives every bound of a program, and a witness for the worst row of every tensor that exceeds its type.
///
/// ```
/// use tamis_quant::arch::Architecture;
/// use tamis_quant::import::read_bare;
/// use tamis_quant::proof::{Quantity, prove};
/// use tamis_quant::program::Values;
/// use tamis_quant::quantised::QuantNet;
///
/// let arch = Architecture::from_toml(include_str!("../../../tests/vectors/tiny.toml"), "tiny.toml")?;
/// let mut net = QuantNet::from_bare(read_bare(include_bytes!("../../../tests/vectors/tiny.bare.bin"), &arch)?)?;
/// let proof = prove(&net.lower()?);
/// assert!(proof.holds());
/// // Hidden unit 1: −3, and of −20, 30, 200, 120 those that are positive.
/// assert_eq!((proof.checks[0].row, proof.checks[0].low, proof.checks[0].high), (1, -23, 347));
///
/// net.tensor_mut("l0w").unwrap().values = Values::Int(vec![30_000; 8]);
/// let violation = &prove(&net.lower()?).violations[0];
/// assert_eq!((violation.check.quantity, violation.check.high), (Quantity::Accumulator, 120_005));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn prove(program: &Program) -> Proof {
    let mut proof = Proof::default();
    let ranges = accumulators::check(program, &mut proof);
    // Of each value a span, or one an output bucket.
    let mut spans: Vec<Vec<Span>> = vec![vec![Span::of_program(program, &ranges)]];
    for (index, node) in program.nodes.iter().enumerate() {
        let buckets = if is_bucketed(program, node, &spans) { program.buckets() } else { 1 };
        let (mut made, mut checks) = (Vec::with_capacity(buckets), Vec::new());
        for bucket in 0..buckets {
            let before: Vec<&Span> = spans.iter().map(|spans| of_bucket(spans, bucket)).collect();
            let (input, buckets) = (&program.input, program.buckets());
            let nodes = &program.nodes[..index];
            let (span, found) = bound(&Before { input, nodes, spans: &before, bucket, buckets }, node);
            // A layer that all buckets share has the same rows in each, behind what differs between them.
            let first = if has_rows_a_bucket(node) { bucket * node.value.shape.channels } else { 0 };
            let place =
                |check: Check| Check { row: first + check.row, bucket: (buckets > 1).then_some(bucket), ..check };
            checks.extend(found.into_iter().map(place));
            made.push(span);
        }
        proof.add(checks, |check| {
            let read = node.reads.first()?;
            // A check of no bucket is of rows that all buckets share, as are those before them.
            let before = match check.bucket {
                Some(bucket) => of_bucket(&spans[read.value], bucket),
                None => of_bucket(&spans[read.value], 0),
            };
            witness::find(program, node, before, &ranges, check)
        });
        spans.push(made);
    }
    proof
}

/// Bounds of every accumulator element of one perspective: `(low, high)`, exact over all lists that the program admits.
#[must_use]
pub fn accumulator_ranges(program: &Program) -> Vec<(i64, i64)> {
    accumulators::ranges(program)
}

fn of_bucket(spans: &[Span], bucket: usize) -> &Span {
    if spans.len() == 1 { &spans[0] } else { &spans[bucket] }
}
