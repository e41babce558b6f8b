//! TFLite's float operators that no recorded network has, in files written here.

use tamis_quant::graph::{Activation, Op, Sample};
use tamis_quant::import::Remark;
use tamis_quant::import::tflite::{TfliteError, read_tflite};
use tests::tflite::{Field, Step, Written, byte, constant, float, int, list, network, value};

/// What a file computes of its inputs, laid end to end.
fn run(bytes: &[u8], x: &[f64]) -> Vec<f64> {
    let imported = read_tflite(bytes, "x").unwrap_or_else(|error| panic!("{error}"));
    imported.graph.evaluate(&Sample::Dense(x.to_vec())).unwrap()
}

/// A file of one operator that reads tensor 0 and the constants behind it, and makes a tensor of these dimensions.
fn one(code: i32, options: (u8, Vec<Field>), x: &[i32], constants: Vec<Written>, made: &[i32]) -> Vec<u8> {
    let count = i32::try_from(constants.len()).unwrap();
    let tensors = [vec![value(x)], constants, vec![value(made)]].into_iter().flatten().collect();
    let step = Step { code, inputs: (0..=count).collect(), outputs: vec![count + 1], options };
    network(tensors, &[0], &[count + 1], vec![step])
}

fn none() -> (u8, Vec<Field>) {
    (0, Vec::new())
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}, expected {expected:?}");
    let alike = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
    assert!(alike, "{found:?}, expected {expected:?}");
}

const X: [f64; 6] = [1.0, -2.0, 3.0, -4.0, 5.0, -6.0];

#[test]
fn functions_of_one_value() {
    let of = |code, options| run(&one(code, options, &[1, 6], vec![], &[1, 6]), &X);
    close(&of(101, none()), &X.map(f64::abs));
    close(&of(47, none()), &X.map(f64::exp));
    close(&of(111, none()), &X.map(|x| if x > 0.0 { x } else { x.exp() - 1.0 }));
    close(&of(59, none()), &X.map(|x| -x));
    close(&of(92, none()), &X.map(|x| x * x));
    close(&of(98, (75, vec![float(0.25)])), &X.map(|x| if x > 0.0 { x } else { 0.25 * x }));
    close(&of(117, none()), &X.map(|x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0));
    let sum: f64 = X.iter().map(|x| x.exp()).sum();
    close(&of(50, none()), &X.map(|x| x - sum.ln()));
    let sum: f64 = X.iter().map(|x| (0.5 * x).exp()).sum();
    close(&of(25, (9, vec![float(0.5)])), &X.map(|x| (0.5 * x).exp() / sum));
}

#[test]
fn pairs_with_constants_become_simple_operations() {
    let two = || constant(&[2], &[0.5, 4.0]);
    let of = |code, kind, constant| one(code, (kind, vec![byte(0)]), &[1, 1, 3, 2], vec![constant], &[1, 1, 3, 2]);
    let channel = |index: usize| if index.is_multiple_of(2) { 0.5 } else { 4.0 };
    let each = |function: fn(f64, f64) -> f64| -> Vec<f64> {
        X.iter().enumerate().map(|(index, x)| function(*x, channel(index))).collect()
    };
    close(&run(&of(0, 11, two()), &X), &each(|x, c| x + c));
    close(&run(&of(41, 28, two()), &X), &each(|x, c| x - c));
    close(&run(&of(18, 21, two()), &X), &each(|x, c| x * c));
    close(&run(&of(42, 29, two()), &X), &each(|x, c| x / c));
    close(&run(&of(54, 0, two()), &X), &each(|x, c| if x > 0.0 { x } else { c * x }));
    let ops = |bytes: &[u8]| -> Vec<Op> {
        read_tflite(bytes, "x").unwrap().graph.nodes.into_iter().map(|node| node.op).collect()
    };
    assert!(matches!(&ops(&of(0, 11, two()))[..], [Op::PerChannel { .. }]));
    assert!(matches!(&ops(&of(18, 21, constant(&[], &[3.0])))[..], [Op::Scale(3.0)]));
    assert!(matches!(&ops(&of(55, 0, constant(&[], &[0.0])))[..], [Op::Activation(Activation::Relu)]));
    // A slope for each place, and a sum for each column.
    let slopes = constant(&[1, 3, 1], &[0.1f32, 0.2, 0.5]);
    let expected: Vec<f64> = [1.0, -2.0 * f64::from(0.1f32), 3.0, -4.0 * f64::from(0.2f32), 5.0, -3.0].to_vec();
    close(&run(&of(54, 0, slopes), &X), &expected);
    close(&run(&of(0, 11, constant(&[3, 1], &[1.0, 10.0, 100.0])), &X), &[2.0, -1.0, 13.0, 6.0, 105.0, 94.0]);
}

