//! Operations that go row by row: which rows of what they read a row of what they write needs, and in which order they
//! may write into memory that they still read.

use super::{NONE, OpRecord, ValueRecord, WindowRecord, element, op};

/// The most operations of a stretch, which run a few rows at a time, the one behind the other.
pub const MOST_STAGES: usize = 16;

/// The rows of a map that an operation reads for each row that it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowWindow {
    /// Rows from the first tap to the last.
    pub reach: u32,
    /// Rows from one place to the next.
    pub stride: u32,
    /// Rows of padding above.
    pub before: u32,
    /// Rows of the map that is read.
    pub size: u32,
}

impl RowWindow {
    /// Of the first value that an operation reads; `None` of one that does not go row by row. record: what the loader
    /// has checked but for places.
    pub fn of(record: &OpRecord, input: &ValueRecord, output: &ValueRecord) -> Option<Self> {
        let [size, _] = input.pixels();
        match record.kind {
            op::CONVOLUTION | op::POOL => {
                let WindowRecord { kernel, stride, dilation, before } = WindowRecord::of(record);
                let reach = (u32::from(kernel[0]) - 1) * u32::from(dilation[0]) + 1;
                Some(Self { reach, stride: stride[0].into(), before: before[0].into(), size })
            }
            op::ELEMENTWISE if (input.len, input.extent) == (output.len, output.extent) => Some(Self::own(size)),
            _ => None,
        }
    }

    /// Of a map that is read element by element.
    pub const fn own(size: u32) -> Self {
        Self { reach: 1, stride: 1, before: 0, size }
    }

    /// Of what every row reads whole, such as a pixel that meets all others.
    pub const fn whole(size: u32) -> Self {
        // More padding than there are rows.
        let before = 1 << 16;
        Self { reach: before + size, stride: 1, before, size }
    }

    /// Of the second value that an operation reads.
    pub fn of_second(second: &ValueRecord, output: &ValueRecord) -> Self {
        let [size, _] = second.pixels();
        if (second.len, second.extent) == (output.len, output.extent) { Self::own(size) } else { Self::whole(size) }
    }

    /// The first row that row `y` and those behind it read.
    pub const fn first(&self, y: u32) -> u32 {
        (y * self.stride).saturating_sub(self.before)
    }

    /// The end of the rows that row `y` and those before it read.
    pub fn end(&self, y: u32) -> u32 {
        (y * self.stride + self.reach - self.before).min(self.size)
    }

    /// The stride, which is not 0, as the loader has checked and the compiler does not know.
    const fn step(&self) -> u32 {
        if self.stride == 0 { 1 } else { self.stride }
    }

    /// How many rows read nothing but the first `rows`.
    pub const fn rows_from(&self, rows: u32) -> u32 {
        match (rows + self.before).checked_sub(self.reach) {
            _ if rows >= self.size => u32::MAX,
            Some(most) => most / self.step() + 1,
            None => 0,
        }
    }
}

/// A value that an operation reads beside the one that it writes, both of them whole: where they lie in the workspace,
/// and how long their rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// In bytes.
    pub read: u32,
    /// In bytes.
    pub read_row: u32,
    /// In bytes.
    pub write: u32,
    /// In bytes.
    pub write_row: u32,
    /// Rows that are written.
    pub rows: u32,
    /// The rows of the one for each row of the other.
    pub window: RowWindow,
}

impl Overlap {
    /// Of values with places of their own.
    pub fn of(input: &ValueRecord, output: &ValueRecord, window: RowWindow) -> Self {
        let row = |value: &ValueRecord| (value.len / value.pixels()[0]) << element::shift(value.element());
        Self {
            read: input.offset_bytes(),
            read_row: row(input),
            write: output.offset_bytes(),
            write_row: row(output),
            rows: output.pixels()[0],
            window,
        }
    }

