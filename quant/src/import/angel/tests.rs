//! Data that is decoded from memory: what the eight formats make of the same numbers, and what is refused.

use std::collections::BTreeMap;

use super::{AngelError, Cells, Matrix, Meta, Values, decode};
use crate::import::Remark;

/// A matrix of 2 rows and 3 columns in one partition.
struct Draft {
    format: &'static str,
    row_type: u32,
    cols: i64,
    /// `startCol` and `endCol`
    range: (i64, i64),
    /// Elements of each row, and columns of a column format.
    count: usize,
    data: Vec<u8>,
}

impl Draft {
    fn new(format: &'static str, row_type: u32, data: &[u8]) -> Self {
        Self { format, row_type, cols: 3, range: (0, 3), count: 3, data: data.to_vec() }
    }

    fn meta(&self) -> Vec<u8> {
        let Self { format, row_type, cols, range, count, data } = self;
        let of_columns = format.ends_with("ColumnFormat");
        let (rows, columns, elements) = if of_columns { (0, *count, 2) } else { (2, 0, 0) };
        let json = format!(
            r#"{{"matrixName":"m","formatClassName":"a.{format}","rowType":{row_type},"row":2,"col":{cols},
            "partMetas":{{"7":{{
            "startRow":0,"endRow":2,"startCol":{},"endCol":{},"saveRowNum":{rows},"saveColNum":{columns},
            "saveColElemNum":{elements},"fileName":"7","offset":0,"length":{},"rowMetas":{{
            "1":{{"rowId":1,"elementNum":{count}}},"0":{{"rowId":0,"elementNum":{count}}}}}}}}}}}"#,
            range.0,
            range.1,
            data.len()
        );
        [&(json.len() as u32).to_be_bytes()[..], json.as_bytes()].concat()
    }

    fn decode_with(&self, separator: Option<&str>) -> Result<(Matrix, Vec<Remark>), AngelError> {
        let meta = Meta::parse(&self.meta())?;
        decode(&meta, "m", &BTreeMap::from([("7".to_owned(), self.data.clone())]), separator)
    }

    fn decode(&self) -> Result<Matrix, String> {
        self.decode_with(None).map(|(matrix, _)| matrix).map_err(|error| error.to_string())
    }
}

fn whole(matrix: &Matrix) -> Vec<Vec<i64>> {
    let Values::Whole(rows) = &matrix.values else { panic!("{matrix:?}") };
    rows.iter().map(|row| row.cells.expand(3)).collect()
}

const LONGS: [[i64; 3]; 2] = [[i64::MIN, -1, 5], [0, i64::MAX, 7]];

