"""Feeds for other tools: github-action-benchmark, spreadsheets (CSV), data frames (Parquet).

Values stay in base units (nanoseconds, fractions, bytes); unknown is empty or null, never 0.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from launchlens.records.figures import Gaps, Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from launchlens.records.comparison import Cell, Comparison, Row
    from launchlens.records.figures import Analysis

Record = dict[str, Any]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run what begins with these


def render_benchmark_json(
    comparison: Comparison, *, bigger_is_better: bool = False, headline: bool = True
) -> str:
    """Figures for github-action-benchmark, tool ``customSmallerIsBetter``.

    Args:
        comparison: every side with a known figure gives an entry.
        bigger_is_better: give the figures of which more is better instead (throughput), for
            the tool ``customBiggerIsBetter``; the two never go into one file.
        headline: only the metrics that reports lead with.

    Returns:
        A JSON list of objects with ``name``, ``unit``, ``value``, and where known ``range``
        (95% interval) and ``extra`` (where the figure comes from).
    """
    wanted = 1 if bigger_is_better else -1
    entries = []
    for phase in comparison.phases:
        for row in phase.rows:
            if row.direction != wanted or (headline and not row.headline):
                continue
            for place, (side, cell) in enumerate(zip(comparison.sides, row.cells, strict=True)):
                if cell.value is not None:
                    name = f"{side.label} · {phase.phase} · {row.metric}"
                    if len([p for p in comparison.phases if p.phase == phase.phase]) > 1:
                        name += f" · {phase.groups[place]}"
                    entries.append(_benchmark_entry(name, row, cell))
    entries += _request_entries(comparison, bigger_is_better=bigger_is_better)
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def render_comparison_csv(comparison: Comparison) -> str:
    """A comparison as CSV: a row for each phase, metric and side, with changes and verdicts."""
    return _render_csv(_comparison_columns(), _comparison_records(comparison))


def render_analysis_csv(analysis: Analysis) -> str:
    """One trace as CSV: a row for each step, every figure a column (gaps as ``gaps_ns.host``)."""
    records = list(_step_records(analysis))
    return _render_csv(list(records[0]) if records else ["index"], records)


def render_comparison_parquet(comparison: Comparison) -> bytes:
    """The rows of `render_comparison_csv` as a Parquet file, with types."""
    types: dict[str, Any] = dict.fromkeys(("value", "ci_low", "ci_high", "threshold"), float)
    types |= dict.fromkeys(("change", "relative"), float) | {"note": str}
    return _render_parquet(list(_comparison_records(comparison)), _comparison_columns(), types)


def render_analysis_parquet(analysis: Analysis) -> bytes:
    """The rows of `render_analysis_csv` as a Parquet file, with types."""
    records = list(_step_records(analysis))
    return _render_parquet(records, list(records[0]) if records else ["index"], _step_types())


def _benchmark_entry(name: str, row: Row, cell: Cell) -> Record:
    entry: Record = {"name": _flat(name), "unit": row.unit, "value": cell.value}
    if cell.ci_low is not None and cell.ci_high is not None:
        entry["range"] = f"{cell.ci_low} to {cell.ci_high}"
    entry["extra"] = f"{row.title}; {cell.source}; {cell.n} steps"
    if cell.note:
        entry["extra"] += f"; {cell.note}"
    return entry


def _request_entries(comparison: Comparison, *, bigger_is_better: bool) -> Iterator[Record]:
    metrics = (
        (("requests_per_s", "per_s"), ("tokens_per_s", "per_s"))
        if bigger_is_better
        else (("ttft_ns", "ns"), ("itl_ns", "ns"), ("latency_ns", "ns"))
    )
    for side in comparison.sides:
        for figures in side.facts.requests:
            load = f"ISL {figures.isl}, OSL {figures.osl}, concurrency {figures.concurrency}"
            for metric, unit in metrics:
                value = getattr(figures, metric)
                if value is not None:
                    name = _flat(f"{side.label} · requests · {metric} · {load}")
                    extra = f"untraced; {figures.repetitions} repetitions"
                    yield {"name": name, "unit": unit, "value": value, "extra": extra}


def _comparison_columns() -> list[str]:
    return [
        "phase",
        "group",
        "metric",
        "title",
        "unit",
        "side",
        "is_baseline",
        "value",
        "ci_low",
        "ci_high",
        "n",
        "change",
        "relative",
        "verdict",
        "source",
        "note",
        "threshold",
        "direction",
    ]


def _comparison_records(comparison: Comparison) -> Iterator[Record]:
    for phase in comparison.phases:
        for row in phase.rows:
            for place, (side, cell) in enumerate(zip(comparison.sides, row.cells, strict=True)):
                yield {
                    "phase": phase.phase,
                    "group": phase.groups[place],
                    "metric": row.metric,
                    "title": row.title,
                    "unit": row.unit,
                    "side": side.label,
                    "is_baseline": place == 0,
                    "threshold": row.threshold,
                    "direction": row.direction,
                } | asdict(cell)


def _step_records(analysis: Analysis) -> Iterator[Record]:
    causes = ("lead_in", "host", "launch", "sync", "device", "tail", "unlinked")
    for step in analysis.steps:
        record = asdict(step)
        gaps = record.pop("gaps_ns") or {}
        reason = record.pop("unknown_reason")
        record |= {f"gaps_ns.{cause}": gaps.get(cause) for cause in causes}
        yield record | {"unknown_reason": reason}


def _render_csv(columns: Sequence[str], records: Iterable[Record]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for record in records:
        writer.writerow([_csv_cell(record.get(name)) for name in columns])
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if isinstance(value, str):
        flat = _flat(value)
        return f"'{flat}" if flat.startswith(_FORMULA) else flat
    return value


def _render_parquet(
    records: list[Record], columns: Sequence[str], types: Mapping[str, Any]
) -> bytes:
    """Columns have the types given, also where every value is unknown: files can be joined."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    known: dict[Any, Any] = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    arrays = {
        name: pa.array([r.get(name) for r in records], known.get(types.get(name)))
        for name in columns
    }
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays), sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def _step_types() -> dict[str, Any]:
    """Types of a step's columns, as its record declares them; None among them means unknown."""
    hints = get_type_hints(Step)
    types = {name: _known_type(hint) for name, hint in hints.items()}
    return types | {f"gaps_ns.{name}": int for name in get_type_hints(Gaps)}


def _known_type(hint: Any) -> Any:
    """``int`` for ``int | None``; words of a closed list are text."""
    parts = [part for part in get_args(hint) or (hint,) if part is not type(None)]
    first = parts[0]
    return first if first in (int, float, str) else str


def _flat(text: str) -> str:
    """On one line, so that a row of CSV is a line. Quotes and commas are the writer's matter."""
    return " ".join(text.split())
