//! By which rule a network of the Stockfish family makes its value of two parts: chosen or found out, and how that is
//! said.

use crate::error::{CliError, Explain};
use serde::Serialize;
use std::fmt;
use std::path::Path;
use tamis_quant::pack::nnue_division;
use tamis_quant::stockfish::{Basis, Division, Net, decide};
use tamis_runtime::format::Model;

/// A rule, and why it was taken.
#[derive(Debug, Clone, Serialize)]
pub struct DivideFacts {
    /// `once` or `twice`.
    rule: &'static str,
    /// What decided: `architecture`, `file`, `default`, `option` or `container`.
    by: &'static str,
    /// The same in words.
    why: String,
    #[serde(skip)]
    division: Division,
}

impl DivideFacts {
    /// Of a `.nnue` file, whose network takes over the rule that the option says.
    pub fn of_file(net: &mut Net, file: &[u8], option: Option<Division>) -> Self {
        let decision = decide(&net.shape, Some(file));
        let facts = match option {
            Some(division) => {
                let why = format!("by --divide; without it {}, {decision}", decision.division.word());
                Self::new(division, "option", why)
            }
            None => Self::new(decision.division, decision.basis.word(), decision.to_string()),
        };
        net.division = facts.division;
        facts
    }

    /// Of a container, which says it; the option may only say the same.
    ///
    /// # Errors
    /// [`CliError`] naming the file, if it contradicts itself or the option contradicts it.
    pub fn of_container(model: &Model<'_>, option: Option<Division>, path: &Path) -> Result<Self, CliError> {
        let (shape, division) = nnue_division(model).explain_at(path)?;
        if let Some(asked) = option.filter(|asked| *asked != division) {
            let (asked, stored) = (asked.word(), division.word());
            return Err(CliError::usage(format!("--divide {asked}: {} divides {stored}", path.display())).help(
                format!("leave it out, or make another container: `host-tools pack FILE.nnue --divide {asked} -o OUT`"),
            ));
        }
        let decision = decide(&shape, None);
        let why = match decision.basis {
            Basis::Architecture { releases } if decision.division == division => {
                format!("by the container; so does its architecture, that of {releases}")
            }
            Basis::Architecture { releases } => {
                format!("by the container; its architecture, that of {releases}, divides {}", decision.division.word())
            }
            _ => "by the container; its architecture does not tell".to_owned(),
        };
        Ok(Self::new(division, "container", why))
    }

    fn new(division: Division, by: &'static str, why: String) -> Self {
        Self { rule: division.word(), by, why, division }
    }
}

impl fmt::Display for DivideFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}; {}", self.rule, self.division.formula(), self.why)
    }
}

/// Refuses the option where no network of the family is.
///
/// # Errors
/// [`CliError`] if it was given.
pub fn refuse_elsewhere(option: Option<Division>, path: &Path) -> Result<(), CliError> {
    if option.is_some() {
        let message = format!("--divide: {} is no network of the Stockfish family, which alone divide", path.display());
        return Err(CliError::usage(message).help("leave it out"));
    }
    Ok(())
}
