"""A document as one HTML file that opens offline, with every number of the document in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launchlens.render.html.figures import figure
from launchlens.render.html.tables import capitalized, course_view, table_views
from launchlens.render.html.timelines import timeline_legend, timeline_payload
from launchlens.render.html.views import FigureView
from launchlens.report import words
from launchlens.report.document import Block, Chart, Course, Document, Section, Table, Timelines

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("words.js", "timeline.js", "report.js")
_CHIPS = {
    "confirmed": "worse",
    "likely": "worse",
    "failed": "worse",
    "fail": "worse",
    "cleared": "better",
    "ok": "better",
}
"""Colours of confidences and statuses; others are grey."""
_PROVENANCE = "Where the figures come from"


@dataclass(slots=True)
class _Page:
    """The page's sections as (anchor, title, blocks), and what its script draws.

    A block is its template's name and what the template shows.
    """

    sections: list[tuple[str, str, list[tuple[str, Any]]]] = field(default_factory=list)
    figures: list[FigureView] = field(default_factory=list)
    timelines: list[dict[str, Any]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def anchor(self, wanted: str) -> str:
        """An id that no other element has, whatever the document calls it."""
        name = re.sub(r"[^\w-]+", "-", wanted, flags=re.ASCII)[:60] or "part"
        free, number = name, 1
        while free in self.anchors:
            number += 1
            free = f"{name}-{number}"
        self.anchors.add(free)
        return free


def write_page(document: Document) -> str:
    """A document of any kind as one self-contained HTML page.

    Styles, script and data are inline; nothing refers to a network, and a policy forbids the
    browser to load anything.
    """
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    page = _Page(anchors={"main", "report-data"})
    for section in document.sections:
        _add(page, section)
    full = tuple(facts for facts in document.provenance if facts.prominence == "page")
    _add(page, Section("provenance", _PROVENANCE, full or document.provenance))
    drawn = ("id", "data", "layout", "labels")
    figures = [{name: getattr(one, name) for name in drawn} for one in page.figures]
    data = {"figures": figures, "timelines": page.timelines}
    plotly, script = get_plotlyjs(), _script()
    template = _environment().get_template("report.html.j2")
    # Marked as safe: the package's own files, plotly's, and JSON that `script_json` escaped.
    # Everything else goes through the template's escaping.
    text = template.render(
        document=document,
        tiles=[
            (capitalized(title), [(label, words.value(value)) for label, value in values])
            for title, values in document.tiles
        ],
        notices=_notices(document),
        chips=_CHIPS,
        capitalized=capitalized,
        sections=page.sections,
        policy=_policy(plotly, script),
        css=Markup((_TEMPLATES / "report.css").read_text("utf-8")),  # noqa: S704
        plotly=Markup(plotly),  # noqa: S704
        js=Markup(script),  # noqa: S704
        data=Markup(script_json(data)),  # noqa: S704
    )
    # A lone surrogate, which a damaged name can hold, cannot be written to any file.
    return text.encode("utf-8", "replace").decode("utf-8")


def _add(page: _Page, section: Section) -> None:
    """A section's blocks as the template knows them; charts that follow each other share rows."""
    anchor = page.anchor(section.anchor)
    blocks: list[tuple[str, Any]] = []
    charted = any(isinstance(block, Chart) for block in section.blocks)
    for block in section.blocks:
        # A chart draws a course, and its table holds every point.
        if isinstance(block, Course) and charted:
            continue
        for name, view in _views(page, section, block):
            if name == "figures" and blocks and blocks[-1][0] == name:
                blocks[-1][1].extend(view)
            else:
                blocks.append((name, view))
    if blocks:
        page.sections.append((anchor, section.title, blocks))


def _views(page: _Page, section: Section, block: Block) -> list[tuple[str, Any]]:
    if isinstance(block, Chart):
        page.figures.append(figure(block, page.anchor(block.anchor)))
        return [("figures", [page.figures[-1]])]
    if isinstance(block, Table):
        return [("table", view) for view in table_views(block, section.title)]
    if isinstance(block, Course):
        return [("table", course_view(block))]
    if isinstance(block, Timelines):
        anchor = page.anchor("timeline")
        page.timelines.append({"id": anchor} | timeline_payload(block.timelines))
        return [("timelines", (anchor, block, timeline_legend(block.timelines)))]
    return [(type(block).__name__.lower(), block)]


def _notices(document: Document) -> list[str]:
    """What makes figures doubtful: sides that are not alike first."""
    notices = []
    for what, values in document.differences:
        sides = zip(document.sides, values, strict=True)
        notices.append(f"{what} differs ({', '.join(f'{n}: {v}' for n, v in sides)}).")
    return [*notices, *document.cautions]


def _clean(value: Any) -> Any:
    """What a template shows, each line without control characters; the page's own parts as is."""
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(map(words.clean, value.split("\n")))


def _script() -> str:
    """The page's own script: its files in one function, so that no name leaks or clashes."""
    files = "".join((_TEMPLATES / name).read_text("utf-8") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{files}}})();'


def script_json(value: Any) -> str:
    """JSON that can stand inside a script element, whatever texts it holds.

    ``<``, ``>`` and ``&`` are written as escapes: no name can end the element or open a comment.
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(*scripts: str) -> str:
    """A content security policy: these scripts may run, nothing may be loaded from anywhere.

    plotly.js writes style elements of its own, so styles cannot be named by their hash.
    """
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
