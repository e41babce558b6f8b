//! What `quantise` and `pack` wrote: one report for every kind of network, with the parts that the network has.

use crate::cli::{Module, Target};
use crate::divide::DivideReport;
use crate::examples::Examples;
use crate::footprint::Footprint;
use crate::output::Report;
use crate::packed::{Packed, unproved_warning};
use crate::report::{self, FitReport, PermutationReport, ProofReport, TensorReport};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use tamis_quant::data::ByteType;
use tamis_quant::import::Remark;
use tamis_quant::quantise::graph::Widened;
use tamis_quant::quantise::scales::Scales;
use tamis_quant::removal::Removed;
use tamis_quant::verify::stats::ErrorStats;
use tamis_quant::verify::{Accuracy, Agreement, ImportInfo, LayerError, Predictions};

/// The default form of what is written.
const CONTAINER: &str = "container";
const BARE: &str = "bare";

/// The report.
#[derive(Debug, Serialize)]
pub struct Written {
    /// Of the command.
    schema: &'static str,
    out: String,
    form: &'static str,
    network: String,
    architecture: String,
    /// The path that was given.
    input: String,
    /// What was read there.
    #[serde(flatten)]
    import: ImportInfo,
    #[serde(flatten)]
    parts: Parts,
    len_bytes: usize,
    /// A Rust module that embeds it, if one was asked for.
    module: Option<String>,
    /// Of a program with that module on microcontrollers.
    #[serde(skip_serializing_if = "Option::is_none")]
    footprint: Option<Footprint>,
    workspace_len_bytes: usize,
    /// The same where every value lies whole and apart.
    whole_workspace_len_bytes: usize,
    tensors: Vec<TensorReport>,
    proof: ProofReport,
    /// Of a container; the bare form has none.
    checksum: Option<String>,
    /// Of the network on the runtime, whichever form was written.
    signature: String,
}

/// What not every network has.
#[derive(Debug, Default, Serialize)]
pub struct Parts {
    /// How the value of a `.nnue` network is made of its two parts.
    pub divide: Option<DivideReport>,
    /// Examples that calibrated, and their file.
    pub calibration: Option<Calibrated>,
    /// Layers that stayed f32.
    pub kept_f32: Vec<String>,
    /// Bytes of the parameters as f32, where that is what was read.
    pub float_len_bytes: Option<usize>,
    /// Bytes of the file that comes back from the container, where integers were read.
    pub comes_back_len_bytes: Option<usize>,
    /// Maps that `--sixteen auto` has chosen.
    pub sixteen: Vec<Widened>,
    /// What was taken out because it has no effect, of networks over maps.
    pub removed: Option<Removed>,
    /// If scales were chosen.
    pub scales: Option<Scales>,
    /// If integers were fitted to positions.
    pub fit: Option<FitReport>,
    /// If another order of the neurons was asked for.
    pub permutation: Option<PermutationReport>,
    /// Against full precision, on the examples that calibrated.
    pub accuracy: Option<Measured>,
}

/// Examples that calibrated, and how they were read.
#[derive(Debug, Serialize)]
pub struct Calibrated {
    file: String,
    examples: usize,
    /// The array, of a file that names its arrays.
    array: Option<String>,
    /// `u8` or `i8`, of an array of bytes.
    bytes: Option<&'static str>,
    /// What a byte b stands for is (b − zero) · unit; none where bytes are numbers as they are.
    unit: Option<f64>,
    zero: Option<i32>,
    #[serde(skip)]
    remark: Option<String>,
}

impl Calibrated {
    /// Of what was read from a file.
    pub fn of(path: &Path, examples: &Examples) -> Self {
        let word = |bytes: ByteType| if bytes == ByteType::U8 { "u8" } else { "i8" };
        Self {
            file: path.display().to_string(),
            examples: examples.samples.len(),
            array: examples.array.clone(),
            bytes: examples.bytes.map(word),
            unit: examples.encoding.map(|encoding| encoding.unit),
            zero: examples.encoding.map(|encoding| encoding.zero),
            remark: examples.remark.clone(),
        }
    }

    /// What is to be known of how they were read.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { file, examples, array, bytes, unit, zero, .. } = self;
        write!(out, "  calibrated on {examples} examples of {file}")?;
        if let Some(array) = array {
            write!(out, ", array `{array}`")?;
        }
        match (bytes, unit, zero) {
            (Some(bytes), Some(unit), Some(zero)) => write!(out, ", {bytes}, a byte b as (b - {zero}) * {unit}")?,
            (Some(bytes), ..) => write!(out, ", {bytes}, as real numbers")?,
            _ => {}
        }
        writeln!(out)
    }
}

/// What `verify` has in full.
#[derive(Debug, Serialize)]
pub struct Measured {
    samples: usize,
    logits: ErrorStats,
    top1: Option<Agreement>,
    predictions: Option<Predictions>,
    layers: Vec<LayerError>,
}

impl From<Accuracy> for Measured {
    fn from(accuracy: Accuracy) -> Self {
        let Accuracy { samples, total, top1, predictions, layers, .. } = accuracy;
        Self { samples, logits: total, top1, predictions, layers }
    }
}

/// A network's name and its architecture in a line.
pub struct Title {
    pub network: String,
    pub architecture: String,
}

