//! Networks of maps: every operation over pixels, in the forms that the loader tells apart.

use super::{Random, SampleModel};
use crate::draft::{Draft, blank};
use tamis_runtime::raw::{Layout, NONE, OpRecord, WindowRecord, activation, element, op};

pub(super) fn maps() -> Vec<SampleModel> {
    vec![
        SampleModel { name: "maps of bytes, convolutions and pools", bytes: convolutions().bytes() },
        SampleModel { name: "maps of bytes, weights in fours", bytes: fours().bytes() },
        SampleModel { name: "maps that are moved, joined and resized", bytes: moves().bytes() },
    ]
}

/// A draft whose values are maps, and where its numbers come from.
struct Maker {
    draft: Draft,
    random: Random,
    /// Of the weights of the next convolutions.
    layout: Layout,
}

/// What a map is made of: element, zero point, height, width, channels.
#[derive(Clone, Copy)]
struct Map(u32, i16, [u32; 3]);

const fn window(kernel: [u8; 2], stride: [u8; 2], dilation: [u8; 2], before: [u8; 2]) -> WindowRecord {
    WindowRecord { kernel, stride, dilation, before }
}

const POINT: WindowRecord = window([1; 2], [1; 2], [1; 2], [0; 2]);

const fn ends(element: u32) -> [u32; 2] {
    match element {
        element::U8 => [0, 255],
        element::I8 => [-128i32 as u32, 127],
        _ => [-32_768i32 as u32, 32_767],
    }
}

impl Maker {
    fn of(seed: u64, Map(element, zero, shape): Map) -> Self {
        let mut maker =
            Self { draft: Draft::dense(element, shape.iter().product()), random: Random(seed), layout: Layout::Rows };
        maker.shape_last(zero, shape);
        maker
    }

    fn shape_last(&mut self, zero: i16, [height, width, _]: [u32; 3]) {
        let value = self.draft.values.last_mut().unwrap();
        (value.zero, value.extent) = (zero, [height as u16 - 1, width as u16 - 1]);
    }

    fn push(&mut self, Map(element, zero, shape): Map, input: u32, record: OpRecord) -> u32 {
        let value = self.draft.op_on(element, shape.iter().product(), input, record);
        self.shape_last(zero, shape);
        value
    }

    /// Multipliers whose products with sums of about `2^size` fill a byte.
    fn rounding(&mut self, multipliers: usize, shifts: usize, size: u32) -> (u32, u32) {
        let random = &mut self.random;
        let multipliers = self.draft.tensor(element::I32, Layout::Rows, (1, multipliers, 1), || {
            ((1 << 30) + random.within(1 << 29)).to_le_bytes()
        });
        let shifts = self
            .draft
            .tensor(element::U8, Layout::Rows, (1, shifts, 1), || [(30 + size - 8) as u8 + (random.draw() % 2) as u8]);
        (multipliers, shifts)
    }

    /// Weights of this many rows and columns, a bias, and a rounding unless sums come out.
    fn convolution(
        &mut self,
        (kind, map, input): (u32, Map, u32),
        window: WindowRecord,
        (rows, columns): (usize, usize),
        second: Option<u32>,
    ) -> u32 {
        let Map(element, _, [.., outputs]) = map;
        let random = &mut self.random;
        let weights = self
            .draft
            .tensor(element::I8, self.layout, (1, rows, columns), || (random.within(127) as i8).to_le_bytes());
        let shape = (1, outputs as usize, 1);
        let bias = self.draft.tensor(element::I32, Layout::Rows, shape, || random.within(20_000).to_le_bytes());
        let [first, last] = window.words();
        let record = OpRecord { weights, bias, ..blank(kind) };
        if element == element::I32 {
            return self.push(map, input, OpRecord { params: [first, last, 0, 0], ..record });
        }
        let outputs = outputs as usize;
        let (multipliers, shifts) = self.rounding(if second.is_some() { 2 * outputs } else { outputs }, outputs, 16);
        let [low, high] = ends(element);
        let params = [first, last, low, high];
        let second = second.unwrap_or(NONE);
        self.push(map, input, OpRecord { multipliers, shifts, second, params, ..record })
    }

    fn pool(&mut self, map: Map, input: u32, code: u32, window: WindowRecord) -> u32 {
        let ([first, last], [low, high]) = (window.words(), if code == activation::SUM { [0; 2] } else { ends(map.0) });
        self.push(map, input, OpRecord { activation: code, params: [first, last, low, high], ..blank(op::POOL) })
    }

    /// Two values; sums and products are rounded from `2^size`.
    fn both(&mut self, map: Map, (input, second): (u32, u32), code: u32, size: u32) -> u32 {
        let [low, high] = ends(map.0);
        let record = OpRecord { activation: code, second, params: [0, 0, low, high], ..blank(op::ELEMENTWISE) };
        if code == activation::MAX || code == activation::MIN {
            return self.push(map, input, record);
        }
        let (multipliers, shifts) = self.rounding(2, 1, size);
        self.push(map, input, OpRecord { multipliers, shifts, ..record })
    }
}

