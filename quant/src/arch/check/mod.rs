//! Whether a description agrees with itself. A description that passes has widths, shapes and sizes that fit in
//! `u64` and `usize` whatever they are multiplied by, so that [`super::shape`] needs no errors of its own.
//!
//! The first contradiction found is reported, in the order in which one reads: input, buckets, layers, tensors, file.

mod file;
mod input;
mod layers;
mod psqt;
mod tensors;

use super::error::{Cause, Place};
use super::types::{Activation, Architecture, ElementType, HeadDivision, SCHEMA};

/// A contradiction and where it is.
pub(super) type Refusal = (Place, Cause);

/// The longest name of a network, layer or tensor.
const MAX_NAME_LEN: usize = 64;

impl Architecture {
    /// See the module.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        range(self.schema, SCHEMA, SCHEMA).map_err(|cause| (Place::Top("schema"), cause))?;
        if self.name.is_empty() || self.name.len() > MAX_NAME_LEN || self.name.chars().any(char::is_control) {
            return Err((Place::Top("name"), Cause::BadName { found: self.name.clone(), max_len: MAX_NAME_LEN }));
        }
        self.check_input()?;
        self.check_buckets()?;
        range(self.output.scale, 1, i32::MAX).map_err(|cause| (Place::Table("output", "scale"), cause))?;
        self.check_layers()?;
        self.check_tensors()?;
        self.check_psqt()?;
        if self.output.divide == HeadDivision::Once && !self.has_squared_integer_head() {
            let why = "only an integer head behind screlu or sqrrelu divides by QA and then by QA·QB";
            return Err((Place::Table("output", "divide"), Cause::Meaningless { why }));
        }
        self.check_rounded_head()?;
        self.check_file()
    }
}

impl Architecture {
    /// Rounded products want SCReLU, a bias of i32, and scales whose sums have one that is a whole number.
    fn check_rounded_head(&self) -> Result<(), Refusal> {
        if self.output.divide != HeadDivision::Rounded {
            return Ok(());
        }
        let meaningless = |why| Err((Place::Table("output", "divide"), Cause::Meaningless { why }));
        let spec = |name: String| self.tensor(&name);
        let (bias, qa, qb) = (spec(self.bias_name(1)), spec(self.weights_name(0)), spec(self.weights_name(1)));
        let is_wide = bias.is_some_and(|bias| bias.r#type == ElementType::I32);
        if !self.has_squared_integer_head() || self.layers[0].activation != Activation::Screlu || !is_wide {
            return meaningless("products are rounded behind screlu only, before an integer head with a bias of i32");
        }
        match (qa.and_then(|qa| qa.scale), qb.and_then(|qb| qb.scale)) {
            (Some(qa), Some(qb)) if (i64::from(qa).pow(2) * i64::from(qb)) % (1 << 15) == 0 => Ok(()),
            _ => meaningless("rounded products want scales of which QA·QA·QB is a multiple of 32768"),
        }
    }

    /// Whether integers are activated by a square and end in an integer head. The tensors are checked before.
    fn has_squared_integer_head(&self) -> bool {
        let [first, _] = self.layers.as_slice() else { return false };
        let of_type = |name: String| self.tensor(&name).map(|spec| spec.r#type);
        matches!(first.activation, Activation::Screlu | Activation::Sqrrelu)
            && of_type(self.weights_name(1)) == Some(ElementType::I16)
            && matches!(of_type(self.bias_name(1)), Some(ElementType::I16 | ElementType::I32))
    }
}

/// `min <= found <= max`.
fn range<T: Into<i64>>(found: T, min: T, max: T) -> Result<(), Cause> {
    let (found, min, max) = (found.into(), min.into(), max.into());
    if (min..=max).contains(&found) { Ok(()) } else { Err(Cause::OutOfRange { found, min, max }) }
}

/// The same for sizes; what is too large for `i64` is too large for every range.
fn size_range(found: usize, min: usize, max: usize) -> Result<(), Cause> {
    let number = |size: usize| i64::try_from(size).unwrap_or(i64::MAX);
    range(number(found), number(min), number(max))
}

/// A name that fits on a line of `weights.bin` and into a message.
fn name(found: &str) -> Result<(), Cause> {
    if !found.is_empty() && found.len() <= MAX_NAME_LEN && found.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(())
    } else {
        Err(Cause::BadName { found: found.to_owned(), max_len: MAX_NAME_LEN })
    }
}

#[cfg(test)]
pub(in crate::arch) mod tests {
    use crate::arch::Architecture;

    /// A plain chess network that the tests of this module spoil.
    pub(in crate::arch) const SMALL: &str = r#"schema = 1
name = "small"
[input]
kind = "chess"
perspectives = 2
[[layer]]
name = "l0"
outputs = 64
activation = "screlu"
[[layer]]
name = "l1"
outputs = 1
[[tensor]]
name = "l0w"
type = "i16"
scale = 255
[[tensor]]
name = "l0b"
type = "i16"
scale = 255
[[tensor]]
name = "l1w"
type = "i16"
scale = 64
[[tensor]]
name = "l1b"
type = "i16"
scale = 16320
"#;

    /// The message, without origin and line, about [`SMALL`] with `from` replaced by `to`.
    pub(super) fn spoiled(from: &str, to: &str) -> String {
        assert!(SMALL.contains(from), "nothing to replace: {from}");
        refused(&SMALL.replacen(from, to, 1))
    }

    /// The message, without origin and line, about a text.
    pub(super) fn refused(text: &str) -> String {
        let message = Architecture::from_toml(text, "x").unwrap_err().to_string();
        message.trim_start_matches(|c: char| c == 'x' || c == ':' || c.is_ascii_digit()).trim_start().to_owned()
    }

    #[test]
    fn names_are_checked() {
        assert!(spoiled("name = \"small\"", "name = \"\"").starts_with("name: \"\" is not a name"));
        assert!(spoiled("name = \"l0\"", "name = \"l 0\"").contains("is not a name"));
        assert!(spoiled("name = \"l0w\"", "name = \"l0\\nw\"").contains("is not a name"));
        assert!(spoiled("name = \"l1\"", "name = \"l0\"").contains("already used by layer 1"));
    }
}
