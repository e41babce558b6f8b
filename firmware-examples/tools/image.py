"""What an image takes of flash and RAM: its sections, and the runtime's code by module."""

import re
import subprocess

# Sections that are loaded or zeroed, under the names of the table; RISC-V's start-up code has sections of its own.
SECTIONS = {".vector_table": "vectors", ".text": "text", ".init.rust": "text", ".text.dummy": "text",
            ".rodata": "rodata", ".data": "data", ".bss": "bss", ".uninit": "bss", ".gnu.sgstubs": "text"}
# What a linker script reserves without using it, and what is not loaded.
NOT_LOADED = re.compile(r"\.(heap|stack|defmt|debug_.*|comment|ARM\.attributes|riscv\.attributes|symtab|strtab|shstrtab)$")


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
    """Bytes of code by the runtime's modules. What was inlined counts where it went, so "everything else" has some of it too."""
    sizes = {}
    for line in run(prefix + "nm", "--demangle", "--print-size", image).splitlines():
        match = re.match(r"[0-9a-f]+ ([0-9a-f]+) [tTrR] (.*)", line)
        if match:
            module = re.search(r"\btamis_runtime::(\w+)", match[2])
            name = module[1] if module else "everything else"
            sizes[name] = sizes.get(name, 0) + int(match[1], 16)
    return sizes


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
