//! Networks of sparse inputs, interactions, tables, trees and reals: every operation of `runtime/src/ops`, in each of
//! its forms.

use super::{Random, SampleModel};
use crate::draft::{Draft, blank};
use tamis_runtime::raw::{Layout, OpRecord, activation, element, op};

pub(super) fn general() -> Vec<SampleModel> {
    let sample = |name, draft: Draft| SampleModel { name, bytes: draft.bytes() };
    vec![
        sample("sparse, one a field, interactions", fields()),
        sample("sparse with values, rows and trees", value_rows()),
        sample("sparse with values, sums and tables", value_sums()),
        sample("sparse reals with values", sparse_reals()),
        sample("sparse reals without values", names()),
        sample("reals in, quantised inside", quantised_inside()),
        sample("bytes through tables and trees, buckets", bytes()),
    ]
}

/// A draft that grows, and where its numbers come from.
struct Maker {
    draft: Draft,
    random: Random,
}

impl Maker {
    fn i8s(&mut self, shape: (usize, usize, usize)) -> u32 {
        let random = &mut self.random;
        self.draft.tensor(element::I8, Layout::Rows, shape, || (random.within(127) as i8).to_le_bytes())
    }

    fn u8s(&mut self, shape: (usize, usize, usize)) -> u32 {
        let random = &mut self.random;
        self.draft.tensor(element::U8, Layout::Rows, shape, || [random.draw() as u8])
    }

    fn i16s(&mut self, shape: (usize, usize, usize), limit: i32) -> u32 {
        let random = &mut self.random;
        self.draft.tensor(element::I16, Layout::Rows, shape, || (random.within(limit) as i16).to_le_bytes())
    }

    fn i32s(&mut self, shape: (usize, usize, usize), limit: i32) -> u32 {
        let random = &mut self.random;
        self.draft.tensor(element::I32, Layout::Rows, shape, || random.within(limit).to_le_bytes())
    }

    fn f32s(&mut self, shape: (usize, usize, usize)) -> u32 {
        let random = &mut self.random;
        self.draft.tensor(element::F32, Layout::Rows, shape, || random.real().to_le_bytes())
    }

    fn affine_i8(&mut self, input: u32, outputs: u32) -> u32 {
        let shape = (1, outputs as usize, self.draft.values[input as usize].len as usize);
        let random = &mut self.random;
        let weights = self.draft.tensor(element::I8, Layout::K4, shape, || (random.within(128) as i8).to_le_bytes());
        self.draft.op_on(element::I32, outputs, input, OpRecord { weights, ..blank(op::AFFINE_I8) })
    }

    /// From i32 sums of about `2^size`.
    fn requantise(&mut self, input: u32, to: u32, size: u32, [low, high, zero]: [i32; 3]) -> u32 {
        let len = self.draft.values[input as usize].len;
        let shape = (1, len as usize, 1);
        let random = &mut self.random;
        let multipliers =
            self.draft.tensor(element::I32, Layout::Rows, shape, || (random.within(1 << 20).abs()).to_le_bytes());
        let shifts =
            self.draft.tensor(element::U8, Layout::Rows, shape, || [(12 + size + random.draw() as u32 % 3) as u8]);
        let params = [low as u32, high as u32, zero as u32, 0];
        self.draft.op_on(to, len, input, OpRecord { multipliers, shifts, params, ..blank(op::REQUANTISE) })
    }

    /// An operation with a width.
    fn interact(&mut self, kind: u32, to: u32, len: u32, input: u32, width: u32) -> u32 {
        self.draft.op_on(to, len, input, OpRecord { params: [width, 0, 0, 0], ..blank(kind) })
    }

    /// `second`, from `second_start` on, behind all of `input`.
    fn concat(&mut self, input: u32, second: u32, second_start: u32) -> u32 {
        let (a, b) = (self.draft.values[input as usize], self.draft.values[second as usize]);
        let len = a.len + b.len - second_start;
        self.draft.op_on(a.element(), len, input, OpRecord { second, second_start, ..blank(op::CONCAT) })
    }

