"""What the tests of the package hold it to, as host-tools prints it: made.py HOST_TOOLS ROOT FOLDER.

Positions that look random, with either side to move; examples of reals, halves of a unit among them; damaged files.
"""

import base64
import json
import random
import struct
import subprocess
import sys
from pathlib import Path

POSITIONS = 300
EXAMPLES = 200
PIXELS = 64


def positions(source: random.Random) -> list[str]:
    """Boards of a king and up to fifteen others a side, pawns on ranks 2 to 7, which is all that a reader asks."""
    fens = []
    for index in range(POSITIONS):
        board = [""] * 64
        for piece in "Kk":
            board[source.choice([square for square in range(64) if not board[square]])] = piece
        for _ in range(index % 31):
            counts = [sum(piece.isupper() for piece in board), sum(piece.islower() for piece in board)]
            sides = zip(["PPPPNBRQ", "ppppnbrq"], counts, strict=True)
            piece = source.choice("".join(side for side, count in sides if count < 16))
            places = range(8, 56) if piece in "Pp" else range(64)
            board[source.choice([square for square in places if not board[square]])] = piece
        ranks = []
        for rank in range(7, -1, -1):
            text = "".join(piece or "1" for piece in board[8 * rank : 8 * rank + 8])
            for length in range(8, 1, -1):
                text = text.replace("1" * length, str(length))
            ranks.append(text)
        fens.append(f"{'/'.join(ranks)} {source.choice('wb')} - - 0 1")
    return fens


def npy(rows: list[list[float]]) -> bytes:
    """An array of f64 as numpy writes it."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header = header.ljust(117) + "\n"
    values = [value for row in rows for value in row]
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
    return start + header.encode() + struct.pack(f"<{len(values)}d", *values)


def main() -> None:
    tools, root, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    source = random.Random(20)
    digits = root / "firmware-examples/programs/src/digits.quantised.bin"
    chess = root / "runtime/examples/engine/reference.quantised.bin"

    def run(*arguments: object) -> str:
        command = [tools, *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    (folder / "positions.fen").write_text("".join(fen + "\n" for fen in positions(source)))
    (folder / "positions.json").write_text(run("eval", chess, "--fens", folder / "positions.fen", "--json"))

    # The unit of an input is 1/127, so that these are integers of it and halves between them.
    examples = [[source.randrange(-3, 258) / 254 for _ in range(PIXELS)] for _ in range(EXAMPLES)]
    (folder / "reals.npy").write_bytes(npy(examples))
    values = json.loads(run("eval", digits, "--inputs", folder / "reals.npy", "--json"))["values"]
    (folder / "reals.json").write_text(json.dumps({"examples": examples, "values": values}))

    whole, damaged = digits.read_bytes(), []
    flipped = bytearray(whole)
    flipped[3000] ^= 1
    page = b"<!doctype html>" * 99
    contents = {"cut": whole[:-64], "flipped": bytes(flipped), "short": whole[:40], "page": page}
    for name, content in contents.items():
        path = folder / f"{name}.bin"
        path.write_bytes(content)
        done = subprocess.run([tools, "inspect", str(path)], capture_output=True, text=True)
        assert done.returncode != 0
        words = " ".join(done.stderr.split())
        damaged.append({"name": name, "bytes": base64.b64encode(content).decode(), "words": words})
    (folder / "damaged.json").write_text(json.dumps(damaged))


main()
