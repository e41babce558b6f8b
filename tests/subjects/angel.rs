//! Matrix folders of Angel equal their truth, models reproduce their scores, and what is damaged is refused by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tamis_quant::graph::Sample;
use tamis_quant::import::Remark;
use tamis_quant::import::angel::{
    AngelError, Cells, Kind, Matrix, Meta, Options, ValueType, Values, decode, is_angel_folder, read_matrix, read_model,
};
use tests::npy;
use tests::tolerances::{ANGEL_SCORES, F64_ORDER};
use tests::trials::Fixtures;

fn angel(fixtures: &Path) -> PathBuf {
    fixtures.join("angel")
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn real_rows(matrix: &Matrix) -> Vec<Vec<f64>> {
    let Values::Real(rows) = &matrix.values else { panic!("{} is of whole numbers", matrix.name) };
    rows.iter().map(|row| row.cells.expand(matrix.cols as usize)).collect()
}

/// Whether the values equal the truth; what went through six decimals may be off by half of the last.
fn assert_equal(matrix: &Matrix, lossy: bool, found: &[f64], truth: &[f64]) {
    assert_eq!(found.len(), truth.len(), "{}", matrix.name);
    for (index, (found, truth)) in found.iter().zip(truth).enumerate() {
        if lossy {
            assert!((found - truth).abs() <= 5e-7 + f64::EPSILON, "{}: {index}: {found} {truth}", matrix.name);
        } else {
            assert_eq!(found, truth, "{}: {index}", matrix.name);
        }
    }
}

#[test]
fn every_format_equals_its_truth(fixtures: Fixtures) {
    let angel = angel(&fixtures);
    let (_, dense) = npy::read(&angel.join("lr.weights.npy"));
    let (_, sparse) = npy::read(&angel.join("lr.weights_sparse.npy"));
    let (shape, embedding) = npy::read(&angel.join("deepfm.embedding_8x148.npy"));
    assert_eq!(shape, [8, 148]);
    let mut formats = 0;
    for folder in folders(&angel.join("models/lr_formats")) {
        let (matrix, remarks) = read_matrix(&folder, &Options::default()).unwrap();
        let lossy = name(&folder).contains("RowIdColIdValueText") && matrix.row_type.value == ValueType::Double;
        let truth = if matrix.row_type.dense { &dense } else { &sparse };
        assert_equal(&matrix, lossy, &real_rows(&matrix)[0], &truth[..148]);
        let said = remarks.iter().any(|remark| matches!(remark, Remark::Warning(text) if text.contains("6 decimals")));
        assert_eq!((said, remarks.len()), (lossy, usize::from(lossy)), "{remarks:?}");
        let Values::Real(rows) = &matrix.values else { unreachable!() };
        assert_eq!(matches!(rows[0].cells, Cells::Sparse(_)), name(&folder).contains("sparse"));
        formats += 1;
    }
    for folder in folders(&angel.join("models/deepfm_formats")) {
        let (matrix, _) = read_matrix(&folder, &Options::default()).unwrap();
        assert_equal(&matrix, false, &real_rows(&matrix).concat(), &embedding);
        formats += 1;
    }
    assert_eq!(formats, 28 + 8);
}

#[test]
fn whole_numbers_are_exact(fixtures: Fixtures) {
    let angel = angel(&fixtures);
    let mut all: BTreeMap<bool, Vec<Vec<Vec<i64>>>> = BTreeMap::new();
    for folder in folders(&angel.join("models/ints")) {
        let (matrix, _) = read_matrix(&folder, &Options::default()).unwrap();
        let Values::Whole(rows) = &matrix.values else { panic!("{}", matrix.name) };
        let rows = rows.iter().map(|row| row.cells.expand(8)).collect();
        all.entry(matrix.row_type.value == ValueType::Long).or_default().push(rows);
    }
    for (long, matrices) in all {
        assert_eq!(matrices.len(), 4);
        assert!(matrices.iter().all(|matrix| *matrix == matrices[0]), "long: {long}");
        // The text form, read here by hand.
        let suffix = if long { "l" } else { "i" };
        let path = angel.join(format!("models/ints/m_RowIdColIdValueTextRowFormat_{suffix}/0"));
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let fields: Vec<i64> = line.split(',').map(|field| field.parse().unwrap()).collect();
            assert_eq!(matrices[0][fields[0] as usize][fields[1] as usize], fields[2]);
        }
        let values = matrices[0].concat();
        assert!(values.contains(&i32::MIN.into()) && values.contains(&i32::MAX.into()), "{values:?}");
    }
}

