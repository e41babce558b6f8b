//! The operations of the Stockfish family (sections 6.19, 6.20 and 6.30).

use super::file::Op;
use super::operations::wrap32;
use super::{Container, Numbers};

impl Container {
    pub(super) fn stockfish(&self, op: &Op, values: &[Numbers], bucket: usize) -> Numbers {
        let x = values[op.input].integers();
        let [max, ..] = op.params.map(i64::from);
        Numbers::Integers(match op.kind {
            24 => {
                let used = self.used(x, op.params[2]).concat();
                used.iter().map(|x| x.clamp(&0, &max) >> op.params[1]).collect()
            }
            25 => {
                let (hidden, buckets) = (self.input.hidden as usize, self.input.bucket_count as usize);
                let digits = op.params[0] as usize;
                let base = 1i64 << if op.params[1] == 0 { 10 } else { op.params[1] };
                let number = |perspective: usize| -> i64 {
                    let first = perspective * hidden + hidden - digits * buckets;
                    (0..digits).map(|digit| x[first + digit * buckets + bucket] * base.pow(digit as u32)).sum()
                };
                vec![wrap32((number(0) - number(1)) / 2)]
            }
            39 => {
                let (m, hidden) = (self.values[op.output].len, self.input.hidden as usize);
                let [digits, bits, sides, banks] = op.params.map(|param| param as usize);
                let base = 1i64 << if bits == 0 { 10 } else { bits };
                let bank = if banks == 1 { 0 } else { bucket };
                let number = |perspective: usize, row: usize| -> i64 {
                    let first = perspective * hidden + hidden - digits * banks * m + bank * m + row;
                    (0..digits).map(|digit| x[first + digit * banks * m] * base.pow(digit as u32)).sum()
                };
                let row = |row: usize| match sides {
                    0 => number(0, row),
                    1 => number(1, row),
                    2 => number(0, row) - number(1, row),
                    3 => number(1, row) - number(0, row),
                    other => panic!("sums of the perspectives {other}"),
                };
                (0..m).map(|at| wrap32(row(at))).collect()
            }
            26 => {
                let x = &x[op.input_start..op.input_start + op.input_len];
                let clip = |x: &i64| (x >> op.params[1]).clamp(0, max);
                let square = |x: &i64| ((x * x) >> op.params[2]).min(max);
                match op.activation {
                    12 => x.iter().map(clip).collect(),
                    13 => x.iter().map(square).collect(),
                    14 => x.iter().map(square).chain(x.iter().map(clip)).collect(),
                    other => panic!("activation {other} of sums"),
                }
            }
            other => panic!("operation kind {other}"),
        })
    }
}
