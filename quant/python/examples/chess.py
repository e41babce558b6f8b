"""How far is my NNUE from float? The reference chess network on the positions that its trainer left out.

    python quant/python/examples/chess.py
"""

from __future__ import annotations

import numpy as np
import tamis
from tensors import REFERENCE, tensors_of

checkpoint = REFERENCE / "nnue.weights.bin"
arch = REFERENCE.parent / "architectures/reference.toml"
data = tensors_of(REFERENCE / "nnue.reference.safetensors")
records = data["positions"].tobytes()  # BulletFormat, 32 bytes a position; a list of FENs does as well

model = tamis.quantise(checkpoint, arch=arch)
report = tamis.verify(model, checkpoint, arch=arch, positions=records)
print(report)
assert report.passed

# The same against what the training framework itself printed, centipawns for the side to move.
values = model.evaluate(records)
trained = 400 * data["outputs"].astype(np.float64)
apart = np.abs(values - trained)
print(f"from torch's own outputs: {apart.mean():.2f} centipawns on average, at most {apart.max():.2f}")
print(f"startpos: {model.evaluate('startpos')}")
assert values.shape == trained.shape and apart.mean() < 5
