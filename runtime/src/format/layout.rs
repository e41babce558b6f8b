//! Where element (row, col) of a tensor lies. The packer writes through these functions and the scalar kernels read
//! through them, so there is one order and one place to change it.

/// The order of a matrix in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Layout {
    /// Row after row, each padded with zeros to `stride` elements.
    Rows,
    /// `[cols/4][rows][4]`: four neighbouring columns of a row side by side, for four-byte dot products. Rows are padded
    /// with zeros to a multiple of 4 (`stride`), columns likewise.
    K4,
}

impl Layout {
    /// The layout with this code in the file.
    pub const fn from_code(code: u16) -> Option<Self> {
        match code {
            1 => Some(Self::Rows),
            2 => Some(Self::K4),
            _ => None,
        }
    }

    /// The code in the file.
    pub const fn code(self) -> u16 {
        match self {
            Self::Rows => 1,
            Self::K4 => 2,
        }
    }

    /// Index of element (row, col) within its bank.
    pub const fn offset(self, stride: usize, row: usize, col: usize) -> usize {
        match self {
            Self::Rows => row * stride + col,
            Self::K4 => (col / 4) * stride * 4 + row * 4 + col % 4,
        }
    }

    /// Elements of one bank, padding included; `None` if that leaves `usize`.
    pub const fn bank_len(self, rows: usize, cols: usize, stride: usize) -> Option<usize> {
        match self {
            Self::Rows => rows.checked_mul(stride),
            Self::K4 => match stride.checked_mul(4) {
                Some(group) => group.checked_mul(cols.div_ceil(4)),
                None => None,
            },
        }
    }

    /// The only stride a file may hold. `Rows`: a row is padded to the next power of two bytes up to 64, beyond that to a
    /// multiple of 64, so that no row straddles a cache line without need. `K4`: the rows rounded up to 4.
    pub const fn stride(self, rows: usize, cols: usize, element_len_bytes: usize) -> Option<usize> {
        match self {
            Self::Rows => {
                let Some(row_bytes) = cols.checked_mul(element_len_bytes) else { return None };
                let padded = if row_bytes <= 64 {
                    row_bytes.next_power_of_two()
                } else {
                    match row_bytes.checked_next_multiple_of(64) {
                        Some(padded) => padded,
                        None => return None,
                    }
                };
                Some(padded / element_len_bytes)
            }
            Self::K4 => rows.checked_next_multiple_of(4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn offsets_are_distinct_and_within_the_bank() {
        for layout in [Layout::Rows, Layout::K4] {
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
        assert_eq!(Layout::Rows.stride(9, 33, 2), Some(64));
        assert_eq!(Layout::Rows.stride(9, usize::MAX, 2), None);
    }
}
