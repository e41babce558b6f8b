"""What counts the instructions of main.rs, on each kind of processor.

x86-64: valgrind, which emulates a processor with AVX2 and without AVX-512, whatever the machine has. aarch64:
qemu-aarch64 with the plugin of the boards. wasm32: wasmtime's fuel, a unit for each operator but those that only give
others a place (`block`, `end`, `drop` and the like); not what an engine makes of them.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
PLUGIN = ROOT / "firmware-examples" / "tools" / "count.c"
# The function of main.rs that is entered once for each case.
COUNTED = "instructions::counted_from_here"
WASMTIME = "wasmtime==50.0.1"
FUEL = 1 << 62


def build(triple=None, flags="", **environment):
    """The program for a target's baseline, whatever flags the caller has set."""
    place = ["--target", triple] if triple else []
    if triple and triple not in run("rustup", "target", "list", "--installed").split():
        run("rustup", "target", "add", triple)
    # The whole workspace is named so that its crates are those that the tests have built.
    command = ["cargo", "build", "--release", "--quiet", "--locked", "--workspace", "--bin", "instructions", *place]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "RUSTFLAGS": flags, **environment}, check=True)
    return TARGET / (triple or "") / "release"


def names(program):
    """Of every function its address, its length and its name."""
    sized = [line.split(maxsplit=3) for line in run("nm", "--demangle", "--print-size", program).splitlines()]
    return [(int(line[0], 16), int(line[1], 16), line[3]) for line in sized if len(line) == 4]


def check_closures(program):
    """Fails where a closure of a vector kernel was compiled apart: it lacks the instruction set, and calls for each
    instruction."""
    kernels = [name for _, _, name in names(program) if "tamis_runtime::kernels::" in name]
    if not kernels:
        sys.exit(f"instructions: {program} names no kernel; was it stripped?")
    # As the two manglings that the compiler knows are printed.
    apart = [name for name in kernels if "kernels::vector::" in name and ("{{closure}}" in name or "{closure#" in name)]
    if apart:
        why = "instructions: compiled apart from the kernels that they belong to, make them functions:"
        sys.exit("\n  ".join([why, *apart]))


def run(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError:
        sys.exit(f"instructions: {command[0]} is missing; x86-64 takes valgrind, aarch64 takes cc, qemu-user and "
                 "gcc-aarch64-linux-gnu, wasm32 takes python3-venv, and both take rustup")
    if done.returncode != 0:
        sys.exit(f"{done.stderr}instructions: {command[0]} ended with {done.returncode}")
    return done.stdout


def x86_64(folder):
    program = build() / "instructions"
    check_closures(program)
    out = folder / "profile"
    printed = run("valgrind", "--tool=callgrind", f"--toggle-collect={COUNTED}", f"--dump-after={COUNTED}",
                  "--combine-dumps=yes", f"--callgrind-out-file={out}", program)
    # A part for each time that the function was left, and one for the program's end, in which nothing was counted.
    parts = [int(total) for total in re.findall(r"^totals: (\d+)$", out.read_text(), re.MULTILINE)]
    return printed, parts[:-1]


def aarch64(folder):
    # Addresses as the file has them.
    release = build("aarch64-unknown-linux-gnu", "-Crelocation-model=static",
                    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER="aarch64-linux-gnu-gcc")
    program = release / "instructions"
    check_closures(program)
    start, length = next((start, length) for start, length, name in names(program) if name.startswith(COUNTED))
    plugin, out = folder / "libcount.so", folder / "counts"
    run("cc", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", plugin, PLUGIN)
    printed = run("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-plugin",
                  f"{plugin},out={out},from={start:#x},to={start + length:#x}", program)
    return printed, [int(line) for line in out.read_text().splitlines()]


def wasm32(_folder):
    program = build("wasm32-wasip1", "-Ctarget-feature=+simd128") / "instructions.wasm"
    environment = TARGET / "wasmtime"
    python = environment / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", environment)
        run(python, "-m", "pip", "install", "--quiet", WASMTIME)
    return parse_fuel(run(python, pathlib.Path(__file__), program))


def burn(program):
    """Runs a program of WASI, in an environment that has wasmtime: what it prints, and in front of each piece of it the
    fuel that was left."""
    import wasmtime

    config = wasmtime.Config()
    config.consume_fuel = True
    engine = wasmtime.Engine(config)
    store = wasmtime.Store(engine)
    store.set_fuel(FUEL)
    store.set_wasi(wasmtime.WasiConfig())
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    linker.allow_shadowing = True

    def write(caller, _file, pieces, count, written):
        memory, left, total = caller["memory"], store.get_fuel(), 0
        for piece in range(pieces, pieces + 8 * count, 8):
            words = (memory.read(caller, word, word + 4) for word in (piece, piece + 4))
            at, length = (int.from_bytes(word, "little") for word in words)
            text = memory.read(caller, at, at + length).decode()
            print(left, repr(text))
            total += length
        memory.write(caller, total.to_bytes(4, "little"), written)
        return 0

    four = [wasmtime.ValType.i32()] * 4
    kind = wasmtime.FuncType(four, four[:1])
    linker.define_func("wasi_snapshot_preview1", "fd_write", kind, write, access_caller=True)
    instance = linker.instantiate(store, wasmtime.Module.from_file(engine, program))
    instance.exports(store)["_start"](store)


def parse_fuel(printed):
    """What `burn` says: the ids, and what was burnt from one line end by itself to the next, less what the printing
    takes."""
    ids, marks = [], []
    for line in printed.splitlines():
        left, text = line.split(" ", 1)
        if text == repr("\n"):
            marks.append(int(left))
        else:
            ids.append(text.strip("'").removesuffix("\\n"))
    empty, *parts = [before - after for before, after in zip(marks[::2], marks[1::2])]
    return "\n".join(ids), [part - empty for part in parts]


PLACES = {"x86-64": x86_64, "aarch64": aarch64, "wasm32": wasm32}


def count(place):
    """Instructions of one iteration of every case."""
    with tempfile.TemporaryDirectory() as folder:
        printed, parts = PLACES[place](pathlib.Path(folder))
    cases = [line.rsplit(" ", 1) for line in printed.splitlines() if line]
    if len(parts) != len(cases) or not cases:
        sys.exit(f"instructions: {len(cases)} cases ran on {place} but {len(parts)} were counted; "
                 f"is {COUNTED} still entered?")
    return {name: part // int(iterations) for (name, iterations), part in zip(cases, parts)}


if __name__ == "__main__":
    burn(sys.argv[1])
