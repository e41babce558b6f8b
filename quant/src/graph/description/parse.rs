//! From TOML to a checked [`Description`], with the line of whatever is wrong.

use super::check::{ALWAYS_INPUT, INPUT, Refusal, check_count, check_input};
use super::error::{Cause, DescriptionError};
use super::node::RawNode;
use super::read::Place;
use super::skeleton::Skeleton;
use super::types::{Description, VERSION};
use crate::arch::parse::{line_of_offset, on_one_line, unknown_word};
use crate::arch::suggest::{advice, other_name, other_operation};
use crate::graph::shapes::Numbers;
use crate::graph::{Input, Shape, Value};
use serde::Deserialize;
use std::collections::HashMap;
use tamis_batches::printable;
use toml::de::DeTable;

/// The longest text that is read.
const LIMIT_BYTES: usize = 1 << 20;

/// Whether a text is TOML with the key `graph`, by which a description of a graph is told from one of layers.
#[must_use]
pub fn is_description(text: &str) -> bool {
    text.len() <= LIMIT_BYTES && DeTable::parse(text).is_ok_and(|table| table.get_ref().contains_key("graph"))
}

impl Description {
    /// Reads and checks a description. `origin` (a path, usually) starts every message.
    ///
    /// # Errors
    /// [`DescriptionError`], with the line, for anything that is not TOML of [`VERSION`], has an unknown key or value,
    /// or does not fit together.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, DescriptionError> {
        let origin = on_one_line(origin);
        let error = |line, cause| DescriptionError { origin: origin.clone(), line, cause: Box::new(cause) };
        if text.len() > LIMIT_BYTES {
            return Err(error(None, Cause::TooLong { found: text.len(), limit: LIMIT_BYTES }));
        }
        let toml = |refused: toml::de::Error| {
            let line = line_of_offset(text, refused.span().map_or(0, |span| span.start));
            error(Some(line), syntax(refused.message()))
        };
        let version: Version = toml::from_str(text).map_err(toml)?;
        if version.graph != Some(i64::from(VERSION)) {
            let found = match (version.graph, version.schema) {
                (Some(other), _) => format!("`graph = {other}`"),
                (None, Some(_)) => "a text that starts with `schema`, a description of bullet's layers,".to_owned(),
                (None, None) => "a text without the key `graph`".to_owned(),
            };
            return Err(error(None, Cause::Version { found }));
        }
        let file: File = toml::from_str(text).map_err(toml)?;
        let lines: Vec<usize> = file.node.iter().map(|node| line_of_offset(text, node.name.span().start)).collect();
        let at = |(node, cause): Refusal| error(node.and_then(|node: usize| lines.get(node)).copied(), cause);
        let description = file.describe().map_err(at)?;
        description.check().map_err(at)?;
        Ok(description)
    }
}

/// serde's message, an unknown word taken out of it and compared with the known ones.
fn syntax(message: &str) -> Cause {
    if let Some((key, known)) = unknown_word(message, "unknown field `") {
        return Cause::UnknownKey { key: printable(key), advice: advice(key, &known) };
    }
    if let Some((value, known)) = unknown_word(message, "unknown variant `") {
        if let Some(name) = other_name(value, &known) {
            return Cause::UnknownValue { value: printable(value), advice: format!("did you mean `{name}`?") };
        }
        if let Some(known) = other_operation(value, &known) {
            return Cause::UnsupportedValue { value: printable(value), known };
        }
        return Cause::UnknownValue { value: printable(value), advice: advice(value, &known) };
    }
    Cause::Syntax(on_one_line(message))
}

/// Read first, so that another version is named and not taken apart.
#[derive(Deserialize)]
struct Version {
    graph: Option<i64>,
    schema: Option<toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "compared before")]
    graph: i64,
    name: String,
    input: RawInput,
    #[serde(default)]
    node: Vec<RawNode>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInput {
    kind: Kind,
    size: Option<usize>,
    shape: Option<toml::Value>,
    features: Option<usize>,
    max_active: Option<usize>,
    exact: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Dense,
    Sparse,
}

