//! Checkpoints that are graphs, by what the command line says about them.

use crate::cli;
use crate::error::{CliError, Explain};
use crate::nnue::refuse_for_checkpoint;
use serde::Serialize;
use std::path::Path;
use tamis_quant::arch::Architecture;
use tamis_quant::graph::Graph;
use tamis_quant::import::Imported;
use tamis_quant::import::importers::{
    NetworkArch, NetworkForm, NetworkOptions, description_of, draft_network, read_network, read_network_of_reals,
};
use tamis_quant::import::{Ranges, Remark};
use tamis_quant::pack::Provenance;
use tamis_quant::verify::mistakes::MistakeKind;
use tamis_quant::verify::{ImportInfo, Reading};

/// Where a network came from, and what was decided on the way.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Import {
    info: ImportInfo,
    #[serde(skip)]
    provenance: Provenance,
    /// Those that its description gives.
    #[serde(skip)]
    ranges: Ranges,
}

impl Import {
    fn new(info: ImportInfo, hash: u64, ranges: Ranges) -> Self {
        Self { provenance: Provenance { source: info.source.clone(), source_hash: hash }, info, ranges }
    }

    /// What was read is a container, of these bytes.
    pub fn of_container(hash: u64) -> Self {
        let info = ImportInfo { source: "container".to_owned(), hash: format!("{hash:016x}"), remarks: Vec::new() };
        Self::new(info, hash, Ranges::default())
    }

    /// The form that was read.
    pub fn source(&self) -> &str {
        &self.info.source
    }

    /// What a container says about it.
    pub const fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The ranges that its description gives.
    pub const fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// FNV-1a of the bytes read.
    pub fn hash(&self) -> &str {
        &self.info.hash
    }

    /// The same for a report.
    pub const fn info(&self) -> &ImportInfo {
        &self.info
    }

    /// The same with a remark on how its examples were read.
    pub fn with_remark(mut self, remark: Option<&str>) -> Self {
        self.info.remarks.extend(remark.map(|text| Remark::Warning(text.to_owned())));
        self
    }

    /// The remarks as sentences about a file.
    pub fn warnings(&self, file: &str) -> Vec<String> {
        self.info.remarks.iter().map(|remark| format!("{file}: {}", remark.text())).collect()
    }
}

/// bullet's network of accumulators, if that is what `--arch` describes; anything else is a graph.
///
/// # Errors
/// [`CliError`] naming the description.
pub fn layers(args: &cli::NetworkArgs) -> Result<Option<Architecture>, CliError> {
    let options = options(args)?;
    Ok(options.bullets().filter(|arch| arch.input.is_sparse()).cloned())
}

/// Refuses what is said about a checkpoint where there is none, or one that leaves nothing open.
///
/// # Errors
/// [`CliError`] naming the first option that was given; those in `but` are the caller's. why: "this is a container".
pub fn refuse_options(args: &cli::NetworkArgs, but: &[&str], why: &str) -> Result<(), CliError> {
    let given = [
        ("--from", args.from.is_some()),
        ("--arch", args.arch.is_some()),
        ("--learning-rate", args.learning_rate.is_some()),
        ("--kind", args.kind.is_some()),
        ("--features", args.features.is_some()),
        ("--fields", args.fields.is_some()),
        ("--max-active", args.max_active.is_some()),
        ("--separator", args.separator.is_some()),
        ("--activation", !args.activation_of.is_empty()),
        ("--orientation", args.orientation.is_some()),
    ];
    match given.iter().find(|(option, is_given)| *is_given && !but.contains(option)) {
        Some((option, _)) => Err(CliError::usage(format!("{option}: says what a checkpoint leaves open, and {why}"))
            .help(format!("leave {option} out"))),
        None => Ok(()),
    }
}

