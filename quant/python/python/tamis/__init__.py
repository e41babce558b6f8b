"""Tamis: trained networks as integers, proved, verified and run, with the same bits on every machine.

```python
import tamis

model = tamis.quantise(net.state_dict(), arch="784:relu128:linear10", calibrate=x_train[:500])
outputs = model(x_test)                                     # (n, 10), as `host-tools eval` prints them
report = tamis.verify(model, net.state_dict(), arch="784:relu128:linear10", inputs=x_test)
assert report.passed
model.save("net.bin")
```

`tamis.arrow` scores record batches, for engines on several machines.

Everything is done by the crates `tamis-quant` and `tamis-runtime` and by the commands of `host-tools`; what a keyword
means is what the command line's option of that name means.
"""

from __future__ import annotations

from . import errors
from .errors import FileError, GateError, MalformedError, TamisError, UnsupportedError, UsageError
from .jobs import load, proof, quantise, verify
from .model import Model
from .report import Proof, Report

__all__ = [
    "FileError",
    "GateError",
    "MalformedError",
    "Model",
    "Proof",
    "Report",
    "TamisError",
    "UnsupportedError",
    "UsageError",
    "errors",
    "load",
    "proof",
    "quantise",
    "verify",
]
