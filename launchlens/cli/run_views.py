"""Stored runs as text: the table of all, one run in full, a trend."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from launchlens.cli.output import terminal_width
from launchlens.records.stored import RunList
from launchlens.records.trend import Trend
from launchlens.serialize import to_json

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from launchlens.records.stored import RunRow, StoredRun, StoredVariant
    from launchlens.records.trend import TrendSeries

_HASH = 7
_FACTS = (
    ("GPU", "gpu"),
    ("driver", "driver"),
    ("nsys", "nsys"),
    ("CUDA", "cuda"),
    ("torch", "torch"),
    ("transformers", "transformers"),
    ("Python", "python"),
)


def render_rows(rows: Sequence[RunRow], *, width: int, color: bool) -> str:
    """All runs as a table; where it is narrow the last columns are left out."""
    from launchlens.render.format import plain
    from launchlens.render.terminal_tables import to_text

    table = _table("run", "status", "variants", "commit", "model", "GPU")
    for row in rows:
        variants = [f"{v} (failed)" if v in row.failed else v for v in row.variants]
        status = "folder gone" if row.missing else row.status
        commit = _commit(row.git_commit, row.git_dirty)
        ran = ", ".join(variants) or "none"
        if row.shortened:  # in a column that stays, however narrow the terminal
            ran += f" ({row.shortened})"
        cells = (row.id, status, ran, commit, row.model, row.gpu)
        table.add_row(*(plain(cell or "") for cell in cells))
    _keep_whole(table, 0, 1, 3, 4, 5)
    return to_text([table], width=width, color=color)


def render_rows_json(rows: Sequence[RunRow]) -> str:
    """All runs as one JSON object."""
    return to_json(RunList(runs=tuple(rows)))


def render_run(run: StoredRun, *, width: int, color: bool) -> str:
    """One run in full. Its commands stand at the end, a line each, to be copied."""
    from rich.text import Text

    from launchlens.render.format import plain
    from launchlens.render.terminal_tables import to_text

    parts: list[RenderableType] = [Text(plain(run.id)), Text(), _facts_table(run)]
    if run.variants:
        parts += [Text(), _variants_table(run)]
    for variant in run.variants.values():
        parts += [Text(line) for line in _failure_lines(variant)]
    text = to_text(parts, width=width, color=color)
    text += "".join(f"\n{title}\n{''.join(lines)}" for title, lines in _long_lists(run) if lines)
    return text


def render_run_json(run: StoredRun) -> str:
    """One run as JSON; paths are those of this machine."""
    return to_json(run)


def newest_runs(series: Sequence[TrendSeries], limit: int | None) -> list[TrendSeries]:
    """The series with only their newest ``limit`` runs; None keeps all."""
    if limit is None:
        return list(series)
    return [replace(item, points=item.points[-limit:]) for item in series]


def render_trend_as(series: Sequence[TrendSeries], report_format: str) -> str:
    """A trend as "terminal", "html" or "json"."""
    if report_format == "json":
        return to_json(Trend(series=tuple(series)))
    if report_format == "html":
        from launchlens.render.html import render_trend_html

        return render_trend_html(series)
    from launchlens.render.trend import render_trend

    return render_trend(series, width=terminal_width())


def _facts_table(run: StoredRun) -> Table:
    from launchlens.render.format import plain

    known = run.environment
    facts: list[tuple[str, Any]] = [
        ("status", f"{run.status}: {run.reason}" if run.reason else run.status),
        ("began", run.created),
        ("ended", run.finished),
        ("model", run.model),
        ("layers", next((n for v in run.variants.values() if (n := v.facts.layers_note)), None)),
        *((title, known.get(name)) for title, name in _FACTS),
        ("commit", _commit(known.get("git_commit"), known.get("git_dirty"), whole=True)),
        ("folder", run.folder),
    ]
    table = _table("", "")
    table.show_header = False
    for title, value in facts:
        if value:
            table.add_row(title, plain(str(value), 1000))
    return table


def _variants_table(run: StoredRun) -> Table:
    from launchlens.render.format import format_value, plain

    table = _table("variant", "status", "untraced step", "peak memory", "traces")
    for variant in run.variants.values():
        facts = variant.facts
        several = len(facts.untraced) > 1
        walls = [
            format_value(wall.wall_ns.median, "ns") + (f" ({wall.phase})" if several else "")
            for wall in facts.untraced
        ]
        memory = facts.peak_memory_bytes
        table.add_row(
            plain(variant.name),
            variant.status,
            ", ".join(walls) or "not measured",
            "not measured" if memory is None else format_value(memory, "bytes"),
            ", ".join(variant.traces) or "none",
        )
    return table


def _failure_lines(variant: StoredVariant) -> list[str]:
    from launchlens.render.format import plain
    from launchlens.render.terminal import describe_finding

    failure = variant.facts.failure
    if failure is None:
        return []
    where = f" at {plain(failure.source)}" if failure.source else ""
    lines = ["", f"{plain(variant.name)} {failure.words}{where}: {plain(failure.error_line, 400)}"]
    lines += [plain(failure.hint, 400)] if failure.hint else []
    return lines + [f"  {describe_finding(finding)}" for finding in variant.findings]


def _long_lists(run: StoredRun) -> list[tuple[str, list[str]]]:
    """Traces and commands: what is copied, so it is neither folded nor cut."""
    traces = [
        f"  {variant.reference}  {trace.kind}  {trace.file}\n"
        for variant in run.variants.values()
        for trace in variant.traces.values()
    ]
    commands = [f"  # {name}\n  {shlex.join(words)}\n" for name, words in run.commands.items()]
    return [("traces", traces), ("commands", commands)]


def _table(*headers: str) -> Table:
    from launchlens.render.terminal_tables import new_table

    return new_table(*headers, numbers_from=len(headers))


def _keep_whole(table: Table, *columns: int) -> None:
    """Columns of names that are copied, and of short words, are never folded."""
    from rich.cells import cell_len

    for number in columns:
        column = table.columns[number]
        column.min_width = max(cell_len(str(cell)) for cell in (column.header, *column.cells))
        column.no_wrap = True


def _commit(commit: str | None, dirty: bool | None, *, whole: bool = False) -> str:
    """A hash, with "+" behind it when files were changed."""
    if not commit:
        return ""
    if whole:
        return f"{commit}, with files changed" if dirty else commit
    return commit[:_HASH] + ("+" if dirty else "")
