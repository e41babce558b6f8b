//! The description of a graph: everything but the numbers.
//!
//! safetensors and npz files hold named tensors and do not say how they hang together. A description, TOML that a
//! person writes, says it; [`Description::bind`] puts tensors into it, [`Description::of`] takes a graph apart again.
//! Its canonical text travels in the metadata of an exported file.
//!
//! ```
//! use tamis_quant::graph::description::Description;
//!
//! let text = r#"
//!     graph = 1
//!     name = "small"
//!     [input]
//!     kind = "dense"
//!     size = 4
//!     [[node]]
//!     name = "fc1"
//!     op = "linear"
//!     outputs = 2
//!     [[node]]
//!     name = "probabilities"
//!     op = "softmax"
//! "#;
//! let description = Description::from_toml(text, "small.toml")?;
//! assert_eq!(description.tensor_names(), ["fc1.weight", "fc1.bias"]);
//! assert_eq!(Description::from_toml(&description.to_toml(), "again")?, description);
//!
//! let typo = text.replace("outputs = 2", "output = 2");
//! let message = Description::from_toml(&typo, "small.toml").unwrap_err().to_string();
//! assert!(message.starts_with("small.toml:10: unknown key `output`; did you mean `outputs`?"), "{message}");
//! # Ok::<(), tamis_quant::graph::description::DescriptionError>(())
//! ```

mod apart;
mod bind;
mod canonical;
mod check;
mod error;
mod fold;
mod keys;
mod needs;
mod node;
mod order;
mod parse;
mod read;
mod sizes;
mod skeleton;
mod tensor;
mod types;

pub use error::{Cause, DescriptionError, TensorsError};
pub use order::{KernelOrder, Order};
pub use parse::is_description;
pub use tensor::{Tensor, Tensors};
pub use types::{DESCRIPTION_KEY, Described, DescribedOp, Description, Kernel, VERSION};
