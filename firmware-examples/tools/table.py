"""The table of README.md, from what `../run` measured: compares it, or with --write puts it there.

    table.py [--write] README TARGET BOARD...

It compares the columns and rows of the boards that are named; what is written is of all. TARGET holds
images/BOARD/PROGRAM and results/BOARD/PROGRAM.{counts,stack}, results/BOARD/given-NETWORK.counts where
TAMIS_FIXTURES has MLPerf Tiny's networks, and results/compiler. Counts are exact, so
those of the same compiler must be equal, and sizes may differ by FOLDER_BYTES; another compiler's are not compared, and
that is said.
"""

import pathlib
import sys

import image
from baselines import cmsis_nn, cmsis_nn_network

BEGIN = "<!-- From here to the end mark: written by `firmware-examples/run --bless`. -->"
END = "<!-- End of what is written by `firmware-examples/run --bless`. -->"

# Cargo names crates by the folder that they are built in, the linker orders functions by those names, and their order
# decides how many bytes of padding and how many far jumps there are: 4 bytes were seen.
FOLDER_BYTES = 16
# What stands above the tables of sizes, the last ones.
SIZES = "Bytes of flash and RAM:"

ALL_BOARDS = {
    "cortex-m0plus": "M0+",
    "cortex-m3": "M3",
    "cortex-m4": "M4F",
    "cortex-m7": "M7",
    "cortex-m33": "M33",
    "cortex-m55": "M55",
    "riscv32": "RV32IMAC",
}
# MLPerf Tiny's networks, which the program `given` runs where TAMIS_FIXTURES has them, by their folders.
NETWORKS = {
    "kws": "KWS",
    "ic": "IC",
    "vww": "VWW",
    "vww-within": "VWW, workspace within 30,000 bytes",
    "ad": "AD",
}
OF_NETWORKS = (
    "MLPerf Tiny's networks quantised from float, an inference; VWW's channels that are always 0 "
    "count in CMSIS-NN's alone:"
)
OF_LAYERS = (
    "Fully connected layers, requantisation included; instructions, not cycles, and in brackets per multiplication:"
)
SHAPES = [(784, 128), (768, 256), (256, 32), (128, 10), (64, 32), (32, 32), (32, 10), (32, 1), (16, 1)]

# The stretches between marks, in the order in which a program comes to them.
STRETCHES = {
    "nnue": ["refresh", "evaluate"] + ["update", "evaluate"] * 6,
    "digits": ["inference"] * 10,
    "keywords": ["inference"] * 4,
    "plies": ["evaluate"] * 17 + ["evaluate, rounded"] * 17,
    "layers": [(shape, kind, step) for shape in SHAPES for kind in ("i8", "u7") for step in ("sums", "requantise")],
}


class Measured:
    """What ../run left behind of these boards."""

    def __init__(self, target, boards):
        self.target = pathlib.Path(target)
        self.boards = {board: ALL_BOARDS[board] for board in boards}
        self.programs = sorted({path.stem for path in self.target.glob("results/*/*.stack")})

    def compiler(self):
        """What made the images."""
        return ", ".join((self.target / "results/compiler").read_text().splitlines())

    def counts(self, board, program):
        """(stretch, instructions) in order."""
        lines = (self.target / "results" / board / f"{program}.counts").read_text().splitlines()
        counts = [int(line) for line in lines if line.isdigit()]
        names = STRETCHES[program]
        if len(counts) != len(names):
            sys.exit(f"table: {board}/{program} has {len(counts)} counted stretches; table.py knows {len(names)}")
        return list(zip(names, counts))

    def count(self, board, program, stretch, occurrence=0):
        """The instructions of a stretch, the first one of its name if none is asked for."""
        return [count for name, count in self.counts(board, program) if name == stretch][occurrence]

    def network(self, board, name):
        """The instructions of the first inference of a given network, or None where there were none."""
        path = self.target / "results" / board / f"given-{name}.counts"
        return int(path.read_text().split()[0]) if path.exists() else None

    def stack(self, board, program):
        """Bytes: painted by the program, or watched from outside for one without a log."""
        painted = (self.target / "results" / board / f"{program}.stack").read_text().strip()
        if painted:
            return int(painted)
        symbols = image.run(prefix(board) + "nm", self.image(board, program)).splitlines()
        top = next(int(line.split()[0], 16) for line in symbols if line.endswith(" _stack_start"))
        lines = (self.target / "results" / board / f"{program}.counts").read_text().splitlines()
        return top - next(int(line.split()[1], 16) for line in lines if line.startswith("deepest "))

    def image(self, board, program):
        return str(self.target / "images" / board / program)

    def sections(self, board, program):
        return image.sections(self.image(board, program), prefix(board))

    def modules(self, board, program):
        return image.modules(self.image(board, program), prefix(board))


