//! The file system's part: which files there are, bounded, read whole, and their paths before every error.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::AngelError;
use super::graph_json::{Description, MAX_GRAPH_JSON_LEN_BYTES, parse_graph_json};
use super::kind::Kind;
use super::matrix::Matrix;
use super::meta::{MAX_META_LEN_BYTES, Meta};
use super::options::Options;
use super::{assemble, forest, network, suffixes};
use crate::graph::Graph;
use crate::import::{ImportError, Imported, MAX_FILE_LEN_BYTES, Ranges, Remark, read_file_at_most};
use tamis_runtime::raw::{FNV_OFFSET, fnv1a};

const META: &str = "_meta";
const GRAPH_JSON: &str = "graph.json";

/// The most entries of a folder that are looked at.
const MAX_ENTRIES: usize = 1 << 20;

/// Whether a path is a folder that Angel saved: a matrix, or a model with matrices in it. Looks at names only.
#[must_use]
pub fn is_angel_folder(path: &Path) -> bool {
    let entries = || entries(path).ok();
    path.join(META).is_file() || entries().is_some_and(|all| all.values().any(|entry| entry.join(META).is_file()))
}

/// Reads one matrix from its folder. Of `options` only the separator matters.
///
/// # Errors
/// [`AngelError::In`] with the folder, or [`AngelError::Read`] with the file.
pub fn read_matrix(folder: &Path, options: &Options) -> Result<(Matrix, Vec<Remark>), AngelError> {
    let mut hash = FNV_OFFSET;
    let named = read_named(folder, options, &mut hash).map_err(|error| error.within(folder))?;
    Ok((named.matrix, named.remarks))
}

/// Whether a file in a model's folder, or deeper, is one of the model's: what says its layers, or what lies beside a
/// matrix's `_meta`. Both as [`Path::canonicalize`] gives them.
#[must_use]
pub fn is_of_model(folder: &Path, file: &Path) -> bool {
    let of_matrix = |matrix: &Path| matrix.starts_with(folder) && matrix.join(META).is_file();
    file == folder.join(GRAPH_JSON) || file.parent().is_some_and(of_matrix)
}

/// Reads a whole model from its folder: by `graph.json` where there is one and `options.kind` does not say otherwise,
/// else by the names and shapes of its matrices.
///
/// # Errors
/// [`AngelError::In`] with the folder of the model or the matrix, or [`AngelError::Read`] with the file.
pub fn read_model(folder: &Path, options: &Options) -> Result<Imported, AngelError> {
    read_parts(folder, options).map_err(|error| error.within(folder))
}

fn read_parts(folder: &Path, options: &Options) -> Result<Imported, AngelError> {
    let mut hash = FNV_OFFSET;
    let entries = entries(folder)?;
    if entries.contains_key(META) || !entries.values().any(|entry| entry.is_dir()) {
        return Err(match read_named(folder, options, &mut hash) {
            Ok(named) => AngelError::OneMatrix { name: named.matrix.name },
            // Without `_meta` and without folders it is not even a matrix.
            Err(AngelError::NoMeta) if entries.keys().all(|name| name.parse::<u32>().is_err()) => {
                AngelError::NothingThere
            }
            Err(error) => error,
        });
    }
    let mut remarks = Vec::new();
    let mut matrices = BTreeMap::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut description = None;
    for (name, path) in entries {
        if path.is_dir() {
            let named = read_named(&path, options, &mut hash).map_err(|error| error.within(&path))?;
            if let Some(first) = names.insert(named.meta_name.clone(), name.clone()) {
                return Err(AngelError::SameName { first, second: name, name: named.meta_name });
            }
            remarks.extend(named.remarks);
            matrices.insert(name, named.matrix);
        } else if name == GRAPH_JSON {
            let bytes = read_file_at_most(&path, MAX_GRAPH_JSON_LEN_BYTES)?;
            hash = fnv1a(hash, &bytes);
            description = Some(parse_graph_json(&bytes)?);
        }
    }
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("angel");
    let (graph, more) = model(name, &matrices, description.as_ref(), options)?;
    remarks.extend(more);
    Ok(Imported {
        graph,
        source: "Angel model folder".to_owned(),
        bytes_hash: hash,
        remarks,
        ranges: Ranges::default(),
    })
}

/// The network of a model's matrices.
fn model(
    name: &str,
    matrices: &BTreeMap<String, Matrix>,
    description: Option<&Description>,
    options: &Options,
) -> Result<(Graph, Vec<Remark>), AngelError> {
    let of_trees = options.kind.map_or_else(
        || description.is_none() && matrices.contains_key(forest::SPLIT_FEATURE),
        |kind| kind == Kind::Gbdt,
    );
    if of_trees {
        return forest::build(name, matrices, options);
    }
    if let Some(rate) = options.learning_rate {
        return Err(AngelError::Option {
            option: "--learning-rate",
            found: rate.to_string(),
            expected: "nothing: it is for the leaves of trees, which this model has none of".to_owned(),
        });
    }
    match description.filter(|_| options.kind.is_none()) {
        Some(description) => network::build(name, description, matrices, options, "graph.json"),
        None => {
            let (described, mut remarks) = suffixes::describe(matrices, description, options)?;
            let (graph, more) = network::build(name, &described, matrices, options, "the kind of model")?;
            remarks.extend(more);
            Ok((graph, remarks))
        }
    }
}

/// A matrix under the name of its folder.
struct Named {
    meta_name: String,
    matrix: Matrix,
    remarks: Vec<Remark>,
}

fn read_named(folder: &Path, options: &Options, hash: &mut u64) -> Result<Named, AngelError> {
    let entries = entries(folder)?;
    let Some(path) = entries.get(META) else { return Err(AngelError::NoMeta) };
    let meta_bytes = read_file_at_most(path, MAX_META_LEN_BYTES)?;
    let meta = Meta::parse(&meta_bytes)?;
    let mut files = BTreeMap::new();
    let mut left = MAX_FILE_LEN_BYTES;
    for partition in &meta.partitions {
        if files.contains_key(&partition.file) {
            continue;
        }
        let Some(path) = entries.get(&partition.file) else {
            return Err(AngelError::NoDataFile { file: partition.file.clone(), partition: partition.id });
        };
        let bytes = read_file_at_most(path, left)?;
        left -= bytes.len() as u64;
        files.insert(partition.file.clone(), bytes);
    }
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or(&meta.name);
    let (matrix, mut remarks) = assemble::decode(&meta, name, &files, options.separator.as_deref())?;
    for other in entries.keys().filter(|other| *other != META && !files.contains_key(*other)) {
        let text = format!("matrix `{name}`: the file `{}` is in no partition", super::shown(other.as_bytes()));
        remarks.push(Remark::Warning(text));
    }
    files.insert(META.to_owned(), meta_bytes);
    *hash = files.values().fold(*hash, |hash, bytes| fnv1a(hash, bytes));
    Ok(Named { meta_name: meta.name, matrix, remarks })
}

/// What is in a folder, by name, without what Hadoop and others hide behind a dot.
fn entries(folder: &Path) -> Result<BTreeMap<String, PathBuf>, AngelError> {
    let at = |error: std::io::Error| ImportError::In { path: folder.to_owned(), cause: Box::new(error.into()) };
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(at)? {
        let entry = entry.map_err(at)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        found.insert(name, entry.path());
        if found.len() > MAX_ENTRIES {
            return Err(AngelError::TooManyEntries { limit: MAX_ENTRIES });
        }
    }
    Ok(found)
}
