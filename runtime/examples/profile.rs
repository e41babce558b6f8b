//! Where a network's time goes: a line an operation, of a container that takes a dense input.
//!
//! `cargo run --release -p tamis-runtime --example profile -- FILE [TIER [RUNS]]`
//!
//! An operation's time is the least of all runs, from the end of the one before it to its own, the clock's reading
//! included. They run one by one for it. Behind their sum stands the time of [`Plan::run`], the least and the tenth
//! percentile, in which some are done at once; of rows that pass through several operations the last one has the time.
//! Keep it on one processor (`taskset -c 0`), and compare within one run.

use std::time::{Duration, Instant};
use tamis_runtime::format::Model;
use tamis_runtime::raw::{OpRecord, ValueRecord, WindowRecord, element, op};
use tamis_runtime::{Input, Plan, kernels};

/// Where a network and its scratch memory start.
const ALIGNMENT: usize = 64;
const RUNS: u32 = 3000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("usage: profile FILE [TIER [RUNS]]")?;
    let runs = arguments.get(2).map_or(Ok(RUNS), |runs| runs.parse())?.max(1);
    let tier = match arguments.get(1) {
        None => kernels::best(),
        Some(name) => {
            let names: Vec<&str> = kernels::tiers().map(|tier| tier.name).collect();
            let found = kernels::tiers().find(|tier| tier.name == name);
            found.ok_or(format!("no tier {name} here; there are {}", names.join(", ")))?
        }
    };
    let content = std::fs::read(path)?;
    let mut memory = room(content.len());
    let bytes = aligned(&mut memory, content.len());
    bytes.copy_from_slice(&content);
    let model = Model::parse(bytes)?;
    let plan = Plan::new(model, tier);
    let mut scratch = room(model.workspace_len_bytes());
    let scratch = aligned(&mut scratch, model.workspace_len_bytes());

    let size = model.input().size as usize;
    // Bytes of all sizes in no order; u8 take up to 127.
    let byte = |index: usize| (index.wrapping_mul(0x9E37_79B1) >> 13) as u8;
    let unsigned: Vec<u8> = (0..size).map(|index| byte(index) & 127).collect();
    let signed: Vec<i8> = (0..size).map(|index| byte(index) as i8).collect();
    let reals: Vec<f32> = (0..size).map(|index| f32::from(byte(index)) / 255.0).collect();
    let input = match model.input().element {
        element::U8 => Input::U8(&unsigned),
        element::I8 => Input::I8(&signed),
        element::F32 => Input::F32(&reals),
        _ => return Err("the network takes no dense input".into()),
    };

    let mut whole = Vec::new();
    let mut least = vec![Duration::MAX; model.values().len()];
    for _ in 0..runs {
        let start = Instant::now();
        plan.run(input, 0, scratch)?;
        whole.push(start.elapsed());
        let mut last = Instant::now();
        plan.run_traced(input, 0, scratch, |value, _| {
            let now = Instant::now();
            least[value] = least[value].min(now - last);
            last = now;
        })?;
    }
    println!("{path}, tier {}, the least of {runs} runs", tier.name);
    println!("{:>9} {:>11} {:>8}  operation", "µs", "MACs", "MACs/ns");
    let mut sum = Duration::ZERO;
    for record in model.ops() {
        let time = least[record.output as usize];
        if time == Duration::MAX {
            println!("{:>9} {:>11} {:>8}  {}", "", "", "", named(&model, record));
            continue;
        }
        let macs = multiplications(&model, record);
        let rate = macs as f64 / time.as_nanos().max(1) as f64;
        println!("{:>9.2} {macs:>11} {rate:>8.1}  {}", micros(time), named(&model, record));
        sum += time;
    }
    whole.sort();
    let [least, tenth] = [0, whole.len() / 10].map(|index| micros(whole[index]));
    println!("{:>9.2}  together; as they run {least:.2}, tenth percentile {tenth:.2}", micros(sum));
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

/// Memory of which some part of `len` bytes is aligned.
fn room(len: usize) -> Vec<u8> {
    vec![0; len + ALIGNMENT - 1]
}

/// That part.
fn aligned(memory: &mut [u8], len: usize) -> &mut [u8] {
    let start = memory.as_ptr().align_offset(ALIGNMENT);
    &mut memory[start..][..len]
}

/// Multiplications by weights, padding's included.
fn multiplications(model: &Model<'_>, record: &OpRecord) -> u64 {
    let Some(weights) = model.tensors().get(record.weights as usize) else { return 0 };
    let [height, width] = match record.kind {
        op::CONVOLUTION => model.values()[record.output as usize].pixels(),
        op::TRANSPOSED_CONVOLUTION => model.values()[record.input as usize].pixels(),
        _ => [1, 1],
    };
    u64::from(weights.rows) * u64::from(weights.cols) * u64::from(height) * u64::from(width)
}

/// The kind of an operation, and the maps that it reads and writes.
fn named(model: &Model<'_>, record: &OpRecord) -> String {
    let value = |index: u32| model.values().get(index as usize).map_or(String::new(), shape);
    let (from, to) = (value(record.input), value(record.output));
    let WindowRecord { kernel: [down, across], stride: [step, _], .. } = WindowRecord::of(record);
    let filters = model
        .tensors()
        .get(record.weights as usize)
        .is_some_and(|weights| weights.rows == u32::from(down) * u32::from(across) && weights.cols > 1);
    match record.kind {
        op::CONVOLUTION if filters => format!("depthwise {down}x{across}/{step} {from} -> {to}"),
        op::CONVOLUTION => format!("convolution {down}x{across}/{step} {from} -> {to}"),
        op::POOL => format!("pool {down}x{across}/{step} {from} -> {to}"),
        kind => format!("operation {kind} {from} -> {to}"),
    }
}

/// height x width x channels
fn shape(value: &ValueRecord) -> String {
    let [height, width] = value.pixels();
    format!("{height}x{width}x{}", value.len / (height * width))
}
