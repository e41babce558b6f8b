//! What the loader refuses of each operation, and what running refuses of a caller's list.

use super::network;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::{Layout, NONE, OpRecord, element, op};
use tamis_runtime::{Input, Plan, RunError};
use tests::draft::{Draft, blank};

const FIELDS: &str = "sparse, one a field, interactions";
const VALUES: &str = "sparse with values, rows and trees";
const SUMS: &str = "sparse with values, sums and tables";
const REALS: &str = "sparse reals with values";
const INSIDE: &str = "reals in, quantised inside";
const BYTES: &str = "bytes through tables and trees, buckets";

/// A field that the loader names, and a change for which it does; the number is the operation's.
type Refusal<'c> = (&'static str, &'c dyn Fn(&mut Draft, usize));

/// What the loader names when the first operation of a kind is changed.
fn places(name: &str, kind: u32, changes: &[Refusal<'_>]) {
    let draft = network(name);
    let at = draft.ops.iter().position(|record| record.kind == kind).unwrap();
    for (number, (place, change)) in changes.iter().enumerate() {
        let mut changed = draft.clone();
        change(&mut changed, at);
        match Model::parse(changed.bytes().as_ref()) {
            Err(ParseError::Field { place: found, .. }) => assert_eq!(found, *place, "kind {kind}, change {number}"),
            other => panic!("kind {kind}, change {number}, {place}: {other:?}"),
        }
    }
}

/// Sets an element code of what an operation writes.
fn output(draft: &mut Draft, at: usize, element: u32) {
    let value = draft.ops[at].output as usize;
    draft.values[value].element = element as u16;
}

fn len(draft: &mut Draft, at: usize, change: i32) {
    let value = draft.ops[at].output as usize;
    draft.values[value].len = draft.values[value].len.wrapping_add_signed(change);
}

/// The first tensor of an element.
fn tensor_of(draft: &Draft, element: u32) -> u32 {
    draft.tensors.iter().position(|(record, _)| u32::from(record.element) == element).unwrap() as u32
}

#[test]
fn sparse_operations_are_checked() {
    let bias: &dyn Fn(&mut Draft, usize) = &|draft, at| {
        let short = draft.tensor(element::I32, Layout::Rows, (1, 3, 1), || [0; 4]);
        draft.ops[at].bias = short;
    };
    places(
        FIELDS,
        op::SPARSE_AFFINE,
        &[
            ("op.input", &|draft, at| draft.ops[at].input = 1),
            ("op.input", &|draft, at| draft.ops[at].input_len -= 1),
            ("op.input", &|draft, at| (draft.ops[at].input_start, draft.ops[at].input_len) = (1, 4)),
            ("op.output", &|draft, at| output(draft, at, element::I16)),
            ("op.weights", &|draft, at| output(draft, at, element::F32)),
            ("op.weights", &|draft, at| draft.ops[at].weights = NONE),
            ("op.weights", &|draft, at| len(draft, at, 1)),
            ("op.bias", bias),
            ("op: an unused tensor", &|draft, at| draft.ops[at].multipliers = 0),
            ("op.activation", &|draft, at| draft.ops[at].activation = 1),
            ("op.params", &|draft, at| draft.ops[at].params[3] = 1),
            ("op.second", &|draft, at| draft.ops[at].second = 0),
        ],
    );
    places(
        FIELDS,
        op::SPARSE_ROWS,
        &[
            ("op.output", &|draft, at| output(draft, at, element::U8)),
            ("op.weights", &|draft, at| output(draft, at, element::I16)),
            ("op.output", &|draft, at| len(draft, at, -1)),
            ("op.weights", &|draft, at| len(draft, at, 5)),
            // Without values there is nothing to scale.
            ("op.params", &|draft, at| draft.ops[at].params[1] = 1),
        ],
    );
    places(
        VALUES,
        op::SPARSE_ROWS,
        &[
            ("op.params[0]", &|draft, at| draft.ops[at].params[0] = 1 << 31),
            ("op.params[1]", &|draft, at| draft.ops[at].params[1] = 0),
            ("op.params[1]", &|draft, at| draft.ops[at].params[1] = 63),
            ("op.params", &|draft, at| draft.ops[at].params[2] = 1),
        ],
    );
    places(REALS, op::SPARSE_ROWS, &[("op.params", &|draft, at| draft.ops[at].params[0] = 1)]);
}

#[test]
fn interactions_are_checked() {
    for kind in [op::FM_TERM, op::BI_INTERACTION, op::INNER_PRODUCTS] {
        places(
            FIELDS,
            kind,
            &[
                ("op.output", &|draft, at| output(draft, at, element::F32)),
                ("op.output", &|draft, at| len(draft, at, 1)),
                ("op.params[0]", &|draft, at| draft.ops[at].params[0] = 0),
                ("op.params[0]", &|draft, at| draft.ops[at].params[0] = 7),
                ("op.params", &|draft, at| draft.ops[at].params[1] = 1),
                ("op: an unused tensor", &|draft, at| draft.ops[at].weights = 0),
                ("op.input", &|draft, at| draft.ops[at].input = 0),
            ],
        );
        places(REALS, kind, &[("op.output", &|draft, at| output(draft, at, element::I32))]);
    }
    // One embedding has no pair.
    places(FIELDS, op::INNER_PRODUCTS, &[("op.output", &|draft, at| draft.ops[at].params[0] = 30)]);
    // Bytes without a sign are no embeddings.
    let mut draft = Draft::dense(element::U8, 4);
    draft.op(element::I32, 1, 0, OpRecord { params: [2, 0, 0, 0], ..blank(op::FM_TERM) });
    let refused = Model::parse(draft.bytes().as_ref()).map(|_| ());
    assert!(matches!(refused, Err(ParseError::Field { place: "op.input", found: 1, .. })), "{refused:?}");
}

#[test]
fn joins_are_checked() {
    places(
        BYTES,
        op::CONCAT,
        &[
            ("op.output", &|draft, at| output(draft, at, element::U8)),
            ("op.input_len", &|draft, at| len(draft, at, -9)),
            ("op.second", &|draft, at| len(draft, at, 1)),
            ("op.second", &|draft, at| draft.ops[at].second = NONE),
            ("op.second", &|draft, at| draft.ops[at].second = draft.ops[at].output),
            ("op.second", &|draft, at| draft.ops[at].second_start = 5),
            ("op.second", &|draft, at| draft.ops[at].second_start = u32::MAX),
            ("op.params[0]", &|draft, at| draft.ops[at].params[0] = 7),
            ("op.params", &|draft, at| draft.ops[at].params[1] = 1),
            // Where it reads, it must not write.
            ("op.output", &|draft, at| {
                let (input, written) = (draft.ops[at].input as usize, draft.ops[at].output as usize);
                draft.values[written].place = draft.values[input].place;
            }),
        ],
    );
    places(
        INSIDE,
        op::ADD_I32,
        &[
            ("op.second", &|draft, at| draft.ops[at].second = 1),
            ("op.output", &|draft, at| output(draft, at, element::F32)),
            ("op.second", &|draft, at| len(draft, at, 1)),
            ("op.params", &|draft, at| draft.ops[at].params[0] = 1),
            ("op.output", &|draft, at| {
                let (second, written) = (draft.ops[at].second as usize, draft.ops[at].output as usize);
                draft.values[written].place = draft.values[second].place;
            }),
        ],
    );
    // A second value that something else was written over.
    places(
        INSIDE,
        op::ADD_I32,
        &[("op.second", &|draft, at| {
            let second = draft.ops[at].second as usize;
            let over = OpRecord { output: 0, ..draft.ops[second - 1] };
            let record = draft.values[second];
            draft.values.insert(second + 1, record);
            draft.ops.insert(second, OpRecord { output: second as u32 + 1, ..over });
            for (index, later) in draft.ops.iter_mut().enumerate().skip(second + 1) {
                later.output = index as u32 + 1;
                if later.input as usize > second {
                    later.input += 1;
                }
                if later.second != NONE && later.second as usize > second {
                    later.second += 1;
                }
            }
            draft.input.output += 1;
        })],
    );
}

#[test]
fn tables_and_layers_of_i16_are_checked() {
    places(
        BYTES,
        op::LOOKUP,
        &[
            ("op.output", &|draft, at| output(draft, at, element::I16)),
            ("op.weights", &|draft, at| output(draft, at, element::U8)),
            ("op.input_len", &|draft, at| len(draft, at, 1)),
            ("op.weights", &|draft, at| {
                draft.ops[at].weights = draft.tensor(element::I8, Layout::Rows, (1, 255, 1), || [0]);
            }),
            ("op: an unused tensor", &|draft, at| draft.ops[at].bias = 0),
            ("op.params", &|draft, at| draft.ops[at].params[0] = 1),
        ],
    );
    places(
        BYTES,
        op::AFFINE_I16,
        &[
            ("op.input", &|draft, at| draft.ops[at].input = draft.ops[at].output - 2),
            ("op.output", &|draft, at| output(draft, at, element::F32)),
            ("op.weights", &|draft, at| draft.ops[at].weights = NONE),
            ("op.weights", &|draft, at| len(draft, at, 1)),
            ("op.weights", &|draft, at| draft.ops[at].input_len -= 1),
            ("op.weights", &|draft, at| draft.ops[at].weights = tensor_of(draft, element::U8)),
            ("op.bias", &|draft, at| draft.ops[at].bias = draft.ops[at].weights),
            ("op: an unused tensor", &|draft, at| draft.ops[at].shifts = 0),
            ("op.params", &|draft, at| draft.ops[at].params[0] = 1),
        ],
    );
}

#[test]
fn trees_are_checked() {
    let feature = |word: i32| {
        move |draft: &mut Draft, at: usize| {
            let tensor = draft.ops[at].multipliers as usize;
            draft.tensors[tensor].1[..4].copy_from_slice(&word.to_le_bytes());
        }
    };
    let (beyond, below, least, sparse) = (feature(13), feature(-2), feature(i32::MIN), feature(20));
    places(
        BYTES,
        op::TREES,
        &[
            ("op.multipliers", &beyond),
            ("op.multipliers", &below),
            ("op.multipliers", &least),
            // The range that is read has fewer elements than features are asked about.
            ("op.multipliers", &|draft, at| draft.ops[at].input_len = 2),
            ("op.params[0]", &|draft, at| draft.ops[at].params[0] = 0),
            ("op.params[1]", &|draft, at| draft.ops[at].params[1] = 0),
            ("op.weights", &|draft, at| draft.ops[at].params[1] += 1),
            ("op.params", &|draft, at| draft.ops[at].params[2] = 1),
            ("op.output", &|draft, at| output(draft, at, element::I8)),
            ("op.output", &|draft, at| len(draft, at, 1)),
            ("op.bias", &|draft, at| output(draft, at, element::F32)),
            ("op.bias", &|draft, at| draft.ops[at].bias = NONE),
            ("op.multipliers", &|draft, at| draft.ops[at].multipliers = NONE),
            ("op: an unused tensor", &|draft, at| draft.ops[at].shifts = 0),
        ],
    );
    places(VALUES, op::TREES, &[("op.multipliers", &sparse)]);
    // Thresholds of reals want reals, and the other way round.
    places(INSIDE, op::TREES, &[("op.weights", &|draft, at| draft.ops[at].input = 0)]);
}

#[test]
fn conversions_and_activations_are_checked() {
    let nan = f32::NAN.to_bits();
    places(
        INSIDE,
        op::QUANTISE,
        &[
            ("op.params[0]", &|draft, at| draft.ops[at].params[0] = nan),
            ("op.params[1]", &|draft, at| draft.ops[at].params[1] = -129i32 as u32),
            ("op.params[1]", &|draft, at| draft.ops[at].params[2] = 128),
            ("op.params[1]", &|draft, at| (draft.ops[at].params[1], draft.ops[at].params[2]) = (1, 0)),
            ("op.params[3]", &|draft, at| draft.ops[at].params[3] = 32_769),
            ("op.params[3]", &|draft, at| draft.ops[at].params[3] = i32::MIN as u32),
            ("op.output", &|draft, at| output(draft, at, element::I32)),
            ("op.input_len", &|draft, at| len(draft, at, 1)),
            ("op: an unused tensor", &|draft, at| draft.ops[at].weights = 0),
        ],
    );
    places(
        INSIDE,
        op::TO_F32,
        &[
            ("op.params[0]", &|draft, at| draft.ops[at].params[0] = f32::INFINITY.to_bits()),
            ("op.params[1]", &|draft, at| draft.ops[at].params[1] = -32_769i32 as u32),
            ("op.params", &|draft, at| draft.ops[at].params[2] = 1),
            ("op.output", &|draft, at| output(draft, at, element::I32)),
            ("op.input", &|draft, at| draft.ops[at].input = 2),
            ("op.input_len", &|draft, at| len(draft, at, -1)),
        ],
    );
    places(
        INSIDE,
        op::REQUANTISE,
        &[
            ("op.params[2]", &|draft, at| draft.ops[at].params[2] = 32_769),
            ("op.params[2]", &|draft, at| output(draft, at, element::I32)),
            ("op.params[0]", &|draft, at| draft.ops[at].params[1] = 256),
            ("op.params", &|draft, at| draft.ops[at].params[3] = 1),
            ("op.output", &|draft, at| output(draft, at, element::F32)),
        ],
    );
    places(SUMS, op::REQUANTISE, &[("op.params[0]", &|draft, at| draft.ops[at].params[1] = 32_768)]);
    places(
        REALS,
        op::ACTIVATION_F32,
        &[
            ("op.params[0]", &|draft, at| draft.ops[at].params[0] = nan),
            ("op.params", &|draft, at| draft.ops[at].params[1] = 1),
            ("op.params", &|draft, at| draft.ops[at].activation = 9),
            ("op.activation", &|draft, at| draft.ops[at].activation = 12),
            ("op.input_len", &|draft, at| len(draft, at, 1)),
        ],
    );
}

#[test]
fn inputs_are_checked() {
    let refused = |name: &str, place: &str, change: &dyn Fn(&mut Draft)| {
        let mut draft = network(name);
        change(&mut draft);
        match Model::parse(draft.bytes().as_ref()) {
            Err(ParseError::Field { place: found, .. }) => assert_eq!(found, place),
            other => panic!("{place}: {other:?}"),
        }
    };
    refused(FIELDS, "input.perspectives", &|draft| draft.input.perspectives = 1);
    refused(FIELDS, "input.hidden", &|draft| draft.input.hidden = 5);
    refused(FIELDS, "input.max_active", &|draft| draft.input.max_active = 0);
    refused(FIELDS, "input.max_active", &|draft| draft.input.max_active = 65_537);
    refused(FIELDS, "input.max_active", &|draft| draft.input.max_active = 30);
    refused(FIELDS, "input.bucket_count", &|draft| draft.input.bucket_count = 2);
    refused(FIELDS, "input.bucket_table", &|draft| draft.input.bucket_table = 0);
    refused(FIELDS, "input.king_table", &|draft| draft.input.king_table = 0);
    refused(FIELDS, "input.feature_set", &|draft| draft.input.feature_set = 1);
    refused(FIELDS, "input.element", &|draft| draft.input.element = element::I8);
    refused(FIELDS, "input.unit", &|draft| draft.input.unit = 1.0);
    refused(FIELDS, "input.unit", &|draft| draft.input.element = element::I16);
    refused(FIELDS, "input.exact", &|draft| draft.input.exact = 2);
    refused(FIELDS, "input.counted", &|draft| draft.input.counted = 1);
    refused(FIELDS, "input.order", &|draft| draft.input.order = 1);
    for unit in [0.0, -0.0, -1.0, f32::INFINITY, f32::NAN] {
        refused(FIELDS, "input.output_unit", &|draft| draft.input.output_unit = unit);
        refused(BYTES, "input.unit", &|draft| draft.input.unit = unit);
    }
    for unit in [f32::MAX, f32::from_bits(1)] {
        let (mut output, mut input) = (network(FIELDS), network(BYTES));
        (output.input.output_unit, input.input.unit) = (unit, unit);
        for draft in [output, input] {
            assert!(Model::parse(draft.bytes().as_ref()).is_ok(), "{unit:e}");
        }
    }
    refused(FIELDS, "value.len", &|draft| draft.values[0].len = 4);
    refused(FIELDS, "value.element", &|draft| draft.values[0].element = element::I8 as u16);
    refused(VALUES, "input.unit", &|draft| draft.input.unit = 0.0);
    refused(VALUES, "input.unit", &|draft| draft.input.unit = f32::INFINITY);
    refused(INSIDE, "input.unit", &|draft| draft.input.unit = 0.5);
    refused(INSIDE, "input.exact", &|draft| draft.input.exact = 1);
    refused(INSIDE, "input.element", &|draft| draft.input.element = element::I16);
    refused("unclipped squares", "input.exact", &|draft| draft.input.exact = 1);
    // Accumulators are i16 too, but no vector that lies in memory as such.
    refused("unclipped squares", "op.input", &|draft| draft.ops[0].kind = op::AFFINE_I16);
    refused("unclipped squares", "op.input", &|draft| draft.ops[0].kind = op::SPARSE_AFFINE);
}

#[test]
fn a_caller_s_list_is_checked() {
    let run = |name: &str, features: &[u32], values: &[i16]| {
        let bytes = network(name).bytes();
        let model = Model::parse(bytes.as_ref()).unwrap();
        let mut workspace = AlignedBytes::zeroed(model.workspace_len_bytes());
        let input = Input::Sparse { features, values };
        Plan::new(model, tiers().next().unwrap()).run(input, 0, workspace.as_mut()).map(|_| ())
    };
    assert_eq!(run(FIELDS, &[0, 1, 2, 3, 28], &[]), Ok(()));
    assert_eq!(run(FIELDS, &[0, 1, 2, 3], &[]), Err(RunError::FeatureCount { found: 4, expected: 5 }));
    assert_eq!(run(FIELDS, &[0, 1, 2, 3, 4, 5], &[]), Err(RunError::FeatureCount { found: 6, expected: 5 }));
    assert_eq!(run(FIELDS, &[0, 1, 2, 3, 29], &[]), Err(RunError::Feature { found: 29, limit: 29 }));
    assert_eq!(run(FIELDS, &[0, 1, 1, 3, 4], &[]), Err(RunError::FeatureOrder { previous: 1, found: 1 }));
    assert_eq!(run(FIELDS, &[0, 1, u32::MAX, 3, 4], &[]), Err(RunError::FeatureOrder { previous: u32::MAX, found: 3 }));
    let values = RunError::Length { what: "values", found: 5, expected: 0 };
    assert_eq!(run(FIELDS, &[0, 1, 2, 3, 4], &[1; 5]), Err(values));
    assert_eq!(run(VALUES, &[], &[]), Ok(()));
    let values = RunError::Length { what: "values", found: 1, expected: 2 };
    assert_eq!(run(VALUES, &[7, 19], &[i16::MIN]), Err(values));
    let many: Vec<u32> = (0..8).collect();
    assert_eq!(run(VALUES, &many, &[0; 8]), Err(RunError::TooManyFeatures { found: 8, limit: 7 }));
    assert_eq!(run(INSIDE, &[], &[]), Err(RunError::InputKind));
    let text = RunError::FeatureOrder { previous: 9, found: 4 }.to_string();
    assert!(text.contains("feature 4 follows feature 9"), "{text}");
}
