"""Holds `minimal` on the smallest core to what it may take.

    limits.py TARGET CONTAINER-BYTES

TARGET is as for table.py, which shows the same figures for every board.
"""

import sys

import image
from table import Measured

BOARD = "cortex-m0plus"
# Bytes: flash without the container, statics and the deepest stack, and the loader's part of the flash.
FLASH, RAM, LOADER = 6144, 1024, 2048


def main():
    target, container = sys.argv[1:]
    measured = Measured(target)
    sizes = measured.sections(BOARD, "minimal")
    found = [
        ("flash without its container", image.flash(sizes) - int(container), FLASH),
        ("RAM, its stack included", image.ram(sizes) + measured.stack(BOARD, "minimal"), RAM),
        ("the loader's code", measured.modules(BOARD, "minimal").get("`tamis_runtime::format`", 0), LOADER),
    ]
    for what, size, limit in found:
        print(f"firmware: minimal on {BOARD}: {what}: {size} bytes of {limit}")
    if any(size > limit for _, size, limit in found):
        sys.exit("limits: minimal takes more than it may")


main()
