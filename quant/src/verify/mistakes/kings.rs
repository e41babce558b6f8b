//! A wrong king-bucket table, recovered square by square.
//!
//! A table has too many single changes to try as hypotheses one by one, but its squares hardly interact: for each
//! square the bucket that brings the positions with a king there closest to the truth is kept, twice over all squares.

use super::MistakeKind;
use super::hypotheses::Hypothesis;
use crate::arch::InputKind;
use crate::float::{Net, example};
use crate::positions::Position;
use crate::verify::VerifyError;

/// Rounds over the board: kings of both sides meet in every position, so a second one settles what the first disturbed.
const ROUNDS: usize = 2;

/// The table that fits the truth best, if that is another table. `truth`: outputs, position after position.
///
/// # Errors
/// [`VerifyError::Example`] if a position does not fit the network.
pub fn recover(net: &Net<f64>, positions: &[&Position], truth: &[f64]) -> Result<Option<Hypothesis>, VerifyError> {
    let buckets = net.arch.king_bucket_count();
    if net.arch.input.kind != InputKind::Chess || buckets < 2 {
        return Ok(None);
    }
    let mirrored = net.arch.input.mirrored;
    let original = net.arch.king_table();
    let mut changed = net.clone();
    let mut table = original;
    for _ in 0..ROUNDS {
        for square in (0..64usize).filter(|square| !mirrored || square % 8 < 4) {
            let twins = if mirrored { [square, square ^ 7] } else { [square, square] };
            let here = |position: &Position| {
                [position.own_king(), position.opponent_king()].iter().any(|king| twins.contains(&usize::from(*king)))
            };
            let affected: Vec<usize> =
                positions.iter().enumerate().filter(|(_, position)| here(position)).map(|(index, _)| index).collect();
            if affected.is_empty() {
                continue;
            }
            let mut best: Option<(u8, f64)> = None;
            let current = table[square];
            // The bucket that stands there first, so that it wins among equals.
            for bucket in std::iter::once(current).chain((0..buckets as u8).filter(|bucket| *bucket != current)) {
                twins.iter().for_each(|twin| table[*twin] = bucket);
                changed.arch.input.king_buckets = Some(table.to_vec());
                let error = squared_error(&changed, positions, &affected, truth)?;
                if best.is_none_or(|(_, least)| error < least) {
                    best = Some((bucket, error));
                }
            }
            twins.iter().for_each(|twin| table[*twin] = best.map_or(current, |(bucket, _)| bucket));
        }
    }
    let differing: Vec<String> = (0..64usize)
        .filter(|square| table[*square] != original[*square])
        .map(|square| format!("{}{}: {}", char::from(b'a' + (square % 8) as u8), square / 8 + 1, table[square]))
        .collect();
    let text = format!("other king buckets ({})", differing.join(", "));
    let change = move |changed: &mut Net<f64>| changed.arch.input.king_buckets = Some(table.to_vec());
    Ok((!differing.is_empty()).then(|| Hypothesis::new(MistakeKind::KingBuckets, text, change)))
}

fn squared_error(
    net: &Net<f64>,
    positions: &[&Position],
    indices: &[usize],
    truth: &[f64],
) -> Result<f64, VerifyError> {
    let count = net.arch.output_count().max(1);
    let mut sum = 0.0;
    for index in indices {
        let position = positions[*index];
        let fault = |error| VerifyError::Example { index: *index, error };
        let outputs = net.evaluate(&example(&net.arch, position).map_err(fault)?).map_err(fault)?;
        let wanted = &truth[index * count..][..count];
        sum += outputs.iter().zip(wanted).map(|(output, wanted)| (output - wanted).powi(2)).sum::<f64>();
    }
    Ok(sum)
}
