//! Loading and running allocate nothing, the workspace that a file states is enough to the byte, and importers take
//! little for what they refuse: an allocator that counts. A binary of its own, whose tests run one after the other,
//! because the count is the process's.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[macro_use]
extern crate tests;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tamis_quant::graph::Node;
use tamis_quant::graph::description::Description;
use tamis_quant::import::chain::Chain;
use tamis_quant::import::datacode::{Options, read_datacode};
use tamis_quant::import::importers::{quantised_form, read_quantised_network};
use tamis_quant::import::lattice::{read_fann, read_lattice_checkpoint, read_network_json};
use tamis_quant::import::tensors::{TensorForm, drafted, import, read_npz, read_safetensors};
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{self, quantise_graph};
use tamis_quant::run::AlignedBytes;
use tamis_quant::stockfish::{self, Encoding, FeatureSet, Head, Shape, to_bytes};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::{Layout as FileLayout, OpRecord, activation, element, input_kind, op};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Plan, RunError, Workspace};
use tests::draft::{Draft, blank};
use tests::graphs::{self, Random};
use tests::trials::Fixtures;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTER: Counter = Counter;

struct Counter;

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of the caller's.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        let live = LIVE_BYTES.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK_BYTES.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller keeps `alloc`'s contract, which is the system's too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `pointer` came from `alloc` above, so from the system, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// A container of 50 MB: 24576 features of 1024 weights.
fn large() -> AlignedBytes {
    let mut draft = Draft::of_features(1, 1024, 32, 1);
    let weights = draft.tensor(element::I16, FileLayout::Rows, (1, 24_576, 1024), || 7i16.to_le_bytes());
    let bias = draft.tensor(element::I16, FileLayout::Rows, (1, 1024, 1), || 8i16.to_le_bytes());
    draft.block(24_576, weights, bias);
    let head = draft.tensor(element::I16, FileLayout::Rows, (1, 1, 1024), || 9i16.to_le_bytes());
    let params = [255, 0, 0, 0];
    let record = OpRecord { weights: head, activation: activation::SCRELU, params, ..blank(op::ACTIVATE_DOT) };
    draft.op(element::I32, 1, 0, record);
    draft.bytes()
}

/// Graphs with every operation, quantised and packed: integers throughout, with reals between them, and nothing but
/// reals.
fn packed_graphs() -> Vec<AlignedBytes> {
    let mut random = Random(31);
    let mut packed = Vec::new();
    for round in 0..12 {
        let graph = if round % 2 == 0 { graphs::dense(&mut random) } else { graphs::sparse(&mut random) };
        let samples: Vec<_> = (0..24).map(|_| graphs::sample(&mut random, graph.input, round % 4 < 2)).collect();
        let name = |node: &Node| node.name.clone();
        let keep_f32 = match round / 4 {
            0 => Default::default(),
            1 => graph.nodes.iter().step_by(3).map(name).collect(),
            _ => graph.nodes.iter().map(name).collect(),
        };
        let quantised = quantise_graph(&graph, &samples, &graph::Options { keep_f32, ..Default::default() }).unwrap();
        let bytes = pack(&quantised, &prove(&quantised), &Provenance::default()).unwrap();
        packed.push(AlignedBytes::copy_of(&bytes));
    }
    packed
}

/// What a signature needs, allocated beforehand.
struct Memory {
    accumulators: [Vec<i16>; 3],
    bytes: Vec<u8>,
    words: Vec<u32>,
    workspace: AlignedBytes,
}

impl Memory {
    fn of(model: &Model<'_>) -> Self {
        let input = model.input();
        let (size, hidden, active) = (input.size as usize, input.hidden as usize, input.max_active as usize);
        let (own, bytes, words) = match input.kind {
            input_kind::FEATURES => (hidden, 0, 0),
            input_kind::SPARSE => (active, 0, active),
            _ if input.element == element::F32 => (0, 0, size),
            _ => (0, size, 0),
        };
        Self {
            accumulators: [own, hidden, hidden].map(|len| vec![0; len]),
            bytes: vec![0; bytes],
            words: vec![0; words],
            workspace: AlignedBytes::zeroed(model.workspace_len_bytes()),
        }
    }

    fn buffers(&mut self) -> Buffers<'_> {
        let [own, other, spare] = &mut self.accumulators;
        let (bytes, words) = (&mut self.bytes, &mut self.words);
        Buffers { own, other, spare, bytes, words, workspace: self.workspace.as_mut() }
    }
}

