"""The HTML report: one file that opens offline, with every number of the record in it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launchlens.records.comparison import Comparison
from launchlens.records.figures import Analysis
from launchlens.records.timeline import Timeline
from launchlens.records.trend import TrendSeries
from launchlens.render.format import sentences
from launchlens.render.html_analysis import analysis_page
from launchlens.render.html_page import Page
from launchlens.render.html_sections import (
    comparison_notices,
    comparison_sections,
    headline_tiles,
)
from launchlens.render.html_timeline import timeline_legend, timeline_payload
from launchlens.render.html_trend import trend_page

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("words.js", "timeline.js", "report.js")


def render_comparison_html(comparison: Comparison, timelines: Sequence[Timeline] = ()) -> str:
    """A comparison as one self-contained HTML page.

    Args:
        comparison: the record; every number of the page is one of its numbers.
        timelines: one step of each side, drawn on a common time axis.

    Returns:
        The page: styles, script and data inline, no reference to anything on a network, and a
        policy that forbids the browser to load any.
    """
    candidates = ", ".join(side.short for side in comparison.candidates)
    names = comparison.baseline.short + (f" → {candidates}" if candidates else "")
    page = Page(
        title=comparison.title or f"launchlens: {names}",
        sentences=tuple(sentences(comparison)),
        tiles=headline_tiles(comparison),
        notices=comparison_notices(comparison),
        blocks=comparison_sections(comparison, timelines),
    )
    return _render(page, timelines)


def render_analysis_html(analysis: Analysis, timelines: Sequence[Timeline] = ()) -> str:
    """The figures of one trace as one self-contained HTML page.

    Args:
        analysis: the record.
        timelines: steps to draw on a common time axis.

    Returns:
        The page, as `render_comparison_html`.
    """
    return _render(analysis_page(analysis, timelines), timelines)


def render_trend_html(series: Sequence[TrendSeries]) -> str:
    """A figure over stored runs as one self-contained HTML page.

    Args:
        series: from the store, at least one; all of the same figure.

    Returns:
        The page, as `render_comparison_html`.
    """
    return _render(trend_page(series), ())


def _render(page: Page, timelines: Sequence[Timeline]) -> str:
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    figures = [figure for block in page.blocks for figure in block.figures]
    data = {
        "figures": [
            {"id": f.id, "data": f.data, "layout": f.layout, "labels": f.labels} for f in figures
        ],
        "timeline": timeline_payload(timelines),
    }
    plotly, script = get_plotlyjs(), _script()
    template = _environment().get_template("report.html.j2")
    # Marked as safe: the package's own files, plotly's, and JSON that `script_json` escaped.
    # Everything else goes through the template's escaping.
    text = template.render(
        page=page,
        sections=[(block.anchor, block.title) for block in page.blocks],
        legend=timeline_legend(timelines),
        policy=_policy(plotly, script),
        css=Markup((_TEMPLATES / "report.css").read_text("utf-8")),  # noqa: S704
        plotly=Markup(plotly),  # noqa: S704
        js=Markup(script),  # noqa: S704
        data=Markup(script_json(data)),  # noqa: S704
    )
    # A lone surrogate, which a damaged name can hold, cannot be written to any file.
    return text.encode("utf-8", "replace").decode("utf-8")


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
        trim_blocks=True,
        lstrip_blocks=True,
    )
