"""The example on a cluster of two workers of this machine, one of which is killed on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import tamis
from tamis.arrow import scorer

ray = pytest.importorskip("ray")
import cluster  # noqa: E402

ROOT = Path(__file__).resolve().parents[4]
CHECKPOINT = ROOT / "tests/reference/nnue.weights.bin"
ARCH = ROOT / "tests/architectures/reference.toml"
HOST_TOOLS = os.environ.get("TAMIS_HOST_TOOLS", str(ROOT / "target/release/host-tools"))
COUNT = int(os.environ.get("TAMIS_CLUSTER_POSITIONS", "1000000"))


@pytest.fixture(scope="module", autouse=True)
def two_workers() -> Iterator[None]:
    here = str(Path(__file__).resolve().parent)
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}}
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=1 << 29, runtime_env=environment)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def model() -> tamis.Model:
    return tamis.quantise(CHECKPOINT, arch=ARCH)


@pytest.fixture(scope="module")
def positions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference's positions, as often as it takes."""
    file = (ROOT / "tests/reference/layers.reference.safetensors").read_bytes()[-131_072:]
    path = tmp_path_factory.mktemp("positions") / "positions.bf"
    path.write_bytes((file * (COUNT * 32 // len(file) + 1))[: COUNT * 32])
    return path


class Once:
    """Kills the worker that it first runs in, when that has come to a place."""

    def __init__(self, folder: Path, place: int) -> None:
        self.flag = folder / "killed"
        self.place = place

    def __call__(self, place: int) -> None:
        if place >= self.place:
            try:
                os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)


class Killed:
    """A scorer in a worker that dies once."""

    def __init__(self, model: tamis.Model, once: Once) -> None:
        self.score = scorer(model, keep=["place"])
        self.once = once

    def __call__(self, batch: pa.Table) -> pa.Table:
        self.once(batch["place"][0].as_py())
        return self.score(batch)


def test_a_million_positions_with_a_worker_killed(model: tamis.Model, positions: Path, tmp_path: Path) -> None:
    model.save(tmp_path / "net.bin")
    wanted = subprocess.run(
        [HOST_TOOLS, "eval", tmp_path / "net.bin", "--positions", positions, "--threads", "1"],
        check=True, capture_output=True,
    ).stdout  # fmt: skip
    for rows in (COUNT // 20, COUNT // 3 + 1):
        once = Once(tmp_path, COUNT // 2)
        once.flag.unlink(missing_ok=True)
        dataset = cluster.relabelled(model, positions, rows=rows, score=Killed(model, once))
        assert cluster.write_values(dataset, tmp_path / "values.txt") == COUNT
        assert once.flag.exists(), "no worker was killed"
        assert (tmp_path / "values.txt").read_bytes() == wanted


def test_merged_verification_with_a_worker_killed(model: tamis.Model, positions: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.bf"
    few.write_bytes(positions.read_bytes()[: 32 * 10_000])
    whole = tamis.verify(model, CHECKPOINT, arch=ARCH, positions=few).to_dict()
    for rows in (2_500, 3_333):
        once = Once(tmp_path, 5_000)
        once.flag.unlink(missing_ok=True)
        found = cluster.verified(model, CHECKPOINT, ARCH, few, rows=rows, started=once).to_dict()
        assert once.flag.exists(), "no worker was killed"
        for layer, wanted in zip(found["accuracy"].pop("layers"), whole["accuracy"]["layers"]):
            assert layer["max"] == wanted["max"] and np.isclose(layer["sd"], wanted["sd"], 1e-9, 0)
        assert found == {**whole, "accuracy": {k: v for k, v in whole["accuracy"].items() if k != "layers"}}


def test_a_worker_is_as_fast_as_a_local_batch(model: tamis.Model, positions: Path) -> None:
    """Rows a second of processor time: of batches here, and of a worker while it scores.

    The best of each over several turns: what else the machine does at one time must not fall on one side alone.
    """
    score = scorer(model, keep=["place"])
    relabel = cluster.Relabel(positions, score)
    shard = pa.Table.from_pylist(cluster.shards(positions, COUNT // 10)[:1])

    def rate() -> float:
        start = time.process_time()
        rows = sum(table.num_rows for table in relabel(shard))
        return rows / (time.process_time() - start)

    best = lambda: max(rate() for _ in range(5))  # noqa: E731
    remote = ray.remote(best)
    turns = [(best(), *ray.get([remote.remote(), remote.remote()])) for _ in range(5)]
    local, *workers = (max(rates) for rates in zip(*turns))
    ratios = [worker / local for worker in workers]
    print(f"local {local:,.0f} positions a second of processor time; workers {ratios[0]:.2f} and {ratios[1]:.2f} of it")
    assert min(ratios) > 0.85
