//! Where element (row, col) of a tensor lies. The packer writes through these functions and the scalar kernels read
//! through them, so there is one order and one place to change it.

/// The order of a matrix in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Layout {
    /// Row after row, each padded with zeros to `stride` elements.
    Rows,
    /// `[cols/4][rows][4]`: four neighbouring columns of a row side by side, for four-byte dot products. Rows are
    /// padded with zeros to a multiple of 4 (`stride`), columns likewise.
    K4,
    /// Column after column, each padded with zeros to `stride` elements: for layers of reals, where neighbouring rows
    /// fill a vector.
    Columns,
}

impl Layout {
    /// The layout with this code in the file.
    pub const fn from_code(code: u16) -> Option<Self> {
        match code {
            1 => Some(Self::Rows),
            2 => Some(Self::K4),
            3 => Some(Self::Columns),
            _ => None,
        }
    }

    /// The code in the file.
    pub const fn code(self) -> u16 {
        match self {
            Self::Rows => 1,
            Self::K4 => 2,
            Self::Columns => 3,
        }
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::K4 => "k4",
            Self::Columns => "columns",
        }
    }

    /// Index of element (row, col) within its bank.
    pub const fn offset(self, stride: usize, row: usize, col: usize) -> usize {
        match self {
            Self::Rows => row * stride + col,
            Self::K4 => (col / 4) * stride * 4 + row * 4 + col % 4,
            Self::Columns => col * stride + row,
        }
    }

    /// Elements of one bank, padding included; `None` if that leaves `usize`.
    pub const fn bank_len(self, rows: usize, cols: usize, stride: usize) -> Option<usize> {
        match (self, round_up(cols, 4)) {
            (Self::Rows, _) => stride.checked_mul(rows),
            (Self::Columns, _) => stride.checked_mul(cols),
            (Self::K4, Some(cols)) => stride.checked_mul(cols),
            (Self::K4, None) => None,
        }
    }

    /// The only stride a file may hold. `Rows`: a row is padded to the next power of two bytes up to 64, beyond that to
    /// a multiple of 64, so that no row straddles a cache line without need. `Columns`: a column likewise. `K4`: the
    /// rows rounded up to 4. `element_len_bytes`: 1, 2 or 4.
    pub const fn stride(self, rows: usize, cols: usize, element_len_bytes: usize) -> Option<usize> {
        let lines = self.lines(rows, cols, (element_len_bytes / 2) as u32);
        if lines.len_bytes > MAX_LINE { None } else { Some(lines.len_bytes >> lines.shift) }
    }

    /// How a bank lies in memory. `shift`: of an element, see `element::shift`. Numbers that leave `usize` become so
    /// large that no file holds such a line.
    pub(crate) const fn lines(self, rows: usize, cols: usize, shift: u32) -> Lines {
        // No division: small processors have none.
        let (count, across, shift) = match self {
            Self::Rows => (rows, cols, shift),
            Self::K4 => (cols.div_ceil(4), rows, shift + 2),
            Self::Columns => (cols, rows, shift),
        };
        let used_len_bytes = times(across, 1 << shift);
        let (mut padded, most) = match self {
            Self::Rows | Self::Columns => (1, 64),
            Self::K4 => (4 << shift, 0),
        };
        while padded < used_len_bytes && padded < most {
            padded *= 2;
        }
        Lines { count, used_len_bytes, len_bytes: used_len_bytes.saturating_add(padded - 1) & !(padded - 1), shift }
    }
}

/// The longest line that no addition has cut short.
const MAX_LINE: usize = usize::MAX - 64;

/// A bank as lines of one length: rows, in `Columns` columns, or in `K4` groups of four columns. Behind what is used a
/// line is zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines {
    pub count: usize,
    pub used_len_bytes: usize,
    pub len_bytes: usize,
    /// A stride counts in `2^shift` bytes: elements, or in `K4` fours of them.
    pub shift: u32,
}

/// What is too large for a number is too large for a file.
#[inline(never)]
pub(super) const fn times(a: usize, b: usize) -> usize {
    a.saturating_mul(b)
}

/// The next multiple of a power of two.
const fn round_up(number: usize, power: usize) -> Option<usize> {
    match number.checked_add(power - 1) {
        Some(number) => Some(number & !(power - 1)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn offsets_are_distinct_and_within_the_bank() {
        for layout in [Layout::Rows, Layout::K4, Layout::Columns] {
            for (rows, cols) in [(1, 1), (3, 5), (4, 4), (10, 33), (16, 64)] {
                let stride = layout.stride(rows, cols, 1).unwrap();
                let len = layout.bank_len(rows, cols, stride).unwrap();
                let mut seen = [false; 4096];
                for row in 0..rows {
                    for col in 0..cols {
                        let offset = layout.offset(stride, row, col);
                        assert!(offset < len && !seen[offset], "{layout:?} {rows}x{cols} ({row},{col})");
                        seen[offset] = true;
                    }
                }
            }
        }
    }

    #[test]
    fn strides_of_rows() {
        assert_eq!(Layout::Rows.stride(9, 1, 2), Some(1));
        assert_eq!(Layout::Rows.stride(9, 20, 2), Some(32));
        assert_eq!(Layout::Rows.stride(9, 32, 2), Some(32));
        assert_eq!(Layout::Rows.stride(9, 33, 2), Some(64));
        assert_eq!(Layout::Rows.stride(9, 16, 4), Some(16));
        assert_eq!(Layout::Rows.stride(9, 17, 4), Some(32));
        assert_eq!(Layout::Rows.stride(9, 65, 1), Some(128));
        assert_eq!(Layout::K4.stride(9, 65, 1), Some(12));
        assert_eq!(Layout::Columns.stride(17, 9, 4), Some(32));
        assert_eq!(Layout::K4.stride(usize::MAX, 65, 1), None);
        assert_eq!(Layout::Rows.stride(9, usize::MAX, 2), None);
    }
}
