//! Positions on a container of the Stockfish family: the value, and the two parts that it is the sum of.

use super::buckets::{BucketValues, Parts};
use super::lists::Scores;
use super::{Evaluations, OfAll, Value, score_of};
use crate::cli::Eval;
use crate::divide::DivideReport;
use crate::error::{CliError, Explain};
use crate::output::Output;
use tamis_quant::parallel;
use tamis_quant::positions::Position;
use tamis_quant::run::{Outputs, Runner, features_in};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::Tier;
use tamis_runtime::raw::op;

/// Evaluates the positions that were asked for.
///
/// # Errors
/// [`CliError`] naming file and line or record.
pub fn run(
    args: &Eval,
    model: Model<'_>,
    divide: DivideReport,
    tier: &'static Tier,
    output: &Output,
) -> Result<Evaluations, CliError> {
    let metadata = model.metadata().explain_at(&args.model)?;
    let (mut all, mut tables) = (Vec::new(), Vec::new());
    let fault = |message: String| {
        CliError::usage(format!("{}: {message}", args.model.display())).help("pack the network again")
    };
    let runner = || Runner::new(model, tier);
    let one = |runner: &mut Runner<'_>, position: &Position| {
        let features = features_in(runner.plan(), position);
        let (lists, used) = features.ok_or_else(|| fault("its input is no chess board".to_owned()))?;
        let (value, parts) = evaluate(runner, &lists, used).map_err(fault)?;
        let mut of_bucket = |bucket: usize| {
            let (value, parts) = evaluate(runner, &lists, bucket).map_err(fault)?;
            let (values, parts) = (vec![Value::Int(value)], Some(parts));
            Ok(BucketValues { bucket, used: bucket == used, values, parts })
        };
        let count = if args.buckets { model.input().bucket_count as usize } else { 0 };
        let table = (0..count).map(&mut of_bucket).collect::<Result<Vec<_>, CliError>>()?;
        Ok((value, parts, table))
    };
    let (mut values, mut worth) = (Vec::new(), Vec::new());
    super::in_blocks(args, output, |block| {
        worth.extend(block.iter().map(score_of));
        let made = parallel::map_with(block.len(), runner, |runner, index| one(runner, &block[index]));
        for made in made {
            let (value, parts, table) = made?;
            values.push(vec![Value::Int(value)]);
            all.push(parts);
            tables.extend(args.buckets.then_some(table));
        }
        Ok(())
    })?;
    let scores = Scores::of(&worth, &values);
    Ok(Evaluations {
        parts: Some(all),
        shows_parts: args.parts,
        divide: Some(divide),
        buckets: args.buckets.then_some(tables),
        scores,
        summary: scores.map(OfAll::from),
        ..Evaluations::new(&args.model, metadata.name, Some(tier.name), values)
    })
}

/// The value of a bucket, and its parts. What the last operation reads is their sum where it divides; where it adds,
/// what it reads is the positional part, divided by the operation that wrote it.
fn evaluate(runner: &mut Runner<'_>, lists: &[Vec<u32>; 2], bucket: usize) -> Result<(i32, Parts), String> {
    let model = *runner.plan().model();
    let value_of =
        |kind: u32| model.ops().iter().find(|record| record.kind == kind).map(|record| record.output as usize);
    let psqt_value = value_of(op::PSQT);
    let last = model.ops().last();
    let divides_twice = last.is_some_and(|last| last.kind == op::ADD_I32);
    let sum_value = match last {
        Some(last) if divides_twice => model.ops().iter().find(|record| record.output == last.input),
        last => last,
    };
    let sum_value = sum_value.map(|record| record.input as usize);
    let (mut psqt, mut sum) = (0, 0);
    let number = |bytes: &[u8]| {
        let first = bytes.first_chunk().unwrap_or_else(|| unreachable!("a value of i32 has four bytes"));
        i32::from_le_bytes(*first)
    };
    let outputs = runner.evaluate_lists(lists, bucket, |value, bytes| {
        if Some(value) == psqt_value {
            psqt = number(bytes);
        }
        if Some(value) == sum_value {
            sum = number(bytes);
        }
    });
    match outputs.map_err(|error| error.to_string())? {
        Outputs::I32(values) => {
            let value = values.first().copied().ok_or("a network without outputs")?;
            let positional = if divides_twice { sum } else { sum.wrapping_sub(psqt) };
            Ok((value, Parts { psqt, positional }))
        }
        Outputs::F32(_) => Err("its output is real".to_owned()),
    }
}
