//! Values of a node's keys that can be written in more than one way.

use super::error::Cause;
use super::sizes::{MAX_LEN, range};
use crate::arch::suggest::advice;
use crate::graph::{Axis, Shape};
use tamis_batches::printable;
use toml::Value;

/// The axes as they are written.
pub(super) const AXES: [(&str, Axis); 3] =
    [("height", Axis::Height), ("width", Axis::Width), ("channels", Axis::Channels)];

/// The node whose keys are read.
pub(super) struct Place(pub String);

impl Place {
    fn refuse(&self, key: &'static str, found: &Value, expected: impl Into<String>) -> Cause {
        range(&self.0, key, printable(&found.to_string()), expected)
    }

    /// Down and across: one number for both, or two.
    pub(super) fn pair(&self, key: &'static str, value: &Value) -> Result<[usize; 2], Cause> {
        match self.numbers(key, value)?.as_deref() {
            Some([both]) => Ok([*both; 2]),
            Some([down, across]) => Ok([*down, *across]),
            _ => Err(self.refuse(key, value, "a whole number, or two: [down, across]")),
        }
    }

    /// An entry an axis; that of the channels may be missing.
    pub(super) fn triple(&self, key: &'static str, value: &Value, channels: usize) -> Result<[usize; 3], Cause> {
        match self.numbers(key, value)?.as_deref() {
            Some([both]) => Ok([*both, *both, channels]),
            Some([down, across]) => Ok([*down, *across, channels]),
            Some([down, across, channels]) => Ok([*down, *across, *channels]),
            _ => Err(self.refuse(key, value, "up to three whole numbers: [down, across, channels]")),
        }
    }

    /// A shape: of a vector one number.
    pub(super) fn shape(&self, key: &'static str, value: &Value) -> Result<Shape, Cause> {
        match self.numbers(key, value)?.as_deref() {
            Some([len]) => Ok(Shape::vector(*len)),
            Some([height, width, channels]) => Ok(Shape::map(*height, *width, *channels)),
            _ => Err(self.refuse(key, value, "[height, width, channels], or the length of a vector")),
        }
    }

    /// Padding before and behind, down and across; none for `"same"`.
    pub(super) fn padding(&self, key: &'static str, value: &Value) -> Result<Option<[[usize; 2]; 2]>, Cause> {
        match (value.as_str(), self.numbers(key, value)?.as_deref()) {
            (Some("same"), _) => Ok(None),
            (Some("valid"), _) => Ok(Some([[0; 2]; 2])),
            (_, Some([all])) => Ok(Some([[*all; 2]; 2])),
            (_, Some([down, across])) => Ok(Some([[*down, *across]; 2])),
            (_, Some([top, left, bottom, right])) => Ok(Some([[*top, *left], [*bottom, *right]])),
            _ => Err(self.refuse(
                key,
                value,
                "\"same\", \"valid\", a whole number, [down, across], or [top, left, bottom, right]",
            )),
        }
    }

    /// The name of a tensor, or none where `false` stands for that.
    pub(super) fn tensor(&self, key: &'static str, value: &Value, may_lack: bool) -> Result<Option<String>, Cause> {
        match value {
            Value::String(name) => Ok(Some(name.clone())),
            Value::Boolean(false) if may_lack => Ok(None),
            found if may_lack => Err(self.refuse(key, found, "the name of a tensor, or false")),
            found => Err(self.refuse(key, found, "the name of a tensor")),
        }
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(&self, key: &'static str, found: &str, known: &[(&str, T)]) -> Result<T, Cause> {
        known.iter().find(|(word, _)| *word == found).map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            let advice = advice(found, &words);
            Cause::UnknownValue { value: format!("{key} = \"{}\"", printable(found)), advice }
        })
    }

    /// The axes in another order.
    pub(super) fn axes(&self, key: &'static str, found: &[String]) -> Result<[usize; 3], Cause> {
        let axes: Vec<usize> =
            found.iter().map(|word| Ok(self.word(key, word, &AXES)?.index())).collect::<Result<_, Cause>>()?;
        axes.try_into().map_err(|axes: Vec<usize>| range(&self.0, key, axes.len(), "three axes"))
    }

    /// A whole number or a list of them; none if it is something else.
    fn numbers(&self, key: &'static str, value: &Value) -> Result<Option<Vec<usize>>, Cause> {
        let one = |value: &Value| usize::try_from(value.as_integer()?).ok();
        let found: Option<Vec<usize>> = match value {
            Value::Array(all) => all.iter().map(one).collect(),
            other => one(other).map(|one| vec![one]),
        };
        // Bounded here, so that windows can be worked with before they are checked.
        let too_large = found.iter().flatten().find(|number| **number > MAX_LEN);
        match too_large {
            Some(number) => Err(range(&self.0, key, number, format!("at most {MAX_LEN}"))),
            None => Ok(found),
        }
    }
}