/// The labels and the active features of the census rows.
fn census(angel: &Path) -> Vec<(f64, Sample)> {
    let text = std::fs::read_to_string(angel.join("data/census_148d_test.dummy")).unwrap();
    let row = |line: &str| {
        let mut fields = line.split_whitespace();
        let label = fields.next().unwrap().parse().unwrap();
        (label, Sample::Sparse(fields.map(|field| (field.parse().unwrap(), 1.0)).collect()))
    };
    text.lines().map(row).collect()
}

#[test]
fn models_reproduce_their_scores(fixtures: Fixtures) {
    let angel = angel(&fixtures);
    let rows = census(&angel);
    assert_eq!(rows.len(), 9769);
    for (model, correct, remarks) in
        [("lr", 8251, 0), ("fm", 8379, 0), ("deepfm", 8411, 0), ("pnn", 8410, 0), ("gbdt", 8262, 2)]
    {
        let path = angel.join("models").join(model);
        assert!(is_angel_folder(&path));
        let learning_rate = (model == "gbdt").then_some(0.3);
        let options = Options { learning_rate, features: Some(148), ..Options::default() };
        let imported = read_model(&path, &options).unwrap();
        assert_eq!(imported.remarks.len(), remarks, "{:?}", imported.remarks);
        assert_eq!((imported.source.as_str(), imported.graph.name.as_str()), ("Angel model folder", model));
        let (_, scores) = npy::read(&angel.join(format!("{model}.scores_test.npy")));
        let (mut right, mut worst) = (0, 0.0_f64);
        for ((label, sample), score) in rows.iter().zip(&scores) {
            let found = imported.graph.evaluate_logits(sample).unwrap()[0];
            worst = worst.max((found - score).abs());
            right += usize::from((found > 0.0) == (*label > 0.0));
            if model != "gbdt" {
                let output = imported.graph.evaluate(sample).unwrap()[0];
                assert!((output - 1.0 / (1.0 + (-found).exp())).abs() < F64_ORDER);
            }
        }
        note!("{model}: {right} of {} right, largest difference of a score {worst:.2e}", rows.len());
        assert!(worst < ANGEL_SCORES, "{model}: {worst}");
        assert_eq!(right, correct, "{model}");
    }
}

#[test]
fn a_learning_rate_is_asked_for(fixtures: Fixtures) {
    let angel = angel(&fixtures);
    let error = read_model(&angel.join("models/gbdt"), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("give it with `--learning-rate`"), "{error}");
    assert_eq!(error.class().exit_status(), 2);
}

#[test]
fn the_suffixes_tell_the_same_models_as_graph_json(fixtures: Fixtures) {
    let angel = angel(&fixtures);
    let copy = tempfile::tempdir().unwrap();
    let rows = census(&angel);
    for (model, options) in [
        ("lr", Options::default()),
        ("fm", Options { max_active: Some(13), ..Options::default() }),
        ("pnn", Options::default()),
        ("deepfm", Options { kind: Some(Kind::DeepFm), ..Options::default() }),
    ] {
        let path = angel.join("models").join(model);
        let bare = copy.path().join(model);
        for folder in folders(&path) {
            std::fs::create_dir_all(bare.join(name(&folder))).unwrap();
            for file in ["_meta", "0"] {
                std::fs::copy(folder.join(file), bare.join(name(&folder)).join(file)).unwrap();
            }
        }
        let by_json = read_model(&path, &Options::default()).unwrap().graph;
        let by_suffix = read_model(&bare, &options).unwrap();
        assert!(matches!(by_suffix.remarks[..], [Remark::Decided(_), ..]), "{:?}", by_suffix.remarks);
        for (_, sample) in rows.iter().take(200) {
            let (a, b) = (by_json.evaluate(sample).unwrap()[0], by_suffix.graph.evaluate(sample).unwrap()[0]);
            assert!((a - b).abs() < F64_ORDER, "{model}: {a} {b}");
        }
        if model == "deepfm" {
            let error = read_model(&bare, &Options::default()).unwrap_err().to_string();
            assert!(error.contains("`--kind` (deepfm, wide-and-deep)"), "{error}");
        }
    }
}

