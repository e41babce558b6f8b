//! The architecture description: what the training script said and no checkpoint of bullet says.
//!
//! A description is TOML that a person writes beside a checkpoint. [`Architecture::from_toml`] reads it strictly (an
//! unknown key, a width that does not fit, a tensor that nobody uses: each is refused with its line),
//! [`Architecture::to_toml`] writes the one canonical text of it, and the facts that follow from it (widths, shapes,
//! tables, file sizes) are methods, so that no other module derives them a second time.
//!
//! ```
//! use tamis_quant::arch::Architecture;
//!
//! let text = r#"
//!     schema = 1
//!     name = "small"
//!     [input]
//!     kind = "chess"
//!     [[layer]]
//!     name = "l0"
//!     outputs = 64
//!     activation = "screlu"
//!     [[layer]]
//!     name = "l1"
//!     outputs = 1
//!     [[tensor]]
//!     name = "l0w"
//!     type = "i16"
//!     scale = 255
//!     [[tensor]]
//!     name = "l0b"
//!     type = "i16"
//!     scale = 255
//!     [[tensor]]
//!     name = "l1w"
//!     type = "i16"
//!     scale = 64
//!     [[tensor]]
//!     name = "l1b"
//!     type = "i16"
//!     scale = 16320
//! "#;
//! let architecture = Architecture::from_toml(text, "small.toml")?;
//! assert_eq!(architecture.tensor_shape("l1w"), Some((1, 128)));
//! assert_eq!(architecture.bare_len_bytes(), 98_752);
//!
//! let typo = text.replace("outputs = 64", "output = 64");
//! let message = Architecture::from_toml(&typo, "small.toml").unwrap_err().to_string();
//! assert!(message.starts_with("small.toml:8: unknown key `output`; did you mean `outputs`?"));
//! # Ok::<(), tamis_quant::arch::ArchError>(())
//! ```

mod canonical;
mod check;
mod error;
mod names;
pub(crate) mod parse;
mod shape;
mod sizes;
pub(crate) mod suggest;
mod types;

pub use error::{ArchError, Cause, Place};
pub use shape::{Part, TensorRole};
pub use sizes::{FileForm, TensorSpan};
pub use types::{
    Activation, Architecture, BareFile, Buckets, DenseType, ElementType, HeadDivision, Input, InputKind, Layer, Output,
    Psqt, PsqtOf, Rounding, SCHEMA, Tail, TensorSpec,
};
