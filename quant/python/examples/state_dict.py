"""From a state dict as torch's, a dict of numpy arrays, to a verified model of int8: a classifier of digits, 64-32-10.

    python quant/python/examples/state_dict.py
"""

from __future__ import annotations

import tamis
from tensors import REFERENCE, tensors_of

state_dict = tensors_of(REFERENCE / "digits.safetensors")  # net.state_dict() takes its place
data = tensors_of(REFERENCE / "digits.reference.safetensors")
arch, x, y = REFERENCE / "digits.toml", data["inputs"], data["labels"]

# The five lines.
model = tamis.quantise(state_dict, arch=arch, calibrate=data["calibration_inputs"])
report = tamis.verify(model, state_dict, arch=arch, inputs=x, labels=y)
assert report.passed and model.proof().holds
outputs = model(x)
right = (outputs.argmax(axis=1) == y).mean()

print(model)
print(report)
print(f"right answers: {right:.1%} of {len(x)}; in float {(data['outputs'].argmax(axis=1) == y).mean():.1%}")
assert abs(right - (data["outputs"].argmax(axis=1) == y).mean()) < 0.01
