//! Positions on a container of the Stockfish family: the value, and the two parts that it is the sum of.

use super::{Evaluations, Value};
use crate::cli::Eval;
use crate::error::{CliError, Explain};
use crate::output::Output;
use serde::Serialize;
use tamis_quant::positions::Position;
use tamis_quant::run::{Outputs, Runner, features_of};
use tamis_runtime::format::{Model, op};
use tamis_runtime::kernels::Kernels;

/// Both parts of a position's value, each sixteen times what it adds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Parts {
    /// The piece-square part; 0 of a network without.
    psqt: i32,
    /// What the layers give.
    positional: i32,
}

/// Evaluates the positions that were asked for.
///
/// # Errors
/// [`CliError`] naming file and line or record.
pub fn run(args: &Eval, model: Model<'_>, tier: &'static Kernels, output: &Output) -> Result<Evaluations, CliError> {
    let people = model.people().explain_at(&args.model)?;
    let mut runner = Runner::new(model, tier);
    let mut all = Vec::new();
    let mut values = super::each(args, output, |position| {
        let (value, parts) = evaluate(&mut runner, position).map_err(|message| {
            CliError::usage(format!("{}: {message}", args.model.display())).help("pack the network again")
        })?;
        all.push(parts);
        Ok(vec![Value::Int(value)])
    })?;
    if args.parts {
        for (values, Parts { psqt, positional }) in values.iter_mut().zip(&all) {
            values.extend([Value::Int(*psqt), Value::Int(*positional)]);
        }
    }
    Ok(Evaluations { parts: Some(all), ..Evaluations::new(&args.model, people.name, Some(tier.name), values) })
}

/// The value, and its parts: what the last operation reads is their sum.
fn evaluate(runner: &mut Runner<'_>, position: &Position) -> Result<(i32, Parts), String> {
    let model = *runner.plan().model();
    let (lists, bucket) = features_of(&model, position).ok_or("its input is no chess board")?;
    let value_of =
        |kind: u32| model.ops().iter().find(|record| record.kind == kind).map(|record| record.output as usize);
    let psqt_value = value_of(op::PSQT);
    let sum_value = model.ops().last().map(|record| record.input as usize);
    let (mut psqt, mut sum) = (0, 0);
    let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes));
    let outputs = runner.evaluate_lists(&lists, bucket, |value, bytes| {
        if Some(value) == psqt_value {
            psqt = number(bytes);
        }
        if Some(value) == sum_value {
            sum = number(bytes);
        }
    });
    match outputs.map_err(|error| error.to_string())? {
        Outputs::I32(values) => {
            let value = values.first().copied().unwrap_or(0);
            Ok((value, Parts { psqt, positional: sum.wrapping_sub(psqt) }))
        }
        Outputs::F32(_) => Err("its output is real".to_owned()),
    }
}