/// min(max(x, −1), 2), in two operators, is a clip.
#[test]
fn two_bounds_are_a_clip() {
    let tensors = vec![value(&[1, 6]), constant(&[1], &[-1.0]), value(&[1, 6]), constant(&[], &[2.0]), value(&[1, 6])];
    let step =
        |code, inputs: [i32; 2], output| Step { code, inputs: inputs.to_vec(), outputs: vec![output], options: none() };
    let bytes = network(tensors, &[0], &[4], vec![step(55, [0, 1], 2), step(57, [2, 3], 4)]);
    close(&run(&bytes, &X), &X.map(|x| x.clamp(-1.0, 2.0)));
    let graph = read_tflite(&bytes, "x").unwrap().graph;
    let clip = Op::Activation(Activation::Clip { low: -1.0, high: 2.0 });
    assert!(graph.nodes.len() == 1 && graph.nodes[0].op == clip, "{:?}", graph.nodes);
}

#[test]
fn numbers_are_moved_about() {
    let of = |code, options, x: &[i32], constants, made: &[i32]| run(&one(code, options, x, constants, made), &X);
    close(&of(22, none(), &[1, 2, 3], vec![list(&[1, -1])], &[1, 6]), &X);
    close(&of(43, none(), &[1, 6, 1], vec![], &[1, 6]), &X);
    close(&of(70, none(), &[1, 6], vec![list(&[2])], &[1, 6, 1]), &X);
    // Rows to columns, with the batch in front and changing its place with another axis of 1.
    let turned = [1.0, -4.0, -2.0, 5.0, 3.0, -6.0];
    close(&of(39, none(), &[1, 2, 3, 1], vec![list(&[0, 2, 1, 3])], &[1, 3, 2, 1]), &turned);
    close(&of(39, none(), &[1, 2, 3, 1], vec![list(&[3, 2, 1, 0])], &[1, 3, 2, 1]), &turned);
    close(
        &of(60, none(), &[1, 6], vec![list(&[0, 0, 1, 1]), constant(&[], &[9.0])], &[1, 8]),
        &[9.0, 1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 9.0],
    );
    let mirrored = [3.0, -2.0, 1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 5.0];
    close(&of(100, (77, vec![byte(0)]), &[1, 6], vec![list(&[0, 0, 2, 1])], &[1, 9]), &mirrored);
    close(&of(65, none(), &[1, 2, 3], vec![list(&[0, 1, 0]), list(&[1, 1, -1])], &[1, 1, 3]), &X[3..]);
    // Every second, and the last row alone, whose axis goes.
    let strided = |shrink, lists: [&[i32]; 3], made: &[i32]| {
        let masks = (32, vec![int(0), int(0), int(0), int(0), int(shrink)]);
        of(45, masks, &[1, 2, 3], lists.map(list).into(), made)
    };
    close(&strided(0, [&[0, 0, 0], &[1, 2, 3], &[1, 1, 2]], &[1, 2, 2]), &[1.0, 3.0, -4.0, -6.0]);
    close(&strided(2, [&[0, -1, 0], &[1, 0, 3], &[1, 1, 1]], &[1, 3]), &X[3..]);
}

#[test]
fn parts_are_split_and_joined() {
    let parts = vec![list(&[1]), value(&[1, 2, 3]), value(&[1, 1, 3]), value(&[1, 1, 3]), value(&[1, 3, 2])];
    let split = Step { code: 49, inputs: vec![0, 1], outputs: vec![2, 3], options: (35, vec![int(2)]) };
    // [2, 3] along a new last axis would need four; the parts are squeezed first.
    let flat = |input, output| Step { code: 22, inputs: vec![input], outputs: vec![output], options: none() };
    let mut tensors = parts;
    tensors.extend([value(&[1, 3]), value(&[1, 3])]);
    let pack = Step { code: 83, inputs: vec![5, 6], outputs: vec![4], options: (59, vec![int(2), int(-1)]) };
    let bytes = network(tensors, &[1], &[4], vec![split, flat(2, 5), flat(3, 6), pack]);
    close(&run(&bytes, &X), &[1.0, -4.0, -2.0, 5.0, 3.0, -6.0]);
    let tensors = vec![value(&[1, 2, 3]), value(&[1, 3]), value(&[1, 3]), value(&[1, 6])];
    let unpack = Step { code: 88, inputs: vec![0], outputs: vec![1, 2], options: (64, vec![int(2), int(1)]) };
    let join = Step { code: 2, inputs: vec![2, 1], outputs: vec![3], options: (10, vec![int(-1), byte(1)]) };
    let bytes = network(tensors, &[0], &[3], vec![unpack, join]);
    close(&run(&bytes, &X), &[0.0, 5.0, 0.0, 1.0, 0.0, 3.0]);
}

#[test]
fn reductions_are_pools_and_dense_layers() {
    let reduce = |code, axes: &[i32], made: &[i32]| {
        run(&one(code, (27, vec![byte(0)]), &[1, 1, 3, 2], vec![list(axes)], made), &X)
    };
    close(&reduce(40, &[1, 2], &[1, 2]), &[3.0, -4.0]);
    close(&reduce(74, &[-1], &[1, 1, 3]), &[-1.0, -1.0, -1.0]);
    close(&reduce(82, &[2], &[1, 1, 2]), &[5.0, -2.0]);
}