    fn activate(&mut self, code: u32, input: u32, alpha: f32) -> u32 {
        let len = self.draft.values[input as usize].len;
        let record = OpRecord { activation: code, params: [alpha.to_bits(), 0, 0, 0], ..blank(op::ACTIVATION_F32) };
        self.draft.op_on(element::F32, len, input, record)
    }

    /// Trees over the first `features` features of `input`: about a quarter of the nodes are leaves.
    fn trees(&mut self, input: u32, to: u32, features: i32, (banks, trees, nodes): (usize, usize, usize)) -> u32 {
        let shape = (banks, trees, nodes);
        let random = &mut self.random;
        let multipliers = self.draft.tensor(element::I32, Layout::Rows, shape, || {
            let any = random.draw();
            (if any.is_multiple_of(4) { -1 } else { (any >> 33) as i32 % features }).to_le_bytes()
        });
        let real = self.draft.values[input as usize].element() == element::F32;
        let weights = if real { self.f32s(shape) } else { self.i32s(shape, 60) };
        let bias = if to == element::F32 { self.f32s(shape) } else { self.i32s(shape, 1 << 28) };
        let params = [trees as u32, nodes as u32, 0, 0];
        self.draft.op_on(to, 1, input, OpRecord { weights, bias, multipliers, params, ..blank(op::TREES) })
    }
}

/// 29 features, five at once: a factorisation machine, pooled and pairwise products beside it.
fn fields() -> Draft {
    let mut maker = Maker { draft: Draft::sparse(29, 5, true, false), random: Random(21) };
    let weights = maker.i8s((1, 29, 6));
    let rows = maker.draft.op_on(element::I8, 30, 0, OpRecord { weights, ..blank(op::SPARSE_ROWS) });
    let fm = maker.interact(op::FM_TERM, element::I32, 1, rows, 6);
    let (weights, bias) = (maker.i16s((1, 29, 1), 32_767), maker.i32s((1, 1, 1), 1 << 30));
    let linear = maker.draft.op_on(element::I32, 1, 0, OpRecord { weights, bias, ..blank(op::SPARSE_AFFINE) });
    let sum = OpRecord { second: linear, ..blank(op::ADD_I32) };
    let sum = maker.draft.op_on(element::I32, 1, fm, sum);
    let pooled = maker.interact(op::BI_INTERACTION, element::I32, 6, rows, 6);
    let products = maker.interact(op::INNER_PRODUCTS, element::I32, 10, rows, 6);
    let both = maker.concat(pooled, products, 0);
    let narrow = maker.requantise(both, element::U8, 12, [0, 200, 100]);
    let deep = maker.affine_i8(narrow, 3);
    maker.concat(deep, sum, 0);
    maker.draft
}

/// Values in units: rows of i8 and i16, their products, trees.
fn value_rows() -> Draft {
    let mut maker = Maker { draft: Draft::sparse(20, 7, false, true), random: Random(22) };
    let weights = maker.i16s((1, 20, 3), 32_767);
    let params = [1 << 20, 27, 0, 0];
    let rows = maker.draft.op_on(element::I16, 21, 0, OpRecord { weights, params, ..blank(op::SPARSE_ROWS) });
    let weights = maker.i8s((1, 20, 2));
    let params = [3, 8, 0, 0];
    let narrow = maker.draft.op_on(element::I8, 14, 0, OpRecord { weights, params, ..blank(op::SPARSE_ROWS) });
    let pooled = maker.interact(op::BI_INTERACTION, element::I32, 3, rows, 3);
    let products = maker.interact(op::INNER_PRODUCTS, element::I32, 21, narrow, 2);
    let fm = maker.interact(op::FM_TERM, element::I32, 1, rows, 3);
    let (weights, bias) = (maker.i8s((1, 5, 20)), maker.i32s((1, 5, 1), 1 << 30));
    let record = OpRecord { weights, bias, input_start: 1, ..blank(op::AFFINE_I16) };
    let mut all = maker.draft.op_on(element::I32, 5, rows, record);
    for more in [pooled, products, fm, maker.trees(0, element::I32, 20, (1, 5, 11))] {
        all = maker.concat(all, more, 0);
    }
    maker.draft
}

