//! Models of Angel that no fixture has, written by the description of their files and held against plain loops.

use std::path::Path;

use tamis_quant::graph::{Activation, Graph, Input, Op, Sample, Shape};
use tamis_quant::import::angel::{Kind, Options, read_model};
use tamis_quant::import::{Imported, Remark};
use tests::angel::{DOUBLE_DENSE, Dense, FLOAT_DENSE, write_dense, write_graph_json, write_sparse};
use tests::tolerances::F64_ORDER;

const FEATURES: usize = 7;
const FIELDS: usize = 3;
const FACTORS: usize = 2;

/// Numbers from −1 to 1 that an f32 holds, the same for a seed.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from((state >> 40) as u32) / f64::from(1 << 23) - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn matrix(model: &Path, name: &str, rows: &[Vec<f64>]) {
    write_dense(model, &Dense { name, rows, rows_in_training: rows.len() * 2, row_type: DOUBLE_DENSE });
}

/// `w x + b` of features, and the matrices `input_weight` and `input_bias`.
struct Wide {
    weight: Vec<f64>,
    bias: f64,
}

impl Wide {
    fn write(model: &Path) -> Self {
        let (weight, bias) = (numbers(1, FEATURES), 0.375);
        matrix(model, "input_weight", std::slice::from_ref(&weight));
        matrix(model, "input_bias", &[vec![bias]]);
        Self { weight, bias }
    }

    fn of(&self, x: &[(u32, f64)]) -> f64 {
        let mut sum = self.bias;
        for (feature, value) in x {
            sum += self.weight[*feature as usize] * value;
        }
        sum
    }
}

/// A row a factor, a column a feature; the matrix `embedding_embedding`, in training with a second set of rows for
/// momentum.
struct Embedding(Vec<Vec<f64>>);

impl Embedding {
    fn write(model: &Path) -> Self {
        let rows: Vec<Vec<f64>> = (0..FACTORS).map(|factor| numbers(10 + factor as u64, FEATURES)).collect();
        matrix(model, "embedding_embedding", &rows);
        Self(rows)
    }

    fn of(&self, x: &[(u32, f64)]) -> Vec<Vec<f64>> {
        let mut all = Vec::new();
        for (feature, value) in x {
            all.push(self.0.iter().map(|row| row[*feature as usize] * value).collect());
        }
        all
    }
}

/// Dense layers with `a W + b`, W as (inputs, outputs).
struct Deep(Vec<(usize, Vec<f64>, Vec<f64>)>);

impl Deep {
    fn write(model: &Path, sizes: &[usize]) -> Self {
        let last = sizes.len() - 2;
        let mut layers = Vec::new();
        for (place, pair) in sizes.windows(2).enumerate() {
            let name = if place == last { "fclayer".to_owned() } else { format!("fclayer_{place}") };
            let weight = numbers(20 + place as u64, pair[0] * pair[1]);
            let bias = numbers(30 + place as u64, pair[1]);
            matrix(model, &format!("{name}_weight"), std::slice::from_ref(&weight));
            matrix(model, &format!("{name}_bias"), std::slice::from_ref(&bias));
            layers.push((pair[1], weight, bias));
        }
        Self(layers)
    }

    fn of(&self, input: Vec<f64>, hidden: impl Fn(f64) -> f64) -> f64 {
        let mut x = input;
        for (place, (outputs, weight, bias)) in self.0.iter().enumerate() {
            let mut y = bias.clone();
            for (i, x) in x.iter().enumerate() {
                for o in 0..*outputs {
                    y[o] += x * weight[i * outputs + o];
                }
            }
            x = if place + 1 == self.0.len() { y } else { y.into_iter().map(&hidden).collect() };
        }
        assert_eq!(x.len(), 1);
        x[0]
    }
}

