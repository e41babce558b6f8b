//! The path from a module to the container that it embeds: relative, so that a crate can be moved.

use crate::error::CliError;
use crate::files::folder_of;
use crate::status::Status;
use std::path::{Component, Path, PathBuf};

/// The path from a module to a container, both of which may be still to be written, with `/` between its parts.
///
/// # Errors
/// [`CliError`] if a folder is missing, if there is no such path, or if it is no text, as a Rust program's must be.
pub fn from_to(module: &Path, container: &Path) -> Result<String, CliError> {
    let (from, to) = (folder(module)?, folder(container)?);
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    // Two drives share nothing, not even a root.
    if shared == 0 {
        return Err(unreachable_from(module, container, "they lie on different drives")
            .help("write the module to the drive that holds the container"));
    }
    let up = from.iter().skip(shared).map(|_| Component::ParentDir);
    let down = to.iter().skip(shared).copied();
    let name = container.file_name().map(Component::Normal);
    let parts: Option<Vec<&str>> = up.chain(down).chain(name).map(|part| part.as_os_str().to_str()).collect();
    match parts {
        Some(parts) => Ok(parts.join("/")),
        None => Err(unreachable_from(module, container, "a name on the way is not UTF-8, as a path in Rust must be")
            .help("rename it, or copy the container to another place")),
    }
}

fn folder(file: &Path) -> Result<PathBuf, CliError> {
    folder_of(file).canonicalize().map_err(|error| CliError::io("find the folder", file, &error))
}

fn unreachable_from(module: &Path, container: &Path, why: &str) -> CliError {
    let message = format!("{}: cannot be embedded by {}: {why}", container.display(), module.display());
    CliError::new(Status::Usage, message)
}
