"""Feeds for other tools: github-action-benchmark, data frames (Parquet).

Parquet has base units (nanoseconds, fractions, bytes), a benchmark's history those that people
read; unknown is empty or null, never 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints

from launchlens.catalogue import by_name
from launchlens.plural import counted
from launchlens.records.comparison import Cell, Comparison, Row
from launchlens.records.figures import Analysis, Gaps, Step
from launchlens.records.limits import Number
from launchlens.report.data import comparison_rows, step_rows
from launchlens.report.words import clean
from launchlens.serialize import inert_json

Record = dict[str, Any]

_SHOWN = {
    "ns": (1e-6, "ms"),
    "fraction": (100, "%"),
    "bytes": (2.0**-20, "MiB"),
    "per_s": (1, "/s"),
}
"""How charts of a history show a unit: the factor, and its name; others stay as they are."""
_DECIMALS = 6  # of milliseconds: down to a nanosecond


def render_benchmark_json(
    comparison: Comparison, *, bigger_is_better: bool = False, headline: bool = True
) -> str:
    """Figures for github-action-benchmark, tool ``customSmallerIsBetter``.

    A JSON list of objects with ``name`` (side, phase and title of the metric), ``unit`` (ms, %, MiB
    or /s), ``value``, where known ``range`` (95% interval) and ``extra`` (the metric's name, where
    the figure comes from), one for every side with a known figure.

    Args:
        comparison: the record.
        bigger_is_better: give the figures of which more is better instead (throughput), for
            the tool ``customBiggerIsBetter``; the two never go into one file.
        headline: only the metrics that reports lead with.
    """
    wanted = 1 if bigger_is_better else -1
    entries = []
    for phase in comparison.phases:
        for row in phase.rows:
            if row.direction != wanted or (headline and not row.headline):
                continue
            for place, (side, cell) in enumerate(zip(comparison.sides, row.cells, strict=True)):
                if cell.value is not None:
                    name = f"{side.label} · {phase.phase} · {row.title}"
                    if len([p for p in comparison.phases if p.phase == phase.phase]) > 1:
                        name += f" · {phase.groups[place]}"
                    entries.append(_benchmark_entry(name, row, cell))
    entries += _request_entries(comparison, bigger_is_better=bigger_is_better)
    return inert_json(json.dumps(entries, indent=1, ensure_ascii=False)) + "\n"


def render_comparison_parquet(comparison: Comparison) -> bytes:
    """A comparison as a Parquet file: a row for each phase, metric and side, as in CSV."""
    floats = ("value", "ci_low", "ci_high", "threshold", "change", "relative")
    types: dict[str, Any] = dict.fromkeys(floats, float) | {"note": str}
    return _render_parquet(list(comparison_rows(comparison)), types)


def render_analysis_parquet(analysis: Analysis) -> bytes:
    """One trace as a Parquet file: a row for each step, as in CSV."""
    return _render_parquet(list(step_rows(analysis)), _step_types())


def _benchmark_entry(name: str, row: Row, cell: Cell) -> Record:
    assert cell.value is not None
    value, unit = _shown(cell.value, row.unit)
    entry: Record = {"name": _flat(name), "unit": unit, "value": value}
    if cell.ci_low is not None and cell.ci_high is not None and not cell.bound:
        low, high = (_shown(end, row.unit)[0] for end in (cell.ci_low, cell.ci_high))
        entry["range"] = f"{low:g} to {high:g}"
    extra = f"{row.metric}; {cell.source}; {counted(cell.n, 'step')}"
    if cell.bound:
        extra += f"; only {'an' if cell.bound == 'upper' else 'a'} {cell.bound} bound"
    entry["extra"] = _flat(f"{extra}; {cell.note}" if cell.note else extra)
    return entry


def _request_entries(comparison: Comparison, *, bigger_is_better: bool) -> Iterator[Record]:
    wanted = 1 if bigger_is_better else -1
    metrics = [m for m in by_name().values() if m.owner == "request" and m.direction == wanted]
    for side in comparison.sides:
        for figures in side.facts.requests:
            load = f"ISL {figures.isl}, OSL {figures.osl}, concurrency {figures.concurrency}"
            for metric in metrics:
                known = getattr(figures, metric.name)
                if known is not None:
                    value, unit = _shown(known, metric.unit)
                    name = _flat(f"{side.label} · requests · {metric.title} · {load}")
                    repeated = counted(figures.repetitions, "repetition")
                    extra = f"{metric.name}; untraced; {repeated}"
                    yield {"name": name, "unit": unit, "value": value, "extra": extra}


def _shown(value: Number, unit: str) -> tuple[Number, str]:
    """A value and its unit as charts show them."""
    if unit not in _SHOWN:
        return value, unit
    factor, name = _SHOWN[unit]
    return round(value * factor, _DECIMALS), name


def _render_parquet(records: list[Record], types: Mapping[str, Any]) -> bytes:
    """Columns have the types given, also where every value is unknown: files can be joined."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    known: dict[Any, Any] = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    arrays = {
        name: pa.array([r.get(name) for r in records], known.get(types.get(name)))
        for name in (records[0] if records else ("index",))
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
    return " ".join(clean(text).split())
