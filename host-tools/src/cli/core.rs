//! Microcontrollers by their cores.

use clap::ValueEnum;
use serde::Serialize;

/// A core that `firmware-examples` has a board for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Core {
    #[value(name = "cortex-m0plus")]
    #[serde(rename = "cortex-m0plus")]
    CortexM0Plus,
    CortexM3,
    CortexM4,
    CortexM7,
    CortexM33,
    CortexM55,
    Riscv32,
}

impl Core {
    /// In the order of the table.
    pub const ALL: [Self; 7] = [
        Self::CortexM0Plus,
        Self::CortexM3,
        Self::CortexM4,
        Self::CortexM7,
        Self::CortexM33,
        Self::CortexM55,
        Self::Riscv32,
    ];

    /// The board's folder.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CortexM0Plus => "cortex-m0plus",
            Self::CortexM3 => "cortex-m3",
            Self::CortexM4 => "cortex-m4",
            Self::CortexM7 => "cortex-m7",
            Self::CortexM33 => "cortex-m33",
            Self::CortexM55 => "cortex-m55",
            Self::Riscv32 => "riscv32",
        }
    }
}
