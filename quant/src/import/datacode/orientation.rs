//! Which way round the weights lie, since the file does not say.

use super::container::Tensor;
use super::error::DataCodeError;
use super::layers::Layer;
use crate::import::chain::short;

/// The order of a weight tensor's two dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orientation {
    /// [outputs, inputs]: DataCode 2.1.1 and later.
    OutIn,
    /// [inputs, outputs]: DataCode 2.1.0.
    InOut,
}

impl Orientation {
    /// From `out-in` or `in-out`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::OutIn, Self::InOut].into_iter().find(|orientation| orientation.word() == word)
    }

    /// `out-in` or `in-out`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::OutIn => "out-in",
            Self::InOut => "in-out",
        }
    }

    /// The shape of a weight tensor.
    pub(in crate::import) const fn shape(self, inputs: usize, outputs: usize) -> [usize; 2] {
        match self {
            Self::OutIn => [outputs, inputs],
            Self::InOut => [inputs, outputs],
        }
    }
}

/// A Linear with its tensors.
pub(super) struct LinearLayer<'a> {
    pub(super) name: &'a str,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) weight: &'a Tensor<'a>,
    pub(super) bias: &'a Tensor<'a>,
}

/// The orientation of a file, and what speaks for it.
///
/// A layer with as many inputs as outputs shows it in the rank of its bias only, [1, outputs] in DataCode 2.1.0. Where
/// no layer shows it by its shape, names that count all layers speak for DataCode 2.1.0, too. Whatever speaks must say
/// the same.
pub(super) fn decide(layers: &[Layer], linears: &[LinearLayer<'_>]) -> Result<(Orientation, String), DataCodeError> {
    let mut evidence: Vec<(Orientation, String)> = Vec::new();
    for linear in linears {
        let (name, dims) = (short(linear.name), &linear.weight.dims);
        let matches = |orientation: Orientation| orientation.shape(linear.inputs, linear.outputs)[..] == dims[..];
        evidence.push(match (matches(Orientation::OutIn), matches(Orientation::InOut), linear.bias.dims.len()) {
            (true, false, _) => (Orientation::OutIn, format!("`{name}.weight` is {dims:?}")),
            (false, true, _) => (Orientation::InOut, format!("`{name}.weight` is {dims:?}")),
            (true, true, 1) => (Orientation::OutIn, format!("`{name}` is square and its bias has one dimension")),
            (true, true, _) => (Orientation::InOut, format!("`{name}` is square and its bias has two dimensions")),
            (false, false, _) => {
                return Err(DataCodeError::Shape {
                    tensor: format!("{name}.weight"),
                    found: format!("{dims:?}"),
                    expected: format!("[{}, {}], or the other way round", linear.outputs, linear.inputs),
                    offset_bytes: linear.weight.offset,
                });
            }
        });
    }
    if linears.iter().all(|linear| linear.inputs == linear.outputs) {
        evidence.extend(counts_all_layers(layers).map(|why| (Orientation::InOut, why)));
    }
    let first = evidence.first().cloned().ok_or(DataCodeError::NoLayers)?;
    match evidence.into_iter().find(|(orientation, _)| *orientation != first.0) {
        None => Ok(first),
        Some(other) => Err(DataCodeError::Orientations {
            first: format!("{} ({})", first.0.word(), first.1),
            second: format!("{} ({})", other.0.word(), other.1),
        }),
    }
}

/// How the Linear layers are numbered, in words. Their tensors are found by name whatever the numbers are.
pub(super) fn numbering(layers: &[Layer]) -> &'static str {
    let linears = layers.iter().enumerate().filter(|(_, layer)| layer.linear().is_some()).enumerate();
    let is_numbered = |of: fn(usize, usize) -> usize| {
        linears.clone().all(|(number, (position, layer))| layer.name == format!("layer{}", of(number, position)))
    };
    match (is_numbered(|number, _| number), is_numbered(|_, position| position)) {
        (true, true) => "the numbers in the names count the Linear layers, before which nothing stands",
        (true, false) => "the numbers in the names count the Linear layers only",
        (false, true) => "the numbers in the names count all layers",
        (false, false) => "the names of the Linear layers are not DataCode's numbers",
    }
}

/// Which Linear has the number that it has among all layers, if that is not its number among the Linears.
fn counts_all_layers(layers: &[Layer]) -> Option<String> {
    let linears = layers.iter().enumerate().filter(|(_, layer)| layer.linear().is_some());
    let counted = |(number, (position, layer)): &(usize, (usize, &Layer))| {
        number != position && layer.name == format!("layer{position}")
    };
    let (number, (_, layer)) = linears.enumerate().find(counted)?;
    Some(format!("`{}` is Linear number {number}, so the names count all layers", short(&layer.name)))
}
