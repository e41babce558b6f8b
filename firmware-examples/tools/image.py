"""What an image takes of flash and RAM: its sections, and the runtime's code by module."""

import re
import subprocess

# Sections that are loaded or zeroed, under the names of the table; RISC-V's start-up code has sections of its own.
SECTIONS = {
    ".vector_table": "vectors",
    ".text": "text",
    ".init.rust": "text",
    ".text.dummy": "text",
    ".rodata": "rodata",
    ".data": "data",
    ".bss": "bss",
    ".uninit": "bss",
    ".gnu.sgstubs": "text",
}
# What a linker script reserves without using it, and what is not loaded.
NOT_LOADED = re.compile(
    r"\.(heap|stack|defmt|debug_.*|comment|ARM\.attributes|riscv\.attributes|symtab|strtab|shstrtab)$"
)


def sections(image, prefix):
    """Bytes by the names of SECTIONS; a section that has none is an error, so that nothing stays uncounted."""
    sizes = dict.fromkeys(SECTIONS.values(), 0)
    for line in run(prefix + "size", "-A", image).splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1].isdigit() and int(fields[1]) > 0 and not NOT_LOADED.match(fields[0]):
            sizes[SECTIONS[fields[0]]] += int(fields[1])
    return sizes


def flash(sizes):
    """Bytes of flash; initialised data is stored there."""
    return sizes["vectors"] + sizes["text"] + sizes["rodata"] + sizes["data"]


def ram(sizes):
    """Bytes of statics."""
    return sizes["data"] + sizes["bss"]


def modules(image, prefix):
    """Bytes of code by the runtime's modules, and by who else there is.

    Line tables know from which file each instruction comes, through every function that was inlined: an instruction of
    core's counts for the innermost function of ours that asked for it.
    """
    addresses = []
    for line in run(prefix + "size", "-A", image).splitlines():
        fields = line.split()
        if len(fields) == 3 and SECTIONS.get(fields[0]) == "text":
            addresses += range(int(fields[2]), int(fields[2]) + int(fields[1]), 2)
    listed = run(prefix + "addr2line", "-a", "-i", "-e", image, given="\n".join(map(hex, addresses)))
    sizes = {}
    for frames in listed.split("\n0x"):
        owner = next(filter(None, map(owner_of, frames.splitlines()[1:])), OTHERS)
        sizes[owner] = sizes.get(owner, 0) + 2
    return sizes


# Code without a line, too: the compiler's library, which copies memory and divides.
OTHERS = "core, start-up and the compiler's library"


def owner_of(frame):
    """Whose a frame "FILE:LINE" is, if it is ours to tell."""
    if module := re.search(r"/runtime/src/(\w+)", frame):
        return f"`tamis_runtime::{module[1]}`"
    if re.search(r"/programs/src/|/src/bin/", frame):
        return "the program"
    if re.search(r"/support/src/|/(defmt|semihosting)[\w-]*-\d[^/]*/src/", frame):
        return "logs and the exit"
    return None


def run(*command, given=None):
    """What a command prints."""
    return subprocess.run(command, input=given, check=True, capture_output=True, text=True).stdout
