"""Batches of a long corpus: `host-tools batches` beside tf.data doing the same, in one run on one machine.

    python batches.py [--lines 5000000] [--baseline-lines 5000000] [--folder FOLDER] [NAME]

The corpus is made here, the same for the same --lines: sentences of 1 to 16 tokens of 32,000 kinds, common ones more
often. Both sides read the two text files, look tokens up, drop what is longer than 14, gather by length (width 1, 3072
tokens a batch) and pad. Tamis also writes what it made, as safetensors; tf.data only counts it. tf.data is put together
as OpenNMT-tf 2.32 does it, with 4 parallel calls and a prefetch. Where it is given fewer lines, which cost it as much
each, Tamis takes those too. TensorFlow is imported from the Python that runs this; where it is absent, the script says
so and times Tamis alone. Build first: cargo build --release -p host-tools.

Printed: seconds, seconds of the processor, which a busy machine leaves as they are, lines a second, the peak resident
memory of the process, batches, rows and ids without padding, which have to agree. With a NAME, benches/record/NAME.json
keeps them.
"""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
TOKENS = 32_000
SENTENCES = 1 << 16
BATCH_SIZE, MAXIMUM = 3072, 14


def make(folder, lines):
    """Sentences are drawn from a pool, so that Python is not what takes the time."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "made"
    if done.exists():
        return
    chance = random.Random(20260101)
    (folder / "vocab").write_text(
        "".join(f"{token}\n" for token in ["<blank>", "<s>", "</s>", *(f"t{n}" for n in range(TOKENS))])
    )
    for side in ("src", "tgt"):
        # One token in a hundred is in no vocabulary.
        word = lambda: (
            f"t{int(TOKENS ** chance.random()) - 1}" if chance.random() > 0.01 else f"u{chance.randrange(99999)}"
        )
        pool = [" ".join(word() for _ in range(chance.randint(1, 16))) + "\n" for _ in range(SENTENCES)]
        with open(folder / side, "w") as file:
            for start in range(0, lines, 1 << 16):
                file.writelines(chance.choices(pool, k=min(1 << 16, lines - start)))
    done.touch()


def measured(command):
    """Seconds, those of the processor, peak memory in KiB and the last thing printed by a process, which is JSON."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        if status:
            sys.exit(f"{command[0]}: status {status}")
        out.seek(0)
        printed = out.read()
        said = json.loads(printed.splitlines()[-1] if command[0] == sys.executable else printed)
        return {"seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_kib": usage.ru_maxrss}, said


def tamis(folder, *more):
    out = folder / "batches.safetensors"
    out.unlink(missing_ok=True)
    files = (
        "--src",
        folder / "src",
        "--tgt",
        folder / "tgt",
        "--src-vocab",
        folder / "vocab",
        "--tgt-vocab",
        folder / "vocab",
    )
    rule = (
        "--batch-type",
        "tokens",
        "--batch-size",
        BATCH_SIZE,
        "--length-bucket-width",
        1,
        "--max-src",
        MAXIMUM,
        "--max-tgt",
        MAXIMUM,
    )
    cost, report = measured(
        [TARGET / "release" / "host-tools", "batches", *files, *rule, *more, "-o", out, "--json", "--quiet"]
    )
    ids = sum(bucket["source_ids"] + bucket["target_ids"] for bucket in report["buckets"])
    out.unlink()
    return {**cost, "lines": report["lines"], "batches": report["batches"], "rows": report["rows"], "ids": ids}


def baseline(folder):
    cost, counted = measured([sys.executable, __file__, "--baseline", folder])
    return {**cost, "lines": int(folder.name), **counted}


def run_baseline(folder):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    started = time.perf_counter()
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.TextFileInitializer(
            str(folder / "vocab"),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        ),
        1,
    )

    def features(source, target):
        source, target = (table.lookup(tf.strings.split([line]).values) for line in (source, target))
        return (
            {"ids": source, "length": tf.shape(source)[0]},
            {
                "ids": tf.concat([[1], target], 0),
                "ids_out": tf.concat([target, [2]], 0),
                "length": tf.shape(target)[0] + 1,
            },
        )

    def kept(source, target):
        return tf.reduce_all([source["length"] > 0, source["length"] <= MAXIMUM, target["length"] <= MAXIMUM])

    def bucket(source, target):
        return tf.cast(tf.maximum(source["length"], target["length"]), tf.int64) - 1

    data = tf.data.Dataset.zip(tuple(tf.data.TextLineDataset(str(folder / side)) for side in ("src", "tgt")))
    data = data.map(features, num_parallel_calls=4).filter(kept)
    data = data.group_by_window(
        bucket,
        lambda _, window: window.padded_batch(BATCH_SIZE),
        window_size_func=lambda key: tf.maximum(BATCH_SIZE // (key + 1), 1),
    )
    batches = rows = ids = 0
    for source, target in data.prefetch(tf.data.AUTOTUNE):
        batches += 1
        rows += int(source["length"].shape[0])
        ids += int(source["length"].numpy().sum()) + int(target["length"].numpy().sum())
    print(
        json.dumps(
            {
                "batches": batches,
                "rows": rows,
                "ids": ids,
                "seconds_without_import": time.perf_counter() - started,
                "tensorflow": tf.__version__,
            }
        )
    )


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def cpu():
    names = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].split(":", 1)[1].strip() if names else platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?")
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--baseline-lines", type=int, default=5_000_000, help="lines for tf.data, at most --lines")
    parser.add_argument(
        "--folder", type=pathlib.Path, help="where the corpus is kept; else it is made anew and removed"
    )
    parser.add_argument("--baseline", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.baseline:
        return run_baseline(arguments.baseline)
    with tempfile.TemporaryDirectory() as scratch:
        base = arguments.folder or pathlib.Path(scratch)
        folder, shorter = (
            base / str(lines) for lines in (arguments.lines, min(arguments.lines, arguments.baseline_lines))
        )
        make(folder, arguments.lines)
        rows = {
            "tamis": tamis(folder),
            "tamis, --shuffle 100000": tamis(folder, "--shuffle", "100000"),
            "tamis, --shuffle -1": tamis(folder, "--shuffle", "-1"),
        }
        if importlib.util.find_spec("tensorflow"):
            make(shorter, int(shorter.name))
            ours, theirs = f"tamis, {shorter.name}", f"tf.data, {shorter.name}"
            rows[ours], rows[theirs] = tamis(shorter), baseline(shorter)
            for key in ("batches", "rows", "ids"):
                assert rows[ours][key] == rows[theirs][key], (key, rows)
        else:
            print("tf.data is not measured: this Python has no tensorflow")
    print(f"{'':24}{'seconds':>9}{'cpu s':>8}{'lines/s':>11}{'peak MiB':>10}{'batches':>9}{'rows':>10}{'ids':>12}")
    for name, row in rows.items():
        print(
            f"{name:24}{row['seconds']:9.1f}{row['cpu_seconds']:8.1f}{row['lines'] / row['seconds']:11.0f}"
            f"{row['peak_kib'] / 1024:10.1f}{row['batches']:9}{row['rows']:10}{row['ids']:12}"
        )
    if arguments.name:
        record = {
            "schema": "tamis-batches-bench-1",
            "machine": {"cpu": cpu(), "cores": os.cpu_count(), "load": os.getloadavg()[0]},
            "compiler": said("rustc", "--version"),
            "commit": said("git", "rev-parse", "--short=12", "HEAD"),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "lines": arguments.lines,
            "rows": rows,
        }
        path = ROOT / "benches" / "record" / f"{arguments.name}.json"
        path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
