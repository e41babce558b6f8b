//! Sparse lists, embeddings, tables and trees: kinds 12 to 16, 19 and 21.

use super::program::{LENS, Program, Read};
use crate::draft::blank;
use tamis_runtime::raw::{Layout, OpRecord, element, op};

/// The most embeddings of which all pairs are made.
const MOST_EMBEDDINGS: u32 = 12;

impl Program<'_, '_> {
    pub fn on_list(&mut self) {
        match self.choices.below(4) {
            0 | 1 => self.sparse_affine(),
            2 => self.sparse_rows(),
            _ => {
                let (list, size) = (self.whole(0), self.draft.input.size);
                self.trees_on(list, size)
            }
        };
    }

    fn sparse_affine(&mut self) -> bool {
        let (read, size, rows) = (self.whole(0), self.draft.input.size, self.choices.pick(&LENS));
        let from = self.choices.pick(&[element::I8, element::I16, element::F32]);
        let to = if from == element::F32 { element::F32 } else { element::I32 };
        let weights = self.weights(from, Layout::Rows, size, rows);
        let bias = self.bias(to, rows);
        self.push(read, to, rows, OpRecord { weights, bias, ..blank(op::SPARSE_AFFINE) })
    }

    fn sparse_rows(&mut self) -> bool {
        let (read, size) = (self.whole(0), self.draft.input.size);
        let width = self.choices.pick(&[1, 2, 3, 4, 8, 9]);
        let element = self.choices.pick(&[element::I8, element::I16, element::F32]);
        let weights = self.weights(element, Layout::Rows, size, width);
        let is_scaled = element != element::F32 && self.draft.input.element != 0;
        let scale = self.choices.pick(&[[1 << 20, 24], [i32::MAX as u32, 31], [i32::MAX as u32, 1], [3, 62], [0, 9]]);
        let params = if is_scaled { [scale[0], scale[1], 0, 0] } else { [0; 4] };
        self.push(read, element, read.len * width, OpRecord { weights, params, ..blank(op::SPARSE_ROWS) })
    }

    /// As many elements as make embeddings, from the front of what is read.
    pub fn interact(&mut self, kind: u32) -> bool {
        let Some(read) = self.read(&[element::I8, element::I16, element::F32]) else { return false };
        let width = self.choices.pick(&[1, 2, 3, 4, 7, 8, 9]).min(read.len);
        let embeddings = (read.len / width).min(MOST_EMBEDDINGS);
        if kind == op::INNER_PRODUCTS && embeddings < 2 {
            return false;
        }
        let read = Read { len: embeddings * width, ..read };
        let to = if read.element == element::F32 { element::F32 } else { element::I32 };
        let len = match kind {
            op::FM_TERM => 1,
            op::BI_INTERACTION => width,
            _ => embeddings * (embeddings - 1) / 2,
        };
        self.push(read, to, len, OpRecord { params: [width, 0, 0, 0], ..blank(kind) })
    }

    pub fn lookup(&mut self) -> bool {
        let Some(read) = self.read(&[element::U8, element::I8]) else { return false };
        let to = self.choices.pick(&[element::U8, element::I8]);
        let weights = self.weights(to, Layout::Rows, 256, 1);
        self.push(read, to, read.len, OpRecord { weights, ..blank(op::LOOKUP) })
    }

    pub fn trees(&mut self) -> bool {
        let all = [element::U8, element::I8, element::I16, element::I32, element::F32];
        let read = self.read(&all);
        read.is_some_and(|read| self.trees_on(read, read.len))
    }

    fn trees_on(&mut self, read: Read, features: u32) -> bool {
        let (trees, nodes) = (self.choices.pick(&[1, 2, 5]), self.choices.pick(&[1, 2, 3, 7, 12, 15]));
        let most = i64::from(features) - 1;
        let multipliers = self.tensor(element::I32, Layout::Rows, trees, nodes, -1, most, most);
        let weights = match read.element {
            element::F32 => self.weights(element::F32, Layout::Rows, trees, nodes),
            _ => {
                let near = self.choices.pick(&[60, 1000]);
                self.tensor(element::I32, Layout::Rows, trees, nodes, i32::MIN.into(), i32::MAX.into(), near)
            }
        };
        let to = self.choices.pick(&[element::I32, element::F32]);
        let bias = self.weights(to, Layout::Rows, trees, nodes);
        let params = [trees, nodes, 0, 0];
        self.push(read, to, 1, OpRecord { weights, bias, multipliers, params, ..blank(op::TREES) })
    }
}
