//! By which rule a network of the Stockfish family makes its value of two parts: chosen or found out, and how that is
//! said.

use crate::error::{CliError, Explain};
use serde::Serialize;
use std::fmt;
use std::path::Path;
use tamis_quant::pack::nnue_division;
use tamis_quant::stockfish::{Division, Net, decide};
use tamis_quant::verify::DivideInfo;
use tamis_runtime::format::Model;

/// A rule, and why it was taken.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct DivideReport(DivideInfo);

impl DivideReport {
    /// Of a `.nnue` file, whose network takes over the rule that the option says.
    pub fn of_file(net: &mut Net, file: &[u8], option: Option<Division>) -> Self {
        let decision = decide(&net.shape, Some(file));
        let facts = match option {
            Some(division) => {
                let why = format!("by --divide; without it {}, {decision}", decision.division.word());
                DivideInfo::new(division, "option", why)
            }
            None => DivideInfo::new(decision.division, decision.basis.word(), decision.to_string()),
        };
        net.division = facts.division;
        Self(facts)
    }

    /// Of a container, which says it; the option may only say the same. None of networks that divide nothing, for
    /// which there is no option.
    ///
    /// # Errors
    /// [`CliError`] naming the file, if it contradicts itself or the option contradicts it.
    pub fn of_container(model: &Model<'_>, option: Option<Division>, path: &Path) -> Result<Option<Self>, CliError> {
        let Some((shape, division)) = nnue_division(model).explain_at(path)? else {
            return refuse_elsewhere(option, path).map(|()| None);
        };
        if let Some(asked) = option.filter(|asked| *asked != division) {
            let (asked, stored) = (asked.word(), division.word());
            return Err(CliError::usage(format!("--divide {asked}: {} divides {stored}", path.display())).help(
                format!("leave it out, or make another container: `host-tools pack FILE.nnue --divide {asked} -o OUT`"),
            ));
        }
        Ok(Some(Self(DivideInfo::of_container(&shape, division))))
    }
}

impl fmt::Display for DivideReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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