/// Values in units: sums that are requantised with zero points, in more than one block, through layers of i16 and
/// tables.
fn value_sums() -> Draft {
    let mut maker = Maker { draft: Draft::sparse(20, 7, false, true), random: Random(27) };
    let weights = maker.i8s((1, 20, 70));
    let sums = maker.draft.op_on(element::I32, 70, 0, OpRecord { weights, ..blank(op::SPARSE_AFFINE) });
    let wide = maker.requantise(sums, element::I16, 12, [-32_768, 32_767, 77]);
    let (weights, bias) = (maker.i16s((1, 6, 70), 32_767), maker.i32s((1, 6, 1), 1 << 30));
    let layer = maker.draft.op_on(element::I32, 6, wide, OpRecord { weights, bias, ..blank(op::AFFINE_I16) });
    let bytes = maker.requantise(layer, element::U8, 20, [3, 255, 128]);
    let weights = maker.i8s((1, 256, 1));
    let looked = maker.draft.op_on(element::I8, 6, bytes, OpRecord { weights, ..blank(op::LOOKUP) });
    // Up to 127, which lets a plan take the kernels for such bytes.
    let random = &mut maker.random;
    let weights = maker.draft.tensor(element::U8, Layout::Rows, (1, 256, 1), || [(random.draw() % 128) as u8]);
    let looked = maker.draft.op_on(element::U8, 6, looked, OpRecord { weights, ..blank(op::LOOKUP) });
    let sums = maker.affine_i8(looked, 4);
    let signed = maker.requantise(sums, element::I8, 14, [-128, 127, -5]);
    let last = maker.affine_i8(signed, 2);
    maker.concat(last, layer, 0);
    maker.draft
}

/// The same without integers, and every activation that needs the exponential function.
fn sparse_reals() -> Draft {
    let mut maker = Maker { draft: Draft::sparse(17, 4, false, true), random: Random(23) };
    let weights = maker.f32s((1, 17, 5));
    let rows = maker.draft.op_on(element::F32, 20, 0, OpRecord { weights, ..blank(op::SPARSE_ROWS) });
    let fm = maker.interact(op::FM_TERM, element::F32, 1, rows, 5);
    let pooled = maker.interact(op::BI_INTERACTION, element::F32, 5, rows, 5);
    let products = maker.interact(op::INNER_PRODUCTS, element::F32, 6, rows, 5);
    let (weights, bias) = (maker.f32s((1, 17, 9)), maker.f32s((1, 9, 1)));
    let sums = maker.draft.op_on(element::F32, 9, 0, OpRecord { weights, bias, ..blank(op::SPARSE_AFFINE) });
    let leaky = maker.activate(activation::LEAKY_RELU, sums, -0.3);
    let tanh = maker.activate(activation::TANH, pooled, 0.0);
    let sigmoid = maker.activate(activation::SIGMOID, products, 0.0);
    let forest = maker.trees(0, element::F32, 17, (1, 3, 6));
    let mut all = maker.concat(leaky, tanh, 1);
    for more in [sigmoid, fm, forest] {
        all = maker.concat(all, more, 0);
    }
    maker.activate(activation::SOFTMAX, all, 0.0);
    maker.draft
}

/// Logistic regression on names.
fn names() -> Draft {
    let mut maker = Maker { draft: Draft::sparse(9, 12, false, false), random: Random(24) };
    let weights = maker.f32s((1, 9, 3));
    let rows = maker.draft.op_on(element::F32, 36, 0, OpRecord { weights, ..blank(op::SPARSE_ROWS) });
    let pooled = maker.interact(op::BI_INTERACTION, element::F32, 3, rows, 3);
    let weights = maker.f32s((1, 9, 3));
    let sums = maker.draft.op_on(element::F32, 3, 0, OpRecord { weights, ..blank(op::SPARSE_AFFINE) });
    let sum = OpRecord { second: pooled, ..blank(op::ADD_F32) };
    let sum = maker.draft.op_on(element::F32, 3, sums, sum);
    maker.activate(activation::SIGMOID, sum, 0.0);
    maker.draft
}

