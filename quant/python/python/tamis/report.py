"""What `verify` and `inspect` find, as objects with a notebook's view."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from . import commands
from .commands import Gates, Option
from .errors import UsageError


class Report:
    """A verification: equality of every tier, the proof, how far from full precision, which mistakes.

    `to_dict` has everything, in the shape that `host-tools verify --json` prints; in a notebook it is the page of
    `--html`, with its drawings.
    """

    def __init__(
        self,
        content: dict[str, Any],
        page: str,
        warnings: Sequence[str] = (),
        part: tuple[bytes, bytes] | None = None,
    ) -> None:
        self._content = content
        self._page = page
        #: What was measured, and the container that it was measured on, where a part was asked for.
        self._part = part
        #: Limits that nobody set, and that a network of its kind usually keeps.
        self.warnings: list[str] = list(warnings)

    @staticmethod
    def merge(reports: Iterable[Report], *, gates: Gates | None = None) -> Report:
        """The report of all examples together, of reports that `verify(…, partial=True)` made of some of them each, in
        the order of the examples; of merged ones as well.

        Every figure made of outputs has the bits that one run over all examples gives it; the errors of layers differ
        in their last digits. Mistakes are those that one of the parts found.
        """
        with commands.place() as place:
            parts, model = [], None
            for index, report in enumerate(reports):
                if report._part is None:
                    raise UsageError(f"report {index}: holds no part", "verify(…, partial=True)")
                part, container = report._part
                parts.append(str(commands.written(place, f"report {index}", part)))
                model = model or commands.written(place, "model.bin", container)
            if model is None:
                raise UsageError("no reports to merge", "give those of verify(…, partial=True)")
            return reported(place, model, True, merge=parts, gates=commands.gates(place, gates))

    @property
    def passed(self) -> bool:
        """Whether every limit was kept."""
        return bool(self._content["passed"])

    @property
    def mistakes(self) -> list[dict[str, Any]]:
        """What a description, a checkpoint or examples got wrong."""
        return cast("list[dict[str, Any]]", self._content["mistakes"])

    @property
    def accuracy(self) -> dict[str, Any]:
        """How far the integers are from full precision."""
        return cast("dict[str, Any]", self._content["accuracy"])

    def to_dict(self) -> dict[str, Any]:
        """A copy of everything."""
        return cast("dict[str, Any]", json.loads(json.dumps(self._content)))

    def to_html(self) -> str:
        """The page that `host-tools verify --html` writes: one file, nothing from outside."""
        return self._page

    def _repr_html_(self) -> str:
        # The page has styles of its own, which end at the frame. As long as the page, where the notebook is trusted.
        page = html.escape(self._page, quote=True)
        fit = "this.style.height = `${this.contentDocument.documentElement.scrollHeight}px`"
        style = "width:100%;height:44em;border:0"
        return f'<iframe srcdoc="{page}" style="{style}" onload="{fit}" title="verification"></iframe>'

    def __repr__(self) -> str:
        total = self.accuracy["total"]
        verdict = "passed" if self.passed else "FAILED"
        failed = [gate["gate"] for gate in self._content["gates"] if not gate["passed"]]
        why = f" ({', '.join(failed)})" if failed else ""
        return (
            f"<tamis.Report {self._content['network']!r}: {verdict}{why}, {self.accuracy['samples']} examples, "
            f"error {total['mean']:+.4g} ± {total['sd']:.4g}, at most {total['max']:.4g} {self._content['unit']}>"
        )


def reported(place: Path, model: Path, partial: bool, **options: Option) -> Report:
    """What `verify` finds in a folder, and where it is to be merged, the part."""
    page, part = place / "report.html", place / "part"
    written = {"partial": part} if partial else {}
    content, warnings = commands.answer(place, "verify", model, html=page, **written, **options)
    content.pop("partial", None)
    kept = (part.read_bytes(), model.read_bytes()) if partial else None
    return Report(content, page.read_text(encoding="utf-8"), warnings, kept)


class Proof:
    """The bounds of a network's sums. `holds`: nothing can leave its type, whatever goes in."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content

    @property
    def holds(self) -> bool:
        """Whether nothing can overflow."""
        return bool(self._content["holds"])

    @property
    def bounds(self) -> list[dict[str, Any]]:
        """Every bound: tensor, row, least and greatest, the type, and the share of it that is used."""
        return cast("list[dict[str, Any]]", self._content["bounds"])

    def to_dict(self) -> dict[str, Any]:
        """A copy of everything."""
        return cast("dict[str, Any]", json.loads(json.dumps(self._content)))

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        return f"<tamis.Proof: {'holds' if self.holds else 'DOES NOT HOLD'}>"