/// The numbers of [`LONGS`] in every format, with column ids of so many bytes.
fn long_files(key_len_bytes: usize) -> [(&'static str, Vec<u8>); 8] {
    let key = |column: usize| (column as i64).to_be_bytes()[8 - key_len_bytes..].to_vec();
    let cells = || (0..2_usize).flat_map(|row| (0..3_usize).map(move |column| (row, column)));
    let binary = |of: &dyn Fn(usize, usize) -> Vec<u8>| cells().flat_map(|(row, column)| of(row, column)).collect();
    let text = |of: &dyn Fn(usize, usize) -> String| {
        cells().map(|(row, column)| of(row, column)).collect::<String>().into_bytes()
    };
    let value = |row: usize, column: usize| LONGS[row][column].to_be_bytes().to_vec();
    let columns = |of: &dyn Fn(usize) -> Vec<u8>| (0..3).flat_map(of).collect::<Vec<u8>>();
    [
        ("ValueBinaryRowFormat", binary(&|row, column| value(row, column))),
        ("ColIdValueBinaryRowFormat", binary(&|row, column| [key(column), value(row, column)].concat())),
        (
            "RowIdColIdValueBinaryRowFormat",
            binary(&|row, column| [(row as i32).to_be_bytes().to_vec(), key(column), value(row, column)].concat()),
        ),
        ("ValueTextRowFormat", text(&|row, column| format!("{}\n", LONGS[row][column]))),
        ("ColIdValueTextRowFormat", text(&|row, column| format!("{column}:{}\r\n", LONGS[row][column]))),
        ("RowIdColIdValueTextRowFormat", text(&|row, column| format!("{row}\t{column}\t{}\n", LONGS[row][column]))),
        ("BinaryColumnFormat", columns(&|column| [key(column), value(0, column), value(1, column)].concat())),
        (
            "TextColumnFormat",
            columns(&|column| format!("{column} {} {}\n", LONGS[0][column], LONGS[1][column]).into_bytes()),
        ),
    ]
}

#[test]
fn every_format_holds_the_same_longs() {
    // Dense, dense with long keys, sparse, sparse with long keys; the last two cannot be without column ids.
    for (row_type, key_len_bytes) in [(14, 4), (16, 8), (17, 4), (19, 8)] {
        for (format, data) in long_files(key_len_bytes) {
            let found = Draft::new(format, row_type, &data).decode();
            if row_type >= 17 && format.starts_with("Value") {
                assert!(found.unwrap_err().contains("a sparse row does not store every column"), "{format}");
                continue;
            }
            let matrix = found.unwrap();
            assert_eq!(whole(&matrix), LONGS, "{format} {row_type}");
            let Values::Whole(rows) = &matrix.values else { unreachable!() };
            assert_eq!(matches!(rows[0].cells, Cells::Sparse(_)), row_type >= 17);
        }
    }
}

#[test]
fn every_cut_of_every_format_is_refused() {
    for (format, data) in long_files(4) {
        for len in 0..data.len() {
            let error = Draft::new(format, 14, &data[..len]).decode().unwrap_err();
            assert!(error.contains("file `7`, "), "{format} {len}: {error}");
        }
        for byte in 0..data.len() {
            let mut damaged = data.clone();
            damaged[byte] ^= 0x85;
            // A number may have become another; nothing panics, and what is accepted is a whole matrix.
            if let Ok(matrix) = Draft::new(format, 14, &damaged).decode() {
                assert_eq!(whole(&matrix).concat().len(), 6);
            }
        }
    }
}

#[test]
fn damage_to_a_meta_is_no_panic() {
    let data = &long_files(4)[1].1;
    let good = Draft::new("ColIdValueBinaryRowFormat", 14, data).meta();
    let read = |bytes: &[u8]| {
        let meta = Meta::parse(bytes)?;
        decode(&meta, "m", &BTreeMap::from([("7".to_owned(), data.clone())]), None)
    };
    assert!(read(&good).is_ok());
    for at in 0..good.len() {
        assert!(read(&good[..at]).is_err(), "{at}");
        for change in [1, 2, 4, 8, 16, 0x80] {
            let mut damaged = good.clone();
            damaged[at] ^= change;
            // The name may be another, and so may what is not needed.
            if let Ok((matrix, _)) = read(&damaged) {
                assert_eq!(matrix.values.stored(), 6);
            }
        }
    }
}

#[test]
fn separators_are_looked_up_once_or_given() {
    let text = b"0|1\n1|2\n2|3\n0|4\n1|5\n2|6\n";
    let draft = Draft::new("ColIdValueTextRowFormat", 14, text);
    assert!(draft.decode().unwrap_err().contains("line 1: the line has 1 field (`0|1`), expected 2 separated by `,`"));
    assert_eq!(whole(&draft.decode_with(Some("|")).unwrap().0), [[1, 2, 3], [4, 5, 6]]);
    for given in ["", "1", "\n", "e", "-"] {
        let error = draft.decode_with(Some(given)).unwrap_err();
        assert!(matches!(error, AngelError::Option { option: "--separator", .. }), "{given:?}: {error}");
    }
    let long = [b"0,".to_vec(), vec![b'1'; 1 << 20]].concat();
    let error = Draft::new("ColIdValueTextRowFormat", 14, &long).decode().unwrap_err();
    assert!(error.contains("line 1: the line is more than 1048576 bytes long"), "{error}");
}

#[test]
fn records_are_where_they_belong() {
    let of = |text: &str| Draft::new("RowIdColIdValueTextRowFormat", 14, text.as_bytes()).decode().unwrap_err();
    let error = of("0,0,1\n0,1,2\n0,2,3\n1,0,4\n1,1,5\n0,2,6\n");
    assert!(error.contains("file `7`, line 6: the row is `0`, expected 1"), "{error}");
    let error = of("0,0,1\n0,0,2\n0,2,3\n1,0,4\n1,1,5\n1,2,6\n");
    assert!(error.contains("row 0, column 0 is there twice"), "{error}");
    let error = of("0,0,1\n0,1,2\n0,2,3\n1,0,4\n1,1,5\n1,2,6\n1,2,7\n");
    assert!(error.contains("line 7: found the line `1,2,7`, expected the end of partition 7"), "{error}");
    let error = of("0,0,1\n0,1,9223372036854775808\n");
    assert!(error.contains("line 2: the value is `9223372036854775808`, expected a number (i64)"), "{error}");
    let part = Draft { cols: 4, ..Draft::new("ColIdValueTextRowFormat", 14, b"") };
    assert!(part.decode().unwrap_err().contains("no partition holds the columns 3 to 3"));
    let few = Draft { count: 2, ..Draft::new("ColIdValueTextRowFormat", 14, b"0,1\n2,1\n0,1\n1,1\n") };
    let error = few.decode().unwrap_err();
    assert!(error.contains("row 0 has 2 of 3 columns, and column 1 is the first that is missing"), "{error}");
}

#[test]
fn what_a_hash_spreads_and_what_has_no_range_is_read() {
    let text = b"2,30\n0,10\n1,20\n0,1\n1,2\n2,3\n";
    let hashed = Draft { range: (0, 0), ..Draft::new("ColIdValueTextRowFormat", 21, text) };
    assert_eq!(whole(&hashed.decode().unwrap()), [[10, 20, 30], [1, 2, 3]]);
    let (min, max) = (i32::MIN.into(), i32::MAX.into());
    let unknown = Draft { cols: -1, range: (min, max), ..Draft::new("ColIdValueTextRowFormat", 24, text) };
    let (matrix, remarks) = unknown.decode_with(None).unwrap();
    assert_eq!((matrix.cols, whole(&matrix)), (3, vec![vec![10, 20, 30], vec![1, 2, 3]]));
    assert!(matches!(&remarks[..], [Remark::Decided(text)] if text.contains("read as 3")), "{remarks:?}");
}
