//! A node with what it reads: attributes and constant inputs by name, each refused where it is of another kind.

use super::super::error::OnnxError;
use super::super::tensor::Literal;
use super::super::types::{AttributeValue, NodeProto};
use super::layout::Tensor;
use std::rc::Rc;

/// What a name of the model stands for.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// Numbers that do not depend on the input.
    Known(Rc<Literal>),
    /// A value of the graph.
    Made(Tensor),
}

impl Entry {
    pub(super) fn known(literal: Literal) -> Self {
        Self::Known(Rc::new(literal))
    }

    /// As the model has it.
    pub(super) fn dims(&self) -> &[usize] {
        match self {
            Self::Known(literal) => &literal.dims,
            Self::Made(tensor) => &tensor.dims,
        }
    }
}

/// A node and the values that it reads.
#[derive(Debug)]
pub(super) struct Call<'n, 'a> {
    pub(super) node: &'n NodeProto<'a>,
    pub(super) opset: i64,
    /// `None` is one that is left out.
    pub(super) inputs: Vec<Option<Entry>>,
}

impl<'a> Call<'_, 'a> {
    pub(super) fn operator(&self) -> &'a str {
        self.node.operator
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> OnnxError {
        OnnxError::Feature { place: self.node.place(), what: what.into() }
    }

    pub(super) fn attribute_error(&self, name: &str, found: impl Into<String>, expected: &str) -> OnnxError {
        let (found, expected) = (found.into(), expected.to_owned());
        OnnxError::Attribute { node: self.node.place(), attribute: name.to_owned(), found, expected }
    }

    pub(super) fn shapes(&self, found: impl Into<String>, expected: impl Into<String>) -> OnnxError {
        OnnxError::Shapes { node: self.node.place(), found: found.into(), expected: expected.into() }
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&AttributeValue<'a>> {
        self.node.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| &attribute.value)
    }

    pub(super) fn int(&self, name: &str, default: i64) -> Result<i64, OnnxError> {
        match self.attribute(name) {
            None => Ok(default),
            Some(AttributeValue::Int(int)) => Ok(*int),
            Some(other) => Err(self.attribute_error(name, other.word(), "an integer")),
        }
    }

    pub(super) fn float(&self, name: &str, default: f64) -> Result<f64, OnnxError> {
        match self.attribute(name) {
            None => Ok(default),
            Some(AttributeValue::Float(float)) => Ok((*float).into()),
            Some(other) => Err(self.attribute_error(name, other.word(), "a real number")),
        }
    }

    pub(super) fn text(&self, name: &str, default: &'static str) -> Result<String, OnnxError> {
        match self.attribute(name) {
            None => Ok(default.to_owned()),
            Some(AttributeValue::Text(text)) => Ok(String::from_utf8_lossy(text).into_owned()),
            Some(other) => Err(self.attribute_error(name, other.word(), "a text")),
        }
    }

    pub(super) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, OnnxError> {
        match self.attribute(name) {
            None => Ok(None),
            Some(AttributeValue::Ints(ints)) => Ok(Some(ints.clone())),
            Some(other) => Err(self.attribute_error(name, other.word(), "a list of integers")),
        }
    }

    /// What older versions have as an attribute and newer ones as an input.
    pub(super) fn ints_or_input(&self, name: &str, input: usize) -> Result<Option<Vec<i64>>, OnnxError> {
        match self.ints(name)? {
            Some(ints) => Ok(Some(ints)),
            None => Ok(self.constant(input)?.map(|literal| literal.ints())),
        }
    }

    /// An input that there may be.
    pub(super) fn input(&self, index: usize) -> Option<&Entry> {
        self.inputs.get(index).and_then(Option::as_ref)
    }

    pub(super) fn required(&self, index: usize) -> Result<&Entry, OnnxError> {
        let missing = || OnnxError::Missing { what: format!("input {index} of {}", self.node.place()) };
        self.input(index).ok_or_else(missing)
    }

    /// An input that is computed.
    pub(super) fn made(&self, index: usize) -> Result<&Tensor, OnnxError> {
        match self.required(index)? {
            Entry::Made(tensor) => Ok(tensor),
            Entry::Known(_) => Err(self.unsupported(format!("a constant as input {index}"))),
        }
    }

    /// An input that there may be, and that is constant.
    pub(super) fn constant(&self, index: usize) -> Result<Option<&Literal>, OnnxError> {
        match self.input(index) {
            None => Ok(None),
            Some(Entry::Known(literal)) => Ok(Some(literal)),
            Some(Entry::Made(_)) => Err(self.unsupported(format!("a computed input {index}"))),
        }
    }

    pub(super) fn required_constant(&self, index: usize) -> Result<&Literal, OnnxError> {
        self.required(index)?;
        let missing = || OnnxError::Missing { what: format!("input {index} of {}", self.node.place()) };
        self.constant(index)?.ok_or_else(missing)
    }

    /// A constant of so many elements.
    pub(super) fn vector(&self, index: usize, len: usize, what: &str) -> Result<Vec<f64>, OnnxError> {
        let literal = self.required_constant(index)?;
        if literal.values.len() != len {
            let found = format!("{what} of {} elements", literal.values.len());
            return Err(self.shapes(found, format!("{len}")));
        }
        Ok(literal.values.clone())
    }

    /// A constant of one element that there may be.
    pub(super) fn scalar(&self, index: usize) -> Result<Option<f64>, OnnxError> {
        let Some(literal) = self.constant(index)? else { return Ok(None) };
        match literal.values[..] {
            [value] => Ok(Some(value)),
            _ => Err(self.shapes(format!("input {index} of {} elements", literal.values.len()), "one")),
        }
    }

    /// An axis of a value of `rank` axes; negative ones count from the end.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, OnnxError> {
        let signed = rank as i64;
        if (-signed..signed).contains(&axis) {
            return Ok(axis.rem_euclid(signed) as usize);
        }
        Err(self.attribute_error("axis", axis.to_string(), &format!("an axis of {rank}")))
    }

    /// Several axes, in ascending order, each once.
    pub(super) fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, OnnxError> {
        let mut found = axes.iter().map(|axis| self.axis(*axis, rank)).collect::<Result<Vec<_>, _>>()?;
        found.sort_unstable();
        if found.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.attribute_error("axes", format!("{axes:?}"), "each axis once"));
        }
        Ok(found)
    }
}