impl File {
    fn describe(self) -> Result<Description, Refusal> {
        let input = self.input.describe().and_then(|input| check_input(input).map(|()| input));
        let input = input.map_err(|cause| (None, cause))?;
        check_count(self.node.len()).map_err(|cause| (None, cause))?;
        let mut values: HashMap<String, Value> = HashMap::from([INPUT, ALWAYS_INPUT].map(|name| (name.to_owned(), 0)));
        let mut nodes = Vec::new();
        let mut skeleton = Skeleton::new(&self.name, input, Numbers::Absent);
        for (index, node) in self.node.into_iter().enumerate() {
            let at = |cause| (Some(index), cause);
            let name = node.name.get_ref().clone();
            let described = node.describe(index, &values, &skeleton).map_err(at)?;
            skeleton.push(&described).map_err(at)?;
            nodes.push(described);
            // What reads a value without elements would be refused for the wrong reason.
            if skeleton.shape(index + 1).is_empty() {
                skeleton.check()?;
            }
            // A node may be called like the input, whose other name then remains. A name twice is refused by the check.
            if name != ALWAYS_INPUT {
                values.insert(name, index + 1);
            }
        }
        Ok(Description { name: self.name, input, nodes })
    }
}

impl RawInput {
    fn describe(&self) -> Result<Input, Cause> {
        let place = || "[input]".to_owned();
        let owner = if self.kind == Kind::Dense { "a dense input" } else { "a sparse input" };
        let needed = |value: Option<usize>, key| value.ok_or_else(|| Cause::Missing { place: place(), key, owner });
        let unwanted = |present: bool, key| {
            if present { Err(Cause::Meaningless { place: place(), key, owner }) } else { Ok(()) }
        };
        match self.kind {
            Kind::Dense => {
                unwanted(self.features.is_some(), "features")?;
                unwanted(self.max_active.is_some(), "max_active")?;
                unwanted(self.exact.is_some(), "exact")?;
                let Some(shape) = &self.shape else {
                    return Ok(Input::Dense { shape: Shape::vector(needed(self.size, "size")?) });
                };
                if self.size.is_some() {
                    return Err(Cause::Meaningless { place: place(), key: "size", owner: "an input with a `shape`" });
                }
                Ok(Input::Dense { shape: Place(place()).shape("shape", shape)? })
            }
            Kind::Sparse => {
                unwanted(self.size.is_some(), "size")?;
                unwanted(self.shape.is_some(), "shape")?;
                let (features, max_active) =
                    (needed(self.features, "features")?, needed(self.max_active, "max_active")?);
                Ok(Input::Sparse { features, max_active, exact: self.exact.unwrap_or(false) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Description;
    use super::{LIMIT_BYTES, is_description};
    use crate::error_kind::ErrorKind;

    const SMALL: &str = "graph = 1
name = \"small\"
[input]
kind = \"sparse\"
features = 6
max_active = 2
[[node]]
name = \"e\"
op = \"embed\"
width = 3
[[node]]
name = \"wide\"
op = \"sparse-linear\"
reads = [\"input\"]
outputs = 1
[[node]]
name = \"fm\"
op = \"fm-term\"
reads = [\"e\"]
width = 3
[[node]]
name = \"sum\"
op = \"add\"
reads = [\"wide\", \"fm\"]
";

    fn refused(from: &str, to: &str) -> String {
        assert!(SMALL.contains(from), "nothing to replace: {from}");
        Description::from_toml(&SMALL.replacen(from, to, 1), "x.toml").unwrap_err().to_string()
    }

    #[test]
    fn mistakes_come_with_line_and_advice() {
        Description::from_toml(SMALL, "x.toml").unwrap();
        for (from, to, words) in [
            (
                "width = 3\n[[node]]\nname = \"wide\"",
                "widht = 3\n[[node]]\nname = \"wide\"",
                "x.toml:10: unknown key `widht`; did you mean `width`?",
            ),
            ("fm-term", "gelu", "x.toml:18: `gelu` is not supported; there are `linear`, "),
            ("fm-term", "fm-terms", "x.toml:18: unknown value `fm-terms`; did you mean `fm-term`?"),
            ("outputs = 1\n", "", "x.toml:12: node `wide` lacks the key `outputs`, which sparse-linear needs"),
            (
                "outputs = 1",
                "outputs = 1\nalpha = 0.1",
                "x.toml:12: node `wide`: `alpha` has no meaning for sparse-linear",
            ),
            ("outputs = 1", "outputs = 0", "x.toml:12: node `wide`: `outputs` is 0, expected 1 to 16777216"),
            (
                "outputs = 1",
                "outputs = 2",
                "x.toml:22: layer `sum`: what it reads has the shape (1, 1), expected (2, 1)",
            ),
            ("max_active = 2", "", "x.toml: [input] lacks the key `max_active`, which a sparse input needs"),
            ("max_active = 2", "max_active = 2\nsize = 2", "x.toml: [input]: `size` has no meaning for a sparse input"),
            (
                "\"wide\", \"fm\"",
                "\"wide\", \"fn\"",
                "x.toml:22: node `sum` reads `fn`, which is no node before it; did you mean `fm`?",
            ),
            ("\"wide\", \"fm\"", "\"wide\"", "x.toml:22: layer `sum` reads 1 values, expected 2 or more"),
            ("reads = [\"e\"]\n", "", "x.toml:17: layer `fm`: what it reads has the shape (0, 1), expected (0, 0)"),
            ("name = \"sum\"", "name = \"$input\"", "x.toml:22: \"$input\" cannot be a node's name"),
            ("name = \"sum\"", "name = \"wide\"", "x.toml:22: two layers are called `wide`"),
            (
                "outputs = 1",
                "outputs = 1\nweights = \"e.table\"",
                "x.toml:12: node `wide`: the tensor `e.table` is used already",
            ),
            ("graph = 1", "graph = 2", "x.toml: `graph = 2` is not the description"),
            ("graph = 1", "schema = 1", "x.toml: a text that starts with `schema`"),
        ] {
            let message = refused(from, to);
            assert!(message.starts_with(words), "{words}\n{message}");
        }
        let error = Description::from_toml("graph = 2", "x").unwrap_err();
        assert_eq!(error.class(), ErrorKind::Unsupported);
    }

    #[test]
    fn a_description_is_told_by_its_key() {
        assert!(is_description(SMALL) && !is_description("schema = 1") && !is_description("graph ="));
    }

    #[test]
    fn hostile_texts_are_refused_quietly() {
        let refuse = |text: &str| assert!(Description::from_toml(text, "x").is_err());
        refuse(&" ".repeat(LIMIT_BYTES + 1));
        refuse(&format!("graph = 1\nname = {}", "[".repeat(100_000)));
        refuse(&"\u{0}".repeat(100));
        let node = "[[node]]\nname = \"\"\nop = \"linear\"\noutputs = 16777216\n";
        refuse(&format!("graph = 1\nname = \"\"\n[input]\nkind = \"dense\"\nsize = 1\n{}", node.repeat(10_000)));
        let node = "[[node]]\nname = \"N\"\nop = \"linear\"\noutputs = 16777216\n";
        let nodes: String = (0..2000).map(|index| node.replace('N', &index.to_string())).collect();
        refuse(&format!("graph = 1\nname = \"\"\n[input]\nkind = \"dense\"\nsize = 1\n{nodes}"));
        for end in 0..SMALL.len() {
            let _ = Description::from_toml(&SMALL[..end], "x");
        }
    }
}
