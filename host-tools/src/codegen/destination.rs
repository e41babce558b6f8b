//! Where a new container goes, together with a module that embeds it, if one is wanted: the module's bytes are safe
//! before the container takes its name, so that what can still fail is one rename.

use super::{Module, sink};
use crate::cli;
use crate::error::{CliError, Explain};
use crate::files::Sink;
use crate::packed::Packed;
use std::path::{Path, PathBuf};
use tamis_runtime::format::Model;

/// Places that have been found free, or may be overwritten.
#[derive(Debug)]
pub struct Destination {
    out: PathBuf,
    container: Sink,
    module: Option<(PathBuf, Sink)>,
}

impl Destination {
    /// Looks at both before any work is done.
    ///
    /// # Errors
    /// [`CliError`] as of [`Sink::check`] and [`sink`].
    pub fn check(target: &cli::Target, module: &cli::Module, inputs: &[&Path]) -> Result<Self, CliError> {
        let container = Sink::check(target, inputs)?;
        let module = match &module.codegen {
            Some(path) => Some((path.clone(), sink(path, &target.out, target.force, inputs)?)),
            None => None,
        };
        Ok(Self { out: target.out.clone(), container, module })
    }

    /// Writes the container and its module.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn write(self, packed: &Packed) -> Result<(), CliError> {
        let bytes = packed.container.as_ref();
        let Some((path, sink)) = self.module else { return self.container.write(bytes) };
        let model = Model::parse(bytes).explain()?;
        // The module's bytes are on the disk before the container has its name; only a rename is left then.
        let module = Module::begin(sink, &path, &self.out, &model, packed.signature)?;
        self.container.write(bytes)?;
        module.keep()
    }

    /// Writes something else than a container, which no module embeds.
    ///
    /// # Errors
    /// [`CliError`] naming the file, and if a module is wanted.
    pub fn write_bare(self, bytes: &[u8]) -> Result<(), CliError> {
        refuse_bare(self.module.is_some())?;
        self.container.write(bytes)
    }
}

/// Refuses a module of a bare file.
///
/// # Errors
/// [`CliError`] if one is wanted.
pub fn refuse_bare(is_wanted: bool) -> Result<(), CliError> {
    if is_wanted {
        return Err(CliError::usage("--codegen: a module embeds a container, and --form bare writes none")
            .help("leave --form bare out; `host-tools unpack` makes the bare file of a container"));
    }
    Ok(())
}
