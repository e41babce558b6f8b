//! GBDT: three matrices of the same shape, a row a tree, a column a node.

use std::collections::BTreeMap;

use super::error::AngelError;
use super::matrix::{Matrix, Values};
use super::options::Options;
use super::tensors::{Tensors, bounded_cols};
use crate::graph::{Forest, Graph, Input, Node, Op, Tree};
use crate::import::Remark;

/// The feature that a node looks at; −1 in a leaf.
pub(super) const SPLIT_FEATURE: &str = "gbdt.split.feature";
/// What its value is compared with.
const SPLIT_VALUE: &str = "gbdt.split.value";
/// What a leaf gives.
const NODE_PREDICT: &str = "gbdt.node.predict";

/// Builds the trees.
pub(super) fn build(
    name: &str,
    matrices: &BTreeMap<String, Matrix>,
    options: &Options,
) -> Result<(Graph, Vec<Remark>), AngelError> {
    let Some(rate) = options.learning_rate else {
        return Err(AngelError::Ask {
            what: "the learning rate of a GBDT (`ml.learn.rate`)",
            option: "--learning-rate",
        });
    };
    if !(rate.is_finite() && rate > 0.0) {
        let expected = "a number above 0".to_owned();
        return Err(AngelError::Option { option: "--learning-rate", found: rate.to_string(), expected });
    }
    let mut tensors = Tensors::new(matrices, "a GBDT");
    let split = tensors.matrix(SPLIT_FEATURE)?;
    let ids = split.values.ids();
    let cols = bounded_cols(split, ids.len())?;
    let Values::Whole(rows) = &split.values else {
        return Err(tensors.shape(SPLIT_FEATURE, "real numbers", "whole ones"));
    };
    if rows.is_empty() {
        return Err(tensors.shape(SPLIT_FEATURE, "no rows", "one for each tree"));
    }
    let mut real = |name: &str| {
        let matrix = tensors.matrix(name)?;
        if (matrix.values.ids(), matrix.cols) != (ids.clone(), split.cols) {
            let found = format!("{} rows of {} columns", matrix.values.ids().len(), matrix.cols);
            let expected = format!("the rows of `{SPLIT_FEATURE}`, {} of {} columns", ids.len(), split.cols);
            return Err(tensors.shape(name, found, expected));
        }
        bounded_cols(matrix, ids.len())?;
        let Values::Real(rows) = &matrix.values else {
            return Err(tensors.shape(name, "whole numbers", "float or double"));
        };
        Ok(rows.iter().map(|row| row.cells.expand(cols)).collect::<Vec<_>>())
    };
    let (thresholds, leaves) = (real(SPLIT_VALUE)?, real(NODE_PREDICT)?);
    let mut trees = Vec::with_capacity(rows.len());
    let mut features = 1;
    for ((row, thresholds), leaves) in rows.iter().zip(thresholds).zip(leaves) {
        let expanded = row.cells.expand(cols);
        let each = expanded.iter().map(|feature| match u32::try_from(*feature) {
            Ok(found) => {
                features = features.max(found as usize + 1);
                Ok(Some(found))
            }
            Err(_) if *feature == -1 => Ok(None),
            Err(_) => Err(tensors.shape(SPLIT_FEATURE, format!("{feature} in row {}", row.id), "a feature, or -1")),
        });
        trees.push(Tree { features: each.collect::<Result<_, _>>()?, thresholds, leaves });
    }
    let mut remarks = tensors.remarks();
    if let Some(found) = options.features {
        if found < features {
            let expected = format!("at least {features}, since a tree looks at feature {}", features - 1);
            return Err(AngelError::Option { option: "--features", found: found.to_string(), expected });
        }
        features = found;
    } else {
        remarks.push(Remark::Decided(format!(
            "{features} features, the last that a tree looks at being {}; `--features` says if the data has more",
            features - 1
        )));
    }
    let max_active = options.max_active.or(options.fields).unwrap_or(features).min(features);
    let input = Input::Sparse { features, max_active, exact: false };
    let op = Op::Trees(Forest { rate, trees });
    let graph =
        Graph { name: name.to_owned(), input, nodes: vec![Node { name: "gbdt".to_owned(), reads: vec![0], op }] };
    graph.check()?;
    Ok((graph, remarks))
}
