"""Holds `minimal` on the smallest core to the memory that it may take; tools/minimal.py holds its code.

    limits.py TARGET

TARGET is as for table.py, which shows the same figures for every board.
"""

import sys

import image
from table import Measured

BOARD = "cortex-m0plus"
# Bytes: statics and the deepest stack. Growth beyond them is to be explained, and is an error until then.
RAM = 640


def main():
    (target,) = sys.argv[1:]
    measured = Measured(target, [BOARD])
    taken = image.ram(measured.sections(BOARD, "minimal")) + measured.stack(BOARD, "minimal")
    print(f"firmware: minimal on {BOARD}: {taken} bytes of RAM, its stack included, at most {RAM}")
    if taken > RAM:
        sys.exit("limits: minimal takes more memory than it may")


main()
