//! What the loader has made sure of. A place that it promised and that is not there can only be a mistake of the
//! runtime's: a build with debug assertions stops at it, any other goes on with nothing, so that nothing can panic.

/// What is there; nothing, or 0, if it is not.
#[inline(always)]
pub(crate) fn sure<T: Default>(found: Option<T>) -> T {
    match found {
        Some(found) => found,
        None => {
            debug_assert!(false, "a place that the loader promised");
            T::default()
        }
    }
}

/// An element of a slice.
#[inline(always)]
pub(crate) fn at<T: Copy + Default>(all: &[T], index: usize) -> T {
    debug_assert!(index < all.len(), "{index} of {}", all.len());
    sure(all.get(index).copied())
}

/// The bias of a row: 0 in layers without biases, whose slice is empty.
#[inline(always)]
pub(crate) fn bias_at<T: Copy + Default>(biases: &[T], row: usize) -> T {
    debug_assert!(biases.is_empty() || row < biases.len(), "row {row} of {}", biases.len());
    if let Some(bias) = biases.get(row) { *bias } else { T::default() }
}

/// The biases from a row on: none in layers without.
#[cfg_attr(microcontroller, allow(dead_code, reason = "it is the vectors'"))]
#[inline(always)]
pub(crate) fn biases_from<T>(biases: &[T], row: usize) -> &[T] {
    debug_assert!(biases.is_empty() || row <= biases.len(), "row {row} of {}", biases.len());
    let Some(rest) = biases.get(row..) else { return &[] };
    rest
}
