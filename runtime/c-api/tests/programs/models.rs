//! What `models.c` must print, from a plan in Rust on the same inputs.

use std::fmt::Write;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{element, input_kind};
use tamis_runtime::{Input, Output, Plan, kernels};

/// The last of all outputs and the first, where outputs can be computed alone.
fn rows(plan: &Plan<'_>, input: Input<'_>, bucket: usize) -> String {
    if !plan.computes_rows() {
        return "rows: no rows\n".to_owned();
    }
    let mut workspace = AlignedBytes::zeroed(plan.model().workspace_len_bytes().max(64));
    let all: Vec<String> = match plan.run(input, bucket, workspace.as_mut()).unwrap() {
        Output::I32(values) => values.iter().map(|value| format!(" {value}")).collect(),
        Output::F32(values) => values.iter().map(|value| format!(" {:08x}", value.to_bits())).collect(),
        other => panic!("{other:?}"),
    };
    let first = if all.len() > 1 { all[0].as_str() } else { "" };
    format!("rows{}{first}\n", all[all.len() - 1])
}

pub fn expected(file: &[u8]) -> String {
    let (bytes, mut out) = (AlignedBytes::copy_of(file), String::new());
    let plan = Plan::new(Model::parse(bytes.as_ref()).unwrap(), kernels::by_name("scalar").unwrap());
    let shape = *plan.model().input();
    let bucket = shape.bucket_count as usize - 1;
    let mut workspace = AlignedBytes::zeroed(plan.model().workspace_len_bytes().max(64));
    let mut run = |what: &str, input: Input<'_>| {
        out.push_str(what);
        match plan.run(input, bucket, workspace.as_mut()).unwrap() {
            Output::I32(values) => values.iter().for_each(|value| write!(out, " {value}").unwrap()),
            Output::F32(values) => values.iter().for_each(|value| write!(out, " {:08x}", value.to_bits()).unwrap()),
            other => panic!("{other:?}"),
        }
        out.push('\n');
    };
    let size = shape.size as usize;
    let bytes: Vec<u8> = (0..size).map(|index| ((37 * index + 11) % 128) as u8).collect();
    let signed: Vec<i8> = bytes.iter().map(|byte| *byte as i8 - 64).collect();
    let reals: Vec<f32> = signed.iter().map(|byte| f32::from(*byte) / 8.0).collect();
    match (shape.kind, shape.element) {
        (input_kind::FEATURES, _) => {
            let list = [0, 1 % shape.size, shape.size - 1];
            let count = shape.max_active.min(2) as usize;
            let [mut own, mut other, mut moved] = [const { Vec::new() }; 3].map(|mut accumulator: Vec<i16>| {
                accumulator.resize(shape.hidden as usize, 0);
                accumulator
            });
            plan.refresh(&mut own, &list[..count]).unwrap();
            plan.refresh(&mut other, &list[2..2 + count / 2]).unwrap();
            plan.update(&mut moved, &own, &list[2..], &list[..1]).unwrap();
            run("root", Input::Accumulators(&own, &other));
            run("moved", Input::Accumulators(&moved, &other));
            out.push_str(&rows(&plan, Input::Accumulators(&moved, &other), bucket));
        }
        (input_kind::SPARSE, code) => {
            let count = shape.max_active.min(shape.size);
            let features: Vec<u32> = (shape.size - count..shape.size).collect();
            let values: Vec<i16> = (0..count as i16).map(|index| index % 16).collect();
            run("run", Input::Sparse { features: &features, values: if code == 0 { &[] } else { &values } });
        }
        (_, element::U8) => run("run", Input::U8(&bytes)),
        (_, element::I8) => run("run", Input::I8(&signed)),
        _ => run("run", Input::F32(&reals)),
    }
    out
}
