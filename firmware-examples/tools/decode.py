"""Prints what a firmware image logged through defmt.

    decode.py IMAGE < FRAMES

An image's log is frames of numbers; the words lie in the image's symbol table and never reach the board. This reads
version 4 of that format, as far as integers, strings, `Format` types and lists of them, which is what the examples log.
Anything else, a frame that ends early, one with bytes left over, and a log that ends within a frame are errors: a log
that lost a line must not pass for a short one.
"""

import json
import re
import subprocess
import sys

PARAMETER = re.compile(r"\{\{|\}\}|\{(\d*)(?:=([^:}]*))?(?::([^}]*))?\}")
INTEGER = re.compile(r"([ui])(8|16|32|64|128|size)$")
HINT = re.compile(r"(#?)(?:0(\d+))?([xXbo]?)$")


class Malformed(Exception):
    """A frame that no image of this version writes."""


def strings_of(image):
    """The interned strings by their numbers, which are addresses of symbols without a place in memory."""
    listed = subprocess.run(["arm-none-eabi-nm", image], check=True, capture_output=True, text=True).stdout
    symbols = [re.match(r"([0-9a-f]+) . (.*)", line) for line in listed.splitlines()]
    names = {int(found[1], 16): found[2] for found in symbols if found and found[2].startswith("{")}
    version = next((found[2] for found in symbols if found and "_defmt_version_ = " in found[2]), "no log at all")
    if not re.search(r"_defmt_version_ = \"?4\"?$", version):
        raise Malformed(f"this reads defmt's version 4; the image has {version}")
    return {number: json.loads(name)["data"] for number, name in names.items()}


def unstuffed(stuffed):
    """rzCOBS: read backwards, a byte says which of the bytes around it are zeros that were left out, or how many follow
    as they are."""
    found, rest = bytearray(), iter(reversed(stuffed))
    try:
        for code in rest:
            if code < 0x80:
                found += bytes(0 if code >> (6 - bit) & 1 else next(rest) for bit in range(7))
            elif code < 0xFF:
                found.append(0)
                found += bytes(next(rest) for _ in range((code & 0x7F) + 7))
            else:
                found += bytes(next(rest) for _ in range(134))
    except (StopIteration, RuntimeError):
        raise Malformed("a frame ends early") from None
    return bytes(reversed(found))


class Frame:
    """The bytes of a frame, and where the next value starts."""

    def __init__(self, strings, data):
        self.strings, self.data, self.place = strings, data, 0

    def take(self, len_bytes):
        if self.place + len_bytes > len(self.data):
            raise Malformed("a frame ends early")
        self.place += len_bytes
        return self.data[self.place - len_bytes : self.place]

    def integer(self, bits, is_signed=False):
        return int.from_bytes(self.take(bits // 8), "little", signed=is_signed)

    def string(self):
        """An interned one, by its number."""
        number = self.integer(16)
        if number not in self.strings:
            raise Malformed(f"the image has no string {number}")
        return self.strings[number]

    def message(self, text, outer=""):
        """A format string's text with its values; `outer` is the hint of the parameter that it stands for, if that has
        one."""
        variants = text.split("|")
        if len(variants) > 1:
            number = self.integer(8)
            if number >= len(variants):
                raise Malformed(f"{text} has no variant {number}")
            text = variants[number]
        values, pieces, end = [], [], 0
        for found in PARAMETER.finditer(text):
            pieces.append(text[end : found.start()])
            end = found.end()
            if found[0] in ("{{", "}}"):
                pieces.append(found[0][0])
                continue
            index, kind = int(found[1] or len(values)), found[2] or "?"
            # Values come in the order of their indices; no example shows them in another.
            if index > len(values):
                raise Malformed(f"{text} takes its values out of order")
            if index == len(values):
                values.append(self.value(kind, found[3] or "", outer))
            pieces.append(values[index])
        return "".join([*pieces, text[end:]])

    def value(self, kind, hint, outer):
        """One value as text. `{:?}` asks for quotes around strings, and for what the parameter around it asks
        otherwise."""
        chosen = hint or outer
        if integer := INTEGER.match(kind):
            bits = 32 if integer[2] == "size" else int(integer[2])
            return integer_text(self.integer(bits, integer[1] == "i"), bits, outer if hint == "?" else chosen)
        if kind == "bool":
            return "true" if self.integer(8) else "false"
        if kind == "str":
            return string_text(self.take(self.integer(32)).decode(), chosen)
        if kind == "istr":
            return string_text(self.string(), chosen)
        if kind == "?":
            return self.message(self.string(), chosen)
        if kind == "[?]":
            return self.list(self.integer(32), chosen)
        if array := re.match(r"\[\?; *(\d+)\]$", kind):
            return self.list(int(array[1]), chosen)
        if kind == "[u8]":
            return self.bytes(self.integer(32), chosen)
        if array := re.match(r"\[u8; *(\d+)\]$", kind):
            return self.bytes(int(array[1]), chosen)
        if kind == "__internal_FormatSequence":
            return "".join(iter(lambda: self.sequence(chosen), None))
        raise Malformed(f"this does not read values of the kind {kind}")

    def list(self, count, hint):
        text = self.string()
        return "[" + ", ".join(self.message(text, hint) for _ in range(count)) + "]"

    def bytes(self, count, hint):
        return "[" + ", ".join(integer_text(byte, 8, hint) for byte in self.take(count)) + "]"

    def sequence(self, hint):
        """The next message of several that make one value, or None behind the last."""
        number = self.integer(16)
        if number == 0:
            return None
        self.place -= 2
        return self.message(self.string(), hint)


def string_text(text, hint):
    return json.dumps(text, ensure_ascii=False) if hint == "?" else text


def integer_text(value, bits, hint):
    form = HINT.match("" if hint == "?" else hint)
    if not form:
        raise Malformed(f"this does not know the hint {hint}")
    alternate, width, base = form.groups()
    if base and value < 0:
        value += 1 << bits
    return format(value, f"{alternate}0{width or 1}{base or 'd'}")


def main():
    (image,) = sys.argv[1:]
    strings = strings_of(image)
    *frames, rest = sys.stdin.buffer.read().split(b"\0")
    for stuffed in filter(None, frames):
        frame = Frame(strings, unstuffed(stuffed))
        print(frame.message(frame.string()))
        if any(frame.data[frame.place :]):
            raise Malformed("a frame has bytes left over")
    if rest:
        raise Malformed("the log ends within a frame")


try:
    main()
except (Malformed, UnicodeDecodeError) as error:
    sys.exit(f"decode: {error}")
