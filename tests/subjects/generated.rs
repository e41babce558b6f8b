//! Valid containers out of the generator: both readers accept them, every tier's every way of running them gives the
//! same, the generator reaches all that it is for, and a plan that were to take a short way too far would show.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::by_name;
use tamis_runtime::raw::{Layout, NONE, OpRecord, activation, claim, element, op};
use tamis_runtime::{Input, Output, Plan};
use tests::draft::{Draft, blank};
use tests::generator::{Choices, container, coverage};
use tests::held::hold;
use tests::sample_models::Random;
use tests::trials::{Fixtures, Need};

/// Containers of an ordinary run. Enough that everything the generator is for comes several times.
const SEEDS: u64 = 3500;
/// How long the longer run takes, if at all.
const SECONDS: &str = "TAMIS_GENERATED_SECONDS";

/// Seconds that were asked for.
struct Longer(u64);

impl Need for Longer {
    fn find(_: &'static str) -> Result<Self, String> {
        let seconds = std::env::var(SECONDS).map_err(|_| format!("{SECONDS} is not set"))?;
        Ok(Self(seconds.parse().unwrap()))
    }
}

fn generated(seed: u64) -> Draft {
    container(&mut Choices::seeded(seed))
}

/// Names the seed of what fails.
fn held(seed: u64) {
    let bytes = generated(seed).bytes();
    if let Err(payload) = std::panic::catch_unwind(|| hold(bytes.as_ref(), seed)) {
        let kinds: Vec<u32> = generated(seed).ops.iter().map(|op| op.kind).collect();
        eprintln!("seed {seed}: operations {kinds:?}");
        std::panic::resume_unwind(payload);
    }
}

#[test]
fn every_way_of_running_gives_the_same() {
    (0..SEEDS).for_each(held);
}

/// As many as there is time for, from another seed on.
#[test]
fn every_way_of_running_gives_the_same_for_as_long_as_is_asked(Longer(seconds): Longer) {
    let end = Instant::now() + Duration::from_secs(seconds);
    let seeds = (1 << 32..).take_while(|_| Instant::now() < end);
    let count = seeds.map(held).count();
    tests::note!("{count} containers in {seconds} s");
    assert!(count > 0);
}

/// A fuzzer's bytes make containers as well, whatever they are and however few.
#[test]
fn bytes_make_containers() {
    let mut random = Random(3);
    for len in 0..64 {
        let bytes: Vec<u8> = (0..len).map(|_| random.draw() as u8).collect();
        hold(container(&mut Choices::of_bytes(&bytes)).bytes().as_ref(), len);
    }
}

/// What the generator must reach, each in at least so many of the containers of an ordinary run.
#[test]
fn the_generator_reaches_what_it_is_for() {
    let mut counts = BTreeMap::<String, usize>::new();
    for seed in 0..SEEDS {
        let draft = generated(seed);
        for found in coverage::of(&draft).into_iter().chain([outputs_elsewhere(&draft)]) {
            *counts.entry(found).or_default() += 1;
        }
    }
    let lines: Vec<String> = counts.iter().map(|(found, count)| format!("{count:5}  {found}")).collect();
    let defined = (op::ACTIVATE_DOT..).take_while(|kind| op::word(*kind).is_some());
    let kinds = defined.map(|kind| (format!("kind {kind}"), 15));
    let activation = |kind: u32| move |code: &u32| (format!("kind {kind}, activation {code}"), 5);
    let activations = ACTIVATIONS.iter().flat_map(|(kind, codes)| codes.iter().map(activation(*kind)));
    let wanted = WANTED.iter().map(|(what, least)| ((*what).to_owned(), *least));
    let mut all = kinds.chain(activations).chain(wanted);
    if let Some((what, least)) = all.find(|(what, least)| counts.get(what).copied().unwrap_or(0) < *least) {
        panic!("fewer than {least} containers with '{what}' among\n{}", lines.join("\n"));
    }
}

