//! The repository's token network: batches of its text, its float graph and its integers against what the framework
//! computed.

use safetensors::tensor::{Dtype, TensorView, serialize};
use std::collections::HashMap;
use tamis_batches::{Batch, BatchType, Files, Options, Pipeline, SafetensorsParts};
use tamis_quant::data::{DataError, Inputs, Outputs, Selection};
use tamis_quant::graph::{Graph, Sample};
use tamis_quant::import::importers::{NetworkArch, NetworkOptions, read_network};
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{Options as Quantising, quantise_graph};
use tamis_quant::run::AlignedBytes;
use tamis_quant::verify::{Case, Gates, VerifyError};
use tamis_runtime::format::Model;
use tests::own;
use tests::tolerances::{FRAMEWORK_LOGITS_F32, TOKENS_GATES};

/// The batches of a text of tests/reference, by the rule of train_tokens.py.
fn batches(stem: &str) -> (Vec<Batch>, (u32, u32)) {
    let file = |name: &str| own("reference").join(name);
    let files = Files {
        source: file(&format!("{stem}.src")),
        target: file(&format!("{stem}.tgt")),
        source_vocabulary: file("tokens.src.vocab"),
        target_vocabulary: file("tokens.tgt.vocab"),
        alignments: None,
    };
    let options = Options {
        batch_type: BatchType::Tokens,
        batch_size: 512,
        length_bucket_width: Some(1),
        max_source: Some(12),
        max_target: Some(13),
        ..Options::default()
    };
    let pipeline = Pipeline::open(&files, &options).unwrap();
    let (source, target) = pipeline.vocabularies();
    let sizes = (source.size(), target.size());
    (pipeline.map(Result::unwrap).collect(), sizes)
}

/// Batches as a file.
fn file(batches: &[Batch], sizes: (u32, u32)) -> Vec<u8> {
    let (mut parts, mut tensors, mut bytes) = (SafetensorsParts::default(), Vec::new(), Vec::new());
    batches.iter().for_each(|batch| parts.write(batch, &mut tensors).unwrap());
    parts.write_header(sizes, &mut bytes).unwrap();
    bytes.extend(tensors);
    bytes
}

fn reference() -> Vec<u8> {
    std::fs::read(own("reference/tokens.reference.safetensors")).unwrap()
}

fn inputs(bytes: &[u8]) -> Inputs {
    Inputs::read(bytes, Selection::default()).unwrap()
}

fn graph() -> Graph {
    let options = NetworkOptions {
        arch: Some(NetworkArch::read(own("reference/tokens.toml").as_os_str()).unwrap()),
        ..NetworkOptions::default()
    };
    read_network(&own("reference/tokens.safetensors"), &options).unwrap().graph
}

fn samples(inputs: &Inputs, graph: &Graph) -> Vec<Sample> {
    (0..inputs.len()).map(|index| inputs.sample(index, graph.input).unwrap()).collect()
}

#[test]
fn the_reference_run_saw_the_batches_that_are_made_here() {
    let (batches, sizes) = batches("tokens");
    let here = file(&batches, sizes);
    let here = safetensors::SafeTensors::deserialize(&here).unwrap();
    let bytes = reference();
    let there = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert!(here.len() > 100);
    for (name, tensor) in here.iter() {
        let other = there.tensor(name).unwrap();
        assert_eq!(
            (tensor.shape(), tensor.dtype(), tensor.data()),
            (other.shape(), other.dtype(), other.data()),
            "{name}"
        );
    }
    // Beside them it has logits and labels.
    assert_eq!(there.len(), here.len() + 2 * batches.len());
    assert_eq!(batches.iter().map(|batch| batch.lines.len()).sum::<usize>(), 2000);
}

#[test]
fn the_float_graph_agrees_with_the_framework() {
    let (graph, inputs) = (graph(), inputs(&reference()));
    let outputs = inputs.outputs().unwrap();
    assert_eq!((outputs.columns, outputs.values.len()), (1, 2000));
    let mut right = 0;
    for ((sample, truth), label) in samples(&inputs, &graph).iter().zip(&outputs.values).zip(inputs.labels().unwrap()) {
        let found = graph.evaluate_logits(sample).unwrap();
        assert!((found[0] - truth).abs() < FRAMEWORK_LOGITS_F32, "{found:?} {truth}");
        right += usize::from((found[0] > 0.0) == (*label == 1.0));
    }
    let metadata = safetensors::SafeTensors::read_metadata(&reference()).unwrap().1.metadata().clone().unwrap();
    let recorded = |key: &str| metadata[key].parse::<f64>().unwrap();
    assert_eq!(format!("{:.6}", right as f64 / 2000.0), metadata["accuracy"]);
    // What words say by themselves is chance.
    assert!(recorded("accuracy") > 0.9 && recorded("accuracy_of_counts") < 0.6);
}

