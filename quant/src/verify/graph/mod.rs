//! A quantised graph as a plain function, and how far it is from the float graph.

mod compare;
mod metrics;
mod origin;
mod report;

pub use compare::{Comparison, LayerError, Predictions, compare_graphs, compare_outputs};
pub use metrics::{Agreement, log_loss, wilson};
pub use report::{GraphReport, GraphVerifyError, check_origin, verify_graph, verify_graph_outputs};