/// What a container's outputs need beside them where they lie elsewhere.
fn outputs_elsewhere(draft: &Draft) -> String {
    let bytes = draft.bytes();
    let model = Model::parse(bytes.as_ref()).unwrap();
    let beside = Plan::new(model, by_name("scalar").unwrap()).beside_outputs_len_bytes();
    let outputs = &model.values()[model.input().output as usize];
    let reads_two = model.ops().iter().any(|op| op.second != NONE);
    match (beside < model.workspace_len_bytes(), outputs.place) {
        (false, _) => "outputs elsewhere, all the workspace beside them".to_owned(),
        (true, 0) => "outputs elsewhere, the first place".to_owned(),
        (true, _) if reads_two => "outputs elsewhere, behind the others, one of which is read with a second".to_owned(),
        (true, _) => "outputs elsewhere, behind the others".to_owned(),
    }
}

/// RESCALE reads the last of eight rows: `run` once took row 0 of the dot, whatever row the record says.
#[test]
fn a_rescale_of_one_row_of_several_reads_that_row() {
    hold(part_of_dot().bytes().as_ref(), 0);
}

/// The same of the files that showed it.
#[test]
fn the_files_that_showed_it_are_right(folder: Fixtures) {
    for (seed, name) in ["part-of-dot.bin", "part-of-dot-2.bin"].iter().enumerate() {
        let file = AlignedBytes::copy_of(&std::fs::read(folder.join("attack").join(name)).unwrap());
        hold(file.as_ref(), seed as u64);
    }
}

/// One unit, eight rows with the weights 1 to 8, of which the last is read.
fn part_of_dot() -> Draft {
    let mut draft = Draft::of_features(1, 1, 1, 1);
    let mut weight = 0i16;
    let rows = draft.tensor(element::I16, Layout::Rows, (1, 1, 1), || 1i16.to_le_bytes());
    let bias = draft.tensor(element::I16, Layout::Rows, (1, 1, 1), || 0i16.to_le_bytes());
    draft.block(1, rows, bias);
    let weights = draft.tensor(element::I16, Layout::Rows, (1, 8, 1), || {
        weight += 1;
        weight.to_le_bytes()
    });
    let params = [255, 0, 0, 0];
    draft.op(
        element::I32,
        8,
        0,
        OpRecord { activation: activation::CRELU, weights, params, ..blank(op::ACTIVATE_DOT) },
    );
    draft.op(element::I32, 1, 7, OpRecord { bias, params: [1, 1, 1, 0], ..blank(op::RESCALE) });
    draft
}

/// A move and its dot have kernels that know a width of 128, SCReLU whose products fit and a clip of 255: networks that
/// have all three, and those that lack one, are what their records say.
#[test]
fn networks_128_wide_are_what_their_records_say() {
    let (screlu, crelu, claimed) = (activation::SCRELU, activation::CRELU, claim::PRODUCT_FITS_I16);
    let networks = [
        (2, 128, screlu, 255, claimed),
        (2, 128, screlu, 254, claimed),
        (2, 128, screlu, 255, 0),
        (2, 128, crelu, 255, claimed),
        (1, 128, screlu, 255, claimed),
        (2, 64, screlu, 255, claimed),
    ];
    for (seed, (perspectives, hidden, activation, max, claims)) in networks.into_iter().enumerate() {
        for order in 0..perspectives.min(2) {
            let mut random = Random(seed as u64);
            let mut number =
                |low: i16, high: i16| (low + (random.draw() % (high - low + 1) as u64) as i16).to_le_bytes();
            let mut draft = Draft::of_features(perspectives, hidden, 8, 2);
            draft.input.order = order;
            let width = hidden as usize;
            let rows = draft.tensor(element::I16, Layout::Rows, (1, 40, width), || number(-70, 90));
            let bias = draft.tensor(element::I16, Layout::Rows, (1, width, 1), || number(-20, 200));
            draft.block(40, rows, bias);
            let shape = (2, 1, (perspectives * hidden) as usize);
            let weights = draft.tensor(element::I16, Layout::Rows, shape, || number(-127, 127));
            draft.tensors[weights as usize].0.claims = claims;
            let bias = draft.tensor(element::I16, Layout::Rows, (2, 1, 1), || number(-900, 900));
            let dot = OpRecord { activation, weights, params: [max, 0, 0, 0], ..blank(op::ACTIVATE_DOT) };
            draft.op(element::I32, 1, 0, dot);
            draft.op(element::I32, 1, 0, OpRecord { bias, params: [255, 400, 64, 0], ..blank(op::RESCALE) });
            hold(draft.bytes().as_ref(), seed as u64);
        }
    }
}

