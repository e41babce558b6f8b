//! `quantise`: a float checkpoint becomes a proved `quantised.bin`: bullet's layers by their description, every other
//! network as a graph by what calibration examples show.

mod graph;

pub use graph::WrittenGraph;

use crate::cli::{self, Calibration, Form, Permute, Quantise};
use crate::codegen::{Destination, refuse_bare};
use crate::error::{CliError, Explain};
use crate::facts::{self, PermutationFacts, ProofFacts, TensorFacts};
use crate::files;
use crate::network;
use crate::nnue::is_nnue;
use crate::output::{Output, Report};
use crate::permute;
use crate::progress;
use crate::seal::{Sealed, seal, unproved_warning};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use tamis_quant::arch::Architecture;
use tamis_quant::import::{SourceKind, read_checkpoint};
use tamis_quant::pack::{Provenance, to_bare};
use tamis_quant::quantise::{QuantNet, quantise};

/// The name of the default form in reports.
pub const CONTAINER: &str = "container";

/// What was written.
#[derive(Debug, Serialize)]
pub struct Written {
    out: String,
    form: &'static str,
    network: String,
    architecture: String,
    /// The path that was given.
    input: String,
    /// What was read there: `weights.bin`, `raw.bin`, …
    source: String,
    source_hash: String,
    /// Bytes of the parameters as f32, of which the file holds integers.
    float_len_bytes: usize,
    len_bytes: usize,
    /// A Rust module that embeds it, if one was asked for.
    module: Option<String>,
    tensors: Vec<TensorFacts>,
    /// If another order of the neurons was asked for.
    permutation: Option<PermutationFacts>,
    proof: ProofFacts,
    /// Of a container; the bare form has none.
    checksum: Option<String>,
    /// Of the network on the runtime, whichever form was written.
    signature: String,
}

/// What was written, of either kind of network.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Quantised {
    /// bullet's layers.
    Layers(Box<Written>),
    /// All others.
    Graph(Box<WrittenGraph>),
}

/// Reads, quantises, proves, writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Quantise, output: &Output) -> Result<Quantised, CliError> {
    permute::check_form(&args.permute, args.form)?;
    refuse_bare(args.form == Form::Bare && args.module.codegen.is_some())?;
    let arch_file = args.network.arch.as_deref().map(Path::new);
    let calibration = args.calibration.calibrate.as_deref();
    let mut inputs = inputs(&args.checkpoint, arch_file, &args.permute);
    inputs.extend(calibration);
    let destination = Destination::check(&args.target, &args.module, &inputs)?;
    refuse_container(&args.checkpoint)?;
    match (network::layers(&args.network)?, arch_file) {
        (Some(arch), Some(arch_file)) => {
            if let Some(calibration) = calibration {
                let message =
                    format!("{}: calibrates graphs, and this is a network of accumulators", calibration.display());
                return Err(CliError::usage(message).help("leave it out; its scales stand in its description"));
            }
            refuse_what_is_for_graphs(&args.calibration)?;
            layers(args, &arch, arch_file, destination, output).map(|written| Quantised::Layers(Box::new(written)))
        }
        _ => graph::run(args, destination, output).map(|written| Quantised::Graph(Box::new(written))),
    }
}

/// What has a default that says nothing is passed over.
fn refuse_what_is_for_graphs(typed: &Calibration) -> Result<(), CliError> {
    let given = [
        ("--keep-f32", !typed.keep_f32.is_empty()),
        ("--input-range", typed.input_range.is_some()),
        ("--range", !typed.range.is_empty()),
        ("--round-each", typed.round_each),
        ("--no-bias-correction", typed.no_bias_correction),
        ("--no-equalise", typed.no_equalise),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(CliError::usage(format!("{option}: is for graphs, and this is a network of accumulators"))
                .help("leave it out; types and scales of such a network stand in its description"))
        }
        None => Ok(()),
    }
}

