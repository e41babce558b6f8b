"""The hand-tuned reference kernels: built out of their tree, run, read. They are no part of this repository.

TAMIS_ANCHORS names the folder that holds perf/anchor. Their programs print `name  med X ns  p10 Y  p90 Z`.
"""

import os
import pathlib
import re
import shutil
import subprocess

LINE = re.compile(r"^(.*?) +med +([\d.]+) ns +p10 +([\d.]+) +p90 +[\d.]+$")
WIDTHS = (128, 256, 512, 1024, 1536, 3072)
# They are written in intrinsics of AVX2 and take as long when they are built for the processor at hand.
PROCESSOR = "x86-64-v3"
DENSITIES = (5, 10, 20, 35, 60, 100)


def build(target):
    """The folder of the programs, for what the tier avx2 may use; None where there are no anchors."""
    root = os.environ.get("TAMIS_ANCHORS")
    if not root:
        return None
    # A copy, because cargo writes a lock file beside the manifest.
    source = target / "anchors" / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(pathlib.Path(root) / "perf" / "anchor", source, ignore=shutil.ignore_patterns("target"))
    environment = {**os.environ, "RUSTFLAGS": f"-C target-cpu={PROCESSOR}"}
    subprocess.run(
        [
            "cargo",
            "build",
            "--release",
            "--quiet",
            "--manifest-path",
            source / "Cargo.toml",
            "--target-dir",
            target / "anchors",
        ],
        env=environment,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return target / "anchors" / "release"


def run(programs, name, rounds, processor):
    """{row: (p10, median)} of one program."""
    done = subprocess.run(
        [programs / name, str(rounds)],
        check=True,
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {processor}),
    )
    rows = {}
    for line in done.stdout.splitlines():
        if found := LINE.match(line):
            rows[f"{name}: {found[1]}"] = (float(found[3]), float(found[2]))
    return rows


def fellows(rows):
    """(our id without its tier, the rows of an anchor whose times are added, those that are taken away)."""
    for n in WIDTHS:
        row = f"kern: N={n} "
        yield f"update-head/(768-{n})x2-1x8", [row + "FULL update+dot 8 buckets"], []
        yield f"update/(768-{n})x2-1x8", [row + "update add1sub1 x2 persp (random rows)"], []
        yield f"head/(768-{n})x2-1x8", [row + "SCReLU dot 2xN, 8 buckets"], []
        yield f"dot_screlu_short/2x{n}-1-buckets", [row + "SCReLU dot 2xN, 1 bucket"], []
        yield f"dot_screlu_short/2x{n}-8-buckets", [row + "SCReLU dot 2xN, 8 buckets"], []
        yield f"update_i16/2x{n}-move", [row + "update add1sub1 x2 persp (random rows)"], []
        yield f"update_i16/2x{n}-capture", [row + "update add1sub2 x2 persp (random rows)"], []
        yield f"update_i16/2x{n}-refresh-32", [row + "full refresh 2 x 32 rows"], []
    # The name holds the density that came out; the order is that of DENSITIES.
    forwards = [row for row in rows if row.endswith("FULL forward sparse L1")]
    sparse = [row for row in rows if row.endswith("nnz + sparse L1")]
    for density, forward, layer in zip(DENSITIES, forwards, sparse):
        yield f"layers/1024-16-32-1x8-{density}%", [forward], []
        yield f"affine_u7_sparse/1024x16-{density}%", [layer], []
    yield "pairwise_u8/2x1024", [row for row in rows if row.endswith("pairwise activation only")], []
    for net, first in (
        ("784-128-10", "784x128"),
        ("256-32-32-1", "256x32"),
        ("768-256-1", "768x256"),
        ("64-256-128-1", "256x128"),
    ):
        whole, gemv = f"kern2: MLP i8 {net} hand-tuned", f"kern2: gemv u8i8 {first} "
        exact, paired = gemv + "exact (maddubs+madd)", gemv + "paired (2maddubs+addw+madd)"
        yield f"perceptron/{net}-exact", [whole], []
        # There is no paired network: the exact one with its largest layer exchanged.
        yield f"perceptron/{net}-paired", [whole, paired], [exact]
        # Requantisation included in theirs.
        yield f"affine_u7/{first}", [exact], []
        yield f"affine_u7_paired/{first}", [paired], []
