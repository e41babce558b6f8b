//! Names in constants.

/// Whether two names are the same; `==` is none of a constant's.
pub(crate) const fn is_same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([first, behind_a @ ..], [second, behind_b @ ..]) = (a, b) {
        if *first != *second {
            return false;
        }
        (a, b) = (behind_a, behind_b);
    }
    a.is_empty() && b.is_empty()
}