fn main() -> std::process::ExitCode {
    tests::trials::run_alone()
}

#[test]
fn loading_and_running_allocate_nothing_in_workspaces_of_the_stated_length() {
    // A file of every kind, and one of 50 MB: whatever the loader looks at, it looks at in place.
    let mut files: Vec<AlignedBytes> = tests::sample_models::all().into_iter().map(|sample| sample.bytes).collect();
    files.push(large());
    files.extend(packed_graphs());
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for file in &files {
        black_box(Model::parse(file.as_ref()).unwrap());
    }
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "loading allocates");
    for file in &files {
        let model = Model::parse(file.as_ref()).unwrap();
        for tier in tiers() {
            let mut runner = Memory::of(&model);
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            black_box(signature(&Plan::new(model, tier), runner.buffers()).unwrap());
            assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "running allocates");
            // `of` takes as many bytes as the file states; with one less nothing runs.
            let expected = model.workspace_len_bytes();
            let mut short = runner.buffers();
            let workspace = std::mem::take(&mut short.workspace);
            assert_eq!(workspace.len(), expected);
            let Some(less) = expected.checked_sub(1) else { continue };
            short.workspace = &mut workspace[..less];
            let refused = signature(&Plan::new(model, tier), short).unwrap_err();
            assert_eq!(refused, RunError::Workspace { found: less, expected });
        }
    }
    drop(files);

    let mut bytes = AlignedBytes::copy_of(&std::fs::read(tests::own("vectors/tiny.bin")).unwrap());
    let (mut own, mut other, mut spare) = ([0; 2], [0; 2], [0; 2]);
    let mut workspace = Workspace::<128>::new();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for tier in tiers() {
        let plan = Plan::new(Model::parse(bytes.as_ref()).unwrap(), tier);
        let workspace = workspace.as_mut();
        let (own, other, spare) = (&mut own, &mut other, &mut spare);
        let buffers = Buffers { own, other, spare, bytes: &mut [], words: &mut [], workspace };
        black_box(signature(&plan, buffers).unwrap());
        black_box(plan.model().metadata().unwrap());
    }
    // Refusing allocates nothing either, whatever a field claims: here each byte of header and records in turn.
    for at in 0..0x1D0 {
        bytes.as_mut()[at] ^= 0xFF;
        tests::draft::set_checksum(bytes.as_mut());
        black_box(Model::parse(bytes.as_ref()).is_err());
        bytes.as_mut()[at] ^= 0xFF;
    }
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before);
    black_box(vec![1]);
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > before, "the counter counts");
}

/// A byte of a `.nnue` file stands for at most one i32: whatever its lengths claim, reading takes that at most.
#[test]
fn nnue_files_take_memory_in_proportion() {
    let shape = Shape { features: FeatureSet::HalfKaV2Hm, width: 32, head: Head::Pairwise { squares: true } };
    let bytes = to_bytes(&tests::stockfish::made_up(shape, Encoding::Leb128, 1));
    let take = |bytes: &[u8]| {
        let before = LIVE_BYTES.load(Ordering::Relaxed);
        PEAK_BYTES.store(before, Ordering::Relaxed);
        black_box(stockfish::read(bytes).is_ok());
        PEAK_BYTES.load(Ordering::Relaxed) - before
    };
    let whole = take(&bytes);
    assert!(whole <= 4 * bytes.len(), "{whole} for {} bytes", bytes.len());
    let mut largest = 0;
    // Each length of the file as large as it can be, in front of all bytes or of few.
    let description = 8;
    let biases = 12 + 7 + 4 + 17;
    for at in [description, biases, biases + 4 + 32 + 17] {
        let mut hostile = bytes.clone();
        hostile[at..at + 4].copy_from_slice(&[0xFF; 4]);
        assert!(stockfish::read(&hostile).is_err());
        for len in [at + 4, at + 64, bytes.len()] {
            largest = largest.max(take(&hostile[..len]) / len);
        }
    }
    // The widest transformer that a hash can say, without a weight behind it.
    let widest = Shape { width: stockfish::MAX_WIDTH, ..shape };
    let words = [shape.features.version(), widest.header_hash(), 0, widest.transformer_hash()].map(u32::to_le_bytes);
    let little = take(&[words.as_flattened(), &[0; 64]].concat());
    assert!(largest <= 4 && little <= 4096, "{largest} times the file, {little} bytes");
    note!(
        "a .nnue file takes at most {largest} times its length when it lies, {whole} bytes of memory for {}",
        bytes.len()
    );
}

