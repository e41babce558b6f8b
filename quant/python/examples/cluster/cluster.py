"""Positions labelled anew, and a network verified, on the workers of a Ray cluster.

    pip install './quant/python[arrow]' 'ray[data]'
    python quant/python/examples/cluster/cluster.py relabel net.bin positions.bf -o values.txt
    python quant/python/examples/cluster/cluster.py verify net.bin net.weights.bin net.toml positions.bf

Without an address Ray takes this machine; with `RAY_ADDRESS` a cluster, whose workers read the files by the same paths.
Nothing here depends on how many workers or shards there are, nor on which of them die: Ray runs a lost shard again, and
a shard's result is a function of its positions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import ray
import ray.data
import tamis
from tamis.arrow import scorer

RECORD = 32
#: Positions of a shard: a few seconds of work, so that little is lost with a worker.
SHARD = 100_000

#: From a batch of records to the same with the column `outputs`.
Score = Callable[[pa.Table], pa.Table]


def shards(positions: Path, rows: int) -> list[dict[str, int]]:
    """Where the shards of a file of BulletFormat start and end."""
    count = positions.stat().st_size // RECORD
    return [{"start": start, "end": min(start + rows, count)} for start in range(0, count, rows)]


def records(positions: Path, start: int, end: int) -> bytes:
    """The records of a shard."""
    return np.memmap(positions, np.uint8, "r")[start * RECORD : end * RECORD].tobytes()


class Relabel:
    """A shard's range becomes its positions with their values, in order."""

    def __init__(self, positions: Path, score: Score) -> None:
        self.positions = positions.resolve()
        self.score = score

    def __call__(self, ranges: pa.Table) -> Iterator[pa.Table]:
        for shard in ranges.to_pylist():
            buffer = pa.py_buffer(records(self.positions, shard["start"], shard["end"]))
            count = shard["end"] - shard["start"]
            column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(RECORD), count, [None, buffer])
            places = pa.array(np.arange(shard["start"], shard["end"]))
            yield self.score(pa.table({"place": places, "position": column}))


def relabelled(model: tamis.Model, positions: Path, *, rows: int = SHARD, score: Score | None = None) -> Any:
    """A dataset of `place` and `outputs` for every position, in the order of the file. To files: `write_parquet`."""
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    score = score or scorer(model, keep=["place"])
    ranges = shards(positions, rows)
    dataset = ray.data.from_items(ranges, override_num_blocks=len(ranges))
    return dataset.map_batches(Relabel(positions, score).__call__, batch_size=1, batch_format="pyarrow")


def write_values(dataset: Any, out: Path) -> int:
    """A value a line, as `host-tools eval` prints them; how many there are."""
    count = 0
    with out.open("w", encoding="ascii") as file:
        for batch in dataset.iter_batches(batch_format="pyarrow", batch_size=None):
            places = batch["place"].to_numpy()
            assert (places == np.arange(count, count + len(places))).all(), "a shard is lost, or in another place"
            file.writelines(f"{value}\n" for value in batch["outputs"].to_pylist())
            count += len(places)
    return count


def verified(
    model: tamis.Model,
    checkpoint: Path,
    arch: Path,
    positions: Path,
    *,
    rows: int = SHARD,
    started: Callable[[int], None] = lambda _: None,
) -> tamis.Report:
    """The report over all positions, of parts that workers make. started: called by a worker with its shard's start."""

    def part(start: int, end: int) -> tamis.Report:
        started(start)
        shard = records(positions, start, end)
        return tamis.verify(model, checkpoint, arch=arch, positions=shard, partial=True, threads=1)

    remote = ray.remote(max_retries=-1)(part)
    parts = [remote.remote(shard["start"], shard["end"]) for shard in shards(positions, rows)]
    return tamis.Report.merge(ray.get(parts))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    relabel = commands.add_parser("relabel")
    verify = commands.add_parser("verify")
    for command in (relabel, verify):
        command.add_argument("model", type=Path)
    for name in ("checkpoint", "arch"):
        verify.add_argument(name, type=Path)
    for command in (relabel, verify):
        command.add_argument("positions", type=Path)
        command.add_argument("--rows", type=int, default=SHARD)
    relabel.add_argument("-o", "--out", type=Path, required=True)
    given = parser.parse_args()
    model = tamis.load(given.model)
    if given.command == "relabel":
        count = write_values(relabelled(model, given.positions, rows=given.rows), given.out)
        print(f"{given.out}: {count} positions")
    else:
        checkpoint, arch, positions = (path.resolve() for path in (given.checkpoint, given.arch, given.positions))
        report = verified(model, checkpoint, arch, positions, rows=given.rows)
        print(report)
        raise SystemExit(not report.passed)


if __name__ == "__main__":
    main()