#[test]
fn the_last_row_is_the_output() {
    let bytes = part_of_dot().bytes();
    let plan = Plan::new(Model::parse(bytes.as_ref()).unwrap(), by_name("scalar").unwrap());
    let mut workspace = AlignedBytes::zeroed(plan.model().workspace_len_bytes());
    let output = plan.run(Input::Accumulators(&[10], &[]), 0, workspace.as_mut()).unwrap();
    assert_eq!(output, Output::I32(&[80]));
}

/// The slip in question, planted without a wrong line in the runtime: a head that takes row 0 whatever row is read
/// computes what the same file does whose record says row 0. Among the containers of an ordinary run are enough that
/// tell the two apart.
#[test]
fn a_head_that_takes_the_first_row_would_show() {
    let mut shows = 0;
    for seed in (0..SEEDS).filter(|seed| coverage::is_part_of_dot(&generated(*seed))) {
        let right = generated(seed);
        let mut slipped = right.clone();
        slipped.ops[1].input_start = 0;
        let mut random = Random(seed);
        let mut side = || (0..right.input.hidden).map(|_| random.within(400) as i16).collect::<Vec<i16>>();
        let (own, other) = (side(), side());
        let [right, slipped] = [right, slipped].map(|draft| {
            let bytes = draft.bytes();
            let plan = Plan::new(Model::parse(bytes.as_ref()).unwrap(), by_name("scalar").unwrap());
            let mut workspace = AlignedBytes::zeroed(plan.model().workspace_len_bytes());
            match plan.run(Input::Accumulators(&own, &other), 0, workspace.as_mut()).unwrap() {
                Output::I32(values) => values.to_vec(),
                output => panic!("{output:?}"),
            }
        });
        shows += usize::from(right != slipped);
    }
    assert!(shows >= 10, "{shows}");
}

/// Activation codes of each kind that has more than one.
const ACTIVATIONS: [(u32, &[u32]); 8] = [
    (1, &[3, 4, 5]),
    (3, &[3, 4, 5, 6]),
    (8, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20]),
    (26, &[12, 13, 14]),
    (34, &[2, 3, 4, 5, 7]),
    (35, &[4]),
    (36, &[6]),
    (37, &[3, 4, 5]),
];

