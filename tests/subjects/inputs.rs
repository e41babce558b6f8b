//! What users bring: descriptions of graphs, tensors in safetensors and npz, and files of examples.

use std::fs;
use std::io::Write;
use tamis_quant::data::{DataError, Inputs, Selection, read_labels};
use tamis_quant::float::Matrix;
use tamis_quant::graph::description::{Description, TensorsError};
use tamis_quant::graph::{Activation, Axis, Forest, Graph, Input, Node, Op, Sample, Shape, Tree};
use tamis_quant::import::importers::{NetworkOptions, read_network};
use tamis_quant::import::tensors::{TensorForm, TensorsImportError, export, import, read_npz};
use tests::tolerances::ANGEL_SCORES;
use tests::trials::Fixtures;

fn node(name: &str, reads: &[usize], op: Op) -> Node {
    Node { name: name.to_owned(), reads: reads.to_vec(), op }
}

/// Numbers of which one is not exact in f32 if `fine`.
fn matrix(outputs: usize, inputs: usize, fine: bool) -> Matrix<f64> {
    let values = (0..outputs * inputs).map(|index| index as f64 * 0.25 - 1.0 + if fine { 0.1 } else { 0.0 });
    Matrix::new(outputs, inputs, values.collect()).unwrap()
}

/// A graph of a sparse input with every operation that can follow one.
fn sparse() -> Graph {
    let tree = Tree {
        features: vec![Some(5), None, Some(0)],
        thresholds: vec![0.5, 0.0, 0.1],
        leaves: vec![0.0, -0.0, 1e-300],
    };
    let forest = Forest { rate: 0.3, trees: vec![tree.clone(), tree] };
    Graph {
        name: "every \"sparse\" op\\".to_owned(),
        input: Input::Sparse { features: 6, max_active: 3, exact: true },
        nodes: vec![
            node("input", &[0], Op::Embed { table: matrix(2, 6, true) }),
            node("fm", &[1], Op::FmTerm { width: 2 }),
            node("bi", &[1], Op::BiInteraction { width: 2 }),
            node("inner", &[1], Op::InnerProducts { width: 2 }),
            node("all", &[2, 3, 4], Op::Concat { axis: Axis::Channels }),
            node("fc", &[5], Op::Linear { weights: matrix(1, 6, false), bias: vec![-0.0] }),
            node("wide", &[0], Op::SparseLinear { weights: matrix(1, 6, true), bias: vec![0.1] }),
            node("trees", &[0], Op::Trees(forest)),
            node("sum", &[6, 7, 8], Op::Add),
            node("σ", &[9], Op::Activation(Activation::Sigmoid)),
        ],
    }
}

/// The same of a dense input.
fn dense() -> Graph {
    Graph {
        name: String::new(),
        input: Input::Dense { shape: Shape::vector(4) },
        nodes: vec![
            node("flat", &[0], Op::Flatten),
            node(
                "a",
                &[1],
                Op::Linear { weights: matrix(3, 4, true), bias: vec![0.5, 1.5, f64::from(f32::MIN_POSITIVE)] },
            ),
            node("relu", &[2], Op::Activation(Activation::Relu)),
            node("leaky", &[3], Op::Activation(Activation::LeakyRelu { alpha: 1e-3 })),
            node("scale", &[4], Op::Scale(-0.75)),
            node("tanh", &[5], Op::Activation(Activation::Tanh)),
            node("b", &[6], Op::Linear { weights: matrix(2, 3, false), bias: vec![0.0; 2] }),
            node("out", &[7], Op::Activation(Activation::Softmax)),
        ],
    }
}