impl Written {
    /// A container that was made of what was read from `input`. schema: of the command's JSON.
    pub fn new(
        schema: &'static str,
        (target, module): (&Target, &Module),
        (input, import): (&Path, ImportInfo),
        Title { network, architecture }: Title,
        tensors: Vec<TensorReport>,
        packed: &Packed,
    ) -> Self {
        Self {
            schema,
            out: target.out.display().to_string(),
            form: CONTAINER,
            network,
            architecture,
            input: input.display().to_string(),
            import,
            parts: Parts::default(),
            len_bytes: packed.container.as_ref().len(),
            module: module.shown(),
            footprint: module.codegen.is_some().then(|| packed.footprint.clone().on(module.core)),
            workspace_len_bytes: packed.workspace_len_bytes,
            whole_workspace_len_bytes: packed.whole_workspace_len_bytes,
            tensors,
            proof: ProofReport::of(&packed.proof),
            checksum: Some(format!("{:016x}", packed.checksum)),
            signature: format!("{:016x}", packed.signature),
        }
    }

    /// The same with what this network has.
    pub fn with(self, parts: Parts) -> Self {
        Self { parts, ..self }
    }

    /// The same of a network whose bare form was written in place of the container.
    pub fn in_bare_form(self, len_bytes: usize) -> Self {
        Self { form: BARE, len_bytes, checksum: None, ..self }
    }

    fn print_numbers(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "  wrote      {} ({}), {} bytes", self.out, self.form, self.len_bytes)?;
        if let Some(float) = self.parts.float_len_bytes {
            let ratio = self.len_bytes as f64 / float.max(1) as f64;
            write!(out, "; the parameters as f32 are {float} bytes ({ratio:.3})")?;
        }
        if let Some(len_bytes) = self.parts.comes_back_len_bytes {
            write!(out, "; the same file of {len_bytes} bytes comes back from it")?;
        }
        writeln!(out)?;
        if let Some(module) = &self.module {
            writeln!(out, "  module     {module} (Rust), which embeds it")?;
        }
        let saved = report::saved(self.workspace_len_bytes, self.whole_workspace_len_bytes);
        writeln!(out, "  workspace  {} bytes{saved}", self.workspace_len_bytes)?;
        if let Some(divide) = &self.parts.divide {
            writeln!(out, "  divide     {divide}")?;
        }
        if let Some(checksum) = &self.checksum {
            writeln!(out, "  checksum   {checksum}")?;
        }
        writeln!(out, "  signature  {}", self.signature)
    }

    fn print_removed(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(removed) = self.parts.removed.filter(|removed| removed.removed_channels > 0) else { return Ok(()) };
        let Removed { channels, removed_channels, macs, removed_macs, .. } = removed;
        write!(out, "  removed    {removed_channels} of {channels} channels, which have no effect on any output: ")?;
        write!(out, "{removed_macs} of {macs} MACs, ")?;
        writeln!(out, "{} of {} bytes of parameters", removed.removed_len_bytes, removed.parameters_len_bytes)
    }

    fn print_accuracy(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(accuracy) = &self.parts.accuracy else { return Ok(()) };
        let sqnr = accuracy.logits.sqnr_db.map_or("no error".to_owned(), |db| format!("{db:.2} dB"));
        write!(out, "  accuracy   {sqnr} signal to noise of the raw scores, ")?;
        if let Some(top1) = &accuracy.top1 {
            write!(out, "{} of {} top-1 alike, ", top1.equal, top1.count)?;
        }
        writeln!(out, "on the examples that calibrated")
    }
}

impl Report for Written {
    // The command names it.
    const SCHEMA: Option<&'static str> = None;

    fn warnings(&self) -> Vec<String> {
        let remark = |remark: &Remark| format!("{}: {}", self.input, remark.text());
        let remarks = self.import.remarks.iter().map(remark);
        remarks.chain(unproved_warning(self.proof.holds)).collect()
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: {}", self.network, self.architecture)?;
        writeln!(out, "  read       {} ({}), FNV-1a {}", self.input, self.import.source, self.import.hash)?;
        self.parts.calibration.iter().try_for_each(|calibrated| calibrated.print(out))?;
        if !self.parts.kept_f32.is_empty() {
            writeln!(out, "  kept f32   {}", self.parts.kept_f32.join(", "))?;
        }
        self.print_numbers(out)?;
        if !self.parts.sixteen.is_empty() {
            let one = |map: &Widened| format!("{} (+{:.1} dB)", map.layer, map.gain_db);
            writeln!(out, "  16 bits    {}", self.parts.sixteen.iter().map(one).collect::<Vec<_>>().join(", "))?;
        }
        self.parts.scales.iter().try_for_each(|scales| report::print_scales(out, scales))?;
        if let Some(fit) = &self.parts.fit {
            fit.print(out)?;
        }
        self.print_removed(out)?;
        self.parts.permutation.iter().try_for_each(|permutation| permutation.print(out))?;
        self.print_accuracy(out)?;
        writeln!(out)?;
        report::print(out, &self.tensors)?;
        writeln!(out)?;
        self.proof.print(out)?;
        self.footprint.iter().try_for_each(|footprint| footprint.print(out))
    }
}
