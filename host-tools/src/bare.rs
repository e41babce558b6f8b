//! A trainer's own `quantised.bin`, which holds integers and no description: read under one, as a container in memory.

use crate::error::{CliError, Explain};
use crate::files;
use std::path::Path;
use tamis_quant::import::importers::sniff_network;
use tamis_quant::import::{SourceKind, fnv1a_64, read_bare, read_bare_file, read_checkpoint};
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::proof::prove;
use tamis_quant::quantised::QuantNet;

/// The container that `pack --arch` makes of it, proved or not, and the length of the file itself.
///
/// # Errors
/// [`CliError`] naming the file: a container, which has its description, a checkpoint of reals, or what `pack` refuses.
pub fn container_of(path: &Path, arch_file: &Path) -> Result<(Vec<u8>, usize), CliError> {
    if files::is_container(path) {
        let message = format!("{}: is a container, which has its description", path.display());
        return Err(CliError::usage(message).help("leave --arch out"));
    }
    let (shown, shown_arch) = (path.display(), arch_file.display());
    let of_reals = |what: &str| {
        CliError::usage(format!("{shown}: is {what}, and no container yet")).help(format!(
            "add --float to evaluate it in double precision, or make a container of it: `host-tools quantise {shown} \
             --arch {shown_arch} -o OUT`",
        ))
    };
    if let Ok(form) = sniff_network(path) {
        return Err(of_reals(form.is_what()));
    }
    let arch = files::read_arch(arch_file)?;
    if read_checkpoint(path, &arch).explain()?.source != SourceKind::Bare.words() {
        return Err(of_reals("a checkpoint of reals"));
    }
    let bytes = read_bare_file(path, &arch).explain()?;
    let net = QuantNet::from_bare(read_bare(&bytes, &arch).explain_at(path)?).explain_at(path)?;
    let program = net.lower().explain_at(path)?;
    let origin = Provenance { source: SourceKind::Bare.words().to_owned(), source_hash: fnv1a_64(&bytes) };
    let container = pack(&program, &prove(&program), &origin).explain_at(path)?;
    Ok((container, bytes.len()))
}
