//! From a quantised network to a container that its own reader has accepted: prove, pack, parse, sign.

use crate::error::{CliError, Explain};
use crate::footprint::Footprint;
use crate::output::Output;
use crate::progress;
use crate::status::Status;
use tamis_quant::pack::{Provenance, pack, pack_within, whole_workspace_len_bytes};
use tamis_quant::program::Program;
use tamis_quant::proof::{Proof, prove};
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::{self, Tier};

/// A container and what is known about it.
#[derive(Debug)]
pub struct Packed {
    /// The proof, which holds unless the user waived it.
    pub proof: Proof,
    /// The container.
    pub container: AlignedBytes,
    /// Its checksum.
    pub checksum: u64,
    /// Its signature on the default tier.
    pub signature: u64,
    /// Scratch memory of an evaluation.
    pub workspace_len_bytes: usize,
    /// The same where every value lies whole and apart.
    pub whole_workspace_len_bytes: usize,
    /// What to expect on microcontrollers.
    pub footprint: Footprint,
}

/// What a user asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct PackOptions {
    /// To write a network that has no proof.
    pub unproved: bool,
    /// The most bytes of scratch memory.
    pub ram: Option<usize>,
}

/// Proves, packs, parses and signs. Without `unproved` a program without a proof is refused. `name`: what a refusal
/// calls it.
///
/// # Errors
/// [`Status::GateFailed`] for a proof that fails, with tensor, row, bound and witness of each violation;
/// [`Status::Unsupported`] for what the runtime has no operation for.
pub fn prove_and_pack(
    program: &Program,
    name: &str,
    origin: &Provenance,
    asked: PackOptions,
    output: &Output,
) -> Result<Packed, CliError> {
    let spinner = progress::spinner(output, "proving");
    let proof = prove(program);
    spinner.finish_and_clear();
    if !proof.holds() && !asked.unproved {
        return Err(refusal(name, &proof));
    }
    let bytes = match asked.ram {
        None => pack(program, &proof, origin).explain()?,
        Some(budget) => pack_within(program, &proof, origin, budget).explain()?,
    };
    packed(proof, &bytes)
}

fn packed(proof: Proof, bytes: &[u8]) -> Result<Packed, CliError> {
    let container = AlignedBytes::copy_of(bytes);
    let model = Model::parse(container.as_ref()).explain()?;
    let (checksum, signature) = (model.header().checksum(), sign(model, kernels::best())?);
    let footprint = Footprint::of(&model);
    let (workspace_len_bytes, whole) = (model.workspace_len_bytes(), whole_workspace_len_bytes(&model).explain()?);
    Ok(Packed {
        proof,
        container,
        checksum,
        signature,
        workspace_len_bytes,
        whole_workspace_len_bytes: whole,
        footprint,
    })
}

/// A model's signature on a tier.
///
/// # Errors
/// None for a parsed model.
pub fn sign(model: Model<'_>, tier: &'static Tier) -> Result<u64, CliError> {
    Runner::new(model, tier).signature().explain()
}

fn refusal(name: &str, proof: &Proof) -> CliError {
    let violations: Vec<String> = proof.violations.iter().map(|violation| format!("  {violation}")).collect();
    let message = format!("network `{name}` has no overflow proof, nothing is written:\n{}", violations.join("\n"));
    CliError::new(Status::GateFailed, message).help(
        "train with smaller weights or a clipped activation, or lower the scales; --unproved writes the network all \
         the \
         same, and its integers then wrap as FORMAT.md defines, alike on every machine",
    )
}

/// The warning that goes with a proof that was waived.
pub fn unproved_warning(holds: bool) -> Vec<String> {
    let text = "unproved: an integer of this network can leave its type; it then wraps as FORMAT.md defines";
    if holds { Vec::new() } else { vec![text.to_owned()] }
}
