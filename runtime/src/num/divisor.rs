//! Division by a number that is known long before it is needed.

/// A divisor of 1 to 2³¹ − 1, made ready to divide by multiplication, which takes a quarter of a division's time.
///
/// With `2^(c − 1) < d ≤ 2^c`, `c` at least 1, and `m = ⌊2^(63 + c) / d⌋ + 1`, the product `m·d` exceeds `2^(63 + c)`
/// by `e`, 1 to `d`. So `n·m / 2^(63 + c)` is `n / d + n·e / (d·2^(63 + c))`, and the second term is at most `1 / d`
/// away from zero, less for `n` above zero: rounded down, the sum is the quotient where `n` is not negative and one
/// less than the quotient where it is. `m` is kept without its 2⁶⁴; `n` is added to the product's upper half instead.
#[cfg(short_ways)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divisor {
    /// `m − 2⁶⁴`.
    multiplier: i64,
    /// `c − 1`.
    shift: u32,
}

#[cfg(short_ways)]
impl Divisor {
    /// Of a number from 1 on; a smaller one, which no checked file has, counts as 1.
    pub const fn new(divisor: i32) -> Self {
        let divisor = if divisor < 1 { 1 } else { divisor as u128 };
        // `c` of 1 is 1, as that of 2 is.
        let shift = if divisor < 2 { 0 } else { (divisor - 1).ilog2() };
        let multiplier = (1u128 << (64 + shift)) / divisor + 1;
        Self { multiplier: multiplier as u64 as i64, shift }
    }

    /// `n / divisor`, toward zero.
    #[inline]
    pub const fn divide(self, n: i64) -> i64 {
        let high = ((n as i128 * self.multiplier as i128) >> 64) as i64;
        // Without a branch, which would be guessed wrong for half of all scores.
        (high.wrapping_add(n) >> self.shift).wrapping_sub(n >> 63)
    }
}

/// A divisor of 1 to 2³¹ − 1, made ready to divide by multiplication, which takes a quarter of a division's time.
///
/// In builds that count their code. With `r = ⌊(2⁶⁴ − 1) / d⌋` and `0 ≤ n ≤ 2⁶³`, `n·r / 2⁶⁴` is below `n / d` by less
/// than `n·(1 + 1/d) / 2⁶⁴ < 1`, so that its integer part is the quotient or one less, and one comparison with the
/// remainder tells which.
#[cfg(not(short_ways))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divisor {
    divisor: u64,
    reciprocal: u64,
}

#[cfg(not(short_ways))]
impl Divisor {
    /// Of a number from 1 on; a smaller one, which no checked file has, counts as 1.
    pub const fn new(divisor: i32) -> Self {
        let divisor = if divisor < 1 { 1 } else { divisor as u64 };
        Self { divisor, reciprocal: u64::MAX / divisor }
    }

    /// `n / divisor`, toward zero.
    #[inline]
    pub const fn divide(self, n: i64) -> i64 {
        // All ones below zero. A branch would be guessed wrong for half of all scores, and the guess waits for the
        // whole sum.
        let sign = n >> 63;
        let magnitude = (n ^ sign).wrapping_sub(sign) as u64;
        let estimate = ((magnitude as u128 * self.reciprocal as u128) >> 64) as u64;
        let quotient = estimate + (magnitude - estimate * self.divisor >= self.divisor) as u64;
        (quotient as i64 ^ sign).wrapping_sub(sign)
    }
}
