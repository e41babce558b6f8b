//! The rule of the Stockfish family.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tamis_quant::stockfish::Division;

/// How networks of the Stockfish family make a value of its two parts.
#[derive(Debug, Clone, Copy, Args)]
pub struct Divide {
    /// Of networks of the Stockfish family: divide their value once or twice
    ///
    /// Once is (psqt + positional) / 16, as Stockfish does up to 16.1, twice is psqt / 16 + positional / 16, as from 17
    /// on. Without it the file tells, by its architecture or as one that is known; the report says which and why.
    #[arg(hide_short_help = true, long = "divide", value_name = "RULE", value_parser = divisions())]
    pub rule: Option<Division>,
}

fn divisions() -> impl TypedValueParser<Value = Division> {
    let parser = PossibleValuesParser::new(Division::ALL.map(Division::word));
    parser.try_map(|word| Division::from_word(&word).ok_or("no rule"))
}