#[test]
fn the_integers_keep_its_accuracy_on_the_same_batches() {
    let (graph, inputs) = (graph(), inputs(&reference()));
    let (calibration, sizes) = batches("tokens.calibration");
    let calibration = samples(&self::inputs(&file(&calibration, sizes)), &graph);
    let quantised = quantise_graph(&graph, &calibration, &Quantising::default()).unwrap();
    let container = pack(&quantised, &prove(&quantised), &Provenance::default()).unwrap();
    let bytes = AlignedBytes::copy_of(&container);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let labels: Vec<usize> = inputs.labels().unwrap().iter().map(|label| *label as usize).collect();
    let gates = Gates::from_toml(TOKENS_GATES).unwrap();
    let (samples, outputs) = (samples(&inputs, &graph), inputs.outputs().unwrap());
    let case = Case::of_outputs(model, outputs, &samples, Some(&labels)).unwrap();
    let report = case.verify(&gates, &mut |_, _| ()).unwrap();
    assert!(report.passed, "{:?}", report.gates);
    let predictions = report.accuracy.predictions.unwrap();
    note!(
        "tokens: {:.2} dB, {} of 2000 alike, {} right, float {}",
        report.accuracy.total.sqnr_db.unwrap(),
        report.accuracy.top1.unwrap().equal,
        predictions.correct.equal,
        predictions.float_correct.equal
    );
    let wide = Outputs { columns: 2, values: outputs.values.clone() };
    let error = Case::of_outputs(model, &wide, &samples, None).err().unwrap();
    assert!(matches!(error, VerifyError::Outputs { found: 2000, samples: 2000, expected: 1 }), "{error}");
}

#[test]
fn rows_are_shares_of_their_ids() {
    // `a a b` with `c`: source ids 3 3 4, target `<s>` c; nine ids a side.
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).unwrap();
        dir.path().join(name)
    };
    let vocabulary = put("vocab", "<blank>\n<s>\n</s>\na\nb\nc\nd\ne\n");
    let files = Files {
        source: put("src", "a a b\nb\n"),
        target: put("tgt", "c\nc c\n"),
        source_vocabulary: vocabulary.clone(),
        target_vocabulary: vocabulary,
        alignments: None,
    };
    let made: Vec<Batch> = Pipeline::open(&files, &Options::default()).unwrap().map(Result::unwrap).collect();
    let inputs = inputs(&file(&made, (9, 9)));
    let input = tamis_quant::graph::Input::Sparse { features: 18, max_active: 4, exact: false };
    let expected = [
        vec![(3, 2.0 / 3.0), (4, 1.0 / 3.0), (9 + 1, 0.5), (9 + 5, 0.5)],
        vec![(4, 1.0), (9 + 1, 1.0 / 3.0), (9 + 5, 2.0 / 3.0)],
    ];
    for (index, expected) in expected.into_iter().enumerate() {
        assert_eq!(inputs.sample(index, input).unwrap(), Sample::Sparse(expected));
    }
    assert_eq!(inputs.place(1), "batch 0, row 1 (line 2 of the corpus)");
    assert_eq!((inputs.labels(), inputs.outputs()), (None, None));
    let other = tamis_quant::graph::Input::Sparse { features: 17, max_active: 4, exact: false };
    let error = inputs.sample(0, other).unwrap_err();
    assert_eq!(
        error.to_string(),
        "batch 0, row 0 (line 1 of the corpus): ids of vocabularies with 9 source and 9 target ids, together 18; the \
         network's \
         embedding has 17 rows"
    );
}

