//! `quantise`: a float checkpoint becomes a proved `quantised.bin`.

use crate::cli::{Form, Permute, Quantise};
use crate::error::{CliError, Explain};
use crate::facts::{self, PermutationFacts, ProofFacts, TensorFacts};
use crate::files::{self, Sink};
use crate::output::{Output, Report};
use crate::permute;
use crate::progress;
use crate::seal::{Sealed, seal, unproved_warning};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
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
    tensors: Vec<TensorFacts>,
    /// If another order of the neurons was asked for.
    permutation: Option<PermutationFacts>,
    proof: ProofFacts,
    /// Of a container; the bare form has none.
    checksum: Option<String>,
    /// Of the network on the runtime, whichever form was written.
    signature: String,
}

/// Reads, quantises, proves, writes.
///
/// # Errors
/// [`CliError`]; nothing is written then.
pub fn run(args: &Quantise, output: &Output) -> Result<Written, CliError> {
    permute::check_form(&args.permute, args.form)?;
    let sink = Sink::check(&args.target, &inputs(&args.checkpoint, &args.arch, &args.permute))?;
    let arch = files::read_arch(&args.arch)?;
    refuse_container(&args.checkpoint)?;
    let spinner = progress::spinner(output, "quantising");
    let checkpoint = read_checkpoint(&args.checkpoint, &arch).explain()?;
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
    let sealed = seal(&net, &origin, args.unproved, output)?;
    let bare = match args.form {
        Form::Container => None,
        Form::Bare => Some(to_bare(&net).explain_at(&args.arch)?),
    };
    let bytes = bare.as_deref().unwrap_or(sealed.container.as_ref());
    sink.write(bytes)?;
    let form = if bare.is_some() { "bare" } else { CONTAINER };
    let written = Written::new(&args.checkpoint, &args.target.out, form, bytes.len(), &net, &origin, &sealed);
    Ok(written.permuted(permutation))
}

/// Every file that is read, of which none may be written.
pub fn inputs<'a>(network: &'a Path, arch: &'a Path, permute: &'a Permute) -> Vec<&'a Path> {
    [network, arch].into_iter().chain(permute.positions.as_deref()).collect()
}

fn refuse_container(path: &Path) -> Result<(), CliError> {
    if files::is_container(path) {
        return Err(CliError::usage(format!("{}: is a container already", path.display()))
            .help("`host-tools inspect` shows what is in it"));
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

impl Report for Written {
    const SCHEMA: Option<&'static str> = Some("tamis-quantise-1");

    fn warnings(&self) -> Vec<String> {
        self.proof_warnings()
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.print(out)
    }
}
