"""Tables of a report: metrics, request-level figures, kernels, calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from launchlens.records.comparison import Cell, Comparison, KernelChanges, Row
from launchlens.records.figures import Analysis, Group
from launchlens.render.format import (
    format_cell,
    format_change,
    format_interval,
    format_value,
    format_verdict,
)
from launchlens.render.html_figures import capitalized
from launchlens.render.html_page import CellView, Head, RowView, TableView

#: With more candidates than this, value, change and verdict share one column.
_SEPARATE_COLUMNS = 2

_CHIPS = {"better": "better", "worse": "worse", "same": "flat", "inconclusive": "flat"}


def metric_table(
    comparison: Comparison,
    rows: Sequence[Row],
    caption: str,
    folded: str = "",
) -> TableView:
    """Metric, baseline, and for each candidate its value, change and verdict."""
    names = [side.short for side in comparison.sides]
    separate = len(names) - 1 <= _SEPARATE_COLUMNS
    return TableView(
        caption,
        _metric_heads(names, separate=separate),
        _notes_once([_metric_row(row, names, separate=separate) for row in rows]),
        stack=True,
        folded=folded,
    )


def _notes_once(rows: Sequence[RowView]) -> tuple[RowView, ...]:
    """A note that many rows share stands whole at the first of them."""
    seen: set[str] = set()
    kept = []
    for row in rows:
        repeated = row.note in seen
        if row.note:
            seen.add(row.note)
        kept.append(replace(row, note="the note above holds here too") if repeated else row)
    return tuple(kept)


def _metric_heads(names: Sequence[str], *, separate: bool) -> tuple[tuple[Head, ...], ...]:
    first = Head("Metric", style="text")
    if len(names) == 2:
        heads = (first, Head(f"Baseline: {names[0]}"), Head(names[1]), Head("Change"))
        return ((*heads, Head("Verdict", style="text")),)
    if not separate:
        return ((first, Head(f"Baseline: {names[0]}"), *(Head(name) for name in names[1:])),)
    top = [Head("Metric", rows=2, style="text"), Head(f"Baseline: {names[0]}", rows=2)]
    top += [Head(name, span=3, style="group") for name in names[1:]]
    below = (Head("Value"), Head("Change"), Head("Verdict", style="text")) * (len(names) - 1)
    return (tuple(top), below)


def _metric_row(row: Row, names: Sequence[str], *, separate: bool) -> RowView:
    cells = [_value_cell(row, row.cells[0], f"Baseline: {names[0]}", style="start")]
    for name, cell in zip(names[1:], row.cells[1:], strict=True):
        if separate:
            cells.append(_value_cell(row, cell, name))
            cells.append(CellView(format_change(row, cell), "Change", "wrap"))
            cells.append(
                CellView(
                    format_verdict(cell.verdict), "Verdict", "text", _CHIPS.get(cell.verdict, "")
                )
            )
        else:
            value = _value_cell(row, cell, name)
            parts = (format_change(row, cell), format_verdict(cell.verdict), value.note)
            note = ", ".join(part for part in parts if part)
            cells.append(CellView(value.text, name, value.style, "", note))
    return RowView(capitalized(row.title), tuple(cells), row.note)


def _value_cell(row: Row, cell: Cell, label: str, style: str = "") -> CellView:
    notes = [cell.note] if cell.note else []
    if cell.value is not None and cell.ci_low != cell.ci_high:
        notes.append(format_interval(cell.ci_low, cell.ci_high, row.unit))
    if cell.value is not None and cell.source != "trace":
        notes.append(cell.source)
    if cell.value is None:
        style = f"{style} unknown".strip()
    note = ", ".join(note for note in notes if note)
    return CellView(format_cell(row, cell), label, style, "", note or None)


def kernel_change_table(changes: KernelChanges, baseline: str) -> TableView | None:
    """Kernels whose count differs from the baseline's; None when there is nothing to list."""
    listed = [
        *(("only in " + changes.candidate, diff) for diff in changes.added),
        *(("only in " + baseline, diff) for diff in changes.removed),
        *(("count differs", diff) for diff in changes.changed),
    ]
    if not listed:
        return None
    rows = tuple(
        RowView(
            diff.name,
            (
                CellView(what, "What", "text"),
                CellView(format_value(diff.baseline_count, "count"), f"Count, {baseline}"),
                CellView(
                    format_value(diff.candidate_count, "count"), f"Count, {changes.candidate}"
                ),
                CellView(format_value(diff.baseline_ns, "ns"), f"Time, {baseline}"),
                CellView(format_value(diff.candidate_ns, "ns"), f"Time, {changes.candidate}"),
            ),
            style="name",
        )
        for what, diff in listed
    )
    heads = (Head("Kernel", style="text"), *(Head(cell.label) for cell in rows[0].cells))
    heads = (heads[0], Head("What", style="text"), *heads[2:])
    caption = (
        f"{changes.candidate} beside {baseline}, per step: {len(changes.added)} kernels added, "
        f"{len(changes.removed)} removed, {len(changes.changed)} with another count."
    )
    return TableView(caption, (heads,), rows, stack=True, folded=caption)


