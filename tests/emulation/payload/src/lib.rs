//! What every place runs, on whatever tiers it has: the contract suite, the signature of each model, and thousands of
//! inputs of each small one.
//!
//! It writes a log of lines that `run` compares with what they must be, character by character:
//!
//! ```text
//! tiers scalar wide …
//! suite scalar passed
//! signature tiny scalar 15045d1b699a46c9
//! stretch tiny scalar 5120 6d1f2b3c4d5e6f70
//! end
//! ```
//!
//! A mistake is a line too, in place of the one that was expected, so a run goes on and shows all of them. `end` tells
//! a whole log from one that was cut off. A slow place says `suite scalar elsewhere` of a tier whose suite another
//! place of the same run holds, as its build was told.

#![no_std]
#![forbid(unsafe_code)]

mod stretch;

use core::fmt::{Result, Write};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::Tier;
use tamis_runtime::raw::{element, input_kind};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::testing::suite;
use tamis_runtime::{Plan, Workspace};

/// The widest accumulator, and the longest dense input, that [`model`] has memory for.
const WIDEST: usize = 4096;
/// The largest workspace in bytes that it has memory for.
const WORKSPACE: usize = 64 * 1024;

/// Tiers whose suite is another place's to run, with spaces between them.
const ELSEWHERE: &str = match option_env!("TAMIS_SUITES_ELSEWHERE") {
    Some(names) => names,
    None => "",
};

fn tiers() -> impl Iterator<Item = &'static Tier> {
    tamis_runtime::kernels::tiers()
}

/// Names the tiers that this machine can run, and holds each of them to the definition unless another place does.
///
/// # Errors
/// If the log cannot be written.
pub fn suites(log: &mut dyn Write) -> Result {
    write!(log, "tiers")?;
    for tier in tiers() {
        write!(log, " {}", tier.name)?;
    }
    writeln!(log)?;
    for tier in tiers() {
        if ELSEWHERE.split(' ').any(|name| name == tier.name) {
            writeln!(log, "suite {} elsewhere", tier.name)?;
            continue;
        }
        match suite::check(tier) {
            Ok(()) => writeln!(log, "suite {} passed", tier.name)?,
            Err(mismatch) => writeln!(log, "suite {} FAILED: {mismatch:?}", tier.name)?,
        }
    }
    Ok(())
}

/// Computes the signature of a model on every tier, and with `stretches` of a small one the outputs of many inputs.
/// `bytes` is a container at a multiple of 64 in memory.
///
/// It takes about 100 KiB of the stack.
///
/// # Errors
/// If the log cannot be written.
pub fn model(log: &mut dyn Write, name: &str, bytes: &[u8], stretches: bool) -> Result {
    let stretches = stretches && stretch::is_for(bytes.len());
    let model = match Model::parse(bytes) {
        Ok(model) => model,
        Err(error) => return writeln!(log, "signature {name} REFUSED: {error}"),
    };
    let (mut own, mut other, mut spare) = ([0; WIDEST], [0; WIDEST], [0; WIDEST]);
    let mut input = [0; WIDEST];
    let mut words = [0; WIDEST];
    let mut workspace = Workspace::<WORKSPACE>::new();
    // A network of features has accumulators, a dense one has bytes or words, a sparse one a list of features and their
    // values.
    let record = model.input();
    let (hidden, size) = (record.hidden as usize, record.size as usize);
    let (values, bytes, words_len) = match record.kind {
        input_kind::FEATURES => (hidden, 0, 0),
        input_kind::SPARSE => (record.max_active as usize, 0, record.max_active as usize),
        _ if record.element == element::F32 => (0, 0, size),
        _ => (0, size, 0),
    };
    let (Some(own), Some(other), Some(spare), Some(bytes), Some(words)) = (
        own.get_mut(..values),
        other.get_mut(..hidden),
        spare.get_mut(..hidden),
        input.get_mut(..bytes),
        words.get_mut(..words_len),
    ) else {
        return writeln!(log, "signature {name} REFUSED: wider than {WIDEST}");
    };
    for tier in tiers() {
        let (own, other, spare) = (&mut *own, &mut *other, &mut *spare);
        let (bytes, words) = (&mut *bytes, &mut *words);
        let buffers = Buffers { own, other, spare, bytes, words, workspace: workspace.as_mut() };
        match signature(&Plan::new(model, tier), buffers) {
            Ok(signature) => writeln!(log, "signature {name} {} {signature:016x}", tier.name)?,
            Err(error) => writeln!(log, "signature {name} {} REFUSED: {error}", tier.name)?,
        }
    }
    for tier in tiers().filter(|_| stretches) {
        let (own, other, bytes, words) = (&mut *own, &mut *other, &mut *bytes, &mut *words);
        let mut buffers = stretch::Buffers { own, other, bytes, words, workspace: workspace.as_mut() };
        match stretch::outputs(&Plan::new(model, tier), &mut buffers) {
            Ok(hash) => writeln!(log, "stretch {name} {} {} {hash:016x}", tier.name, stretch::INPUTS)?,
            Err(error) => writeln!(log, "stretch {name} {} REFUSED: {error}", tier.name)?,
        }
    }
    Ok(())
}

/// Ends the log.
///
/// # Errors
/// If the log cannot be written.
pub fn end(log: &mut dyn Write) -> Result {
    writeln!(log, "end")
}
