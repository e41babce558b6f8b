//! Which scales were chosen, what holds them, and what they are expected to cost.

use std::io::{self, Write};
use tamis_quant::arch::ElementType;
use tamis_quant::quantise::scales::{Candidate, Scales};

/// Two to four lines.
///
/// # Errors
/// The writer's.
pub fn print_scales(out: &mut dyn Write, scales: &Scales) -> io::Result<()> {
    let error = |of: &Candidate| format!("{:+.2} ± {:.2}", of.mean, of.sd);
    let said = |of: &Candidate| of.scales.iter().map(i32::to_string).collect::<Vec<_>>().join(" and ");
    let Scales { chosen, trainer, tried, examples, rows, finer_neurons } = scales;
    if *tried == 1 {
        // Another form has no scales but its description's.
        write!(out, "  scales     the description's, {}: expected error {} ", said(chosen), error(chosen))?;
        writeln!(out, "on {examples} random examples")?;
        return print_rows(out, *rows);
    }
    if chosen.form == trainer.form {
        write!(out, "  scales     the trainer's, {}: expected error {}, ", said(chosen), error(chosen))?;
    } else {
        write!(out, "  scales     products rounded, {}: expected error {} ", said(chosen), error(chosen))?;
        write!(out, "(the trainer's {}: {}), ", said(trainer), error(trainer))?;
    }
    writeln!(out, "least of {tried} tried on {examples} random examples")?;
    if *finer_neurons > 0 {
        writeln!(out, "             {finer_neurons} neurons of the first layer up to twice as fine")?;
    }
    if let Some(bound) = scales.held_by() {
        let percent = 100.0 * bound.fraction;
        writeln!(out, "             held by {} of `{}`, {percent:.1} % of its type", bound.quantity, bound.tensor)?;
    }
    print_rows(out, *rows)
}

fn print_rows(out: &mut dyn Write, rows: ElementType) -> io::Result<()> {
    match rows {
        ElementType::I8 => {
            writeln!(out, "  rows       bytes, half the memory of i16: every weight of the first layer is one")
        }
        _ => Ok(()),
    }
}