def request_table(comparison: Comparison) -> TableView:
    """TTFT, ITL, latency and throughput of every side and concurrency."""
    rows = tuple(
        RowView(
            f"{side.short}, concurrency {one.concurrency}",
            (
                CellView(format_value(one.ttft_ns, "ns"), "TTFT"),
                CellView(format_value(one.itl_ns, "ns"), "ITL"),
                CellView(format_value(one.latency_ns, "ns"), "Request latency"),
                CellView(format_value(one.requests_per_s, "per_s"), "Requests"),
                CellView(format_value(one.tokens_per_s, "per_s"), "Tokens"),
                CellView(f"{one.isl} / {one.osl}", "ISL / OSL"),
            ),
        )
        for side in comparison.sides
        for one in side.facts.requests
    )
    labels = [cell.label for cell in rows[0].cells]
    heads = (Head("Variant", style="text"), *(Head(label) for label in labels))
    caption = "Request-level figures, untraced: medians over repetitions."
    return TableView(caption, (heads,), rows, stack=True)


def kernel_table(group: Group) -> TableView:
    """Kernels of a group by total time."""
    rows = tuple(
        RowView(
            row.name,
            (
                CellView(format_value(row.count, "count"), "Count"),
                CellView(format_value(row.total_ns, "ns"), "Total"),
                CellView(format_value(row.median_ns, "ns"), "Median"),
                CellView(format_value(row.share, "fraction"), "Share of kernel time"),
            ),
            style="name",
        )
        for row in group.kernels
    )
    heads = ("Count", "Total", "Median", "Share of kernel time")
    caption = f"Kernels of {group.steps} {group.phase} steps together."
    return TableView(
        caption,
        ((Head("Kernel", style="text"), *map(Head, heads)),),
        rows,
        stack=True,
        folded="All kernels",
    )


def group_table(group: Group, titles: Mapping[str, tuple[str, str]]) -> TableView:
    """Every figure of a group: median, confidence interval, quantiles.

    Args:
        group: the group.
        titles: title and unit of each metric, by name.
    """
    rows = []
    for name, stat in group.metrics.items():
        title, unit = titles.get(name, (name.removesuffix("_ns").replace("_", " "), _unit_of(name)))
        values = (stat.median, stat.p10, stat.p90, stat.p99)
        cells = [
            CellView(
                group_value(group, name, value, unit), label, "unknown" if value is None else ""
            )
            for label, value in zip(("Median", "p10", "p90", "p99"), values, strict=True)
        ]
        interval = ""
        if stat.ci_low != stat.ci_high:
            interval = format_interval(stat.ci_low, stat.ci_high, unit)
        cells.insert(1, CellView(interval, "95% interval of the median"))
        rows.append(RowView(capitalized(title), tuple(cells)))
    labels = ("Median", "95% interval of the median", "p10", "p90", "p99")
    caption = f"{group.phase}: {group.steps} steps used, {group.dropped} dropped."
    return TableView(
        caption, ((Head("Metric", style="text"), *map(Head, labels)),), tuple(rows), stack=True
    )


def group_value(group: Group, name: str, value: float | int | None, unit: str) -> str:
    """A group's figure as text. A graph span counts as busy throughout: idle is a lower bound."""
    bound = name.startswith("idle") and group.graph_tracing in ("graph", "mixed")
    return ("≥ " if bound and value is not None else "") + format_value(value, unit)


def step_table(analysis: Analysis) -> TableView:
    """The steps one by one."""
    rows = tuple(
        RowView(
            f"{step.index}: {step.range}",
            (
                CellView(step.phase, "Phase", "text"),
                CellView(format_value(step.launches, "count"), "Launches"),
                CellView(format_value(step.window_ns, "ns"), "Window"),
                CellView(format_value(step.busy_ns, "ns"), "Busy"),
                CellView(format_value(step.idle, "fraction"), "Idle"),
            ),
        )
        for step in analysis.steps
    )
    labels = ("Launches", "Window", "Busy", "Idle")
    heads = (Head("Step", style="text"), Head("Phase", style="text"), *map(Head, labels))
    return TableView("Every step", (heads,), rows, stack=True, folded="Every step")


def _unit_of(name: str) -> str:
    if name.endswith("_ns") or name.startswith("gaps_ns"):
        return "ns"
    return "fraction" if name.startswith("idle") else "count"
