//! The demonstration in plain words.

use super::{Demo, Shown};
use crate::commands::verify::deviation;
use crate::report::print_scales;
use std::io::{self, Write};
use tamis_quant::verify::Predictions;

/// Prints it.
///
/// # Errors
/// The writer's.
pub fn print(out: &mut dyn Write, demo: &Demo) -> io::Result<()> {
    writeln!(out, "Tamis presses a trained network into integers that give the same bits on every machine.")?;
    writeln!(out, "Here it does so with the two networks that come with the program, all in memory.")?;
    for (number, shown) in (1..).zip(&demo.networks) {
        writeln!(out, "\n{number}. {}: {}", shown.network, shown.architecture)?;
        made(out, shown)?;
        ran(out, shown)?;
        compared(out, shown)?;
    }
    writeln!(out, "\nThe same with files of your own:")?;
    writeln!(out, "  host-tools quantise CHECKPOINT --arch A.toml -o quantised.bin")?;
    writeln!(out, "  host-tools verify quantised.bin --checkpoint CHECKPOINT --arch A.toml --positions FILE.bf")
}

fn made(out: &mut dyn Write, shown: &Shown) -> io::Result<()> {
    writeln!(out, "  read       {}, {} bytes, as its description says", shown.checkpoint, shown.checkpoint_len_bytes)?;
    let ratio = shown.len_bytes as f64 / shown.float_len_bytes.max(1) as f64;
    writeln!(
        out,
        "  quantised  {} bytes of f32 into a container of {} ({ratio:.2})",
        shown.float_len_bytes, shown.len_bytes
    )?;
    shown.scales.iter().try_for_each(|scales| print_scales(out, scales))?;
    let fullest = shown.proof.bounds.iter().max_by(|a, b| a.uses.total_cmp(&b.uses));
    match fullest {
        Some(bound) if shown.proof.holds => writeln!(
            out,
            "  proved     nothing can overflow; the fullest is the {} of `{}`, which uses {} of its {}",
            bound.quantity,
            bound.tensor,
            share(bound.uses),
            bound.element
        )?,
        _ => shown.proof.violations.iter().try_for_each(|violation| writeln!(out, "  NOT PROVED {violation}"))?,
    }
    let back = if shown.comes_back { "the same integers" } else { "OTHER INTEGERS" };
    writeln!(out, "  packed     checksum {}; taken apart again it gives {back}", shown.checksum)
}

/// A part of a type's range; three digits show nothing of a network as small as the demo's second.
fn share(uses: f64) -> String {
    if uses < 0.001 { "less than 0.001".to_owned() } else { format!("{uses:.3}") }
}

fn ran(out: &mut dyn Write, shown: &Shown) -> io::Result<()> {
    let runtime = &shown.verification.runtime;
    for tier in &runtime.tiers {
        writeln!(
            out,
            "  ran        on tier {:<8} signature {}; {} of {} examples differ from the integer model",
            tier.tier, tier.signature, tier.differing_examples, runtime.examples
        )?;
    }
    for evaluation in &shown.evaluations {
        writeln!(
            out,
            "  evaluated  {:>5} centipawns, {:>8.2} in full precision: {}",
            evaluation.integer, evaluation.float, evaluation.fen
        )?;
    }
    Ok(())
}

fn compared(out: &mut dyn Write, shown: &Shown) -> io::Result<()> {
    let report = &shown.verification;
    let said = |key: &str| report.truth.reference.get(key).map_or("unknown", String::as_str);
    let examples = report.truth.examples;
    writeln!(
        out,
        "  compared   with {examples} outputs of {} on {}, in {}:",
        said("framework"),
        said("device"),
        report.unit
    )?;
    writeln!(out, "             {}", deviation(&report.accuracy.total))?;
    for cause in &report.accuracy.causes {
        let (mean, sd) = (cause.alone.mean, cause.alone.sd);
        writeln!(out, "             {:<22} alone: mean {mean:>7.3}, sd {sd:>6.3}", cause.cause)?;
    }
    if let Some(Predictions { float_correct, correct, .. }) = &report.accuracy.predictions {
        let [float, integer] = [float_correct, correct].map(|right| 100.0 * right.share());
        writeln!(out, "  right      {float:.2} % in float, {integer:.2} % in integers, of {} digits", correct.count)?;
    }
    for mistake in &report.mistakes {
        writeln!(out, "  MISTAKE    {}", mistake.text)?;
    }
    let verdict = if report.passed { "passed" } else { "FAILED" };
    let gates: Vec<&str> = report.gates.iter().map(|gate| gate.gate).collect();
    writeln!(out, "  gates      {verdict}: {}", gates.join(", "))
}