#[test]
fn files_of_batches_that_do_not_fit_themselves_are_refused() {
    type Part = (Dtype, Vec<usize>, Vec<i32>);
    let whole: HashMap<&str, Part> = HashMap::from([
        ("lines", (Dtype::I32, vec![2], vec![6, 7])),
        ("src.ids", (Dtype::I32, vec![2, 2], vec![3, 4, 3, 0])),
        ("src.length", (Dtype::I32, vec![2], vec![2, 1])),
        ("tgt.ids", (Dtype::I32, vec![2, 2], vec![1, 3, 1, 0])),
        ("tgt.length", (Dtype::I32, vec![2], vec![2, 1])),
    ]);
    let read = |changed: &str, to: Option<Part>, metadata: [&str; 3]| -> Result<Inputs, DataError> {
        let mut parts = whole.clone();
        match to {
            Some(to) => parts.insert(changed, to),
            None => parts.remove(changed),
        };
        let bytes: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = parts
            .into_iter()
            .map(|(name, (dtype, shape, values))| {
                (format!("batch.0.{name}"), dtype, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
            })
            .collect();
        let views = bytes
            .iter()
            .map(|(name, dtype, shape, bytes)| (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
        let [count, source, target] = metadata;
        let metadata =
            [("format", "tamis-batches-1"), ("batches", count), ("src_vocabulary", source), ("tgt_vocabulary", target)];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let file = serialize(views, Some(HashMap::from(metadata))).unwrap();
        Inputs::read(&file, Selection::default())
    };
    let metadata = ["1", "5", "4"];
    assert_eq!(read("", None, metadata).unwrap().len(), 2);
    let words = |shape: &[usize], values: &[i32]| Some((Dtype::I32, shape.to_vec(), values.to_vec()));
    for (changed, to, words) in [
        ("lines", None, "`batch.0.lines`: is missing"),
        ("tgt.length", None, "`batch.0.tgt.length`: is missing"),
        ("lines", words(&[2], &[6, -1]), "`batch.0.lines`: a negative number"),
        ("lines", Some((Dtype::F32, vec![2], vec![0, 0])), "`batch.0.lines`: F32 [2], expected I32 [2]"),
        ("src.ids", words(&[2, 1, 2], &[3, 4, 3, 0]), "`batch.0.src.ids`: I32 [2, 1, 2], expected I32 [2, 1]"),
        ("src.ids", words(&[4], &[3, 4, 3, 0]), "`batch.0.src.ids`: I32 [4], expected two dimensions"),
        ("src.ids", words(&[1, 4], &[3, 4, 3, 0]), "`batch.0.src.ids`: I32 [1, 4], expected I32 [2, 4]"),
        ("src.length", words(&[1], &[2]), "`batch.0.src.length`: 1 lengths for 2 rows"),
        ("src.length", words(&[2], &[2, 3]), "batch 0, row 1 (line 8 of the corpus): length 3 of a row of 2 ids"),
        (
            "src.ids",
            words(&[2, 2], &[3, 5, 3, 0]),
            "batch 0, row 0 (line 7 of the corpus): source id 5 of a vocabulary of 5 ids, 0 to 4",
        ),
        (
            "tgt.ids",
            words(&[2, 2], &[1, 4, 1, 0]),
            "batch 0, row 0 (line 7 of the corpus): target id 4 of a vocabulary of 4 ids, 0 to 3",
        ),
        ("labels", words(&[2], &[1, 0]), "`batch.0.labels`: I32 [2], expected U8 [2]"),
        ("logits", words(&[2, 1], &[1, 0]), "`batch.0.logits`: I32 [2, 1], expected F32 [2, 1]"),
    ] {
        let message = read(changed, to, metadata).unwrap_err().to_string();
        assert_eq!(message, words);
    }
    // Padding is no id: behind the length anything may stand.
    assert!(read("src.ids", words(&[2, 2], &[3, 4, 3, 99]), metadata).is_ok());
    for (metadata, words) in [
        (["2", "5", "4"], "`batch.1.lines`: is missing"),
        (["x", "5", "4"], "the metadata's `batches` is `x`; expected a number"),
        (["1", "-5", "4"], "the metadata's `src_vocabulary` is `-5`"),
        (["1", "5", "4294967295"], "the metadata's `tgt_vocabulary` is `4294967295`"),
        (["0", "5", "4"], "there are no examples in it"),
    ] {
        let message = read("", None, metadata).unwrap_err().to_string();
        assert!(message.starts_with(words), "{words}: {message}");
    }
}