/// The same of a network of bullet's layers, of which its description says everything.
///
/// # Errors
/// [`CliError`] naming the option.
pub fn refuse_beside_layers(args: &cli::NetworkArgs) -> Result<(), CliError> {
    let is_bullets = matches!(args.from, None | Some(NetworkForm::Bullet));
    let but: &[&str] = if is_bullets { &["--arch", "--from"] } else { &["--arch"] };
    refuse_options(args, but, "this is a network of bullet's layers, whose description says all of it")
}

/// Reads a checkpoint that has to be a graph.
///
/// # Errors
/// [`CliError`] naming the file, and what has to be given.
pub fn read_graph(path: &Path, args: &cli::NetworkArgs) -> Result<(Graph, Import), CliError> {
    refuse_for_checkpoint(path)?;
    Ok(with_import(read_network(path, &options(args)?).explain()?))
}

/// The same of what a container is held against: a file that is quantised already is what its integers stand for.
///
/// # Errors
/// [`CliError`] naming the file, and what has to be given.
pub fn read_reals(path: &Path, args: &cli::NetworkArgs) -> Result<(Graph, Import), CliError> {
    refuse_for_checkpoint(path)?;
    Ok(with_import(read_network_of_reals(path, &options(args)?).explain()?))
}

/// The same checkpoint with the epsilons that its normalizations may be meant to have: Keras's and PyTorch's. A file
/// of PyTorch's tensors says none.
///
/// # Errors
/// As [`read_reals`].
pub fn other_readings(path: &Path, args: &cli::NetworkArgs, given: &Graph) -> Result<Vec<Reading>, CliError> {
    let mut readings = Vec::new();
    for epsilon in [1e-3, 1e-5] {
        let options = NetworkOptions { epsilon: Some(epsilon), ..options(args)? };
        let graph = read_network_of_reals(path, &options).explain()?.graph;
        if graph != *given {
            let text = format!(
                "with {epsilon:e} as the epsilon of its normalizations (Keras has 1e-3, PyTorch 1e-5; a description \
                 says it with `epsilon`)"
            );
            readings.push(Reading { kind: MistakeKind::Epsilon, text, graph });
        }
    }
    Ok(readings)
}

/// A description for the tensors of a file that has none, and the network that both make: its text first. None where
/// there is a description, or the file is no file of tensors.
///
/// # Errors
/// As [`read_graph`].
pub fn draft_graph(path: &Path, args: &cli::NetworkArgs) -> Result<Option<(String, Graph, Import)>, CliError> {
    refuse_for_checkpoint(path)?;
    let drafted = draft_network(path, &options(args)?).explain()?;
    Ok(drafted.map(|(draft, imported)| {
        let import = Import::new(ImportInfo::from(&imported), imported.bytes_hash, imported.ranges);
        (draft.text, imported.graph, import)
    }))
}

/// The description by which a file of tensors is read, as text; none where the file says its layers itself.
///
/// # Errors
/// As [`read_reals`].
pub fn own_description(path: &Path, args: &cli::NetworkArgs) -> Result<Option<String>, CliError> {
    Ok(description_of(path, &options(args)?).explain()?.map(|description| description.to_toml()))
}

fn with_import(imported: Imported) -> (Graph, Import) {
    let import = Import::new(ImportInfo::from(&imported), imported.bytes_hash, imported.ranges);
    (imported.graph, import)
}

fn options(args: &cli::NetworkArgs) -> Result<NetworkOptions, CliError> {
    if let Some(rate) = args.learning_rate.filter(|rate| !rate.is_finite()) {
        return Err(CliError::usage(format!("--learning-rate {rate}: expected a finite number")));
    }
    let separator = args.separator.as_deref().map(|word| match word {
        "tab" => "\t",
        "space" => " ",
        "comma" => ",",
        literal => literal,
    });
    Ok(NetworkOptions {
        from: args.from,
        arch: args.arch.as_deref().map(NetworkArch::read).transpose().explain()?,
        learning_rate: args.learning_rate,
        separator: separator.map(str::to_owned),
        kind: args.kind,
        fields: args.fields,
        max_active: args.max_active,
        features: args.features,
        epsilon: None,
        orientation: args.orientation,
        activations: args.activation_of.clone(),
    })
}
