"""JSON: the record itself, as ``launchlens schema`` describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launchlens.render.writer import Format, Manner

if TYPE_CHECKING:
    from launchlens.report.document import Document


def _write(document: Document, _manner: Manner) -> str:
    from launchlens.serialize import to_json

    return to_json(document.record)


FORMAT = Format("json", "JSON", (".json",), _write, rank=3)
