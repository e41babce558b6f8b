//! A value as plain numbers.

use crate::program::{Clip, Element, ProgramValue};

/// A value of a program for one sample.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Integers of any element.
    Int(Vec<i32>),
    /// Reals.
    Real(Vec<f32>),
    /// The list of active features, each with its integer value.
    Sparse(Vec<(u32, i32)>),
}

impl Data {
    /// What the runtime's bytes are; what is no whole element is left out.
    #[must_use]
    pub fn of_bytes(element: Element, bytes: &[u8]) -> Self {
        let halves = || bytes.as_chunks().0.iter().map(|bytes| i32::from(i16::from_le_bytes(*bytes))).collect();
        let words = || bytes.as_chunks().0.iter();
        match element {
            Element::U8 => Self::Int(bytes.iter().map(|byte| i32::from(*byte)).collect()),
            Element::I8 => Self::Int(bytes.iter().map(|byte| i32::from(*byte as i8)).collect()),
            Element::I16 => Self::Int(halves()),
            Element::I32 => Self::Int(words().map(|bytes| i32::from_le_bytes(*bytes)).collect()),
            Element::F32 => Self::Real(words().map(|bytes| f32::from_le_bytes(*bytes)).collect()),
        }
    }

    /// The integers.
    ///
    /// # Panics
    /// If they are reals or a list.
    #[must_use]
    pub fn integers(&self) -> &[i32] {
        match self {
            Self::Int(values) => values,
            other => panic!("integers, and found {other:?}"),
        }
    }

    /// The reals.
    ///
    /// # Panics
    /// If they are integers or a list.
    #[must_use]
    pub fn reals(&self) -> &[f32] {
        match self {
            Self::Real(values) => values,
            other => panic!("reals, and found {other:?}"),
        }
    }

    /// The active features.
    ///
    /// # Panics
    /// If it is a vector.
    #[must_use]
    pub fn active(&self) -> &[(u32, i32)] {
        match self {
            Self::Sparse(active) => active,
            other => panic!("a list of features, and found {other:?}"),
        }
    }

    /// `len` elements from `start` on.
    ///
    /// # Panics
    /// If there are not so many, and for a list.
    #[must_use]
    pub fn part(&self, start: usize, len: usize) -> Self {
        match self {
            Self::Int(values) => Self::Int(values[start..start + len].to_vec()),
            Self::Real(values) => Self::Real(values[start..start + len].to_vec()),
            Self::Sparse(_) => panic!("a part of a list of features"),
        }
    }

    /// What the elements stand for.
    #[must_use]
    pub fn to_reals(&self, value: &ProgramValue) -> Vec<f64> {
        match self {
            Self::Int(values) => {
                let real = |(element, x): (usize, &i32)| (f64::from(*x) - f64::from(value.zero)) * value.unit(element);
                values.iter().enumerate().map(real).collect()
            }
            Self::Real(values) => {
                values.iter().enumerate().map(|(element, x)| f64::from(*x) * value.unit(element)).collect()
            }
            Self::Sparse(_) => Vec::new(),
        }
    }

    /// The bytes as the runtime holds them.
    #[must_use]
    pub fn bytes(&self, element: Element) -> Vec<u8> {
        match self {
            Self::Real(values) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::Sparse(_) => Vec::new(),
            Self::Int(values) => match element {
                Element::U8 | Element::I8 => values.iter().map(|x| *x as u8).collect(),
                Element::I16 => values.iter().flat_map(|x| (*x as i16).to_le_bytes()).collect(),
                Element::I32 | Element::F32 => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
            },
        }
    }
}

/// What integer weights meet; squares are of 15 bits.
pub(super) fn clipped(clip: Clip, max: i32, value: i32) -> i32 {
    match clip {
        Clip::Identity => value,
        Clip::Relu | Clip::Crelu => value.clamp(0, max),
        Clip::Screlu | Clip::Sqrrelu => value.clamp(0, max).pow(2),
    }
}
