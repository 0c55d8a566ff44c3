"""Stored runs as text: the table of all, one run in full, a trend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from launchlens.cli.output import terminal_width

if TYPE_CHECKING:
    from launchlens.records.stored import RunRow, StoredRun
    from launchlens.records.trend import TrendSeries


def render_rows(rows: Sequence[RunRow], *, width: int, color: bool) -> str:
    """All runs as a table; where it is narrow the last columns are left out."""
    from launchlens.render import write
    from launchlens.report.runs import runs_document

    return write(runs_document(rows), "terminal", width=width, color=color)


def render_rows_json(rows: Sequence[RunRow]) -> str:
    """All runs as one JSON object."""
    from launchlens.render import write
    from launchlens.report.runs import runs_document

    return write(runs_document(rows), "json")


def render_run(run: StoredRun, *, width: int, color: bool) -> str:
    """One run in full. Its commands stand at the end, a line each, to be copied."""
    from launchlens.render import write
    from launchlens.report.runs import run_document

    return write(run_document(run), "terminal", width=width, color=color)


def render_run_json(run: StoredRun) -> str:
    """One run as JSON; paths are those of this machine."""
    from launchlens.render import write
    from launchlens.report.runs import run_document

    return write(run_document(run), "json")


def newest_runs(series: Sequence[TrendSeries], limit: int | None) -> list[TrendSeries]:
    """The series with only their newest ``limit`` runs; None keeps all."""
    if limit is None:
        return list(series)
    return [replace(item, points=item.points[-limit:]) for item in series]


def render_trend_as(series: Sequence[TrendSeries], report_format: str) -> str:
    """A trend in one of the formats."""
    from launchlens.render import write
    from launchlens.report.trend import trend_document

    return write(trend_document(series), report_format, width=terminal_width())