/// What a file claims about its lengths is compared with what it has before memory is asked for: gives the most bytes
/// it took.
fn refuse(name: &str, bytes: &[u8]) -> usize {
    const LIMIT_BYTES: usize = 16 << 20;
    let chain = Chain::from_text("4:relu8:linear2").unwrap();
    let before = LIVE_BYTES.load(Ordering::Relaxed);
    PEAK_BYTES.store(before, Ordering::Relaxed);
    assert!(read_datacode(bytes, name, &Options::default()).is_err(), "{name}");
    assert!(read_lattice_checkpoint(bytes, name, &chain).is_err(), "{name}");
    assert!(read_fann(bytes, name).is_err() && read_network_json(bytes, name).is_err(), "{name}");
    let peak = PEAK_BYTES.load(Ordering::Relaxed) - before;
    assert!(peak <= LIMIT_BYTES, "{name} took {peak} bytes");
    peak
}

#[test]
fn lengths_that_lie_take_little_memory() {
    let ones = [0xFF; 64];
    let json = br#"{"layers":[{"name":"l","type":"Linear","in_features":4294967295,"out_features":4294967295}]}"#;
    refuse("lengths of 2^32 - 1", &[b"DATACODE\x01\0\0\0", &ones[..]].concat());
    refuse("layers of 2^32 - 1", &[b"FANN\x01\0\0\0\x01\0\0\0", &ones[..8], b"\0", &ones].concat());
    let start = [b"DATACODE\x01\0\0\0", &(json.len() as u32).to_le_bytes()[..], json].concat();
    let tensor = [b"\x02\0\0\0\x08\0\0\0l.weight\x02\0\0\0", &ones[..]].concat();
    refuse("a tensor of 2^64 elements", &[&start[..], &tensor].concat());
    refuse("brackets", &vec![b'['; 1 << 20]);
}

#[test]
fn malformed_files_take_little_memory(fixtures: Fixtures) {
    let (mut count, mut largest) = (0, 0);
    for folder in ["datacode/generated/malformed", "lattice/malformed"] {
        for entry in std::fs::read_dir(fixtures.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name == "bad_uuid.json" || name == "bad_date.json") {
                continue; // these two load
            }
            largest = largest.max(refuse(&path.display().to_string(), &std::fs::read(&path).unwrap()));
            count += 1;
        }
    }
    assert_eq!(count, 64);
    note!("{count} malformed files take at most {largest} bytes");
}

/// What `pack` does with a file that says it is quantised already, up to where it is refused.
#[test]
fn malformed_networks_are_refused_by_pack_at_once(fixtures: Fixtures) {
    const LIMIT_BYTES: usize = 16 << 20;
    const LIMIT: Duration = Duration::from_millis(50);
    const TRIES: usize = 5;
    let root = fixtures.join("mlperf/malformed");
    let index = std::fs::read_to_string(root.join("index.tsv")).unwrap();
    let (mut count, mut largest, mut longest) = (0, 0, Duration::ZERO);
    for file in index.lines().skip(1).filter_map(|line| line.split('\t').next()) {
        let path = root.join(file);
        let own = usize::try_from(std::fs::metadata(&path).unwrap().len()).unwrap();
        let before = LIVE_BYTES.load(Ordering::Relaxed);
        PEAK_BYTES.store(before, Ordering::Relaxed);
        let form = quantised_form(&path).unwrap();
        let refuse = || {
            let start = processor_time();
            let found = read_quantised_network(&path, form).map(|network| network.integers.lower("").is_err());
            assert!(found.unwrap_or(true), "{file} was packed");
            processor_time() - start
        };
        // What a neighbour does to the caches counts: the shortest of some.
        let took = (0..TRIES).map(|_| refuse()).min().unwrap();
        let peak = PEAK_BYTES.load(Ordering::Relaxed) - before;
        assert!(peak <= own + LIMIT_BYTES && took <= LIMIT, "{file}: {peak} bytes, {own} of them the file's, {took:?}");
        (largest, longest, count) = (largest.max(peak.saturating_sub(own)), longest.max(took), count + 1);
    }
    assert_eq!(count, 102);
    note!("{count} malformed files take at most {largest} bytes beside their own, and {longest:?}");
}

