"""One HTML page that opens offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launchlens.render.writer import Format, Manner

if TYPE_CHECKING:
    from launchlens.report.document import Document


def _write(document: Document, _manner: Manner) -> str:
    from launchlens.render.html.page import write_page

    return write_page(document)


FORMAT = Format(
    "html",
    "a page that opens offline",
    (".html", ".htm"),
    _write,
    draws=True,
    for_eyes=False,
    rank=2,
)