def prefix(board):
    return "riscv64-unknown-elf-" if board.startswith("riscv") else "arm-none-eabi-"


def rows(head, body):
    """A table in Markdown; all columns but the first are numbers."""
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *body]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def inferences(measured):
    """Instructions of whole networks."""
    kinds = [
        ("NNUE: refresh of both perspectives", "nnue", "refresh", 0),
        ("NNUE: a quiet move in both", "nnue", "update", 0),
        ("NNUE: a capture in both", "nnue", "update", 2),
        ("NNUE: evaluate", "nnue", "evaluate", 0),
        # Of the first move, so that the update is that of a quiet move.
        ("NNUE, half as wide: a quiet move and evaluate", "plies", "evaluate", 1),
        ("the same, the head's products rounded", "plies", "evaluate, rounded", 1),
        ("digits: an inference", "digits", "inference", 0),
        ("keywords: an inference", "keywords", "inference", 0),
    ]
    body = [
        [name, *(f"{measured.count(board, program, stretch, occurrence):,}" for board in measured.boards)]
        for name, program, stretch, occurrence in kinds
    ]
    for shape in ((64, 32), (32, 10)):
        counts = [layer(measured, board, shape, "u7") for board in measured.boards]
        body.append([f"digits: its layer {name_of(shape)}", *(f"{count:,}" for count in counts)])
    return rows(["", *measured.boards.values()], body)


def networks(measured, kept):
    """Instructions of MLPerf Tiny's networks beside CMSIS-NN's; where they were not run, what the table has."""
    body = []
    for name, title in NETWORKS.items():
        counts = [measured.network(board, name) for board in measured.boards]
        if None in counts:
            print("firmware: MLPERF TINY'S NETWORKS ARE NOT COMPARED: TAMIS_FIXTURES is not set")
            return kept[kept.index(OF_NETWORKS) : kept.index(OF_LAYERS)] if OF_NETWORKS in kept else []
        body.append([title, *(f"{count:,}" for count in counts)])
        others = [cmsis_nn_network(board, name) for board in measured.boards]
        if any(others):
            body.append([f"{title}, CMSIS-NN", *(f"{count:,}" if count else "–" for count in others)])
    return [OF_NETWORKS, "", *rows(["", *measured.boards.values()], body)]


def layer(measured, board, shape, kind):
    """Sums and requantisation of a layer."""
    return sum(measured.count(board, "layers", (shape, kind, step)) for step in ("sums", "requantise"))


def name_of(shape):
    return f"{shape[0]}×{shape[1]}"


def layers(measured):
    """Instructions of fully connected layers, and per multiplication, beside CMSIS-NN's."""
    body = []
    for shape in SHAPES:

        def cell(count):
            return f"{count:,} ({count / (shape[0] * shape[1]):.3f})" if count is not None else "–"

        for kind in ("i8", "u7"):
            counts = [layer(measured, board, shape, kind) for board in measured.boards]
            body.append([f"{name_of(shape)}, {kind} inputs", *map(cell, counts)])
        if any(cmsis_nn(board, shape) for board in measured.boards):
            body.append([f"{name_of(shape)}, CMSIS-NN", *(cell(cmsis_nn(board, shape)) for board in measured.boards)])
    return rows(["", *measured.boards.values()], body)


def memory(measured):
    """Flash and RAM of every image but `tiers`: a test as large as all tiers together, whose order of functions, and so
    whose size, changes with the folder that it is built in."""
    body = []
    for program in (program for program in measured.programs if program != "tiers"):
        for board, name in measured.boards.items():
            sizes = measured.sections(board, program)
            columns = [*sizes.values(), image.flash(sizes), image.ram(sizes), measured.stack(board, program)]
            body.append([f"{program}, {name}", *(f"{column:,}" for column in columns)])
    head = ["", ".vector_table", ".text", ".rodata", ".data", ".bss", "flash", "statics", "stack"]
    return rows(head, body)


