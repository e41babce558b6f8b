//! What is in a container: kinds in their forms, pairs of operations that a plan runs in one step, and their near
//! misses. Worked out from the records, so that it holds whatever the generator meant to make.

use crate::draft::Draft;
use std::collections::BTreeSet;
use tamis_runtime::raw::{Layout, NONE, OpRecord, Overlap, WindowRecord, claim, element, op};

/// Operations that a plan resolves ahead.
const AHEAD: usize = 16;

/// Everything that a container has, in words.
pub fn of(draft: &Draft) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let input = &draft.input;
    found.insert(format!("input {} of element {}, exact {}", input.kind, input.element, input.exact));
    found.insert(format!("feature set {}", input.feature_set));
    found.insert(format!("perspectives {}, order {}", input.perspectives, input.order));
    for (name, is_there) in [
        ("buckets", input.bucket_count > 1),
        ("a bucket table", input.bucket_table != NONE),
        ("a bucket table of some kinds", !input.counted.is_multiple_of(64)),
        ("a bucket table by sides", input.counted >= 64),
        ("several blocks", draft.blocks.len() > 1),
        ("more operations than are resolved ahead", draft.ops.len() > AHEAD),
        ("a value over another", has_reused_places(draft)),
        ("a value read several times", (1..draft.values.len() as u32).any(|value| readers(draft, value) > 1)),
    ] {
        if is_there {
            found.insert(name.to_owned());
        }
    }
    if let Some(kind) = ends_in_rows(draft) {
        found.insert(format!("rows of kind {kind}"));
    }
    for block in &draft.blocks {
        found.insert(format!("rows of element {}", draft.tensors[block.weights as usize].0.element));
    }
    for op in &draft.ops {
        found.extend(form(draft, op));
    }
    found.extend(head(draft));
    found.extend(by_rows(draft));
    for pair in draft.ops.windows(2) {
        let [first, second] = pair else { continue };
        found.extend(neighbours(draft, first, second));
    }
    for three in draft.ops.windows(3) {
        let [first, second, third] = three else { continue };
        found.extend(small_layers(draft, first, second, third));
    }
    for four in draft.ops.windows(4) {
        let kinds: Vec<u32> = four.iter().map(|op| op.kind).collect();
        let tail = [op::DEQUANTISE, op::AFFINE_F32, op::AFFINE_F32, op::SCALE_F32];
        if kinds == tail && four.windows(2).all(|pair| how(draft, &pair[0], &pair[1]) == Some("whole")) {
            found.insert("a tail of two layers, scaled".to_owned());
        }
    }
    found
}

/// The kind of the layer that makes the outputs, with nothing behind it but what is done with each sum by itself.
fn ends_in_rows(draft: &Draft) -> Option<u32> {
    let layers = [
        op::ACTIVATE_DOT,
        op::ROUNDED_DOT,
        op::WIDE_HEAD,
        op::AFFINE_I8,
        op::AFFINE_I16,
        op::AFFINE_I32,
        op::AFFINE_F32,
    ];
    let mut value = draft.values.len() as u32 - 1;
    loop {
        let record = draft.ops.get(value.checked_sub(1)? as usize)?;
        if layers.contains(&record.kind) {
            return Some(record.kind);
        }
        let each = match record.kind {
            op::RESCALE | op::DEQUANTISE | op::SCALE_F32 | op::REQUANTISE => true,
            op::ACTIVATION_F32 => ![6, 7, 11].contains(&record.activation),
            _ => false,
        };
        if !each || record.input_len != draft.values[record.input as usize].len {
            return None;
        }
        value = record.input;
    }
}

