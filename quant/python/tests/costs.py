"""What an import and a call cost, held to limits; and, for whoever reads, what two threads gain.

An import: beyond numpy's own. A call on one row: beyond what the runtime takes for it, measured in the same process.
What Python does is processor time; each is the least of several, since a busy machine only adds.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import tamis
from conftest import examples, state_dict

MOST_IMPORT_SECONDS = 0.060
MOST_CALL_SECONDS = 2e-6


def least(seconds: Callable[[], float], times: int) -> float:
    return min(seconds() for _ in range(times))


def import_seconds() -> float:
    code = (
        "import time, numpy; start = time.process_time(); import tamis; print(time.process_time() - start)"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def call_seconds(model: tamis.Model, row: np.ndarray, repeats: int = 20_000) -> float:
    start = time.thread_time()
    for _ in range(repeats):
        model(row)
    return (time.thread_time() - start) / repeats


def batch_seconds(model: tamis.Model, x: np.ndarray, threads: int) -> float:
    start = time.perf_counter()
    model(x, threads=threads)
    return time.perf_counter() - start


def busy_seconds(model: tamis.Model, x: np.ndarray, loops: int) -> float:
    """Independent loops, each over all rows on one thread, by the clock."""
    workers = [threading.Thread(target=model, args=(x,), kwargs={"threads": 1}) for _ in range(loops)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - start


def main() -> None:
    imported = least(import_seconds, 7)
    print(f"import tamis: {1e3 * imported:.1f} ms beyond numpy, at most {1e3 * MOST_IMPORT_SECONDS:.0f}")
    assert imported <= MOST_IMPORT_SECONDS

    model = tamis.quantise(
        state_dict(sizes=(784, 128, 10)), arch="784:relu128:linear10", calibrate=examples(100, 784)
    )
    row = examples(1, 784)[0]
    # In turns, so that both meet the same machine.
    turns = [(call_seconds(model, row), model._seconds_a_row(row, 4_000)) for _ in range(15)]
    whole, alone = (min(seconds) for seconds in zip(*turns, strict=True))
    print(
        f"a call on one row, 784-128-10: {1e6 * whole:.2f} µs, {1e6 * (whole - alone):.2f} above the runtime's "
        f"{1e6 * alone:.2f}, at most {1e6 * MOST_CALL_SECONDS:.0f}"
    )
    assert whole - alone <= MOST_CALL_SECONDS

    x = examples(60_000, 784)
    pairs = []
    for _ in range(7):
        one, two = batch_seconds(model, x, 1), batch_seconds(model, x, 2)
        gained = one / two
        possible = 2 * busy_seconds(model, x, 1) / busy_seconds(model, x, 2)
        pairs.append(gained / possible)
    pairs.sort()
    print(f"two threads gain {pairs[len(pairs) // 2]:.2f} of what two independent loops gain (median of 7)")


if __name__ == "__main__":
    main()
