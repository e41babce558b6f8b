//! Networks of maps within a budget of memory: the same bits in less.

use tamis_quant::pack::{PackError, Provenance, pack, pack_within};
use tamis_quant::program::Program;
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::quantise_graph;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::{Model, ParseError};
use tamis_runtime::kernels::scalar;
use tamis_runtime::raw::{Layout, OpRecord, WindowRecord, element, op};
use tests::draft::{Draft, blank};
use tests::held::hold;
use tests::networks::{NETWORKS, network, packed_runs_everywhere};
use tests::note;
use tests::sample_models::Random;
use tests::trials::Fixtures;

/// Bytes of workspace that public networks are packed within, the outputs among them.
const BUDGETS: [(&str, &[usize]); 3] =
    [("kws", &[12_000, 9_000]), ("ic", &[36_000, 35_000]), ("vww", &[48_000, 30_000, 20_000])];

fn within(program: &Program, budget: usize) -> Result<Vec<u8>, PackError> {
    pack_within(program, &prove(program), &Provenance::default(), budget)
}

/// By the definition.
fn signature(bytes: &[u8]) -> String {
    let bytes = AlignedBytes::copy_of(bytes);
    format!("{:016x}", Runner::new(Model::parse(bytes.as_ref()).unwrap(), &scalar::KERNELS).signature().unwrap())
}

/// MLPerf Tiny's networks: every value is what it was on every tier, and the least that is offered is kept.
#[test]
fn public_networks_fit_a_budget(folder: Fixtures) {
    for (name, budgets) in BUDGETS {
        let (_, real, encoding) = NETWORKS.into_iter().find(|(of, ..)| *of == name).unwrap();
        let network = network(&folder, name, real);
        let program = quantise_graph(&network.graph, &network.calibration, &network.options(encoding)).unwrap();
        let whole = pack(&program, &prove(&program), &Provenance::default()).unwrap();
        let expected = signature(&whole);
        let Err(PackError::Budget { least, whole, .. }) = within(&program, 64) else { panic!("{name} in 64 bytes") };
        for budget in budgets.iter().copied().chain([least]) {
            let packed = within(&program, budget).unwrap_or_else(|error| panic!("{name}: {error}"));
            let ran = packed_runs_everywhere(&packed, &program, &network.inputs[..2]);
            note!("{name} within {budget}: {ran:?}, least {least}, whole {whole}");
            assert!(ran.all <= budget, "{name}: {ran:?}");
            assert_eq!(ran.signature, expected, "{name} within {budget}");
        }
        assert!(within(&program, least - 64).is_err(), "{name}: {least}");
        // Whoever has enough gets the file that an ordinary packing gives.
        assert_eq!(within(&program, whole).unwrap(), pack(&program, &prove(&program), &Provenance::default()).unwrap());
    }
}

/// Rows of the maps of [`chain`], of four pixels with two channels.
const ROWS: u32 = 32;

/// Depthwise windows of 3 × 3 one behind the other, every value in a place of its own, and a dense layer of them.
fn chain(count: usize) -> Draft {
    let len = ROWS * 8;
    let extent = [ROWS as u16 - 1, 3];
    let mut draft = Draft::dense(element::I8, len);
    draft.values[0].extent = extent;
    let mut random = Random(5);
    for _ in 0..count {
        let weights = draft.tensor(element::I8, Layout::Rows, (1, 9, 2), || [random.draw() as u8]);
        let multipliers = draft.tensor(element::I32, Layout::Rows, (1, 2, 1), || (1i32 << 30).to_le_bytes());
        let shifts = draft.tensor(element::U8, Layout::Rows, (1, 2, 1), || [37]);
        let both = [1; 2];
        let [first, second] = WindowRecord { kernel: [3; 2], stride: both, dilation: both, before: both }.words();
        let params = [first, second, -128i32 as u32, 127];
        let value =
            draft.op(element::I8, len, 0, OpRecord { weights, multipliers, shifts, params, ..blank(op::CONVOLUTION) });
        draft.values[value as usize].extent = extent;
    }
    let weights = draft.tensor(element::I8, Layout::K4, (1, 3, len as usize), || [random.draw() as u8]);
    draft.op(element::I32, 3, 0, OpRecord { weights, ..blank(op::AFFINE_I8) });
    draft
}

#[track_caller]
fn refused(count: usize, place: &str, change: impl Fn(&mut Draft)) {
    let mut draft = chain(count);
    change(&mut draft);
    let bytes = draft.bytes();
    match Model::parse(bytes.as_ref()) {
        Err(ParseError::Field { place: found, .. }) => assert_eq!(found, place),
        other => panic!("{place}: {other:?}"),
    }
}

/// What FORMAT.md allows of places runs and gives the same; the nearest that it does not allow is refused.
#[test]
fn places_of_rows_are_what_the_format_says() {
    let same = signature(chain(4).bytes().as_ref());
    let accepted = |count: usize, change: &dyn Fn(&mut Draft)| {
        let mut draft = chain(count);
        change(&mut draft);
        hold(draft.bytes().as_ref(), 1);
        signature(draft.bytes().as_ref())
    };
    for rows in [3, 4, 7, 31] {
        assert_eq!(accepted(4, &|draft| draft.values[2].place |= rows), same);
        assert_eq!(accepted(4, &|draft| (1..4).for_each(|value| draft.values[value].place |= rows)), same);
    }
    // Two rows below what is read, which 64 bytes hold, and two rows above; and back.
    assert_eq!(accepted(4, &|draft| draft.values[2].place = draft.values[1].place + 64), same);
    assert_eq!(accepted(4, &|draft| draft.values[1].place = draft.values[2].place + 64), same);
    accepted(16, &|draft| (1..16).for_each(|value| draft.values[value].place |= 3));

    refused(2, "value.place", |draft| draft.values[1].place |= ROWS);
    refused(2, "op.input", |draft| draft.values[1].place |= 2);
    refused(17, "op.output", |draft| (1..17).for_each(|value| draft.values[value].place |= 3));
    // Whose reader needs all of it.
    refused(2, "op.input", |draft| draft.values[2].place |= 3);
    // Read again later, and as what is added.
    refused(3, "op.input", |draft| {
        draft.values[1].place |= 3;
        draft.ops[2].input = 1;
    });
    refused(3, "op.output", |draft| {
        draft.values[1].place |= 3;
        draft.ops[1].input = 0;
    });
    refused(2, "op.second", |draft| {
        draft.values[1].place |= 3;
        draft.ops[1].second = 1;
        let multipliers = draft.tensor(element::I32, Layout::Rows, (1, 4, 1), || [0; 4]);
        draft.ops[1].multipliers = multipliers;
    });
    // The end of a stretch over what its beginning reads, and a value that is handed on over another.
    refused(4, "op.output", |draft| {
        (2..4).for_each(|value| draft.values[value].place |= 3);
        draft.values[4].place = draft.values[1].place;
    });
    refused(4, "op.output", |draft| {
        draft.values[2].place |= 3;
        draft.values[3].place = (draft.values[2].place & !63) | 3;
    });
    // Over what is read without room: in its place, and in a file that reads it again.
    refused(4, "op.output", |draft| draft.values[2].place = draft.values[1].place);
    refused(4, "op.input", |draft| {
        draft.values[2].place = draft.values[1].place + 64;
        draft.ops[2].input = 1;
    });
}
