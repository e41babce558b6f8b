//! Scales and rows of a network of accumulators: what was asked for, or what is chosen.

use crate::cli::{Form, Quantise, Rows, Scales};
use crate::error::{CliError, Explain};
use tamis_quant::float::Net;
use tamis_quant::quantise::quantise;
use tamis_quant::quantise::scales::{self, ScalesError, quantise_by_proof, store_in_bytes};
use tamis_quant::quantised::QuantNet;

/// The network in integers, and how its scales were chosen, if they were.
///
/// # Errors
/// [`CliError`] naming the checkpoint.
pub fn quantised(real: &Net<f32>, args: &Quantise) -> Result<(QuantNet, Option<scales::Scales>), CliError> {
    let path = &args.checkpoint;
    let rows = match args.scaling.rows {
        None => scales::Rows::WhereExact,
        Some(Rows::Described) => scales::Rows::Described,
        Some(Rows::I8) => scales::Rows::Bytes { limit: args.scaling.rows_limit },
    };
    if args.scaling.of(args.form) == Scales::Proof {
        let (net, scales) = quantise_by_proof(real, rows).explain_at(path)?;
        return Ok((net, Some(scales)));
    }
    let mut net = quantise(real).explain_at(path)?;
    if args.scaling.rows == Some(Rows::I8) && !store_in_bytes(&mut net) {
        let tensor = net.layers[0].weights.name.clone();
        return Err(ScalesError::Wide { tensor }).explain_at(path);
    }
    Ok((net, None))
}

/// What cannot be had together.
///
/// # Errors
/// [`CliError`] with what to leave out.
pub fn refuse(args: &Quantise) -> Result<(), CliError> {
    let is_bare = args.form == Form::Bare;
    if args.scaling.scales == Some(Scales::Proof) && is_bare {
        return Err(CliError::usage("--scales proof: the bare file has the trainer's scales, which its engine reads")
            .help("leave it out, or write a container"));
    }
    if args.scaling.rows == Some(Rows::I8) && is_bare {
        return Err(CliError::usage("--rows i8: the bare file has the description's types, which its engine reads")
            .help("leave it out, or write a container"));
    }
    match args.scaling.rows_limit {
        Some(limit) if !(limit.is_finite() && limit >= 0.0) => {
            Err(CliError::usage(format!("--rows-limit {limit}: expected a number of the output's units, at least 0")))
        }
        Some(_) if args.scaling.rows != Some(Rows::I8) || args.scaling.of(args.form) == Scales::Trainer => {
            Err(CliError::usage("--rows-limit: is for --rows i8 with scales that are chosen").help("leave it out"))
        }
        _ => Ok(()),
    }
}