#[test]
fn descriptions_survive_their_canonical_text() {
    for graph in [sparse(), dense()] {
        let (description, tensors) = Description::of(&graph).unwrap();
        let text = description.to_toml();
        let again = Description::from_toml(&text, "x").unwrap();
        assert_eq!(again, description);
        assert_eq!(again.to_toml(), text);
        assert_eq!(again.tensor_names().len(), tensors.len());
        assert_eq!(again.bind(tensors).unwrap(), graph);
    }
    // What is not the default is written and read again.
    let text = "graph = 1\nname = \"x\"\n\n[input]\nkind = \"sparse\"\nfeatures = 4\nmax_active = 2\nexact = true\n\n\
                [[node]]\n\
                name = \"e\"\nop = \"embed\"\nwidth = 2\ntable = \"t\"\norder = \"out-in\"\n\n[[node]]\nname = \
                \"l\"\nop = \"linear\"\n\
                outputs = 3\nweights = \"w\"\nbias = false\norder = \"in-out\"\n\n[[node]]\nname = \"m\"\nop = \
                \"linear\"\nreads = [\"e\"]\n\
                outputs = 3\nbias = \"v\"\n\n[[node]]\nname = \"s\"\nop = \"add\"\nreads = [\"l\", \"m\"]\n\n[[node]]\n\
                name = \"k\"\nop = \"leaky-relu\"\nalpha = 0.01\n";
    assert_eq!(Description::from_toml(text, "x").unwrap().to_toml(), text);
}

