"""A document as one HTML file that opens offline, with every number of the document in it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launchlens.render.html.cards import cards
from launchlens.render.html.figures import figure
from launchlens.render.html.packed import packed, packed_json, plotly_source
from launchlens.render.html.tables import capitalized, course_view, table_views
from launchlens.render.html.timelines import timeline_legend, timeline_payload
from launchlens.report import words
from launchlens.report.document import Block, Course, Document, Facts, Section, Table, Text
from launchlens.report.pictures import Chart, Timelines

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("tips.js",)
_TIMELINE_SCRIPTS = ("words.js", "lanes.js", "links.js", "timeline.js", "input.js")
_READY = "ready.js"
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


@dataclass(frozen=True, slots=True)
class _Part:
    """A section as the template shows it: a block is its template's name and what that shows."""

    anchor: str
    title: str
    blocks: list[tuple[str, Any]]


@dataclass(slots=True)
class _Page:
    """The page's sections, those to be seen at a glance first, and what its script draws."""

    glance: list[_Part] = field(default_factory=list)
    sections: list[_Part] = field(default_factory=list)
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

    Styles, scripts and data are inline; nothing refers to a network, and a policy forbids the
    browser to load anything. plotly.js is there only for timelines.
    """
    from markupsafe import Markup

    page = _Page(anchors={"main", "timeline-data", "plotly-packed"})
    for section in _sections(document):
        _add(page, section, document)
    script = _script(timelines=bool(page.timelines))
    template = _environment().get_template("report.html.j2")
    # Marked as safe: the package's own files, and base64.
    # Everything else goes through the template's escaping.
    text = template.render(
        document=document,
        cards=cards(document),
        notices=_notices(document),
        chips=_CHIPS,
        capitalized=capitalized,
        page=page,
        policy=_policy(*([plotly_source()] if page.timelines else []), script),
        css=Markup((_TEMPLATES / "report.css").read_text("utf-8")),  # noqa: S704
        plotly=Markup(packed(plotly_source())) if page.timelines else "",  # noqa: S704
        js=Markup(script),  # noqa: S704
        data=Markup(packed_json(page.timelines)) if page.timelines else "",  # noqa: S704
    )
    # A lone surrogate, which a damaged name can hold, cannot be written to any file.
    return text.encode("utf-8", "replace").decode("utf-8")


def _sections(document: Document) -> Iterator[Section]:
    """The document's own, then what it says of all of them."""
    yield from document.sections
    if document.remarks:
        yield Section("notes", "Notes", (Text(document.remarks, "list"),))
    full = tuple(facts for facts in document.provenance if facts.prominence == "page")
    yield Section("provenance", _PROVENANCE, full or document.provenance)


def _add(page: _Page, section: Section, document: Document) -> None:
    """A section's blocks as the template knows them; charts that follow each other share rows."""
    anchor = page.anchor(section.anchor)
    blocks: list[tuple[str, Any]] = []
    charted = any(isinstance(block, Chart) for block in section.blocks)
    for block in section.blocks:
        # A chart draws a course, and its table holds every point.
        if isinstance(block, Course) and charted:
            continue
        for name, view in _views(page, section, block, document):
            if name == "figures" and blocks and blocks[-1][0] == name:
                blocks[-1][1].extend(view)
            else:
                blocks.append((name, view))
    if blocks:
        part = _Part(anchor, section.title, blocks)
        (page.glance if section.glance else page.sections).append(part)


def _views(
    page: _Page, section: Section, block: Block, document: Document
) -> list[tuple[str, Any]]:
    if isinstance(block, Chart):
        return [("figures", [figure(block, page.anchor(block.anchor))])]
    if isinstance(block, Table):
        return [("table", v) for v in table_views(block, section.title, document.fastest)]
    if isinstance(block, Course):
        return [("table", course_view(block))]
    if isinstance(block, Timelines):
        anchor = page.anchor("timeline")
        payload = timeline_payload(block.timelines, block.numbers)
        page.timelines.append({"id": anchor} | payload)
        return [("timelines", (anchor, block, timeline_legend(block.timelines)))]
    if isinstance(block, Facts) and section.folds and block.prominence == "more":
        return [("folded_facts", block)]
    return [(type(block).__name__.lower(), block)]


def _notices(document: Document) -> list[str]:
    """What makes figures doubtful; first what the whole comparison is worth less for."""
    return [said[:1].upper() + said[1:] for said in (*document.warnings, *document.cautions)]


def _clean(value: Any) -> Any:
    """What a template shows, each line without control characters; the page's own parts as is."""
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(map(words.clean, value.split("\n")))


def _script(*, timelines: bool) -> str:
    """The page's own script: its files in one function, so that no name leaks or clashes."""
    names = (*_SCRIPTS, *(_TIMELINE_SCRIPTS if timelines else ()), _READY)
    files = "".join((_TEMPLATES / name).read_text("utf-8") for name in names)
    return f'(() => {{\n"use strict";\n{files}}})();'


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