/// Processor time of all threads of this process, so that a busy machine makes no difference.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// safetensors with this many tensors that hold nothing, as short as an entry can be.
fn empty_safetensors(count: usize) -> Vec<u8> {
    let entry = |at| format!("\"{at:x}\":{{\"dtype\":\"I8\",\"shape\":[0,0],\"data_offsets\":[0,0]}}");
    let header = format!("{{{}}}", (0..count).map(entry).collect::<Vec<_>>().join(","));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
}

/// An npz with this many arrays that hold nothing, stored.
fn empty_npz(count: u16) -> Vec<u8> {
    let mut npy = b"\x93NUMPY\x01\0\x38\0{'descr': '|u1', 'fortran_order': False, 'shape': (0,)}".to_vec();
    npy.resize(10 + 0x38, b'\n');
    let mut sum = flate2::Crc::new();
    sum.update(&npy);
    let len = (npy.len() as u32).to_le_bytes();
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for at in 0..count {
        let name = format!("{at:x}.npy");
        let common = [&[0; 8][..], &sum.sum().to_le_bytes(), &len, &len, &(name.len() as u16).to_le_bytes()].concat();
        let local = (zip.len() as u32).to_le_bytes();
        directory.extend([b"PK\x01\x02\x14\0\x14\0", &common[..], &[0; 12], &local, name.as_bytes()].concat());
        zip.extend([b"PK\x03\x04\x14\0", &common[..], &[0; 2], name.as_bytes(), &npy].concat());
    }
    let (size, offset) = (directory.len() as u32, zip.len() as u32);
    zip.extend(directory);
    let count = count.to_le_bytes();
    zip.extend(
        [b"PK\x05\x06\0\0\0\0", &count[..], &count, &size.to_le_bytes(), &offset.to_le_bytes(), &[0; 2]].concat(),
    );
    zip
}

/// Many tensors are what their file says of them: memory is a small multiple of it, and time follows.
#[test]
fn many_empty_tensors_take_a_few_times_their_file() {
    const TIMES: usize = 6;
    // Four times as many take four times as long, on any machine; by the square of their number it would be sixteen.
    const MORE: usize = 4;
    const LONGER: u32 = 8;
    const TRIES: usize = 3;
    let layers = "graph = 1\nname = \"x\"\n[input]\nkind = \"dense\"\nsize = 4\n\
                  [[node]]\nname = \"a\"\nop = \"linear\"\noutputs = 2\n";
    let layers = Description::from_toml(layers, "x").unwrap();
    let (tensors, arrays) = (empty_safetensors(190_000), empty_npz(65_000));
    let (few_tensors, few_arrays) = (empty_safetensors(190_000 / MORE), empty_npz(65_000 / MORE as u16));
    for (name, bytes, few, form, count) in [
        ("safetensors", &tensors, &few_tensors, TensorForm::Safetensors, 190_000),
        ("npz", &arrays, &few_arrays, TensorForm::Npz, 65_000),
    ] {
        let before = LIVE_BYTES.load(Ordering::Relaxed);
        PEAK_BYTES.store(before, Ordering::Relaxed);
        let read = |bytes: &[u8], count: usize| {
            let start = processor_time();
            let found = match form {
                TensorForm::Safetensors => read_safetensors(bytes).unwrap().0,
                TensorForm::Npz => read_npz(bytes).unwrap(),
            };
            assert_eq!(found.len(), count);
            drop(found);
            // What is read of them, and what is said of those that do not fit.
            assert!(import(bytes, form, Some(&layers)).is_err() && drafted(bytes, form, "x", None, None).is_err());
            processor_time() - start
        };
        let took = (0..TRIES).map(|_| read(bytes, count)).min().unwrap();
        let peak = PEAK_BYTES.load(Ordering::Relaxed) - before;
        let fewer_took = (0..TRIES).map(|_| read(few, count / MORE)).min().unwrap();
        note!(
            "{count} empty tensors in {} bytes of {name} take {peak} bytes and {took:?}, three times read",
            bytes.len()
        );
        assert!(peak <= TIMES * bytes.len(), "{name}: {peak} bytes of {}", bytes.len());
        assert!(took <= LONGER * fewer_took, "{name}: {took:?}, a {MORE}th of them {fewer_took:?}");
    }
}
