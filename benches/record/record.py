"""Prints the last run of `cargo bench -p benches` as one JSON object, for this folder.

    python benches/record/record.py [target folder] > benches/record/NAME.json

Times are criterion's medians in nanoseconds, `low` and `high` the ends of their 95 % confidence interval.
"""

import json
import os
import pathlib
import platform
import subprocess
import sys


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CARGO_TARGET_DIR", "target"))
    times = {}
    for file in sorted((target / "criterion").rglob("new/estimates.json")):
        name = json.loads((file.parent / "benchmark.json").read_text())["full_id"]
        median = json.loads(file.read_text())["median"]
        interval = median["confidence_interval"]
        values = (median["point_estimate"], interval["lower_bound"], interval["upper_bound"])
        times[name] = dict(zip(("median", "low", "high"), (round(value, 2) for value in values)))
    record = {
        "schema": "tamis-bench-record-1",
        "machine": {"cpu": cpu(), "cores": os.cpu_count(), "system": platform.system(), "target": platform.machine()},
        "compiler": said("rustc", "--version"),
        "rustflags": os.environ.get("RUSTFLAGS", ""),
        "commit": said("git", "rev-parse", "--short=12", "HEAD"),
        "changed_files": bool(said("git", "diff", "--name-only", "HEAD", "--", "runtime", "quant", "benches/*.rs")),
        "date": said("date", "-u", "+%Y-%m-%d"),
        "unit": "ns",
        "times": times,
    }
    print(json.dumps(record, indent=1))


main()