def shares(measured, program):
    """Code by the runtime's modules and by who else there is."""
    all_modules = {board: measured.modules(board, program) for board in measured.boards}
    names = sorted(
        {name for modules in all_modules.values() for name in modules}, key=lambda name: (name[0] != "`", name)
    )
    body = [[name, *(f"{all_modules[board].get(name, 0):,}" for board in measured.boards)] for name in names]
    return rows([program, *measured.boards.values()], body)


def made_by(measured):
    return f"Made by {measured.compiler()}."


def table(measured, kept):
    """All of it, as lines. kept: those of the table that there is."""
    lines = [made_by(measured), "", "Instructions, not cycles:", "", *inferences(measured)]
    lines += networks(measured, kept)
    lines += [OF_LAYERS, ""]
    lines += layers(measured)
    lines += [
        SIZES,
        "",
        *memory(measured),
        "Bytes of code by whose it is; what was inlined counts for the module that it comes from:",
        "",
    ]
    for program in ("minimal", "digits"):
        if program in measured.programs:
            lines += shares(measured, program)
    return lines


def narrow(lines, boards):
    """Lines of the table with the columns and rows of these boards alone."""
    others = set(ALL_BOARDS.values()) - set(boards.values())
    kept, columns = [], None
    for line in lines:
        if not line.startswith("|"):
            columns = None
            kept.append(line)
            continue
        cells = line[2:-2].split(" | ")
        if columns is None:
            columns = [index for index, cell in enumerate(cells) if cell not in others]
            titled = len(columns) < len(cells)
        cells = [cells[index] for index in columns]
        # A row of a board says so behind a comma. A module that only the others have has no code in these.
        is_others = cells[0].rpartition(", ")[2] in others or titled and all(cell == "0" for cell in cells[1:])
        if not is_others:
            kept.append("| " + " | ".join(cells) + " |")
    return kept


def main():
    arguments = sys.argv[1:]
    is_written = arguments[:1] == ["--write"]
    readme, target, *boards = arguments[is_written:]
    readme = pathlib.Path(readme)
    measured = Measured(target, boards)
    text = readme.read_text()
    before, begin, rest = text.partition(BEGIN)
    kept, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"table: {readme} lacks the line {BEGIN if not begin else END}")
    wanted = narrow(kept.splitlines(), measured.boards)
    made = "\n" + "\n".join(table(measured, wanted))
    if is_written:
        readme.write_text(before + begin + made + end + after)
        print(f"firmware: wrote the table of {readme.name}")
    elif made_by(measured) not in kept:
        found = next((line for line in kept.splitlines() if line.startswith("Made by ")), "Made by nobody.")
        print(f"firmware: THE TABLE IS NOT COMPARED: {found} This is {measured.compiler()}.")
    elif not agree(wanted, made.splitlines()):
        difference(wanted, made.splitlines())
        sys.exit(f"table: {readme} has another table than was measured; if the change is meant, run --bless")
    else:
        print(f"firmware: the table of {readme.name} is what was measured on {', '.join(measured.boards)}")


def agree(kept, made):
    """Whether two tables say the same, but for what a folder does to sizes."""
    if len(kept) != len(made) or SIZES not in made:
        return False
    sizes = made.index(SIZES)
    return kept[:sizes] == made[:sizes] and all(map(same_sizes, kept[sizes:], made[sizes:]))


def same_sizes(kept, made):
    """Of two rows."""
    kept, made = kept.split("|"), made.split("|")
    return len(kept) == len(made) and all(map(is_near, kept, made))


def is_near(kept, made):
    """Of two cells: equal, or numbers that are near."""
    if kept == made:
        return True
    numbers = [cell.strip().replace(",", "") for cell in (kept, made)]
    return all(map(str.isdigit, numbers)) and abs(int(numbers[0]) - int(numbers[1])) <= FOLDER_BYTES


def difference(kept, made):
    import difflib

    for line in difflib.unified_diff(kept, made, "kept", "measured", lineterm="", n=0):
        print(line)


if __name__ == "__main__":
    main()
