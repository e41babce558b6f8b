//! What a container says of a `.nnue` file that its tensors do not: the shape in words, by which rule its parts become
//! a value, and how the file writes its blocks.

use super::division::Division;
use super::net::{Encoding, FeatureSet, Head, Net, Shape};
use serde::Deserialize;

/// The first line of every such description, and of no other.
pub const FIRST_LINE: &str = "nnue = 1";

/// What a description says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Which the file's tensors must have.
    pub shape: Shape,
    /// By which rule.
    pub division: Division,
    /// How the file writes the transformer's biases.
    pub biases: Encoding,
    /// How it writes the rows.
    pub weights: Encoding,
    /// How it writes the piece-square values, if it has any.
    pub psqt: Option<Encoding>,
    /// How it writes those of each relation, in their order.
    pub relations: Vec<Encoding>,
}

/// The description, in TOML.
pub fn of(net: &Net) -> String {
    let Shape { features, width, head } = net.shape;
    let transformer = &net.transformer;
    let head = match head {
        Head::Clipped { first } => format!("head = \"clipped\"\nfirst = {first}"),
        Head::Pairwise { squares } => format!("head = \"pairwise\"\nsquares = {squares}"),
        Head::Wide => "head = \"wide\"".to_owned(),
    };
    let (biases, weights) = (word(transformer.biases.encoding), word(transformer.weights.encoding));
    let psqt = transformer.psqt.as_ref().map_or(String::new(), |psqt| format!("psqt = \"{}\"\n", word(psqt.encoding)));
    let words: Vec<String> =
        transformer.relations.iter().map(|rows| format!("\"{}\"", word(rows.psqt.encoding))).collect();
    let relations = match words.is_empty() {
        true => String::new(),
        false => format!("relations = [{}]\n", words.join(", ")),
    };
    let (features, divide) = (features.name(), net.division.word());
    format!(
        "{FIRST_LINE}\nfeatures = \"{features}\"\nwidth = {width}\n{head}\ndivide = \"{divide}\"\nbiases = \
         \"{biases}\"\n\
         weights = \"{weights}\"\n{psqt}{relations}",
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    nnue: u32,
    features: String,
    width: usize,
    head: String,
    first: Option<usize>,
    squares: Option<bool>,
    divide: Option<String>,
    biases: String,
    weights: String,
    psqt: Option<String>,
    #[serde(default)]
    relations: Vec<String>,
}

/// Reads a description.
///
/// # Errors
/// What is wrong.
pub fn parse(text: &str) -> Result<Described, String> {
    let text: Text = toml::from_str(text).map_err(|error| error.to_string())?;
    let features = FeatureSet::ALL.into_iter().find(|set| set.name() == text.features);
    let features = features.ok_or_else(|| format!("features = {:?}: no feature set", text.features))?;
    let head = match (text.head.as_str(), text.first, text.squares) {
        ("clipped", Some(first), None) => Head::Clipped { first },
        ("pairwise", None, Some(squares)) => Head::Pairwise { squares },
        ("wide", None, None) => Head::Wide,
        _ => return Err(format!("head = {:?}: no head with these keys", text.head)),
    };
    if text.nnue != 1 || text.psqt.is_some() != features.has_psqt() {
        return Err(format!("nnue = {}, or psqt where {} has none", text.nnue, features.name()));
    }
    if text.relations.len() != features.relations().len() {
        let (found, expected) = (text.relations.len(), features.relations().len());
        return Err(format!("relations: {found} words, expected {expected} for {}", features.name()));
    }
    let divide = text.divide.ok_or_else(|| "no `divide`, once or twice; pack the network again".to_owned())?;
    let division = Division::from_word(&divide);
    let division = division.ok_or_else(|| format!("divide = {divide:?}: expected once or twice"))?;
    let encoding = |word: &str| match word {
        "raw" => Ok(Encoding::Raw),
        "leb128" => Ok(Encoding::Leb128),
        other => Err(format!("{other:?}: expected raw or leb128")),
    };
    Ok(Described {
        shape: Shape { features, width: text.width, head },
        division,
        biases: encoding(&text.biases)?,
        weights: encoding(&text.weights)?,
        psqt: text.psqt.as_deref().map(encoding).transpose()?,
        relations: text.relations.iter().map(|word| encoding(word)).collect::<Result<_, _>>()?,
    })
}

const fn word(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Raw => "raw",
        Encoding::Leb128 => "leb128",
    }
}