#[test]
fn exported_networks_come_back_equal() {
    for graph in [sparse(), dense()] {
        let bytes = export(&graph).unwrap();
        let back = import(&bytes, TensorForm::Safetensors, None).unwrap();
        assert_eq!(back.graph, graph);
        // Of bits, which `==` does not ask about zeros.
        assert_eq!(export(&back.graph).unwrap(), bytes);
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        for (name, view) in file.iter() {
            let fine = ["input.table", "wide.weight", "wide.bias", "trees.thresholds", "trees.leaves", "a.weight"]
                .contains(&name);
            let expected = if fine { safetensors::Dtype::F64 } else { safetensors::Dtype::F32 };
            assert_eq!(view.dtype(), expected, "{name}");
        }
        for end in (0..bytes.len()).step_by(7) {
            assert!(import(&bytes[..end], TensorForm::Safetensors, None).is_err());
        }
    }
    let mut graph = dense();
    graph.nodes[0].name = "$input".to_owned();
    assert!(export(&graph).unwrap_err().to_string().contains("\"$input\" cannot be a node's name"));
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    let bytes = export(&dense()).unwrap();
    let (description, _) = Description::of(&dense()).unwrap();
    let other = Description::from_toml(&description.to_toml().replace("name = \"b\"", "name = \"c\""), "x").unwrap();
    let error = import(&bytes, TensorForm::Safetensors, Some(&other)).unwrap_err();
    assert!(matches!(&error, TensorsImportError::Tensors(TensorsError::Unfit { .. })));
    for words in [
        "`c.weight` (2, 3) of node `c` is missing",
        "`c.bias` (2,)",
        "`b.weight` is used by no node",
        "`b.bias` is used",
    ] {
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    assert!(import(&bytes, TensorForm::Npz, None).unwrap_err().to_string().contains("npz"));
}

const EXAMPLES: [(&str, &[f64]); 2] = [
    ("# a remark\n\n+1 3:0.5 1:2 # behind\n-1\n0 0:1e3\n", &[1.0, -1.0, 0.0]),
    ("\u{feff}1 3 1\n-1\n0 0\n", &[1.0, -1.0, 0.0]),
];

#[test]
fn rows_of_text_are_features() {
    let input = Input::Sparse { features: 4, max_active: 2, exact: false };
    let [libsvm, dummy] = EXAMPLES.map(|(text, labels)| {
        let inputs = Inputs::read(text.as_bytes(), Selection::default()).unwrap();
        assert_eq!((inputs.len(), inputs.labels()), (3, Some(labels)));
        inputs
    });
    assert_eq!(libsvm.sample(0, input).unwrap(), Sample::Sparse(vec![(1, 2.0), (3, 0.5)]));
    assert_eq!(dummy.sample(0, input).unwrap(), Sample::Sparse(vec![(1, 1.0), (3, 1.0)]));
    assert_eq!(dummy.sample(1, input).unwrap(), Sample::Sparse(vec![]));
    assert_eq!(
        libsvm.sample(0, Input::Dense { shape: Shape::vector(4) }).unwrap(),
        Sample::Dense(vec![0.0, 2.0, 0.0, 0.5])
    );
    let error = libsvm.sample(0, Input::Dense { shape: Shape::vector(3) }).unwrap_err();
    assert_eq!(error.to_string(), "line 3: feature 3 for a network of 3 inputs, 0 to 2");
    assert_eq!(libsvm.place(2), "line 5");
    let first = Inputs::read(EXAMPLES[0].0.as_bytes(), Selection { limit: Some(1), ..Selection::default() }).unwrap();
    assert_eq!(first.len(), 1);
    for (text, words) in [
        ("1 1:1\n1 1\n", "line 2: `1` in a file of `id:value`"),
        ("1 1\n1 1:2\n", "line 2: `1:2` in a file of `id`"),
        ("1 1 1\n", "line 1: feature 1 is there twice"),
        ("1 -1\n", "line 1: `-1` is no feature"),
        ("1 4294967296\n", "is no feature"),
        ("1 1:nan\n", "is no feature"),
        ("1 1\nx 1\n", "line 2: `x` is no label"),
        ("1 1\ninf 1\n", "line 2: `inf` is no label"),
        ("graph = 1\n", "starts with \"graph = 1\\n\", which is none of idx"),
        ("\u{1}\u{0}", "which is none of idx"),
        ("", "no examples"),
        ("# nothing\n", "no examples"),
    ] {
        let message = Inputs::read(text.as_bytes(), Selection::default()).unwrap_err().to_string();
        assert!(message.contains(words), "{words}: {message}");
    }
}

fn idx(header: &[u8], data: &[u8]) -> Vec<u8> {
    [header, data].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn idx_is_pixels_and_labels() {
    let images = idx(&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2], &[0, 255, 51, 102]);
    for bytes in [images.clone(), gzip(&images)] {
        let inputs = Inputs::read(&bytes, Selection::default()).unwrap();
        assert_eq!(inputs.sample(1, Input::Dense { shape: Shape::vector(2) }).unwrap(), Sample::Dense(vec![0.2, 0.4]));
        let sparse = Input::Sparse { features: 2, max_active: 2, exact: false };
        assert_eq!(inputs.sample(0, sparse).unwrap(), Sample::Sparse(vec![(1, 1.0)]));
        let message = inputs.sample(1, Input::Dense { shape: Shape::vector(3) }).unwrap_err().to_string();
        assert_eq!(message, "record 1: 2 elements, the network takes 3");
    }
    let labels = idx(&[0, 0, 8, 1, 0, 0, 0, 3], &[9, 0, 1]);
    assert_eq!(read_labels(&gzip(&labels), None).unwrap(), [9.0, 0.0, 1.0]);
    assert_eq!(read_labels(b"9\n# a remark\n\n0\n1\n", None).unwrap(), [9.0, 0.0, 1.0]);
    let refused = |bytes: &[u8]| Inputs::read(bytes, Selection::default()).unwrap_err().to_string();
    assert!(refused(&labels).contains("one dimension, which labels have"));
    assert!(read_labels(&images, None).unwrap_err().to_string().contains("3 dimensions, which images have"));
    assert!(refused(&images[..18]).contains("byte 16: 2 bytes of elements, the header says 2 × 1 × 2"));
    assert!(refused(&images[..10]).contains("byte 8: the file ends in its header"));
    assert!(refused(&idx(&[0, 0, 0x0D, 1], &[])).contains("type 0x0d"));
    assert!(
        refused(&idx(&[0, 0, 8, 3, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255], &[])).contains("no examples")
    );
    assert!(refused(&idx(&[0, 0, 8, 8], &[0xFF; 32])).contains("the header says"));
    assert!(matches!(Inputs::read(&gzip(&images)[..20], Selection::default()), Err(DataError::File(_))));
}

#[test]
fn arrays_are_chosen_by_name_or_by_being_alone() {
    let file = |tensors: &[(&str, &[usize])]| {
        let data = vec![0u8; 4 * 64];
        let views = tensors.iter().map(|(name, shape)| {
            let len = 4 * shape.iter().product::<usize>();
            (
                *name,
                safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape.to_vec(), &data[..len]).unwrap(),
            )
        });
        safetensors::serialize(views, None).unwrap()
    };
    let read =
        |tensors: &[(&str, &[usize])], array| Inputs::read(&file(tensors), Selection { array, ..Selection::default() });
    assert_eq!(read(&[("a", &[2, 3]), ("b", &[5])], None).unwrap().len(), 2);
    assert_eq!(read(&[("inputs", &[4, 1, 2]), ("b", &[5, 2])], None).unwrap().len(), 4);
    assert_eq!(read(&[("a", &[2, 3]), ("b", &[5, 2])], Some("b")).unwrap().len(), 5);
    assert_eq!(read(&[("x", &[2, 3]), ("labels", &[2])], None).unwrap().labels(), Some(&[0.0, 0.0][..]));
    // Labels are the usual array's, where there is one, also where another has as many examples.
    let two: [(&str, &[usize]); 3] = [("inputs", &[2, 3]), ("calibration_inputs", &[2, 3]), ("labels", &[2])];
    assert_eq!(read(&two, Some("calibration_inputs")).unwrap().labels(), None);
    assert_eq!(read(&two, Some("inputs")).unwrap().labels(), Some(&[0.0, 0.0][..]));
    assert_eq!(read(&[("x", &[2, 3]), ("labels", &[2])], Some("x")).unwrap().labels(), Some(&[0.0, 0.0][..]));
    for (tensors, array, words) in [
        (&[("a", &[2, 3][..]), ("b", &[5, 2])][..], None, "no array `inputs`, and not one of two dimensions or more"),
        (&[("a", &[2, 3]), ("b", &[5, 2])], Some("c"), "there is no array `c`; it holds `a` (2, 3), `b` (5, 2)"),
        (&[("a", &[2])], None, "examples have two dimensions or more"),
        (&[("a", &[2, 3]), ("labels", &[3])], None, "3 labels for 2 examples"),
        (&[("a", &[2, 0])], None, "no examples"),
        (&[], None, "it holds nothing"),
    ] {
        let message = read(tensors, array).unwrap_err().to_string();
        assert!(message.contains(words), "{words}: {message}");
    }
    assert_eq!(read_labels(&file(&[("y", &[3]), ("x", &[3, 2])]), None).unwrap().len(), 3);
}