/// What a message about a damaged folder has to say.
const DEFECTS: [(&str, &str); 50] = [
    ("col_huge", "col is 4611686018427387904, expected -1 or 1 to 2147483647, since column ids are i32"),
    ("column_negative", "the column is -1"),
    ("column_out_of_range", "the column is 5000, expected 0 to 147"),
    ("column_outside_partition", "the columns of partition 0"),
    ("data_file_missing", "the file `4` is missing, which holds partition 4"),
    ("data_trailing", "4 bytes behind the last partition"),
    ("data_truncated", "the file ends at byte 573"),
    ("duplicate_column", "is there twice"),
    ("elementnum_negative", "elementNum is -1"),
    ("elementnum_too_big", "19 records, expected 20, as the elementNum"),
    ("filename_absolute", "fileName is /etc/hostname"),
    ("filename_traversal", "fileName is ../_meta"),
    ("format_unknown", "formatClassName is `com.example.MyFormat`"),
    ("format_wrong_for_data", "records of 12 bytes (row i32, column i32, value f32)"),
    ("hash_partitioned_value_format", "spread by a hash"),
    ("inf_value", "the value is inf"),
    ("length_past_end", "expected byte 1000000000, where partition 0 ends"),
    ("little_endian_values", "was this file written low byte first?"),
    ("meta_json_garbage", "expected value at line 1 column 13"),
    ("meta_missing", "`_meta` is missing"),
    ("meta_no_partmetas", "missing field `partMetas`"),
    ("meta_no_prefix", "begins with `{`, expected the length"),
    ("meta_not_utf8", "byte 19 is not UTF-8"),
    ("meta_prefix_huge", "says 2147483647 bytes, and 2182 follow"),
    ("meta_prefix_negative", "says -1 bytes"),
    ("meta_prefix_short", "says 100 bytes, and 2182 follow"),
    ("missing_partition", "no partition holds the columns 57 to 75"),
    ("nan_value", "the value is NaN"),
    ("offset_negative", "offset is -8"),
    ("offset_overflow", "partMetas.0.offset is 9223372036854775807, expected 0 to 4294967296"),
    ("overlapping_partitions", "partitions 0 and 1 overlap"),
    ("row_id_mismatch", "the row is "),
    ("row_negative", "row is -1, expected 1"),
    ("rowtype_99", "rowType is 99, expected 0 to 27"),
    ("rowtype_any_object", "rowType is 28, a matrix of objects"),
    ("text_empty_line", "line 3: the line is empty"),
    ("text_f32_overflow", "line 3: the value is 1e39, expected a number that an f32 can hold"),
    ("text_index_float", "line 3: the column is `2.0`, expected a whole number"),
    ("text_index_overflow", "line 3: the column is 99999999999, expected a number that an i32 can hold"),
    ("text_infinity", "line 3: the value is Infinity, expected a finite f32"),
    ("text_locale_comma", "line 3: the line has 3 fields (`2,0,5`)"),
    ("text_nan", "line 3: the value is NaN"),
    ("text_not_a_number", "line 3: the value is `abc`, expected a number"),
    ("text_one_field", "line 3: the line has 1 field (`2`)"),
    ("text_overflow_value", "line 3: the value is 1e999"),
    ("text_tab_separator", "first line decides what separates"),
    ("text_three_fields", "line 3: the line has 3 fields (`2,0.5,0.5`)"),
    ("textcolumn_short_row", "line 3: the line has 3 fields (`2,0.1,0.2`), expected 9"),
    ("textcolumn_trailing_sep", "a separator ends the line"),
    ("value_length_not_multiple", "partition 3 of 77 bytes"),
];

#[test]
fn damaged_folders_are_refused_by_name(fixtures: Fixtures) {
    let angel = angel(&fixtures);
    let all = folders(&angel.join("malformed"));
    assert_eq!(all.len(), DEFECTS.len());
    let mut unnamed = Vec::new();
    for (folder, (defect, words)) in all.iter().zip(DEFECTS) {
        assert_eq!(name(folder), defect);
        for error in [
            read_matrix(folder, &Options::default()).unwrap_err(),
            read_model(folder, &Options::default()).unwrap_err(),
        ] {
            let text = error.to_string();
            note!("{}", text.split_once("malformed/").map_or(text.as_str(), |(_, behind)| behind));
            if !text.contains(words) || !text.contains(defect) || error.class().exit_status() < 3 {
                unnamed.push(format!("{defect}: {text} ({words})"));
            }
        }
    }
    assert!(unnamed.is_empty(), "{unnamed:#?}");
}