fn layers(
    args: &Quantise,
    arch: &Architecture,
    arch_file: &Path,
    destination: Destination,
    output: &Output,
) -> Result<Written, CliError> {
    let spinner = progress::spinner(output, "quantising");
    let checkpoint = read_checkpoint(&args.checkpoint, arch).explain()?;
    if checkpoint.source == SourceKind::Bare.words() {
        return Err(CliError::usage(format!(
            "{}: is a quantised.bin already; quantising it again would round integers a second time",
            args.checkpoint.display()
        ))
        .help("`host-tools pack` makes a container of it, integer by integer"));
    }
    let mut net = quantise(&checkpoint.net).explain_at(&args.checkpoint)?;
    spinner.finish_and_clear();
    let origin = Provenance { source: checkpoint.source, source_hash: checkpoint.bytes_hash };
    let permutation = permute::apply(&mut net, &args.permute, &args.checkpoint, output)?;
    let sealed = seal(&net.lower().explain()?, &net.arch.name, &origin, args.unproved, output)?;
    let bare = match args.form {
        Form::Container => None,
        Form::Bare => Some(to_bare(&net).explain_at(arch_file)?),
    };
    let len_bytes = bare.as_deref().unwrap_or(sealed.container.as_ref()).len();
    let form = if bare.is_some() { "bare" } else { CONTAINER };
    match &bare {
        None => destination.write(&sealed)?,
        Some(bare) => destination.write_bare(bare)?,
    }
    let written = Written::new(&args.checkpoint, &args.target.out, form, len_bytes, &net, &origin, &sealed);
    Ok(written.permuted(permutation).embedded(&args.module))
}

/// Every file that is read, of which none may be written.
pub fn inputs<'a>(network: &'a Path, arch: Option<&'a Path>, permute: &'a Permute) -> Vec<&'a Path> {
    [network].into_iter().chain(arch).chain(permute.positions.as_deref()).collect()
}

fn refuse_container(path: &Path) -> Result<(), CliError> {
    if files::is_container(path) {
        return Err(CliError::usage(format!("{}: is a container already", path.display()))
            .help("`host-tools inspect` shows what is in it"));
    }
    if is_nnue(path) {
        return Err(CliError::usage(format!("{}: is a .nnue file, which holds integers already", path.display()))
            .help("`host-tools pack` makes a container of it, integer by integer"));
    }
    Ok(())
}

impl Written {
    /// The report on a network that was read from `input` and written to `out`, its neurons in the trainer's order.
    pub fn new(
        input: &Path,
        out: &Path,
        form: &'static str,
        len_bytes: usize,
        net: &QuantNet,
        origin: &Provenance,
        sealed: &Sealed,
    ) -> Self {
        let tensors = facts::of_net(net);
        let parameters: usize = tensors.iter().map(|tensor| tensor.rows * tensor.cols).sum();
        Self {
            input: input.display().to_string(),
            out: out.display().to_string(),
            form,
            network: net.arch.name.clone(),
            architecture: facts::one_line(&net.arch),
            source: origin.source.clone(),
            source_hash: format!("{:016x}", origin.source_hash),
            float_len_bytes: parameters * size_of::<f32>(),
            len_bytes,
            module: None,
            tensors,
            permutation: None,
            proof: ProofFacts::of(&sealed.proof),
            checksum: (form == CONTAINER).then(|| format!("{:016x}", sealed.checksum)),
            signature: format!("{:016x}", sealed.signature),
        }
    }

    /// The same of a network whose neurons were given another order, if they were.
    pub fn permuted(self, permutation: Option<PermutationFacts>) -> Self {
        Self { permutation, ..self }
    }

    /// The same of a network that a module embeds, if one was asked for.
    pub fn embedded(self, module: &cli::Module) -> Self {
        Self { module: module.shown(), ..self }
    }

    /// The report as text, whichever verb it is of.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: {}", self.network, self.architecture)?;
        writeln!(out, "  read       {} ({}), FNV-1a {}", self.input, self.source, self.source_hash)?;
        let ratio = self.len_bytes as f64 / self.float_len_bytes.max(1) as f64;
        writeln!(
            out,
            "  wrote      {} ({}), {} bytes; the parameters as f32 are {} bytes ({ratio:.3})",
            self.out, self.form, self.len_bytes, self.float_len_bytes
        )?;
        if let Some(module) = &self.module {
            writeln!(out, "  module     {module} (Rust), which embeds it")?;
        }
        if let Some(checksum) = &self.checksum {
            writeln!(out, "  checksum   {checksum}")?;
        }
        writeln!(out, "  signature  {}", self.signature)?;
        self.permutation.iter().try_for_each(|permutation| permutation.print(out))?;
        writeln!(out)?;
        facts::print(out, &self.tensors)?;
        writeln!(out)?;
        self.proof.print(out)
    }

    /// What to warn of, whichever verb it is.
    pub fn proof_warnings(&self) -> Vec<String> {
        unproved_warning(self.proof.holds)
    }
}

impl Report for Quantised {
    const SCHEMA: Option<&'static str> = Some("tamis-quantise-1");

    fn warnings(&self) -> Vec<String> {
        match self {
            Self::Layers(written) => written.proof_warnings(),
            Self::Graph(written) => written.warnings(),
        }
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Layers(written) => written.print(out),
            Self::Graph(written) => written.print(out),
        }
    }
}