/// A small residual network: dense, depthwise and grouped kernels, each with padding that is not symmetric; a sum of
/// every pixel in 16 bits, and sums that come out.
fn convolutions() -> Draft {
    let mut maker = Maker::of(31, Map(element::U8, 128, [6, 5, 3]));
    let first = Map(element::I8, -3, [3, 5, 6]);
    let stem = window([3, 3], [2, 1], [1, 1], [0, 1]);
    let stem = maker.convolution((op::CONVOLUTION, first, 0), stem, (6, 27), None);
    let by_channel = window([3, 2], [1, 1], [1, 2], [1, 1]);
    let residual = maker.convolution((op::CONVOLUTION, first, stem), by_channel, (6, 6), Some(stem));
    let grouped = Map(element::U8, 7, [3, 5, 8]);
    let grouped = maker.convolution((op::CONVOLUTION, grouped, residual), POINT, (8, 3), None);
    let halves = window([2, 2], [1, 2], [1, 1], [0, 0]);
    let greatest = maker.pool(Map(element::U8, 7, [2, 3, 8]), grouped, activation::MAX, halves);
    let mean =
        maker.pool(Map(element::U8, 7, [2, 3, 8]), greatest, activation::MEAN, window([2; 2], [1; 2], [1; 2], [1; 2]));
    let all = window([2, 3], [1, 1], [1, 1], [0, 0]);
    let sums = maker.pool(Map(element::I16, 0, [1, 1, 8]), mean, activation::SUM, all);
    maker.convolution((op::CONVOLUTION, Map(element::I32, 0, [1, 1, 5]), sums), POINT, (5, 8), None);
    maker.draft
}

/// What the kernels of convolutions take: single pixels and windows at the edges of vectors and blocks, both kinds of
/// bytes with and without a zero point, a second map, filters a channel of bytes and of i16, sums that come out.
fn fours() -> Draft {
    let mut maker = Maker::of(33, Map(element::I8, -5, [6, 9, 3]));
    maker.layout = Layout::K4;
    let first = Map(element::U8, 0, [6, 9, 18]);
    let stem = window([3, 3], [1, 1], [1, 1], [1, 1]);
    let stem = maker.convolution((op::CONVOLUTION, first, 0), stem, (18, 27), None);
    let wide = maker.convolution((op::CONVOLUTION, Map(element::I8, 9, [6, 9, 67]), stem), POINT, (67, 18), None);
    let halved = window([2, 3], [2, 2], [1, 2], [1, 3]);
    let halved = maker.convolution((op::CONVOLUTION, Map(element::U8, 200, [3, 5, 20]), wide), halved, (20, 402), None);
    let residual =
        maker.convolution((op::CONVOLUTION, Map(element::I16, 0, [3, 5, 20]), halved), POINT, (20, 20), Some(halved));
    maker.layout = Layout::Rows;
    let filter = window([3, 3], [1, 1], [1, 1], [1, 1]);
    let words = maker.convolution((op::CONVOLUTION, Map(element::U8, 3, [3, 5, 20]), residual), filter, (9, 20), None);
    let filter = window([3, 2], [2, 1], [1, 3], [1, 2]);
    let bytes = maker.convolution((op::CONVOLUTION, Map(element::I8, -128, [2, 5, 20]), words), filter, (6, 20), None);
    maker.layout = Layout::K4;
    let all = window([2, 5], [1, 1], [1, 1], [0, 0]);
    maker.convolution((op::CONVOLUTION, Map(element::I32, 0, [1, 1, 5]), bytes), all, (5, 200), None);
    maker.draft
}

/// A map made larger in two ways, sums and products with one pixel and with all, pieces that are turned round, padded
/// and joined run by run.
fn moves() -> Draft {
    let mut maker = Maker::of(32, Map(element::I8, 5, [3, 4, 4]));
    let large = Map(element::I8, -20, [5, 7, 3]);
    let transposed = window([3, 2], [2, 2], [1, 1], [1, 1]);
    let transposed = maker.convolution((op::TRANSPOSED_CONVOLUTION, large, 0), transposed, (3, 24), None);
    let taps: Vec<[u32; 3]> = [(5, 5), (7, 7)]
        .into_iter()
        .flat_map(|(places, size)| {
            (0..places).map(move |at| [at * (size - 1) / places, (at + 1).min(size - 1), 300 * at % 1025])
        })
        .collect();
    let mut taps = taps.as_flattened().iter();
    let shape = (1, 36, 1);
    let multipliers = maker.draft.tensor(element::I32, Layout::Rows, shape, || taps.next().unwrap().to_le_bytes());
    let resized = maker.push(large, transposed, OpRecord { multipliers, ..blank(op::RESIZE) });
    let pixel =
        maker.pool(Map(element::I8, -20, [1, 1, 3]), resized, activation::MEAN, window([5, 7], [1; 2], [1; 2], [0; 2]));
    let sum = maker.both(Map(element::I16, 0, [5, 7, 3]), (transposed, resized), activation::SUM, 9);
    let gated = maker.both(large, (resized, pixel), activation::PRODUCT, 15);
    let greater = maker.both(large, (transposed, gated), activation::MAX, 0);
    let least = maker.both(large, (greater, resized), activation::MIN, 0);
    // Rows from below, columns and channels exchanged.
    let params = [4 * 21, -21i32 as u32, 1, 3];
    let turned = maker.push(Map(element::I8, -20, [5, 3, 7]), least, OpRecord { params, ..blank(op::MOVE) });
    let narrow = maker.both(Map(element::I8, -20, [5, 7, 3]), (sum, pixel), activation::SUM, 10);
    let narrow =
        maker.push(Map(element::I8, -20, [5, 3, 7]), narrow, OpRecord { params: [0, 21, 1, 3], ..blank(op::MOVE) });
    let join = OpRecord { second: narrow, params: [15, 0, 0, 0], ..blank(op::CONCAT) };
    let joined = maker.push(Map(element::I8, -20, [5, 3, 14]), turned, join);
    let padded = OpRecord { params: [1, 2, 0, 0], ..blank(op::PAD) };
    let padded = maker.push(Map(element::I8, -20, [7, 5, 14]), joined, padded);
    maker.pool(Map(element::I32, 0, [4, 3, 14]), padded, activation::SUM, window([2, 3], [2, 2], [1; 2], [1, 1]));
    maker.draft
}
