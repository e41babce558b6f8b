//! Writes matrix folders and `graph.json` by the description of their formats, for models that no fixture has.

use std::fmt::Write;
use std::path::Path;

/// Row type of dense f64 rows.
pub const DOUBLE_DENSE: u32 = 0;
/// Row type of dense f32 rows.
pub const FLOAT_DENSE: u32 = 7;

/// A dense matrix.
pub struct Dense<'a> {
    /// Of the folder and the matrix.
    pub name: &'a str,
    /// The rows 0, 1, … that are saved.
    pub rows: &'a [Vec<f64>],
    /// Rows of the matrix, an optimiser's included.
    pub rows_in_training: usize,
    /// [`DOUBLE_DENSE`] or [`FLOAT_DENSE`]
    pub row_type: u32,
}

/// Writes a dense matrix as `ColIdValueBinaryRowFormat`, in two partitions where it has two columns or more.
pub fn write_dense(model: &Path, matrix: &Dense<'_>) {
    let folder = model.join(matrix.name);
    std::fs::create_dir_all(&folder).unwrap();
    let cols = matrix.rows[0].len();
    let middle = cols / 2;
    let (mut data, mut parts) = (Vec::new(), Vec::new());
    for (id, range) in [0..middle, middle..cols].into_iter().filter(|range| !range.is_empty()).enumerate() {
        let offset = data.len();
        let mut row_metas = Vec::new();
        for (row, values) in matrix.rows.iter().enumerate() {
            for column in range.clone() {
                data.extend((column as i32).to_be_bytes());
                match matrix.row_type {
                    DOUBLE_DENSE => data.extend(values[column].to_be_bytes()),
                    _ => data.extend((values[column] as f32).to_be_bytes()),
                }
            }
            let count = range.len();
            row_metas.push(format!(r#""{row}":{{"rowId":{row},"offset":{offset},"elementNum":{count},"saveType":0}}"#));
        }
        let length = data.len() - offset;
        parts.push(format!(
            r#""{id}":{{"partId":{id},"startRow":0,"endRow":{},"startCol":{},"endCol":{},"nnz":0,"saveRowNum":{},
            "saveColNum":0,"saveColElemNum":0,"fileName":"0","offset":{offset},"length":{length},"rowMetas":{{{}}}}}"#,
            matrix.rows_in_training,
            range.start,
            range.end,
            matrix.rows.len(),
            row_metas.join(","),
        ));
    }
    let json = format!(
        r#"{{"matrixId":0,"matrixName":"{}",
            "formatClassName":"com.tencent.angel.model.output.format.ColIdValueBinaryRowFormat","rowType":{},"row":{},
            "col":{cols},"blockRow":-1,"blockCol":-1,"options":{{}},"partMetas":{{{}}}}}"#,
        matrix.name,
        matrix.row_type,
        matrix.rows_in_training,
        parts.join(","),
    );
    std::fs::write(folder.join("0"), data).unwrap();
    std::fs::write(folder.join("_meta"), [&(json.len() as u32).to_be_bytes()[..], json.as_bytes()].concat()).unwrap();
}

/// Writes a row of doubles with 64-bit columns that a hash spread: only those that were set, in one text file.
pub fn write_sparse(model: &Path, name: &str, cols: i64, cells: &[(i64, f64)]) {
    let folder = model.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let data: String = cells.iter().map(|(column, value)| format!("{column}\t{value:?}\n")).collect();
    let json = format!(
        r#"{{"matrixId":0,"matrixName":"{name}",
            "formatClassName":"com.tencent.angel.model.output.format.ColIdValueTextRowFormat","rowType":5,"row":1,
            "col":{cols},"blockRow":-1,"blockCol":-1,"options":{{}},"partMetas":{{"0":{{"partId":0,"startRow":0,
            "endRow":1,"startCol":0,"endCol":0,"nnz":0,"saveRowNum":1,"saveColNum":0,"saveColElemNum":0,"fileName":"0",
            "offset":0,"length":{},"rowMetas":{{"0":{{"rowId":0,"offset":0,"elementNum":{},"saveType":0}}}}}}}}}}"#,
        data.len(),
        cells.len(),
    );
    std::fs::write(folder.join("0"), data).unwrap();
    std::fs::write(folder.join("_meta"), [&(json.len() as u32).to_be_bytes()[..], json.as_bytes()].concat()).unwrap();
}

/// `graph.json` with the layers, each the inside of an object.
pub fn write_graph_json(model: &Path, format: &str, features: usize, fields: i64, layers: &[&str]) {
    let mut text =
        format!(r#"{{"data": {{"format": "{format}", "indexrange": {features}, "numfield": {fields}}}, "layers": ["#);
    for (index, layer) in layers.iter().enumerate() {
        write!(text, "{}{{{layer}}}", if index == 0 { "" } else { ", " }).unwrap();
    }
    text.push_str("]}");
    std::fs::write(model.join("graph.json"), text).unwrap();
}
