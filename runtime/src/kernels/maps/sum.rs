//! The sum of two maps.

use super::rounded;

/// `clamp(zero + ((a · multipliers[0] + b · multipliers[1] + 2^(shift−1)) >> shift), low, high)`, a and b without their
/// zero points, in 64 bits.
#[derive(Debug, Clone, Copy)]
pub struct Sum {
    /// Of the first map and of the second.
    pub multipliers: [i32; 2],
    /// 1 to 62.
    pub shift: u32,
    /// Least value that is written.
    pub low: i32,
    /// Greatest one.
    pub high: i32,
}

impl Sum {
    /// One element. a, b: without their zero points · zero: of the map that is written.
    #[inline(always)]
    pub(crate) fn of(&self, a: i32, b: i32, zero: i32) -> i32 {
        let [first, second] = self.multipliers.map(i64::from);
        rounded(i64::from(a) * first + i64::from(b) * second, self.shift, zero, self.low, self.high)
    }
}
