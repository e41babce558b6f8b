"""Half of a chess network, for boards with little memory: its first hidden units only, as trained.

    half.py HIDDEN CHECKPOINT OUT

CHECKPOINT and OUT are bullet's weights.bin of a network of one layer behind its accumulators
(tests/reference/README.md): for each tensor a name, a line's end, a u64 count and that many f32, where weight (o, i)
lies at o + outputs * i. The network that is left plays no better than its memory; it is there to be run.
"""

import pathlib
import struct
import sys


def read(path):
    """The bytes of each tensor by its name."""
    data, tensors, at = pathlib.Path(path).read_bytes(), {}, 0
    while at < len(data):
        end = data.index(b"\n", at)
        (count,) = struct.unpack_from("<Q", data, end + 1)
        tensors[data[at:end].decode()], at = data[end + 9 : end + 9 + 4 * count], end + 9 + 4 * count
    return tensors


def main(hidden, checkpoint, out):
    tensors = read(checkpoint)
    before, buckets = len(tensors["l0b"]) // 4, len(tensors["l1b"]) // 4

    def first(name, columns, kept):
        """Of every row of `columns` f32, the first `kept`."""
        rows = tensors[name]
        tensors[name] = b"".join(rows[at : at + 4 * kept] for at in range(0, len(rows), 4 * columns))

    first("l0b", before, hidden)
    first("l0w", before, hidden)
    # A row for each bucket; transposed, so that the units of a perspective are one stretch.
    first("l1w", before * buckets, hidden * buckets)
    with open(out, "wb") as file:
        for name in sorted(tensors):
            file.write(name.encode() + b"\n" + struct.pack("<Q", len(tensors[name]) // 4) + tensors[name])


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
