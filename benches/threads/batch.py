"""What two threads gain over one in batches from Python, beside what two independent busy loops gain in these rounds.

    TAMIS_FIXTURES=FOLDER python batch.py [ROUNDS]

The Python needs the package tamis (`pip install ./quant/python`) and numpy. The network is datacode/model_mnist.nn of
the fixtures, 784-128-10; a batch is MNIST's 10,000 test images in f32. A gain is work a second on two over that on one;
the loops are those of `run` beside this. Ends with 1 where the median gain is below 0.9 of the loops'.
"""

import gzip
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import tamis

LEAST = 0.9
# Half a second of each, about.
BATCHES = 100
LOOP = [sys.executable, "-c", "for _ in range(20_000_000): pass"]


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def loops(count):
    for process in [subprocess.Popen(LOOP) for _ in range(count)]:
        process.wait()


def main():
    fixtures = pathlib.Path(os.environ.get("TAMIS_FIXTURES") or sys.exit("MISSING: TAMIS_FIXTURES"))
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with gzip.open(fixtures / "mnist/t10k-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    images = (pixels / np.float32(255)).astype(np.float32)
    model = tamis.quantise(fixtures / "datacode/model_mnist.nn", calibrate=images[:500])
    assert np.array_equal(model(images, threads=1), model(images, threads=2)), "two threads answer otherwise than one"

    def batches(threads):
        for _ in range(BATCHES):
            model(images, threads=threads)

    gains, bars = [], []
    for _ in range(rounds):
        gains.append(seconds(lambda: batches(1)) / seconds(lambda: batches(2)))
        bars.append(2 * seconds(lambda: loops(1)) / seconds(lambda: loops(2)))
    ratio = statistics.median(gain / bar for gain, bar in zip(gains, bars))
    print(
        f"batches of {len(images):,}, median of {rounds}: two threads gain {statistics.median(gains):.2f}; "
        f"two busy loops {statistics.median(bars):.2f}, ratio {ratio:.2f}; same outputs"
    )
    sys.exit(1 if ratio < LEAST else 0)


main()
