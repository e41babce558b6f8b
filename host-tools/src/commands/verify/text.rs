//! A verification as text, question by question.

use crate::report::ProofReport;
use crate::table::{self, row};
use std::io::{self, Write};
use tamis_quant::verify::mistakes::Mistake;
use tamis_quant::verify::runtime::RuntimeCheck;
use tamis_quant::verify::stats::ErrorStats;
use tamis_quant::verify::{Accuracy, Agreement, GateResult, NnueFindings, Predictions, ProofSummary, Report};

/// How many of the largest errors are shown.
const WORST_SHOWN: usize = 3;

/// Prints all of it, question by question.
///
/// # Errors
/// The writer's.
pub fn print(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    print_truth(out, report)?;

    writeln!(out, "\n1. Does the runtime equal the integer model?")?;
    print_runtime(out, &report.runtime)?;

    writeln!(out, "\n2. Can any accumulator overflow?")?;
    print_proof(out, &report.proof)?;

    writeln!(out, "\n3. How far is the integer model from full precision?")?;
    if let Some(nnue) = &report.nnue {
        print_own_values(out, nnue, report.truth.checkpoint.as_deref())?;
    }
    print_accuracy(out, &report.accuracy, report.unit)?;
    print_causes(out, &report.accuracy)?;
    print_layers(out, &report.accuracy)?;
    print_worst(out, &report.accuracy)?;

    if report.looked_for_mistakes {
        print_mistakes(out, &report.mistakes, &report.remarks)?;
    }
    print_gates(out, &report.gates)
}

/// Which examples are farthest off, with both numbers.
fn print_worst(out: &mut dyn Write, accuracy: &Accuracy) -> io::Result<()> {
    for worst in accuracy.worst.iter().take(WORST_SHOWN) {
        let integer = if worst.integer.fract() == 0.0 { 0 } else { 4 };
        let of_several =
            if accuracy.total.count > accuracy.samples { format!(", output {}", worst.output) } else { String::new() };
        let fen = worst.fen.as_ref().map_or_else(String::new, |fen| format!(", {fen}"));
        writeln!(
            out,
            "  largest errors: example {}{of_several}, integer {:.integer$}, float {:.4}{fen}",
            worst.example, worst.integer, worst.float
        )?;
    }
    Ok(())
}

/// The verdict, and what was held against what.
fn print_truth(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let verdict = if report.passed { "passed" } else { "FAILED" };
    let truth = &report.truth;
    writeln!(out, "{}: {verdict}, on {} examples", report.network, truth.examples)?;
    for sentence in report.verdict() {
        writeln!(out, "  {:<11} {}", sentence.about, sentence.text)?;
    }
    writeln!(out)?;
    if let Some(nnue) = &report.nnue {
        writeln!(out, "  network     {}", nnue.architecture)?;
        writeln!(out, "  divide      {}", nnue.divide)?;
    }
    if let Some(checkpoint) = &truth.checkpoint {
        write!(out, "  checkpoint  {checkpoint}")?;
        if let Some(import) = &truth.import {
            write!(out, " ({})", import.source)?;
        }
        match report.nnue.as_ref().and_then(|nnue| nnue.same_file) {
            Some(true) => write!(out, ": the file that comes back, byte for byte")?,
            Some(false) => write!(out, ": NOT the file that comes back")?,
            None => {}
        }
        if let Some(difference) = report.nnue.as_ref().and_then(|nnue| nnue.difference) {
            write!(out, "; {difference}")?;
        }
        writeln!(out)?;
    }
    for (key, value) in &truth.reference {
        writeln!(out, "  reference   {key}: {value}")?;
    }
    truth.inputs.iter().try_for_each(|inputs| writeln!(out, "  examples    {inputs}"))
}

fn print_proof(out: &mut dyn Write, proof: &ProofSummary) -> io::Result<()> {
    ProofReport::of_summary(proof).print(out)?;
    if proof.claims_hold {
        writeln!(out, "  every claim in the file follows from its weights")?;
    }
    for claim in proof.claims.iter().filter(|claim| !claim.holds) {
        writeln!(
            out,
            "  FALSE CLAIM in the file: `{}` says {:#x}, proved {:#x}",
            claim.tensor, claim.stored, claim.derived
        )?;
    }
    Ok(())
}

/// Files of the Stockfish family are integers already.
fn print_own_values(out: &mut dyn Write, nnue: &NnueFindings, file: Option<&str>) -> io::Result<()> {
    match nnue.differing_values {
        0 => writeln!(out, "  not at all: the .nnue file holds these integers, and its own rules give every value")?,
        count => writeln!(out, "  {count} values are NOT those that the .nnue file's own rules give")?,
    }
    if let (Some(false), Some(path)) = (nnue.same_file, file) {
        writeln!(out, "  held to the file that the container was packed from, not to {path}")?;
    }
    Ok(())
}

fn print_mistakes(out: &mut dyn Write, mistakes: &[Mistake], remarks: &[Mistake]) -> io::Result<()> {
    writeln!(out, "\nMistakes")?;
    if mistakes.is_empty() {
        writeln!(out, "  none found")?;
    }
    for mistake in mistakes {
        writeln!(out, "  {}: {}", mistake.kind.words().to_uppercase(), mistake.text)?;
    }
    remarks.iter().try_for_each(|remark| writeln!(out, "  remark, {}: {}", remark.kind.words(), remark.text))
}