/// An operation's kind with what selects its way: elements, activation, layout, banks, a claim, a part that it reads.
fn form(draft: &Draft, op: &OpRecord) -> Vec<String> {
    let (from, to) = (draft.values[op.input as usize], draft.values[op.output as usize]);
    let kind = op.kind;
    let mut all = vec![
        format!("kind {kind}"),
        format!("kind {kind}, {} to {}", from.element, to.element),
        format!("kind {kind}, activation {}", op.activation),
    ];
    if op.input_len < from.len {
        all.push(format!("kind {kind}, a part"));
    }
    all.extend(single_place(draft, op));
    if op.input != 0 && from.place == to.place {
        all.push(format!("kind {kind}, in place"));
    }
    if op.input == 0 {
        all.push(format!("kind {kind}, of the input"));
    } else if kind == op::AFFINE_I8 && from.element() == element::U8 {
        // Which kernels a layer takes follows from what its bytes come from.
        all.push(format!("kind 5, bytes of kind {}", draft.ops[op.input as usize - 1].kind));
    }
    if let Some((weights, _)) = draft.tensors.get(op.weights as usize) {
        let (element, layout) = (weights.element, weights.layout);
        all.push(format!("kind {kind}, weights of element {element}, layout {layout}, banks: {}", weights.banks > 1));
        if kind == op::AFFINE_I8 && weights.claims & claim::QUADS_FIT_I16 != 0 {
            all.push("kind 5, quads fit".to_owned());
        }
        if kind == op::ACTIVATE_DOT && weights.claims & claim::PRODUCT_FITS_I16 != 0 {
            all.push(format!("kind 1, activation {}, claimed short", op.activation));
        }
    }
    all
}

/// A convolution of one place that sees one pixel, in the layout of dense layers, and what speaks against its kernel.
fn single_place(draft: &Draft, op: &OpRecord) -> Option<String> {
    let values = [op.input, op.output].map(|value| draft.values[value as usize]);
    let (weights, _) = draft.tensors.get(op.weights as usize)?;
    let is_one = op.kind == op::CONVOLUTION
        && values.iter().all(|value| value.pixels() == [1, 1])
        && WindowRecord::of(op).kernel == [1, 1]
        && weights.layout == Layout::K4.code();
    let is_bytes = values.iter().all(|value| [element::U8, element::I8].contains(&value.element()));
    is_one.then(|| {
        let how = match (is_bytes, op.second == NONE) {
            (true, true) => "of bytes",
            (true, false) => "beside a second map",
            (false, _) => "of other elements",
        };
        format!("a place alone, {how}")
    })
}

/// Two dense layers of bytes that one call may do, and what their outputs are rounded by.
fn small_layers(draft: &Draft, first: &OpRecord, second: &OpRecord, third: &OpRecord) -> Option<String> {
    let kinds = [first.kind, second.kind, third.kind] == [op::AFFINE_I8, op::REQUANTISE, op::AFFINE_I8];
    let is_whole =
        [(first, second), (second, third)].iter().all(|(one, other)| how(draft, one, other) == Some("whole"));
    let values = [first.input, second.output].map(|value| draft.values[value as usize]);
    let has_bytes = values.iter().all(|value| value.element() == element::U8);
    if !kinds || !is_whole || !has_bytes || second.params[1] as i32 > 127 || second.params[2] != 0 {
        return None;
    }
    let tensor = |index: u32| draft.tensors.get(index as usize);
    let own = [first.weights, first.bias, second.multipliers, second.shifts, third.weights, third.bias];
    let is_single = own.into_iter().filter_map(tensor).all(|(tensor, _)| tensor.banks == 1);
    let (multipliers, shifts) = (&tensor(second.multipliers)?.1, &tensor(second.shifts)?.1);
    if !is_single || shifts.iter().any(|shift| *shift < 33) {
        return None;
    }
    let has_one = |bytes: &[u8], each: usize| bytes.chunks(each).all(|number| number == &bytes[..each]);
    let is_one = has_one(multipliers, size_of::<i32>()) && has_one(shifts, 1);
    let len = draft.values[second.output as usize].len;
    let stride = tensor(first.weights)?.0.stride;
    let is_whole = stride == len && len.is_multiple_of(16) && first.input_len.is_multiple_of(8);
    let has_few_behind = draft.values[third.output as usize].len <= 4;
    let how = match (len, is_one) {
        (_, true) if is_whole && has_few_behind => "one scale, of which nothing is left over",
        (..32, _) => "few outputs",
        (_, true) => "one scale",
        (_, false) => "scales of their own",
    };
    Some(format!("small layers, {how}"))
}

