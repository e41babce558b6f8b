//! The eight formats of data files.

use super::error::AngelError;

/// A format: what one record holds, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Last component of the Java class.
    pub name: &'static str,
    /// Whether a record is a line of text; else packed bytes, high byte first.
    pub text: bool,
    /// What a record holds.
    pub record: Record,
}

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// A value; the columns of a partition in order, row after row.
    Value,
    /// A column and its value, row after row.
    ColumnValue,
    /// A row, a column and its value.
    RowColumnValue,
    /// A column and its values in every row.
    Column,
}

const FORMATS: [Format; 8] = [
    Format { name: "ValueBinaryRowFormat", text: false, record: Record::Value },
    Format { name: "ColIdValueBinaryRowFormat", text: false, record: Record::ColumnValue },
    Format { name: "RowIdColIdValueBinaryRowFormat", text: false, record: Record::RowColumnValue },
    Format { name: "ValueTextRowFormat", text: true, record: Record::Value },
    Format { name: "ColIdValueTextRowFormat", text: true, record: Record::ColumnValue },
    Format { name: "RowIdColIdValueTextRowFormat", text: true, record: Record::RowColumnValue },
    Format { name: "BinaryColumnFormat", text: false, record: Record::Column },
    Format { name: "TextColumnFormat", text: true, record: Record::Column },
];

impl Format {
    /// The format of a Java class, whatever package it is said to be in.
    ///
    /// # Errors
    /// [`AngelError::UnknownFormat`]
    pub fn from_class(class: &str) -> Result<Self, AngelError> {
        let name = class.rsplit('.').next().unwrap_or(class);
        FORMATS.into_iter().find(|format| format.name == name).ok_or_else(|| AngelError::UnknownFormat {
            found: super::shown(class.as_bytes()),
            expected: FORMATS.map(|format| format.name).join(", "),
        })
    }

    /// Whether doubles went through six decimals when they were written.
    #[must_use]
    pub fn cuts_doubles(self) -> bool {
        self.text && self.record == Record::RowColumnValue
    }
}
