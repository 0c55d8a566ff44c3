"""CSV: a document's rows of data, for spreadsheets.

Values stay in base units (nanoseconds, fractions, bytes); unknown is empty, never 0.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from launchlens.render.writer import Format, Manner

if TYPE_CHECKING:
    from launchlens.report.document import Document

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run what begins with these


def _write(document: Document, _manner: Manner) -> str:
    rows = list(document.data()) if document.data else []
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0] if rows else ["index"])
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Text on one line; an apostrophe before what a spreadsheet would take for a formula."""
    from launchlens.report.words import clean

    if not isinstance(value, str):
        return value
    flat = " ".join(clean(value).split())
    return f"'{flat}" if flat.startswith(_FORMULA) else flat


FORMAT = Format(
    "csv", "CSV", (".csv",), _write, kinds=frozenset({"comparison", "analysis"}), rank=4
)