/// LiteRT allows a window of any size where padding keeps the map's: from twice the map on each sees all of it.
#[test]
fn windows_far_beyond_a_map_see_all_of_it() {
    let pool = |code, kernel: i32, stride: i32, made: i32| {
        let options = (5, vec![byte(0), int(stride), int(stride), int(kernel), int(kernel)]);
        run(&one(code, options, &[1, 1, 3, 2], vec![], &[1, 1, made, 2]), &X)
    };
    for kernel in [6, 7, 1 << 20] {
        close(&pool(1, kernel, 1, 3), &[3.0, -4.0].repeat(3));
        close(&pool(17, kernel, 2, 2), &[5.0, -2.0].repeat(2));
    }
    // The last window that does not.
    close(&pool(17, 4, 1, 3), &[5.0, -2.0, 5.0, -2.0, 5.0, -4.0]);
}

/// Zeros before a convolution are its window's; other numbers are not, and a pool does not count them.
#[test]
fn padding_is_folded_where_it_is_zero() {
    let weights = || constant(&[1, 3, 1, 1], &[1.0, 2.0, 3.0]);
    let file = |fill: f32| {
        let tensors = vec![
            value(&[1, 4, 1, 1]),
            list(&[0, 0, 1, 1, 0, 0, 0, 0]),
            constant(&[], &[fill]),
            value(&[1, 6, 1, 1]),
            weights(),
            value(&[1, 4, 1, 1]),
        ];
        let pad = Step { code: 60, inputs: vec![0, 1, 2], outputs: vec![3], options: none() };
        let options = (1, vec![byte(1), int(1), int(1)]);
        let conv = Step { code: 3, inputs: vec![3, 4, -1], outputs: vec![5], options };
        network(tensors, &[0], &[5], vec![pad, conv])
    };
    close(&run(&file(0.0), &X[..4]), &[-4.0, 6.0, -8.0, -5.0]);
    close(&run(&file(1.0), &X[..4]), &[-3.0, 6.0, -8.0, -2.0]);
    let nodes = |fill| read_tflite(&file(fill), "x").unwrap().graph.nodes.len();
    assert_eq!((nodes(0.0), nodes(1.0)), (1, 2));
}

/// Two inputs lie one behind the other, which a remark says.
#[test]
fn several_inputs_are_one_vector() {
    let tensors = vec![value(&[1, 2]), value(&[1, 1, 2]), value(&[1, 1, 2])];
    let step = Step { code: 42, inputs: vec![0, 1], outputs: vec![2], options: (29, vec![byte(0)]) };
    let bytes = network(tensors, &[0, 1], &[2], vec![step]);
    close(&run(&bytes, &[6.0, 8.0, 2.0, -4.0]), &[3.0, -2.0]);
    let remarks = read_tflite(&bytes, "x").unwrap().remarks;
    assert!(matches!(&remarks[..], [Remark::Decided(text)] if text.contains("`t0` [1, 2], `t1` [1, 1, 2]")));
}

/// What no graph says, by the operator's number and name, with what to do.
#[test]
fn refusals_name_the_operator() {
    let message = |bytes: &[u8]| read_tflite(bytes, "x").unwrap_err().to_string();
    let bytes = one(11, (12, vec![byte(0)]), &[1, 6], vec![], &[1, 6]);
    assert_eq!(
        message(&bytes),
        "operator 0 (L2_NORMALIZATION, makes `t1`): the operator L2_NORMALIZATION is not supported"
    );
    let batch = message(&one(101, none(), &[4, 1, 1, 6], vec![], &[4, 1, 1, 6]));
    assert!(batch.contains("a batch or more than three dimensions"), "{batch}");
    let shape = message(&one(101, none(), &[1, 6], vec![], &[1, 5]));
    assert!(shape.contains("tensor 1 (`t1`): the shape is [1, 5], expected [1, 6]"), "{shape}");
    let two = network(
        vec![value(&[1, 6]), value(&[1, 6])],
        &[0],
        &[0, 1],
        vec![Step { code: 101, inputs: vec![0], outputs: vec![1], options: none() }],
    );
    assert!(message(&two).contains("a network of 2 outputs"));
    // Many operators upon one constant of a short file.
    let mut tensors = vec![value(&[1, 64]), constant(&[64, 64], &[0.5; 4096])];
    let mut steps = Vec::new();
    for index in 0..8 {
        tensors.push(value(&[1, 64]));
        let input = if index == 0 { 0 } else { index + 1 };
        let options = (8, vec![byte(0)]);
        steps.push(Step { code: 9, inputs: vec![input, 1], outputs: vec![index + 2], options });
    }
    let error = read_tflite(&network(tensors, &[0], &[9], steps), "x").unwrap_err();
    assert!(matches!(error, TfliteError::Copies { .. }), "{error}");
}
