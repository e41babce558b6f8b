"""Train the reference pair scorer on batches of `host-tools batches` and write its weights and its full-precision
outputs.

    python train_tokens.py             makes the corpus, trains, writes the files named tokens.*
    python train_tokens.py --check     recompute the stored outputs in float64 with numpy

Build first: cargo build --release -p host-tools.

Corpus: 2,000 source and 2,000 target words, each of one of 8 topics, common ones more often. A sentence has 3 to 12
words, three of four of its own topic, the rest of any; one word in fifty is in no vocabulary. A pair belongs together
if the target's topic is the source's partner, which holds for every second pair whatever the source is and whatever the
target is: no word says anything by itself, so that no linear model on counts of words does better than chance. One is
fitted beside, and its accuracy is printed.

    u, v   = mean of the source's, of the target's embeddings          (8,) each; padding left out, <s> in
    h      = max(hidden . [u, v, u * v] + bias, 0)                     (16,)
    logit  = score . h + bias

Loss: binary cross-entropy. 2,000 held-out pairs; 1,024 others for calibration.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import load_file
from torch import nn

from reference_files import common_metadata, prepare_torch, read_reference, report_agreement, write_reference

HERE = Path(__file__).parent
WORDS, TOPICS, UNKNOWN_SHARE, TOPIC_SHARE = 2000, 8, 0.02, 0.75
SHORTEST, LONGEST = 3, 12
WIDTH, HIDDEN = 8, 16
COUNTS = {"train": 40_000, "held-out": 2_000, "calibration": 1024}
# The rule of the batches: README.md shows it too.
RULE = [
    "--batch-type",
    "tokens",
    "--batch-size",
    "512",
    "--length-bucket-width",
    "1",
    "--max-src",
    "12",
    "--max-tgt",
    "13",
]


def make_corpus(folder: Path, seed: int) -> dict[str, np.ndarray]:
    """Writes text and vocabularies; gives the labels of each part, in the order of its lines."""
    chance = np.random.default_rng(seed)
    partner = chance.permutation(TOPICS)
    topic_of = {side: chance.permutation(WORDS) % TOPICS for side in "st"}
    words_of = {side: [np.flatnonzero(topic == wanted) for wanted in range(TOPICS)] for side, topic in topic_of.items()}

    def sentence(side: str, topic: int) -> str:
        words = []
        for _ in range(chance.integers(SHORTEST, LONGEST + 1)):
            if chance.random() < UNKNOWN_SHARE:
                words.append(f"{side}rare{chance.integers(1000)}")
                continue
            pool = words_of[side][topic if chance.random() < TOPIC_SHARE else chance.integers(TOPICS)]
            # The n-th word about 1 / n as often as the first.
            words.append(f"{side}{pool[int(len(pool) ** chance.random()) - 1]}")
        return " ".join(words) + "\n"

    labels = {}
    for part, count in COUNTS.items():
        sources = chance.integers(TOPICS, size=count)
        labels[part] = (chance.random(count) < 0.5).astype(np.uint8)
        others = (partner[sources] + chance.integers(1, TOPICS, size=count)) % TOPICS
        targets = np.where(labels[part] == 1, partner[sources], others)
        stem = "tokens" if part == "held-out" else f"tokens.{part}"
        (folder / f"{stem}.src").write_text("".join(sentence("s", topic) for topic in sources))
        (folder / f"{stem}.tgt").write_text("".join(sentence("t", topic) for topic in targets))
    for side, name in (("s", "src"), ("t", "tgt")):
        lines = ["<blank>", "<s>", "</s>", *(f"{side}{word}" for word in range(WORDS))]
        (folder / f"tokens.{name}.vocab").write_text("".join(f"{line}\n" for line in lines))
    return labels


def make_batches(host_tools: Path, folder: Path, stem: str, out: Path, *more: str) -> None:
    files = [
        "--src",
        f"{stem}.src",
        "--tgt",
        f"{stem}.tgt",
        "--src-vocab",
        "tokens.src.vocab",
        "--tgt-vocab",
        "tokens.tgt.vocab",
    ]
    subprocess.run(
        [host_tools.resolve(), "batches", *files, *RULE, *more, "-o", out, "--force", "--quiet"],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def read_batches(path: Path) -> tuple[list[dict[str, np.ndarray]], dict[str, str]]:
    """Each batch as its tensors, without the prefix."""
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
        parts = ("lines", "src.ids", "src.length", "tgt.ids", "tgt.ids_out", "tgt.length")
        return [
            {part: file.get_tensor(f"batch.{n}.{part}") for part in parts} for n in range(int(metadata["batches"]))
        ], metadata


class Network(nn.Module):
    """The definition in the module's header; a batch of ids and lengths -> logits (B,)."""

    def __init__(self, source_ids: int, target_ids: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(source_ids, WIDTH), nn.Embedding(target_ids, WIDTH)
        self.hidden, self.score = nn.Linear(3 * WIDTH, HIDDEN), nn.Linear(HIDDEN, 1)

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        u = mean(self.source(batch["src.ids"]), batch["src.length"])
        v = mean(self.target(batch["tgt.ids"]), batch["tgt.length"])
        return self.score(torch.relu(self.hidden(torch.cat([u, v, u * v], 1))))[:, 0]

    def tensors(self) -> dict[str, np.ndarray]:
        """As tokens.toml names them; both tables are one, each with zeros in the other's half."""
        source, target = (table.weight.detach().cpu().numpy() for table in (self.source, self.target))
        table = np.zeros((len(source) + len(target), 2 * WIDTH), np.float32)
        table[: len(source), :WIDTH] = source
        table[len(source) :, WIDTH:] = target
        layers = {
            f"{name}.{part}": getattr(layer, part).detach().cpu().numpy()
            for name, layer in (("hidden", self.hidden), ("score", self.score))
            for part in ("weight", "bias")
        }
        return {"bags.weight": table, **layers}


class Counts(nn.Module):
    """The best that counts of words can do by themselves: a weight a word, and a bias."""

    def __init__(self, source_ids: int, target_ids: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(source_ids, 1), nn.Embedding(target_ids, 1)
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        sums = [
            mean(getattr(self, side)(batch[f"{name}.ids"]), batch[f"{name}.length"]) * batch[f"{name}.length"][:, None]
            for side, name in (("source", "src"), ("target", "tgt"))
        ]
        return (sums[0] + sums[1])[:, 0] + self.bias


def mean(rows: torch.Tensor, length: torch.Tensor) -> torch.Tensor:
    """(B, T, W) -> (B, W) over the first `length` of T."""
    there = torch.arange(rows.shape[1], device=rows.device)[None, :] < length[:, None]
    return (rows * there[:, :, None]).sum(1) / length[:, None]


def train(network: nn.Module, batches: list[dict[str, torch.Tensor]], options: argparse.Namespace) -> None:
    """AdamW with a cosine learning rate; the batches in another order in each epoch."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, options.epochs)
    generator = torch.Generator().manual_seed(options.seed)
    for _ in range(options.epochs):
        for index in torch.randperm(len(batches), generator=generator).tolist():
            batch = batches[index]
            loss = nn.functional.binary_cross_entropy_with_logits(network(batch), batch["labels"])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()


def on_device(
    batches: list[dict[str, np.ndarray]], labels: np.ndarray, device: torch.device
) -> list[dict[str, torch.Tensor]]:
    tensors = [{part: torch.from_numpy(values).to(device) for part, values in batch.items()} for batch in batches]
    for batch, host in zip(tensors, batches):
        batch["labels"] = torch.from_numpy(labels[host["lines"]].astype(np.float32)).to(device)
    return tensors


def scores(network: nn.Module, batches: list[dict[str, torch.Tensor]]) -> list[np.ndarray]:
    with torch.no_grad():
        return [network(batch).cpu().numpy() for batch in batches]


def accuracy_of(logits: list[np.ndarray], labels: list[np.ndarray]) -> float:
    return float(((np.concatenate(logits) > 0) == (np.concatenate(labels) == 1)).mean())


def forward_float64(batch: dict[str, np.ndarray], tensors: dict[str, np.ndarray], source_ids: int) -> np.ndarray:
    """The network in numpy float64, from the tensors of tokens.safetensors: (B,)."""
    wide = {name: values.astype(np.float64) for name, values in tensors.items()}
    bags = np.zeros((len(batch["lines"]), 2 * WIDTH))
    for side, first in (("src", 0), ("tgt", source_ids)):
        for row, (ids, length) in enumerate(zip(batch[f"{side}.ids"], batch[f"{side}.length"])):
            bags[row] += wide["bags.weight"][first + ids[:length]].mean(0)
    joined = np.concatenate([bags, bags[:, :WIDTH] * bags[:, WIDTH:]], 1)
    hidden = np.maximum(joined @ wide["hidden.weight"].T + wide["hidden.bias"], 0.0)
    return (hidden @ wide["score.weight"].T + wide["score.bias"])[:, 0]


def run_training(options: argparse.Namespace) -> bool:
    device = prepare_torch(options.device, options.threads, options.seed)
    weights_path = options.directory / "tokens.safetensors"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        labels = make_corpus(folder, options.seed)
        make_batches(
            options.host_tools, folder, "tokens.train", folder / "train", "--shuffle", "-1", "--seed", str(options.seed)
        )
        make_batches(options.host_tools, folder, "tokens", folder / "held-out")
        train_batches = on_device(read_batches(folder / "train")[0], labels["train"], device)
        host_batches, metadata = read_batches(folder / "held-out")
        for name in (
            "tokens.src",
            "tokens.tgt",
            "tokens.src.vocab",
            "tokens.tgt.vocab",
            "tokens.calibration.src",
            "tokens.calibration.tgt",
        ):
            (options.directory / name).write_bytes((folder / name).read_bytes())
    batches = on_device(host_batches, labels["held-out"], device)
    sizes = int(metadata["src_vocabulary"]), int(metadata["tgt_vocabulary"])
    network, counts = Network(*sizes).to(device), Counts(*sizes).to(device)
    train(network, train_batches, options)
    train(counts, train_batches, options)
    write_reference(weights_path, network.tensors(), {"network": "tokens"})

    truth = [labels["held-out"][batch["lines"]] for batch in host_batches]
    logits = scores(network, batches)
    right, linear = accuracy_of(logits, truth), accuracy_of(scores(counts, batches), truth)
    tensors = {f"batch.{n}.{part}": values for n, batch in enumerate(host_batches) for part, values in batch.items()}
    for n, (values, label) in enumerate(zip(logits, truth)):
        tensors |= {f"batch.{n}.logits": values[:, None], f"batch.{n}.labels": label}
    facts = (
        common_metadata(device, options.seed, weights_path)
        | metadata
        | {
            "network": "tokens",
            "units": "logits",
            "accuracy": f"{right:.6f}",
            "accuracy_of_counts": f"{linear:.6f}",
        }
    )
    write_reference(options.directory / "tokens.reference.safetensors", tensors, facts)
    trained = [batch["labels"].cpu().numpy() for batch in train_batches]
    for name, model, held_out in (("pair scorer", network, right), ("linear model on counts", counts, linear)):
        print(
            f"{name}: {100 * held_out:.2f} % of {sum(map(len, truth))} held-out pairs right, "
            f"{100 * accuracy_of(scores(model, train_batches), trained):.2f} % in training"
        )
    print(f"trained on {facts['device']}, {facts['framework']}")
    return right > 0.9 and linear < 0.6


def run_check(options: argparse.Namespace) -> bool:
    weights_path = options.directory / "tokens.safetensors"
    stored, metadata = read_reference(options.directory / "tokens.reference.safetensors")
    tensors = load_file(weights_path)
    batches, _ = read_batches(options.directory / "tokens.reference.safetensors")
    recomputed = np.concatenate([forward_float64(batch, tensors, int(metadata["src_vocabulary"])) for batch in batches])
    logits, labels = (
        np.concatenate([stored[f"batch.{n}.{part}"].reshape(-1) for n in range(len(batches))])
        for part in ("logits", "labels")
    )
    print(
        f"held-out accuracy {accuracy_of([recomputed], [labels]):.4f} "
        f"(recorded {metadata['accuracy']}; of counts {metadata['accuracy_of_counts']})"
    )
    return report_agreement(logits, recomputed, weights_path, metadata)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="recompute the stored outputs; train nothing")
    parser.add_argument("--directory", type=Path, default=HERE, help="where the files lie")
    parser.add_argument("--host-tools", type=Path, default=HERE.parent.parent / "target" / "release" / "host-tools")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads; another number changes the sums' order")
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--learning-rate", type=float, default=1e-2)
    parser.add_argument("--weight-decay", type=float, default=0.05)
    return parser.parse_args()


if __name__ == "__main__":
    chosen = parse_options()
    sys.exit(0 if (run_check if chosen.check else run_training)(chosen) else 1)
