//! How much flash and memory a program with a network is likely to take on a microcontroller. What the network takes
//! itself is exact: its container, the workspace, accumulators and states. Code and stack are those of an image of
//! `firmware-examples` that runs a network of the same kind, as it was measured.

mod measured;
mod network;

use crate::cli::Core;
use crate::table::{self, row};
use measured::Image;
use network::{Memory, images};
use serde::Serialize;
use std::io::{self, Write};
use tamis_runtime::format::Model;

/// What to expect of every core, or of one.
#[derive(Debug, Clone, Serialize)]
pub struct Footprint {
    /// Of the container, in flash.
    container_len_bytes: usize,
    memory: Memory,
    /// Of one input; wherever it lies, it is counted nowhere else.
    input_len_bytes: usize,
    boards: Vec<Board>,
}

/// A core, with the images that run networks of this kind.
#[derive(Debug, Clone, Serialize)]
struct Board {
    core: Core,
    #[serde(skip_serializing_if = "Option::is_none")]
    small: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fast: Option<Expected>,
}

/// Bytes, after one image.
#[derive(Debug, Clone, Copy, Serialize)]
struct Expected {
    /// Of `firmware-examples`.
    image: &'static str,
    /// All of its flash but container and examples.
    code_len_bytes: usize,
    /// Container and code.
    flash_len_bytes: usize,
    /// Deepest stack and statics, without what the network has there.
    stack_len_bytes: usize,
    /// The network's memory and the stack.
    ram_len_bytes: usize,
}

impl Footprint {
    /// Of a model that was parsed, on one core or on all.
    pub fn of(model: &Model<'_>) -> Self {
        let (container_len_bytes, memory) = (model.bytes().len(), Memory::of(model));
        let [small, fast] = images(model);
        let expected = |image: Option<&'static Image>, core: Core| {
            let image = image?;
            let (code_len_bytes, stack_len_bytes) = image.bytes(core);
            Some(Expected {
                image: image.name,
                code_len_bytes,
                flash_len_bytes: container_len_bytes + code_len_bytes,
                stack_len_bytes,
                ram_len_bytes: memory.len_bytes() + stack_len_bytes,
            })
        };
        let board = |core: &Core| Board { core: *core, small: expected(small, *core), fast: expected(fast, *core) };
        let boards = Core::ALL.iter().map(board).collect();
        Self { container_len_bytes, memory, input_len_bytes: network::input_len_bytes(model), boards }
    }

    /// The same for one core, if one was asked for.
    #[must_use]
    pub fn on(mut self, core: Option<Core>) -> Self {
        self.boards.retain(|board| core.is_none_or(|core| board.core == core));
        self
    }

    /// As text.
    ///
    /// # Errors
    /// The writer's.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\nTo expect on a microcontroller, in bytes:")?;
        writeln!(out, "  container  {} of flash", self.container_len_bytes)?;
        writeln!(out, "  memory     {}", self.memory)?;
        if self.input_len_bytes > 0 {
            writeln!(out, "  input      {}, wherever it lies, which is not counted below", self.input_len_bytes)?;
        }
        let images: Vec<Expected> =
            self.boards.iter().take(1).flat_map(|board| [board.small, board.fast]).flatten().collect();
        if images.is_empty() {
            return writeln!(out, "  code       unknown: no image with a network of this kind has been measured");
        }
        writeln!(
            out,
            "  code and stack, which depend on the program, are those of measured images in firmware-examples:"
        )?;
        for image in &images {
            let words = measured::named(image.image).map_or("", Image::words);
            writeln!(out, "    {}: {words}", image.image)?;
        }
        writeln!(out)?;
        let head = row!["core", "as", "code", "flash", "stack", "RAM"];
        let line = |board: &Board, expected: Expected| {
            let Expected { image, code_len_bytes, flash_len_bytes, stack_len_bytes, ram_len_bytes } = expected;
            row![board.core.name(), image, code_len_bytes, flash_len_bytes, stack_len_bytes, ram_len_bytes]
        };
        let of_board =
            |board: &Board| [board.small, board.fast].into_iter().flatten().map(|e| line(board, e)).collect();
        let rows = self.boards.iter().flat_map(|board| -> Vec<Vec<String>> { of_board(board) });
        table::print(out, &[head].into_iter().chain(rows).collect::<Vec<_>>())
    }
}
