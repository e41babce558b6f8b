//! A quantised graph as a plain function, and how far it is from the float graph.

mod compare;
mod data;
mod metrics;
mod model;
mod operation;
mod origin;
mod report;
mod runtime;

pub use compare::{Comparison, LayerError, Predictions, compare_graphs, compare_outputs};
pub use data::Data;
pub use metrics::{Agreement, log_loss, wilson};
pub use model::GraphModel;
pub use report::{GraphReport, GraphVerifyError, check_origin, verify_graph, verify_graph_outputs};
pub use runtime::check_graph_runtime;
