"""Text for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launchlens.render.writer import Format, Manner

if TYPE_CHECKING:
    from launchlens.report.document import Document


def _write(document: Document, manner: Manner) -> str:
    from launchlens.render.terminal.report import render

    return render(document, manner)


FORMAT = Format("terminal", "text for the terminal", (".txt",), _write, rank=0)
