//! What `unpack` takes.

use super::Target;
use clap::Args;
use std::path::PathBuf;

/// `unpack`
#[derive(Debug, Args)]
pub struct Unpack {
    /// Container
    pub model: PathBuf,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
}
