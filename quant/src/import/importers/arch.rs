//! What `--arch` can be.

use super::NetworkError;
use super::form::{START_LEN_BYTES, network_in_place};
use crate::arch::Architecture;
use crate::graph::Input;
use crate::graph::description::{Described, DescribedOp, Description, is_description};
use crate::import::chain::{Chain, ChainLayer};
use crate::import::{ImportError, foreign, lattice, read_file_at_most, read_file_start};
use std::ffi::OsStr;
use std::path::Path;
use tamis_runtime::raw::MAGIC;

/// The longest file of an architecture: a `.fann` or a network's JSON brings its weights along.
const MAX_LEN_BYTES: u64 = 2 << 30;
/// The longest description.
const MAX_TEXT_LEN_BYTES: u64 = 1 << 20;

/// How the numbers of a checkpoint hang together.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkArch {
    /// bullet's network, of accumulators or dense: TOML that starts with `schema = 1`.
    Bullet(Box<Architecture>),
    /// A graph: TOML that starts with `graph = 1`.
    Graph(Description),
    /// Sizes and activations: `784:relu128:linear10`, or those of a `.fann` or network JSON.
    Chain(Chain),
}

impl NetworkArch {
    /// A file, told by its content, or a chain in words.
    ///
    /// # Errors
    /// [`NetworkError`] naming the file and the line.
    pub fn read(argument: &OsStr) -> Result<Self, NetworkError> {
        let path = Path::new(argument);
        if let Some(words) = argument.to_str().filter(|words| words.contains(':') && !path.exists()) {
            return Ok(Self::Chain(Chain::from_text(words)?));
        }
        let (start, len_bytes) = read_file_start(path, START_LEN_BYTES)?;
        if lattice::is_fann(&start) || lattice::is_network_json(&start) {
            let bytes = read_file_at_most(path, MAX_LEN_BYTES)?;
            let chain = lattice::architecture(&bytes).map_err(|error| NetworkError::from(error).at(path))?;
            return Ok(Self::Chain(chain));
        }
        if start.starts_with(&MAGIC) {
            return Err(NetworkError::NoDescription { what: "a container" }.at(path));
        }
        if let Some(other) = foreign(&start) {
            return Err(NetworkError::from(ImportError::Foreign(other)).at(path));
        }
        if len_bytes > MAX_TEXT_LEN_BYTES {
            return Err(NetworkError::LongDescription { len_bytes, limit_bytes: MAX_TEXT_LEN_BYTES }.at(path));
        }
        let bytes = read_file_at_most(path, MAX_TEXT_LEN_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset_bytes = error.utf8_error().valid_up_to();
            let what = network_in_place(error.as_bytes());
            what.map_or(NetworkError::NoText { offset_bytes }, |what| NetworkError::NoDescription { what }).at(path)
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let origin = path.display().to_string();
        if is_description(text) {
            return Ok(Self::Graph(Description::from_toml(text, &origin)?));
        }
        Ok(Self::Bullet(Box::new(Architecture::from_toml(text, &origin)?)))
    }

    /// A description in bullet's dialect.
    pub(super) fn bullets(&self) -> Option<&Architecture> {
        match self {
            Self::Bullet(arch) => Some(arch),
            Self::Graph(_) | Self::Chain(_) => None,
        }
    }

    /// What it is, in words.
    #[must_use]
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Bullet(_) => "a description in bullet's dialect, `schema = 1`",
            Self::Graph(_) => "the description of a graph, `graph = 1`",
            Self::Chain(_) => "a chain of layers",
        }
    }

    /// The description of a graph.
    pub(super) fn description(&self) -> Result<&Description, NetworkError> {
        match self {
            Self::Graph(description) => Ok(description),
            _ => Err(NetworkError::WrongArch {
                found: self.words(),
                expected: "the description of a graph, `graph = 1`, or a chain, 784:relu128:linear10",
            }),
        }
    }

    /// The chain, also of a graph that is one.
    pub(super) fn chain(&self) -> Result<Chain, NetworkError> {
        let expected =
            "a chain: 784:relu128:linear10, a .fann, a network JSON, or a `graph = 1` of `linear` nodes in a row";
        let wrong = || NetworkError::WrongArch { found: self.words(), expected };
        match self {
            Self::Chain(chain) => Ok(chain.clone()),
            Self::Graph(description) => Ok(Chain::new(layers(description).ok_or_else(wrong)?)?),
            Self::Bullet(_) => Err(wrong()),
        }
    }
}

/// The layers of a description in which every node reads the one before, and each is a `linear` or its activation.
fn layers(description: &Description) -> Option<Vec<ChainLayer>> {
    let Input::Dense { shape } = description.input else { return None };
    let mut layers: Vec<ChainLayer> = Vec::new();
    let mut inputs = shape.len();
    for (index, Described { reads, op, .. }) in description.nodes.iter().enumerate() {
        if *reads != [index] {
            return None;
        }
        match op {
            DescribedOp::Linear { sparse: false, each_pixel: false, outputs, .. } => {
                layers.push(ChainLayer { inputs, outputs: *outputs, activation: None });
                inputs = *outputs;
            }
            DescribedOp::Activation(activation) => {
                let layer = layers.last_mut().filter(|layer| layer.activation.is_none())?;
                layer.activation = Some(*activation);
            }
            DescribedOp::Flatten { .. } => {}
            _ => return None,
        }
    }
    Some(layers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_that_is_a_chain_is_one() {
        let text = "graph = 1\nname = \"x\"\n[input]\nkind = \"dense\"\nsize = 4\n\
                    [[node]]\nname = \"a\"\nop = \"linear\"\noutputs = 8\n\
                    [[node]]\nname = \"b\"\nop = \"relu\"\n[[node]]\nname = \"c\"\nop = \"linear\"\noutputs = 2\n";
        let chain = NetworkArch::Graph(Description::from_toml(text, "x").unwrap()).chain().unwrap();
        assert_eq!(chain, Chain::from_text("4:relu8:linear2").unwrap());
        let twice = format!("{text}[[node]]\nname = \"d\"\nop = \"relu\"\n[[node]]\nname = \"e\"\nop = \"tanh\"\n");
        assert!(NetworkArch::Graph(Description::from_toml(&twice, "x").unwrap()).chain().is_err());
    }

    #[test]
    fn an_architecture_is_told_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, include_str!("../small.toml")).unwrap();
        assert!(matches!(NetworkArch::read(path.as_os_str()), Ok(NetworkArch::Bullet(_))));
        assert!(matches!(NetworkArch::read("4:linear2".as_ref()), Ok(NetworkArch::Chain(_))));
        assert!(matches!(NetworkArch::read("4:cubic2".as_ref()), Err(NetworkError::Chain(_))));
        std::fs::write(&path, "graph = 1\nnme = 1").unwrap();
        let error = NetworkArch::read(path.as_os_str()).unwrap_err();
        assert!(error.to_string().contains("a.toml:2: unknown key `nme`"), "{error}");
        std::fs::write(&path, [0xFF, 0xFE]).unwrap();
        assert!(NetworkArch::read(path.as_os_str()).unwrap_err().to_string().contains("UTF-8"));
        assert!(NetworkArch::read("no-such-file".as_ref()).unwrap_err().to_string().contains("cannot read"));
    }
}
