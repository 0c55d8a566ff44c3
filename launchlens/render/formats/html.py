"""One HTML page that opens offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launchlens.render.writer import Format, Manner

if TYPE_CHECKING:
    from launchlens.report.document import Document


def _write(document: Document, _manner: Manner) -> str:
    from launchlens.render import html
    from launchlens.report.document import Timelines

    blocks = [block for section in document.sections for block in section.blocks]
    drawn = [t for b in blocks if isinstance(b, Timelines) for t in b.timelines]
    if document.kind == "trend":
        return html.render_trend_html(document.record.series)
    if document.kind == "analysis":
        return html.render_analysis_html(document.record, drawn)
    return html.render_comparison_html(document.record, drawn)


FORMAT = Format(
    "html",
    "a page that opens offline",
    (".html",),
    _write,
    kinds=frozenset({"comparison", "analysis", "trend"}),
    rank=2,
)