#[test]
fn npz_with_a_description_is_a_network(folder: Fixtures) {
    let bytes = fs::read(folder.join("angel/lr.params.npz")).unwrap();
    let shapes: Vec<String> =
        read_npz(&bytes).unwrap().iter().map(|(name, tensor)| format!("{name} {:?}", tensor.shape)).collect();
    assert_eq!(shapes, ["b [1]", "w [148]"], "the description below is of these");
    let text = "graph = 1\nname = \"lr\"\n[input]\nkind = \"sparse\"\nfeatures = 148\nmax_active = 13\n\
                [[node]]\nname = \"lr\"\n\
                op = \"sparse-linear\"\noutputs = 1\nweights = \"w\"\nbias = \"b\"\n[[node]]\nname = \"p\"\nop = \
                \"sigmoid\"\n";
    let description = Description::from_toml(text, "lr.toml").unwrap();
    let described = import(&bytes, TensorForm::Npz, Some(&description)).unwrap().graph;
    let angel = read_network(&folder.join("angel/models/lr"), &NetworkOptions::default()).unwrap().graph;
    let rows = fs::read(folder.join("angel/data/census_148d_test.dummy")).unwrap();
    let rows = Inputs::read(&rows, Selection { limit: Some(200), ..Selection::default() }).unwrap();
    for index in 0..rows.len() {
        let score = |graph: &Graph| graph.evaluate_logits(&rows.sample(index, graph.input).unwrap()).unwrap()[0];
        assert!((score(&described) - score(&angel)).abs() < ANGEL_SCORES, "{}", rows.place(index));
    }
    let message = import(&bytes, TensorForm::Npz, None).unwrap_err().to_string();
    assert!(message.contains("2 tensors and no description"), "{message}");
}