/// The whole network as one dot.
fn head(draft: &Draft) -> Option<String> {
    let [first, second] = &draft.ops[..] else { return None };
    let rows = draft.values[first.output as usize].len;
    let name = match (first.kind, second.kind, second.input_len) {
        (op::ACTIVATE_DOT, op::RESCALE, 1) => "a head",
        (op::ROUNDED_DOT, op::REQUANTISE, 1) => "a rounded head",
        _ => return None,
    };
    Some({
        let what = if rows == 1 { "all of it" } else { "one row of several" };
        let row = if second.input_start == 0 { "the first" } else { "another" };
        format!("{name} of {what}, {row}")
    })
}

/// Whether a dot and its head, the whole network, read another row than the first, where the short way would be wrong.
pub fn is_part_of_dot(draft: &Draft) -> bool {
    head(draft).is_some() && draft.ops[1].input_start > 0
}

/// Operations that write over what they read, and stretches that hand on a few rows at a time.
fn by_rows(draft: &Draft) -> Vec<String> {
    let mut found = Vec::new();
    let mut stages = 1;
    for op in &draft.ops {
        if draft.values[op.output as usize].rows_held() > 0 {
            stages += 1;
            found.push(format!("rows handed on by kind {}", op.kind));
            continue;
        }
        if stages > 1 {
            found.push(format!("a stretch of {}", if stages > 3 { "more".to_owned() } else { stages.to_string() }));
            found.push(format!("a stretch that ends with kind {}", op.kind));
            if op.second != NONE {
                found.push("a stretch that ends with a second value".to_owned());
            }
        } else if overlap(draft, op.input, op.output) || op.second != NONE && overlap(draft, op.second, op.output) {
            let overlaps = Overlap::all(op, |value| &draft.values[value as usize]);
            let is_down = overlaps.iter().flatten().all(Overlap::goes_down);
            found.push(format!("kind {}, over what is read, {}", op.kind, if is_down { "down" } else { "up" }));
        }
        stages = 1;
    }
    found
}

/// Two neighbours that one step may do, and what speaks against it.
fn neighbours(draft: &Draft, first: &OpRecord, second: &OpRecord) -> Option<String> {
    let name = match (first.kind, second.kind) {
        (op::AFFINE_I8, op::REQUANTISE) => "layer",
        (op::DEQUANTISE, op::ACTIVATION_F32) => "dequantise, activation",
        (op::DEQUANTISE, op::AFFINE_F32) => "dequantise, affine",
        (op::AFFINE_F32, op::ACTIVATION_F32) => "affine, activation",
        (op::AFFINE_F32, op::AFFINE_F32) => "affine, affine",
        (op::AFFINE_F32, op::SCALE_F32) => "affine, scale",
        _ => return None,
    };
    let how = how(draft, first, second)?;
    let over = if overlap(draft, first.input, second.output) { ", over what was read" } else { "" };
    Some(format!("{name}: {how}{over}"))
}

/// How an operation reads what its neighbour wrote, if it does.
fn how(draft: &Draft, first: &OpRecord, second: &OpRecord) -> Option<&'static str> {
    (second.input == first.output).then(|| {
        let is_part = second.input_len < draft.values[first.output as usize].len;
        match (is_part, readers(draft, first.output)) {
            (true, _) => "a part",
            (false, 1) => "whole",
            (false, _) => "read by another",
        }
    })
}

fn readers(draft: &Draft, value: u32) -> usize {
    draft.ops.iter().filter(|op| op.input == value || op.second == value).count()
}

fn overlap(draft: &Draft, a: u32, b: u32) -> bool {
    let place = |value: u32| {
        let value = draft.values[value as usize];
        value.offset_bytes()
            ..value.offset_bytes() + value.len_held() * element::len_bytes(value.element()).unwrap() as u32
    };
    a != 0 && b != 0 && place(a).start < place(b).end && place(b).start < place(a).end
}

fn has_reused_places(draft: &Draft) -> bool {
    let count = draft.values.len() as u32;
    (1..count).any(|a| (a + 1..count).any(|b| overlap(draft, a, b)))
}