    /// Of what an operation reads in the workspace: of its first value, and of its second.
    pub fn all<'a>(record: &OpRecord, value: impl Fn(u32) -> &'a ValueRecord) -> [Option<Self>; 2] {
        let output = value(record.output);
        let first = (record.input != 0).then(|| {
            let input = value(record.input);
            let window = RowWindow::of(record, input, output).unwrap_or(RowWindow::whole(input.pixels()[0]));
            Self::of(input, output, window)
        });
        let second = (record.second != 0 && record.second != NONE).then(|| {
            let second = value(record.second);
            Self::of(second, output, RowWindow::of_second(second, output))
        });
        [first, second]
    }

    /// Whether they share no byte.
    pub const fn is_apart(&self) -> bool {
        self.read + self.window.size * self.read_row <= self.write
            || self.write + self.rows * self.write_row <= self.read
    }

    /// How many rows from `y` on may be written at once without a byte of those that they and the later ones read.
    pub const fn downward(&self, y: u32) -> u32 {
        if self.is_apart() {
            return u32::MAX;
        }
        let limit = self.read + self.window.first(y) * self.read_row;
        (limit.saturating_sub(self.write) / self.written_row()).saturating_sub(y)
    }

    /// The same of the rows before `end` and the earlier ones.
    pub fn upward(&self, end: u32) -> u32 {
        if self.is_apart() {
            return u32::MAX;
        }
        let limit = self.read + self.window.end(end - 1) * self.read_row;
        end.saturating_sub(limit.saturating_sub(self.write).div_ceil(self.written_row()))
    }

    /// Bytes of a row that is written: at least one element, as the loader has checked and the compiler does not know.
    const fn written_row(&self) -> u32 {
        if self.write_row == 0 { 1 } else { self.write_row }
    }

    /// Whether all rows can be written from the first to the last, each over nothing that is still read. What is free
    /// below a row, less what the row needs, is a convex function of its number; so the least of it lies at the ends or
    /// where the padding ends.
    pub fn goes_down(&self) -> bool {
        let bend = self.window.before / self.window.step();
        self.corners(bend).iter().all(|y| self.downward(*y) > 0)
    }

    /// The same from the last to the first.
    pub fn goes_up(&self) -> bool {
        let bend = (self.window.size + self.window.before).saturating_sub(self.window.reach) / self.window.step();
        self.corners(bend).iter().all(|y| self.upward(*y + 1) > 0)
    }

    fn corners(&self, bend: u32) -> [u32; 4] {
        [0, bend, bend + 1, self.rows - 1].map(|y| y.min(self.rows - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::{Overlap, RowWindow};

    /// Rows of 4 to rows of 4 and 3, windows of 1 to 3 rows: what is said of all rows by four of them is true of each,
    /// and of its bytes one by one.
    #[test]
    fn corners_speak_for_all_rows() {
        let mut both = [0; 4];
        for (reach, stride, before) in [(1, 1, 0), (3, 1, 1), (3, 2, 1), (2, 2, 1), (3, 1, 2), (5, 3, 4), (1, 2, 0)] {
            for size in 1..9 {
                for rows in 1..=(size + before - 1) / stride + 1 {
                    let window = RowWindow { reach, stride, before, size };
                    for (read, write, write_row) in (0..200).map(|at| (at % 50, at / 4, 1 + at % 7)) {
                        let overlap = Overlap { read, read_row: 4, write, write_row, rows, window };
                        let is_down = (0..rows).all(|y| overlap.downward(y) > 0);
                        let is_up = (0..rows).all(|y| overlap.upward(y + 1) > 0);
                        assert_eq!([overlap.goes_down(), overlap.goes_up()], [is_down, is_up], "{overlap:?}");
                        let needs = |y: u32| read + 4 * window.first(y)..read + 4 * window.end(y);
                        let writes = |y: u32| write + write_row * y..write + write_row * (y + 1);
                        let meets = |y: u32, other: u32| {
                            let (a, b) = (writes(y), needs(other));
                            a.start < b.end && b.start < a.end
                        };
                        assert!(!is_down || (0..rows).all(|y| (y..rows).all(|later| !meets(y, later))), "{overlap:?}");
                        assert!(!is_up || (0..rows).all(|y| (0..=y).all(|before| !meets(y, before))), "{overlap:?}");
                        both[usize::from(is_down) + 2 * usize::from(is_up)] += 1;
                    }
                }
            }
        }
        assert!(both.iter().all(|count| *count > 50), "{both:?}");
    }
}