/// Every gate with its verdict.
fn print_gates(out: &mut dyn Write, gates: &[GateResult]) -> io::Result<()> {
    writeln!(out, "\nGates")?;
    let mut rows = vec![row!["gate", "found", "wanted", "verdict"]];
    for gate in gates {
        rows.push(row![gate.gate, gate.found, gate.limit, if gate.passed { "passed" } else { "FAILED" }]);
    }
    table::print(out, &rows)
}

/// A line a tier, and what follows.
fn print_runtime(out: &mut dyn Write, check: &RuntimeCheck) -> io::Result<()> {
    let mut rows = vec![row!["tier", "bytes compared", "examples that differ", "signature"]];
    for tier in &check.tiers {
        rows.push(row![tier.tier, tier.bytes, tier.differing_examples, tier.signature]);
    }
    table::print(out, &rows)?;
    for tier in &check.tiers {
        if let Some(first) = &tier.first {
            writeln!(
                out,
                "  tier {}, example {}: {}, element {} is {} and should be {}",
                tier.tier, first.example, first.value, first.element, first.found, first.expected
            )?;
        }
    }
    writeln!(out, "  {}", if check.equal { "yes: every byte of every value, on every tier" } else { "NO" })
}

/// End to end.
fn print_accuracy(out: &mut dyn Write, accuracy: &Accuracy, unit: &str) -> io::Result<()> {
    let total = &accuracy.total;
    writeln!(out, "  integer minus {}, in {unit}: {}", accuracy.against, deviation(total))?;
    let sqnr = total.sqnr_db.map_or("no noise".to_owned(), |sqnr| format!("{sqnr:.2} dB"));
    writeln!(
        out,
        "  SQNR {sqnr}, cosine {:.6}, sign changes {} of {}",
        total.cosine, accuracy.sign_flips, total.count
    )?;
    if let Some(error) = &accuracy.win_probability {
        writeln!(out, "  as win probability: mean {:.4}, sd {:.4}, max {:.4}", error.mean, error.sd, error.max)?;
    }
    if let Some(top1) = &accuracy.top1 {
        writeln!(out, "  top-1       {}", interval(top1, "alike"))?;
    }
    let Some(Predictions { float_correct, correct, float_auc, auc, float_log_loss, log_loss }) = &accuracy.predictions
    else {
        return Ok(());
    };
    writeln!(out, "  right       {}; float {}", interval(correct, "right"), float_correct.equal)?;
    if let (Some(auc), Some(float)) = (auc, float_auc) {
        writeln!(out, "  auc         {auc:.6}; float {float:.6}, {:+.6}", auc - float)?;
    }
    writeln!(out, "  log-loss    {log_loss:.6}; float {float_log_loss:.6}, {:+.6}", log_loss - float_log_loss)
}

fn interval(agreement: &Agreement, what: &str) -> String {
    let Agreement { equal, count, low, high } = agreement;
    let percent = |share: f64| share * 100.0;
    format!(
        "{equal} of {count} {what}, {:.3} % (95 % interval {:.3} to {:.3})",
        percent(agreement.share()),
        percent(*low),
        percent(*high)
    )
}

fn print_causes(out: &mut dyn Write, accuracy: &Accuracy) -> io::Result<()> {
    if accuracy.causes.is_empty() {
        return Ok(());
    }
    let mut rows = vec![row!["cause", "mean", "sd", "max"]];
    let interaction = accuracy.interaction.as_ref().map(|stats| ("interaction", stats));
    let causes = accuracy.causes.iter().map(|cause| (cause.cause.as_str(), &cause.alone));
    let digits = if accuracy.split_total.max >= 1.0 { 3 } else { 5 };
    if accuracy.split_samples < accuracy.samples {
        writeln!(out, "  by cause, on {} of the examples", accuracy.split_samples)?;
    }
    for (cause, stats) in causes.chain(interaction) {
        let [mean, sd, max] = [stats.mean, stats.sd, stats.max].map(|value| format!("{value:.digits$}"));
        rows.push(row![cause, mean, sd, max]);
    }
    table::print(out, &rows)
}

fn print_layers(out: &mut dyn Write, accuracy: &Accuracy) -> io::Result<()> {
    if accuracy.layers.is_empty() {
        return Ok(());
    }
    let mut rows = vec![row!["layer", "as", "mean", "sd", "max", "SQNR dB"]];
    for layer in &accuracy.layers {
        let sqnr = layer.sqnr_db.map_or("-".to_owned(), |sqnr| format!("{sqnr:.2}"));
        let [mean, sd, max] = [layer.mean, layer.sd, layer.max].map(|value| format!("{value:.6}"));
        rows.push(row![layer.layer, layer.element, mean, sd, max, sqnr]);
    }
    table::print(out, &rows)
}

/// Mean, deviation and extremes; large numbers with fewer digits than small ones.
pub fn deviation(stats: &ErrorStats) -> String {
    let digits = if stats.max >= 1.0 { 2 } else { 5 };
    let ErrorStats { mean, sd, max, p99_9, rms, .. } = stats;
    format!(
        "mean {mean:.digits$}, sd {sd:.digits$}, max {max:.*}, p99.9 {p99_9:.digits$}, rms {rms:.digits$}",
        digits - usize::from(digits == 2)
    )
}