/// What must come at least so often, but for kinds and activations.
const WANTED: [(&str, usize); 108] = [
    ("rows handed on by kind 27", 100),
    ("rows handed on by kind 29", 30),
    ("rows handed on by kind 30", 5),
    ("a stretch of 2", 50),
    ("a stretch of 3", 20),
    ("a stretch of more", 10),
    ("a stretch that ends with kind 27", 50),
    ("a stretch that ends with kind 29", 20),
    ("a stretch that ends with kind 30", 5),
    ("a stretch that ends with a second value", 5),
    ("kind 27, over what is read, down", 20),
    ("kind 27, over what is read, up", 20),
    ("kind 29, over what is read, down", 10),
    ("kind 29, over what is read, up", 10),
    ("kind 30, over what is read, down", 5),
    ("a place alone, of bytes", 20),
    ("a place alone, beside a second map", 5),
    ("a place alone, of other elements", 5),
    ("small layers, few outputs", 20),
    ("small layers, one scale", 10),
    ("small layers, one scale, of which nothing is left over", 5),
    ("small layers, scales of their own", 10),
    ("rows of kind 1", 10),
    ("rows of kind 5", 10),
    ("rows of kind 7", 10),
    ("rows of kind 20", 5),
    ("rows of kind 34", 5),
    ("rows of kind 35", 5),
    ("rows of kind 37", 5),
    ("kind 38", 20),
    ("kind 39", 20),
    ("outputs elsewhere, all the workspace beside them", 50),
    ("outputs elsewhere, the first place", 50),
    ("outputs elsewhere, behind the others", 50),
    ("outputs elsewhere, behind the others, one of which is read with a second", 50),
    ("input 1 of element 0, exact 0", 100),
    ("input 2 of element 1, exact 0", 50),
    ("input 2 of element 2, exact 0", 50),
    ("input 2 of element 5, exact 0", 50),
    ("input 3 of element 0, exact 0", 50),
    ("input 3 of element 0, exact 1", 20),
    ("input 3 of element 3, exact 0", 50),
    ("input 3 of element 3, exact 1", 20),
    ("feature set 1", 15),
    ("feature set 2", 15),
    ("feature set 3", 15),
    ("feature set 4", 15),
    ("feature set 5", 15),
    ("perspectives 1, order 0", 50),
    ("perspectives 2, order 0", 50),
    ("perspectives 2, order 1", 50),
    ("rows of element 2", 50),
    ("rows of element 3", 50),
    ("several blocks", 50),
    ("buckets", 200),
    ("a bucket table", 50),
    ("a bucket table of some kinds", 5),
    ("a bucket table by sides", 3),
    ("more operations than are resolved ahead", 50),
    ("a value over another", 200),
    ("a value read several times", 200),
    ("a head of all of it, the first", 20),
    ("a head of one row of several, the first", 10),
    ("a head of one row of several, another", 20),
    ("kind 1, activation 4, claimed short", 20),
    ("kind 5, 2 to 4", 50),
    ("kind 11, in place", 10),
    ("kind 5, quads fit", 100),
    ("kind 5, of the input", 50),
    ("kind 5, bytes of kind 4", 10),
    ("kind 5, bytes of kind 11", 50),
    ("kind 5, bytes of kind 17", 10),
    ("kind 5, bytes of kind 19", 5),
    ("kind 5, bytes of kind 23", 10),
    ("kind 5, bytes of kind 24", 10),
    ("kind 5, bytes of kind 26", 10),
    ("kind 7, weights of element 5, layout 1, banks: true", 20),
    ("kind 7, weights of element 5, layout 3, banks: true", 20),
    ("kind 12, weights of element 5, layout 1, banks: false", 10),
    ("kind 13, 3 to 5", 10),
    ("kind 20, weights of element 2, layout 1, banks: true", 5),
    ("kind 20, weights of element 3, layout 1, banks: true", 5),
    ("kind 35, weights of element 3, layout 1, banks: true", 5),
    ("kind 37, weights of element 3, layout 1, banks: true", 5),
    ("a rounded head of all of it, the first", 5),
    ("a rounded head of one row of several, the first", 5),
    ("a rounded head of one row of several, another", 5),
    ("kind 34, weights of element 2, layout 1, banks: true", 5),
    ("kind 34, weights of element 3, layout 1, banks: true", 5),
    ("kind 34, weights of element 4, layout 1, banks: true", 5),
    ("kind 21, of the input", 50),
    ("layer: whole", 100),
    ("layer: whole, over what was read", 20),
    ("layer: a part", 20),
    ("layer: read by another", 20),
    ("dequantise, activation: whole", 50),
    ("dequantise, activation: whole, over what was read", 20),
    ("dequantise, activation: a part", 5),
    ("dequantise, activation: read by another", 5),
    ("dequantise, affine: whole", 50),
    ("dequantise, affine: whole, over what was read", 20),
    ("dequantise, affine: a part", 10),
    ("dequantise, affine: read by another", 10),
    ("affine, activation: whole", 50),
    ("affine, affine: whole, over what was read", 10),
    ("affine, affine: a part", 10),
    ("affine, scale: whole, over what was read", 10),
    ("a tail of two layers, scaled", 10),
];
