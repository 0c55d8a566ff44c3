"""Markdown, as GitHub shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launchlens.render.writer import Format, Manner

if TYPE_CHECKING:
    from launchlens.report.document import Document


def _write(document: Document, _manner: Manner) -> str:
    from launchlens.render.markdown.report import render

    return render(document)


FORMAT = Format("markdown", "Markdown for GitHub", (".md", ".markdown"), _write, rank=1)
