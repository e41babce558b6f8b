//! What the machine can do, asked without `std`. Features that the build was told of are constants; others are asked of
//! the processor once, and remembered.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) use x86_64::avx2;
#[cfg(all(feature = "avxvnni", target_arch = "x86_64", target_feature = "sse2"))]
pub(super) use x86_64::avxvnni;
#[cfg(all(feature = "avx512", target_arch = "x86_64", target_feature = "sse2"))]
pub(super) use x86_64::{avx512bw, avx512vnni};

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
pub(super) use aarch64::dotprod;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod x86_64 {
    use core::arch::x86_64::{__cpuid_count, __get_cpuid_max, _xgetbv};
    use core::sync::atomic::{AtomicU8, Ordering};

    const ASKED: u8 = 1;
    const AVX2: u8 = 2;
    const AVXVNNI: u8 = 4;
    const AVX512BW: u8 = 8;
    const AVX512VNNI: u8 = 16;

    /// Zero until the first question.
    static ANSWERS: AtomicU8 = AtomicU8::new(0);

    /// AVX2 with BMI1, BMI2 and POPCNT, which no processor with AVX2 lacks.
    #[inline]
    pub fn avx2() -> bool {
        cfg!(all(target_feature = "avx2", target_feature = "bmi1", target_feature = "bmi2", target_feature = "popcnt"))
            || answers() & AVX2 != 0
    }

    /// VNNI in its VEX encoding, on 256 bits.
    #[cfg(feature = "avxvnni")]
    #[inline]
    pub fn avxvnni() -> bool {
        answers() & AVXVNNI != 0
    }

    /// AVX-512 with BW, DQ and VL.
    #[cfg(feature = "avx512")]
    #[inline]
    pub fn avx512bw() -> bool {
        cfg!(all(
            target_feature = "avx512f",
            target_feature = "avx512bw",
            target_feature = "avx512dq",
            target_feature = "avx512vl",
            target_feature = "bmi1",
            target_feature = "bmi2",
            target_feature = "popcnt"
        )) || answers() & AVX512BW != 0
    }

    /// The same with VNNI.
    #[cfg(feature = "avx512")]
    #[inline]
    pub fn avx512vnni() -> bool {
        (cfg!(target_feature = "avx512vnni") && avx512bw()) || answers() & AVX512VNNI != 0
    }

    #[inline]
    fn answers() -> u8 {
        match ANSWERS.load(Ordering::Relaxed) {
            0 => {
                let found = ask();
                // Threads that ask at the same time find the same.
                ANSWERS.store(found, Ordering::Relaxed);
                found
            }
            known => known,
        }
    }

    /// Intel's manual, volume 2, CPUID: leaf 1 ECX, leaf 7 EBX and ECX, leaf 7.1 EAX. A set bit is not enough: the
    /// operating system must also save the wide registers, which XCR0 says.
    #[cold]
    #[allow(unused_unsafe, reason = "CPUID became a safe function after the MSRV")]
    fn ask() -> u8 {
        let bit = |register: u32, index: u32| register >> index & 1 == 1;
        let mut found = ASKED;
        // An interpreter has no processor to ask.
        if cfg!(miri) {
            return found;
        }
        // SAFETY: every x86-64 processor has CPUID, and a leaf is read only up to the highest that it has.
        let (leaf1, leaf7, leaf7_1) = unsafe {
            let highest = __get_cpuid_max(0).0;
            if highest < 7 {
                return found;
            }
            let leaf7 = __cpuid_count(7, 0);
            let last_of_7 = leaf7.eax;
            let leaf7_1 = if last_of_7 >= 1 { __cpuid_count(7, 1).eax } else { 0 };
            (__cpuid_count(1, 0).ecx, leaf7, leaf7_1)
        };
        let (osxsave, avx, popcnt) = (bit(leaf1, 27), bit(leaf1, 28), bit(leaf1, 23));
        if !(osxsave && avx) {
            return found;
        }
        let saved = saved_registers();
        // Bits 1 and 2 are XMM and YMM; 5, 6 and 7 the mask registers and both parts of ZMM.
        let (ymm, zmm) = (saved & 0b110 == 0b110, saved & 0b1110_0110 == 0b1110_0110);
        let bmi = bit(leaf7.ebx, 3) && bit(leaf7.ebx, 8) && popcnt;
        if ymm && bmi && bit(leaf7.ebx, 5) {
            found |= AVX2;
            if bit(leaf7_1, 4) {
                found |= AVXVNNI;
            }
            let f_dq_bw_vl = [16, 17, 30, 31].iter().all(|index| bit(leaf7.ebx, *index));
            if zmm && f_dq_bw_vl {
                found |= AVX512BW;
                if bit(leaf7.ecx, 11) {
                    found |= AVX512VNNI;
                }
            }
        }
        found
    }

    /// XCR0.
    fn saved_registers() -> u64 {
        #[target_feature(enable = "xsave")]
        fn read() -> u64 {
            // SAFETY: register 0 exists wherever XGETBV does.
            unsafe { _xgetbv(0) }
        }
        // SAFETY: the only caller has seen CPUID's OSXSAVE bit, which says that the instruction is there and enabled.
        unsafe { read() }
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod aarch64 {
    /// The dot-product instructions (FEAT_DotProd). Linux lets programs read the identification register since 4.11,
    /// and firmware runs where it may; elsewhere the build's target features decide, which on Apple's machines include
    /// it.
    #[inline]
    pub fn dotprod() -> bool {
        cfg!(target_feature = "dotprod") || ask()
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_os = "none"))]
    fn ask() -> bool {
        if cfg!(not(target_os = "none")) && !is_answered() {
            return false;
        }
        let features: u64;
        // SAFETY: reads ID_AA64ISAR0_EL1, without effect on memory, stack or flags; at EL0 the kernel answers in its
        // place, as was just asked.
        unsafe {
            core::arch::asm!(
                "mrs {}, ID_AA64ISAR0_EL1",
                out(reg) features,
                options(nomem, nostack, preserves_flags, pure)
            );
        }
        // Arm's manual, ID_AA64ISAR0_EL1: DP is bits 47 to 44.
        features >> 44 & 0xF != 0
    }

    /// Whether Linux answers for an identification register: one before 4.11 ends a program that reads one.
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "none"))]
    fn is_answered() -> bool {
        /// Number of the system call `uname`, and the length of each of the six names that it writes, the third of
        /// which is the release.
        const UNAME: usize = 160;
        const NAME_LEN: usize = 65;
        let mut names = [[0u8; NAME_LEN]; 6];
        let status: usize;
        // SAFETY: the call writes six names of that length, and nothing else; it changes x0 alone.
        unsafe {
            core::arch::asm!(
                "svc 0",
                in("x8") UNAME,
                inlateout("x0") names.as_mut_ptr() => status,
                options(nostack)
            );
        }
        let [_, _, release, ..] = &names;
        status == 0 && super::is_since(release, [4, 11])
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "none")))]
    const fn ask() -> bool {
        false
    }
}

/// Whether a release of Linux, as `4.14.98-v8+`, is this one or a later one.
#[cfg(any(test, all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")))]
fn is_since(release: &[u8], [major, minor]: [u32; 2]) -> bool {
    let mut numbers = release.split(|byte| !byte.is_ascii_digit()).map(|digits| {
        digits.iter().fold(0u32, |number, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
    });
    match (numbers.next(), numbers.next()) {
        (Some(found), Some(second)) => (found, second) >= (major, minor),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_since;

    #[test]
    fn releases_are_compared_by_their_first_two_numbers() {
        let since = |release: &str| is_since(release.as_bytes(), [4, 11]);
        assert!(since("4.11.0") && since("4.14.98-v8+") && since("5.4.0-1103-aws") && since("10.0\0\0"));
        assert!(!since("4.9.253-tegra") && !since("3.18.71-perf") && !since("4.4.0") && !since("4.10.17"));
        assert!(!since("") && !since("\0\0") && !since("unknown") && !since("4"));
    }
}