fn samples() -> Vec<Vec<(u32, f64)>> {
    vec![
        vec![(0, 1.0), (2, 1.0), (4, 1.0)],
        vec![(1, 1.0), (3, -0.5), (6, 2.0)],
        vec![(0, 0.25), (5, 1.0), (6, 1.0)],
        vec![(2, -1.5), (3, 1.0), (5, 4.0)],
    ]
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn relu(x: f64) -> f64 {
    x.max(0.0)
}

/// The raw score and, if it is said, the output.
fn assert_scores(graph: &Graph, expected: impl Fn(&[(u32, f64)]) -> f64, output: impl Fn(f64) -> f64) {
    for x in samples() {
        let (score, sample) = (expected(&x), Sample::Sparse(x));
        let found = graph.evaluate_logits(&sample).unwrap();
        assert!((found[0] - score).abs() < F64_ORDER, "{found:?} {score}");
        let found = graph.evaluate(&sample).unwrap();
        assert!((found[0] - output(score)).abs() < F64_ORDER, "{found:?} {score}");
    }
}

fn read(model: &Path, options: &Options) -> Imported {
    read_model(model, options).unwrap_or_else(|error| panic!("{error}"))
}

const INPUT: &str = r#""name": "input", "type": "SimpleInputLayer", "outputdim": 1, "transfunc": {"type": "Identity"}"#;
const EMBEDDING: &str = r#""name": "embedding", "type": "Embedding", "outputdim": 6, "numfactors": 2"#;
const SUM: &str = r#""name": "sum", "type": "SumPooling", "outputdim": 1, "inputlayers": ["input", "fclayer"]"#;
const LOSS: &str = r#""name": "loss", "type": "SimpleLossLayer", "lossfunc": {"type": "LogLoss"}, "inputlayer": "sum""#;

#[test]
fn wide_and_deep() {
    let model = tempfile::tempdir().unwrap();
    let model = model.path();
    let (wide, embedding) = (Wide::write(model), Embedding::write(model));
    let deep = Deep::write(model, &[FIELDS * FACTORS, 4, 3, 1]);
    let concat = |x: &[(u32, f64)]| embedding.of(x).concat();
    let graph_json = |first: &str| {
        let fc = format!(
            r#""name": "fclayer", "type": "FCLayer", "outputdims": [4, 3, 1], "inputlayer": "embedding",
            "transfuncs": [{first}, {first}, {{"type": "Identity"}}]"#
        );
        // Not in the order in which they are computed.
        write_graph_json(model, "libsvm", FEATURES, FIELDS as i64, &[LOSS, SUM, &fc, EMBEDDING, INPUT]);
        read(model, &Options::default()).graph
    };
    let graph = graph_json(r#"{"type": "TanhWithDropout", "proba": 0.25, "actiontype": "train"}"#);
    assert_eq!(graph.input, Input::Sparse { features: FEATURES, max_active: FIELDS, exact: true });
    assert_scores(&graph, |x| wide.of(x) + deep.of(concat(x), |x| x.tanh() * 0.75), sigmoid);
    let graph = graph_json(r#""dropout""#.replace("\"dropout\"", r#"{"type": "Dropout", "proba": 0.5}"#).as_str());
    assert_scores(&graph, |x| wide.of(x) + deep.of(concat(x), |x| x * 0.5), sigmoid);

    std::fs::remove_file(model.join("graph.json")).unwrap();
    let options = Options { kind: Some(Kind::WideAndDeep), ..Options::default() };
    assert_scores(&read(model, &options).graph, |x| wide.of(x) + deep.of(concat(x), relu), sigmoid);
    let error = read_model(model, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("say which model it is with `--kind` (deepfm, wide-and-deep)"), "{error}");
}

#[test]
fn nfm() {
    let model = tempfile::tempdir().unwrap();
    let model = model.path();
    let (wide, embedding) = (Wide::write(model), Embedding::write(model));
    let deep = Deep::write(model, &[FACTORS, 3, 1]);
    let score = |x: &[(u32, f64)]| {
        let all = embedding.of(x);
        let mut pooled = vec![0.0; FACTORS];
        // The sum over all pairs, which the formula gets from two squares.
        for i in 0..all.len() {
            for j in i + 1..all.len() {
                for k in 0..FACTORS {
                    pooled[k] += all[i][k] * all[j][k];
                }
            }
        }
        wide.of(x) + deep.of(pooled, relu)
    };
    let fc = r#""name": "fclayer", "type": "FCLayer", "outputdims": [3, 1], "inputlayer": "pool",
        "transfuncs": [{"type": "Relu"}, {"type": "Identity"}]"#;
    let pool = r#""name": "pool", "type": "BiInteractionCross", "outputdim": 2, "inputlayer": "embedding""#;
    write_graph_json(model, "dummy", FEATURES, FIELDS as i64, &[INPUT, EMBEDDING, pool, fc, SUM, LOSS]);
    let graph = read(model, &Options::default()).graph;
    assert_eq!(graph.input, Input::Sparse { features: FEATURES, max_active: FIELDS, exact: false });
    assert_scores(&graph, score, sigmoid);
    std::fs::remove_file(model.join("graph.json")).unwrap();
    let options = Options { max_active: Some(5), ..Options::default() };
    assert_scores(&read(model, &options).graph, score, sigmoid);
    let error = read_model(model, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("give it with `--max-active`"), "{error}");
}

#[test]
fn dnn() {
    let model = tempfile::tempdir().unwrap();
    let model = model.path();
    let embedding = Embedding::write(model);
    let deep = Deep::write(model, &[FIELDS * FACTORS, 5, 4, 1]);
    let score = |x: &[(u32, f64)]| deep.of(embedding.of(x).concat(), relu);
    let imported = read(model, &Options::default());
    assert_scores(&imported.graph, score, sigmoid);
    let decided = |words: &str| {
        imported.remarks.iter().any(|remark| matches!(remark, Remark::Decided(text) if text.contains(words)))
    };
    assert!(decided("read as a DNN") && decided("end in ReLU"), "{:?}", imported.remarks);
    let error = read_model(model, &Options { fields: Some(4), ..Options::default() }).unwrap_err().to_string();
    assert!(error.contains("`fclayer_0_weight`: 30 columns, expected 40, 8 inputs by 5 outputs"), "{error}");
}

#[test]
fn softmax_regression() {
    let model = tempfile::tempdir().unwrap();
    let model = model.path();
    let classes = 3;
    let rows: Vec<Vec<f64>> = (0..classes).map(|class| numbers(40 + class, FEATURES)).collect();
    let bias = numbers(50, classes as usize);
    let write = |name: &str, rows: &[Vec<f64>], rows_in_training: usize| {
        write_dense(model, &Dense { name, rows, rows_in_training, row_type: FLOAT_DENSE });
    };
    write("input_weight", &rows, 6);
    write("input_bias", std::slice::from_ref(&bias), 1);
    let logits = |x: &[(u32, f64)]| -> Vec<f64> {
        let sum = |row: &Vec<f64>| x.iter().map(|(feature, value)| row[*feature as usize] * value).sum::<f64>();
        rows.iter().zip(&bias).map(|(row, bias)| sum(row) + bias).collect()
    };
    let assert_softmax = |graph: &Graph, sample: &Sample, x: &[(u32, f64)]| {
        let (logits, found) = (logits(x), graph.evaluate(sample).unwrap());
        let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
        for (found, logit) in found.iter().zip(&logits) {
            assert!((found - logit.exp() / sum).abs() < F64_ORDER);
        }
        let found = graph.evaluate_logits(sample).unwrap();
        assert!(found.iter().zip(&logits).all(|(found, logit)| (found - logit).abs() < F64_ORDER));
    };
    let graph = read(model, &Options::default()).graph;
    assert!(matches!(graph.nodes[1].op, Op::Activation(Activation::Softmax)));
    samples().iter().for_each(|x| assert_softmax(&graph, &Sample::Sparse(x.clone()), x));

    // Of dense data: row 0 has W as (inputs, outputs), and the rows behind it are the optimiser's.
    let flat: Vec<f64> = (0..FEATURES * 3).map(|at| rows[at % 3][at / 3]).collect();
    write("input_weight", &[flat, vec![9.0; FEATURES * 3]], 2);
    let loss =
        r#""name": "loss", "type": "SoftmaxLossLayer", "lossfunc": {"type": "SoftmaxLoss"}, "inputlayer": "input""#;
    write_graph_json(model, "dense", FEATURES, -1, &[INPUT, loss]);
    let by_json = read(model, &Options::default());
    std::fs::remove_file(model.join("graph.json")).unwrap();
    let by_features = read(model, &Options { features: Some(FEATURES), ..Options::default() });
    for imported in [by_json, by_features] {
        let said = |remark: &Remark| matches!(remark, Remark::Warning(text) if text.contains("an optimiser's"));
        assert!(imported.remarks.iter().any(said), "{:?}", imported.remarks);
        assert_eq!(imported.graph.input, Input::Dense { shape: Shape::vector(FEATURES) });
        for x in samples() {
            let mut dense = vec![0.0; FEATURES];
            x.iter().for_each(|(feature, value)| dense[*feature as usize] = *value);
            assert_softmax(&imported.graph, &Sample::Dense(dense), &x);
        }
    }
}

#[test]
fn regression_and_svm_end_in_the_score() {
    let model = tempfile::tempdir().unwrap();
    let model = model.path();
    let wide = Wide::write(model);
    for loss in ["HingeLoss", "L2Loss", "HuberLoss"] {
        let loss = format!(r#""name": "loss", "type": "SimpleLossLayer", "lossfunc": "{loss}", "inputlayer": "input""#);
        write_graph_json(model, "libsvm", FEATURES, -1, &[INPUT, &loss]);
        assert_scores(&read(model, &Options::default()).graph, |x| wide.of(x), |score| score);
    }
    std::fs::remove_file(model.join("graph.json")).unwrap();
    for kind in [Kind::Svm, Kind::LinearRegression] {
        let options = Options { kind: Some(kind), max_active: Some(3), ..Options::default() };
        let imported = read(model, &options);
        assert_eq!(imported.remarks, []);
        assert_scores(&imported.graph, |x| wide.of(x), |score| score);
    }
    assert_scores(&read(model, &Options::default()).graph, |x| wide.of(x), sigmoid);
    let options = Options { kind: Some(Kind::Fm), ..Options::default() };
    let error = read_model(model, &options).unwrap_err().to_string();
    assert!(error.contains("`<name>_embedding` is missing, found `input_bias`, `input_weight`"), "{error}");
}

#[test]
fn a_hashed_space_stays_sparse_until_it_is_small_enough() {
    let model = tempfile::tempdir().unwrap();
    let model = model.path();
    matrix(model, "input_bias", &[vec![0.5]]);
    write_sparse(model, "input_weight", FEATURES as i64, &[(6, 1.5), (0, -2.0)]);
    let graph = read(model, &Options::default()).graph;
    assert_scores(
        &graph,
        |x| {
            let weight = |feature: u32| [-2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5][feature as usize];
            0.5 + x.iter().map(|(feature, value)| weight(*feature) * value).sum::<f64>()
        },
        sigmoid,
    );
    for cols in [(1 << 24) + 1, 1 << 40, i64::MAX] {
        write_sparse(model, "input_weight", cols, &[(cols - 1, 1.5), (0, -2.0)]);
        let error = read_model(model, &Options::default()).unwrap_err();
        let words = format!("has 1 by {cols} elements and stores 2;");
        assert!(error.to_string().contains(&words), "{error}");
        assert_eq!(error.class().exit_status(), 5);
    }
}

#[test]
fn what_does_not_hang_together_is_named() {
    let model = tempfile::tempdir().unwrap();
    let model = model.path();
    let error = |model: &Path| read_model(model, &Options::default()).unwrap_err().to_string();
    assert!(error(model).contains("holds neither `_meta`"), "{}", error(model));
    assert!(error(&model.join("absent")).contains("cannot read"), "{}", error(&model.join("absent")));
    Wide::write(model);
    let loss = |input: &str| {
        format!(r#""name": "loss", "type": "SimpleLossLayer", "lossfunc": "logloss", "inputlayer": "{input}""#)
    };
    let fc = |input: &str| {
        format!(r#""name": "fc", "type": "FCLayer", "outputdim": 1, "transfunc": "relu", "inputlayer": "{input}""#)
    };
    let with = |layers: &[&str]| {
        write_graph_json(model, "libsvm", FEATURES, 2, layers);
        error(model)
    };
    let found = with(&[INPUT]);
    assert!(found.contains("0 loss layers, expected 1"), "{found}");
    let found = with(&[INPUT, &loss("inputs")]);
    assert!(found.contains("layer `loss`: the input layer `inputs`, which is not there"), "{found}");
    let found = with(&[INPUT, INPUT, &loss("input")]);
    assert!(found.contains("layer `input`: a name that another layer has"), "{found}");
    let found = with(&[INPUT, &fc("fc"), &loss("fc")]);
    assert!(found.contains("in a circle"), "{found}");
    let found = with(&[INPUT, &fc("input"), &loss("fc")]);
    assert!(found.contains("matrix `fc_bias` is missing, found `input_bias`, `input_weight`"), "{found}");
    let found = with(&[EMBEDDING, INPUT, &loss("embedding")]);
    assert!(found.contains("matrix `embedding_embedding` is missing"), "{found}");
    std::fs::rename(model.join("input_weight"), model.join("other_weight")).unwrap();
    std::fs::create_dir(model.join("copy")).unwrap();
    for file in ["0", "_meta"] {
        std::fs::copy(model.join("other_weight").join(file), model.join("copy").join(file)).unwrap();
    }
    let found = error(model);
    assert!(
        found.contains("the folders `copy` and `other_weight` both say that they are matrix `input_weight`"),
        "{found}"
    );
}
