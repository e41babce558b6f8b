//! A verification as text, question by question.

use crate::facts::ProofFacts;
use crate::table::{self, row};
use std::io::{self, Write};
use tamis_quant::verify::accuracy::Accuracy;
use tamis_quant::verify::runtime::RuntimeCheck;
use tamis_quant::verify::stats::ErrorStats;
use tamis_quant::verify::{GateResult, ProofSummary, Report};

/// How many of the largest errors are shown.
const WORST_SHOWN: usize = 3;

/// Prints all of it.
///
/// # Errors
/// The writer's.
pub fn print(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let verdict = if report.passed { "passed" } else { "FAILED" };
    writeln!(out, "{}: {verdict}, on {} examples", report.network, report.truth.examples)?;
    if let Some(checkpoint) = &report.truth.checkpoint {
        writeln!(out, "  checkpoint  {checkpoint}")?;
    }
    for (key, value) in &report.truth.reference {
        writeln!(out, "  reference   {key}: {value}")?;
    }

    print_runtime_and_proof(out, &report.runtime, &report.proof)?;

    writeln!(out, "\n3. How far is the integer model from full precision?")?;
    print_accuracy(out, &report.accuracy, report.unit)?;
    print_layers(out, &report.accuracy)?;
    for worst in report.accuracy.worst.iter().take(WORST_SHOWN) {
        let integer = if worst.integer.fract() == 0.0 { 0 } else { 4 };
        writeln!(
            out,
            "  largest errors: example {}, integer {:.integer$}, float {:.4}",
            worst.example, worst.integer, worst.float
        )?;
    }

    writeln!(out, "\nMistakes in the description")?;
    if report.mistakes.is_empty() {
        writeln!(out, "  none found")?;
    }
    for mistake in &report.mistakes {
        writeln!(out, "  {}: {}", mistake.kind.words().to_uppercase(), mistake.text)?;
    }

    print_gates(out, &report.gates)
}

/// The first two questions.
///
/// # Errors
/// The writer's.
pub fn print_runtime_and_proof(out: &mut dyn Write, runtime: &RuntimeCheck, proof: &ProofSummary) -> io::Result<()> {
    writeln!(out, "\n1. Does the runtime equal the integer model?")?;
    print_runtime(out, runtime)?;

    writeln!(out, "\n2. Can any accumulator overflow?")?;
    ProofFacts::of_summary(proof).print(out)?;
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

/// Every gate with its verdict.
///
/// # Errors
/// The writer's.
pub fn print_gates(out: &mut dyn Write, gates: &[GateResult]) -> io::Result<()> {
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

/// End to end, and by cause.
fn print_accuracy(out: &mut dyn Write, accuracy: &Accuracy, unit: &str) -> io::Result<()> {
    let total = &accuracy.total;
    writeln!(out, "  integer minus {}, in {unit}: {}", accuracy.against, deviation(total))?;
    let sqnr = total.sqnr_db.map_or("no noise".to_owned(), |sqnr| format!("{sqnr:.1} dB"));
    writeln!(
        out,
        "  SQNR {sqnr}, cosine {:.6}, sign changes {} of {}",
        total.cosine, accuracy.sign_flips, total.count
    )?;
    if let Some(error) = &accuracy.win_probability {
        writeln!(out, "  as win probability: mean {:.4}, sd {:.4}, max {:.4}", error.mean, error.sd, error.max)?;
    }
    if let Some(share) = accuracy.top1_agreement {
        writeln!(out, "  same first choice in {:.2} % of the examples", 100.0 * share)?;
    }
    if let Some(correct) = &accuracy.correct {
        let percent = |right: usize| 100.0 * right as f64 / correct.count.max(1) as f64;
        let (float, integer) = (percent(correct.float), percent(correct.integer));
        writeln!(out, "  right answers: float {float:.2} %, integer {integer:.2} %, of {}", correct.count)?;
    }
    if accuracy.causes.is_empty() {
        return Ok(());
    }
    let mut rows = vec![row!["cause", "mean", "sd", "max"]];
    let interaction = accuracy.interaction.as_ref().map(|stats| ("interaction", stats));
    let causes = accuracy.causes.iter().map(|cause| (cause.cause.as_str(), &cause.alone));
    for (cause, stats) in causes.chain(interaction) {
        rows.push(row![cause, format!("{:.3}", stats.mean), format!("{:.3}", stats.sd), format!("{:.3}", stats.max)]);
    }
    table::print(out, &rows)
}

fn print_layers(out: &mut dyn Write, accuracy: &Accuracy) -> io::Result<()> {
    if accuracy.layers.is_empty() {
        return Ok(());
    }
    let mut rows = vec![row!["layer", "mean", "sd", "max", "SQNR dB"]];
    for layer in &accuracy.layers {
        let stats = &layer.sums;
        let sqnr = stats.sqnr_db.map_or("-".to_owned(), |sqnr| format!("{sqnr:.1}"));
        let [mean, sd, max] = [stats.mean, stats.sd, stats.max].map(|value| format!("{value:.6}"));
        rows.push(row![layer.layer, mean, sd, max, sqnr]);
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