#[test]
fn unusual_folders_load(fixtures: Fixtures) {
    let angel = angel(&fixtures);
    let (_, truth) = npy::read(&angel.join("lr.weights.npy"));
    for folder in ["crc_sidecar_files", "crlf_text", "space_separator"] {
        let (matrix, remarks) = read_matrix(&angel.join("valid_unusual").join(folder), &Options::default()).unwrap();
        assert_equal(&matrix, false, &real_rows(&matrix)[0], &truth[..148]);
        // The folders were renamed, the matrices not.
        assert!(matches!(&remarks[..], [Remark::Warning(text)] if text.contains("calls it `w_")), "{remarks:?}");
    }
    let folder = angel.join("valid_unusual/space_separator");
    let given = |text: &str| Options { separator: Some(text.to_owned()), ..Options::default() };
    assert!(read_matrix(&folder, &given(" ")).is_ok());
    let error = read_matrix(&folder, &given("::")).unwrap_err().to_string();
    assert!(error.contains("expected 2 separated by `::`"), "{error}");
    assert!(matches!(
        read_matrix(&folder, &given("1")).unwrap_err(),
        AngelError::In { cause, .. } if matches!(*cause, AngelError::Option { option: "--separator", .. })
    ));
}

/// The first `count` lines of a file of quirks as a one-row matrix of so many columns.
fn quirk(bytes: &[u8], row_type: u32, format: &str, count: usize) -> Result<Vec<f64>, AngelError> {
    let json = format!(
        r#"{{"matrixName":"quirk","formatClassName":"{format}","rowType":{row_type},"row":1,"col":{count},"partMetas":{{
        "0":{{"startRow":0,"endRow":1,"startCol":0,"endCol":{count},"saveRowNum":1,"saveColNum":0,"saveColElemNum":0,
        "fileName":"0","offset":0,"length":{},"rowMetas":{{"0":{{"rowId":0,"elementNum":{count}}}}}}}}}}}"#,
        bytes.len()
    );
    let meta = Meta::parse(&[&(json.len() as u32).to_be_bytes()[..], json.as_bytes()].concat())?;
    let files = BTreeMap::from([("0".to_owned(), bytes.to_vec())]);
    decode(&meta, "quirk", &files, None).map(|(matrix, _)| real_rows(&matrix).swap_remove(0))
}

#[test]
fn what_java_prints_is_read(fixtures: Fixtures) {
    let angel = angel(&fixtures);
    let file = |name: &str| std::fs::read(angel.join("quirks").join(name)).unwrap();
    let lines = |bytes: &[u8], range: std::ops::Range<usize>| {
        bytes.split_inclusive(|byte| *byte == b'\n').skip(range.start).take(range.len()).collect::<Vec<_>>().concat()
    };
    let (text, binary) = (file("float_text.txt"), file("float_binary.bin"));
    let floats = quirk(&lines(&text, 0..11), 7, "ColIdValueTextRowFormat", 11).unwrap();
    assert_eq!(floats, quirk(&binary[..88], 7, "ColIdValueBinaryRowFormat", 11).unwrap());
    assert_eq!(floats[7], f64::from(f32::from_bits(1)));
    assert!(floats[1] == 0.0 && floats[1].is_sign_negative());
    let doubles = quirk(&lines(&file("double_text.txt"), 0..13), 0, "ColIdValueTextRowFormat", 13).unwrap();
    let cut = quirk(&lines(&file("double_decimalformat_text.txt"), 0..13), 0, "RowIdColIdValueTextRowFormat", 13);
    for (double, cut) in doubles.iter().zip(cut.unwrap()) {
        // Half of the sixth decimal, and what a double of that size cannot hold.
        assert!((double - cut).abs() <= 5e-7 + double.abs() * f64::EPSILON, "{double} {cut}");
    }
    // NaN and the infinities, alone on the line of their column: 11 to 13 of floats, 13 to 15 of doubles.
    for (name, format, row_type, first) in [
        ("float_text.txt", "ColIdValueTextRowFormat", 7, 11),
        ("double_text.txt", "ColIdValueTextRowFormat", 0, 13),
        ("double_decimalformat_text.txt", "RowIdColIdValueTextRowFormat", 0, 13),
    ] {
        for line in first..first + 3 {
            let bytes = [lines(&file(name), 0..first), lines(&file(name), line..line + 1)].concat();
            let bytes = String::from_utf8(bytes).unwrap().replace(&format!("\n0,{line},"), &format!("\n0,{first},"));
            let bytes = bytes.replace(&format!("\n{line},"), &format!("\n{first},"));
            let error = quirk(bytes.as_bytes(), row_type, format, first + 1).unwrap_err().to_string();
            assert!(error.contains("expected a finite f"), "{name}: {error}");
        }
    }
    let comma = quirk(&file("double_decimalformat_locale_de.txt"), 0, "RowIdColIdValueTextRowFormat", 16).unwrap_err();
    assert!(comma.to_string().contains("decimal comma of the machine's locale"), "{comma}");
}