/// A vector of reals: to i8, u8 and i16 with zero points, and back; the input itself beside them.
fn quantised_inside() -> Draft {
    let mut maker = Maker { draft: Draft::dense(element::F32, 11), random: Random(25) };
    let quantise = |inverse: f32, [low, high, zero]: [i32; 3]| OpRecord {
        params: [inverse.to_bits(), low as u32, high as u32, zero as u32],
        ..blank(op::QUANTISE)
    };
    let to_f32 =
        |factor: f32, zero: i32| OpRecord { params: [factor.to_bits(), zero as u32, 0, 0], ..blank(op::TO_F32) };
    let signed = maker.draft.op_on(element::I8, 11, 0, quantise(50.0, [-128, 127, 9]));
    let sums = maker.affine_i8(signed, 7);
    let bytes = maker.requantise(sums, element::U8, 14, [0, 255, 131]);
    let back = maker.draft.op_on(element::F32, 7, bytes, to_f32(0.02, 131));
    let bytes = maker.draft.op_on(element::U8, 7, back, quantise(40.0, [0, 127, 60]));
    let sums = maker.affine_i8(bytes, 7);
    let wide = OpRecord { input_start: 1, ..quantise(1e4, [-32_768, 32_767, -32_768]) };
    let wide = maker.draft.op_on(element::I16, 10, 0, wide);
    let back = maker.draft.op_on(element::F32, 10, wide, to_f32(1e-3, -32_768));
    let weights = maker.i16s((1, 7, 10), 300);
    let more = maker.draft.op_on(element::I32, 7, wide, OpRecord { weights, ..blank(op::AFFINE_I16) });
    let sum = OpRecord { second: more, ..blank(op::ADD_I32) };
    let sum = maker.draft.op_on(element::I32, 7, sums, sum);
    let forest = maker.trees(sum, element::F32, 7, (1, 2, 7));
    let reals = maker.trees(0, element::F32, 11, (1, 4, 15));
    let weights = maker.f32s((1, 10, 11));
    let tail = maker.draft.op_on(element::F32, 10, 0, OpRecord { weights, ..blank(op::AFFINE_F32) });
    let record = OpRecord { second: 0, second_start: 1, ..blank(op::ADD_F32) };
    let tail = maker.draft.op_on(element::F32, 10, tail, record);
    let signed = maker.draft.op_on(element::F32, 11, signed, to_f32(0.5, 9));
    let mut all = maker.concat(tail, 0, 7);
    for more in [back, forest, reals, signed] {
        all = maker.concat(all, more, 0);
    }
    maker.draft
}

/// Bytes through tables of three buckets, their input behind them, and trees of every element.
fn bytes() -> Draft {
    let mut maker = Maker { draft: Draft::dense(element::I8, 13), random: Random(26) };
    maker.draft.input.bucket_count = 3;
    let table = maker.i8s((3, 256, 1));
    let looked = OpRecord { weights: table, input_start: 2, ..blank(op::LOOKUP) };
    let looked = maker.draft.op_on(element::I8, 11, 0, looked);
    let joined = maker.concat(looked, 0, 4);
    let fm = maker.interact(op::FM_TERM, element::I32, 1, joined, 4);
    let table = maker.u8s((1, 256, 1));
    let unsigned = maker.draft.op_on(element::U8, 20, joined, OpRecord { weights: table, ..blank(op::LOOKUP) });
    let sums = maker.affine_i8(unsigned, 6);
    let wide = maker.requantise(sums, element::I16, 8, [-30_000, 30_000, 0]);
    let (weights, bias) = (maker.i16s((3, 4, 6), 32_767), maker.i32s((3, 4, 1), 1 << 20));
    let record = OpRecord { weights, bias, ..blank(op::AFFINE_I16) };
    let mut all = maker.draft.op_on(element::I32, 4, wide, record);
    for more in [
        fm,
        maker.trees(0, element::I32, 13, (3, 3, 7)),
        maker.trees(unsigned, element::I32, 20, (1, 2, 5)),
        maker.trees(wide, element::I32, 6, (3, 2, 3)),
        maker.trees(sums, element::I32, 6, (1, 1, 1)),
    ] {
        all = maker.concat(all, more, 0);
    }
    maker.draft
}
