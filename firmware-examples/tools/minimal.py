"""What `minimal` promises on a Cortex-M0+, looked for in its image: no panic, little flash, a small loader.

    minimal.py IMAGE CONTAINER

Flash is what is loaded, without CONTAINER, which is the network. The loader's share is the code of
tamis_runtime::format and its deepest stack that of the calls from `Model::parse`, added up from the disassembly;
nothing there calls through a pointer.
"""

import re
import subprocess
import sys
from pathlib import Path

import image as sizes

PREFIX = "arm-none-eabi-"
LOADER = "tamis_runtime::format::"
PARSE = re.compile(LOADER + r".*\bModel(<.*>)?>?::parse")
# Bytes. Growth beyond them is to be explained, and is an error until then.
LIMITS = {"flash without the network": 6144, "loader, flash": 3072, "loader, stack": 256}


def functions(image):
    """(bytes of stack, functions it calls) of each function, by name."""
    found, name, frame = {}, None, 0
    for line in sizes.run(PREFIX + "objdump", "--disassemble", "--demangle", "--no-show-raw-insn", image).splitlines():
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if head:
            # Instances of a generic function share a name; the deepest stands for all.
            name, frame = head[1], 0
            found.setdefault(name, [0, set()])
            continue
        step = re.match(r"\s*[0-9a-f]+:\s+(\S+)\s*(.*)", line)
        if not step or name is None:
            continue
        opcode, operands = step.groups()
        if opcode == "push":
            frame += 4 * sum(registers(part) for part in operands.strip("{}").split(","))
        elif opcode == "sub" and operands.startswith("sp, #"):
            frame += int(re.match(r"sp, #(\d+)", operands)[1])
        elif opcode in ("add", "mov") and re.match(r"sp, r\d", operands) and LOADER in name:
            sys.exit(f"minimal: the frame of {name} is no constant")
        elif opcode == "blx" and name.startswith(LOADER):
            sys.exit(f"minimal: {name} calls through a pointer, so that its stack is not known")
        elif opcode in ("bl", "b.n", "b.w", "b"):
            target = re.search(r"<(.*?)(\+0x[0-9a-f]+)?>$", re.sub(r"\s+@.*", "", operands))
            if target and target[1] != name:
                found[name][1].add(target[1])
        found[name][0] = max(found[name][0], frame)
    return found


def registers(part):
    """How many a part of a list names: r4, or r4-r7."""
    ends = [int(number) for number in re.findall(r"r(\d+)", part)]
    return ends[1] - ends[0] + 1 if len(ends) == 2 else 1


def depth(found, name, above=()):
    """The deepest stack of a function and all that it calls."""
    if name in above:
        sys.exit(f"minimal: {name} calls itself")
    if name not in found:
        sys.exit(f"minimal: {name} is called, and has no code in the image")
    own, called = found[name]
    return own + max((depth(found, callee, (*above, name)) for callee in called), default=0)


def main(image, container):
    names = sizes.run(PREFIX + "nm", "--demangle", image)
    panics = [line for line in names.splitlines() if "core::panicking" in line or "rust_begin_unwind" in line]
    if panics:
        sys.exit(f"minimal: {image} can panic: {panics}")
    loader = 0
    for line in sizes.run(PREFIX + "nm", "--demangle", "--print-size", image).splitlines():
        match = re.match(r"[0-9a-f]+ ([0-9a-f]+) [tT] (.*)", line)
        if match and LOADER in match[2]:
            loader += int(match[1], 16)
    called = functions(image)
    parse = [name for name in called if PARSE.fullmatch(name)]
    if len(parse) != 1:
        sys.exit(f"minimal: {image} has {parse} where Model::parse is looked for")
    found = {
        "flash without the network": sizes.flash(sizes.sections(image, PREFIX)) - Path(container).stat().st_size,
        "loader, flash": loader,
        "loader, stack": depth(called, parse[0]),
    }
    for what, limit in LIMITS.items():
        print(f"minimal: {what}: {found[what]} bytes, at most {limit}")
    if any(found[what] > limit for what, limit in LIMITS.items()):
        sys.exit(f"minimal: {image} has grown beyond a limit of tools/minimal.py")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"minimal: {error}")
