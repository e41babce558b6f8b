//! Networks and examples that are the same everywhere: refused by name, unless that is what is meant.

use crate::error::CliError;
use crate::status::Status;
use std::path::Path;

/// Refuses what was found, if anything was.
///
/// # Errors
/// [`Status::GateFailed`] naming the file and the first of it.
pub fn refuse(found: &[String], path: &Path, is_allowed: bool) -> Result<(), CliError> {
    let Some(first) = found.first().filter(|_| !is_allowed) else { return Ok(()) };
    let more = match found.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more like it"),
    };
    Err(CliError::new(Status::GateFailed, format!("{}: {first}{more}; nothing is written", path.display()))
        .help("give the trained network, and examples as it will meet them; --allow-constant takes them as they are"))
}
