"""The catalogue of metrics: every figure launchlens knows, in the order of reports.

An entry is a field of a record, annotated with a `Metric`: a figure of a step in
`launchlens.records.figures.Step` (gap causes in `Gaps`), one of a side in
`launchlens.records.variant.SideFigures` or `VariantFacts`, one of requests in `RequestFigures`.
The field's docstring is its definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import get_type_hints

from launchlens.records.figures import Gaps, Step
from launchlens.records.metric import Bound, Metric, Owner, Role, Unit
from launchlens.records.variant import RequestFigures, SideFigures, VariantFacts

GAPS = "gaps_ns"


@cache
def metrics() -> tuple[Metric, ...]:
    """All metrics in the order of reports; those of requests last."""
    listed = list(_entries(Step, "step"))
    for entry in (*_entries(SideFigures, "side"), *_entries(VariantFacts, "side")):
        names = [m.name for m in listed]
        listed.insert(names.index(entry.after) + 1 if entry.after else len(listed), entry)
    return (*listed, *_entries(RequestFigures, "request"))


@cache
def by_name() -> dict[str, Metric]:
    """The metrics by name."""
    return {metric.name: metric for metric in metrics()}


def step_metrics() -> tuple[Metric, ...]:
    """The metrics of a step, gap causes among them as ``gaps_ns.host`` and so on."""
    return tuple(m for m in metrics() if m.owner == "step")


def tiles() -> list[Metric]:
    """The key figures that a page shows large, the first one first."""
    chosen = [(m.tile, m) for m in metrics() if m.tile is not None]
    return [metric for _, metric in sorted(chosen, key=lambda one: one[0])]


def columns() -> tuple[Metric, ...]:
    """The metrics that stand in columns where each step, or each trace, is a row."""
    return tuple(m for m in metrics() if m.column)


def shown_in(table: str) -> Metric:
    """The metric whose parts a table of a group lists, and whose bound its counts share."""
    return next(m for m in metrics() if m.table == table)


def of_role(role: Role) -> tuple[Metric, ...]:
    """The metrics of a role, untraced ones first."""
    found = [metric for metric in metrics() if metric.role == role]
    return tuple(sorted(found, key=lambda metric: not metric.untraced))


def gap_causes() -> dict[str, Metric]:
    """The causes of gaps, by name."""
    start = f"{GAPS}."
    return {m.name.removeprefix(start): m for m in metrics() if m.name.startswith(start)}


def unit_of(name: str) -> Unit:
    """The unit of a metric; what is no metric is counted (blockers)."""
    return by_name()[name].unit if name in by_name() else "count"


def bound_under(name: str, graph_tracing: str | None) -> Bound | None:
    """What a figure is under this graph tracing; None: it is what it is (`Metric.bound_under`)."""
    return by_name()[name].bound_under(graph_tracing) if name in by_name() else None


def _entries(record: type, owner: Owner) -> Iterator[Metric]:
    for name, hint in get_type_hints(record, include_extras=True).items():
        if record is Step and name == GAPS:
            for cause in _entries(Gaps, owner):
                yield replace(cause, name=f"{GAPS}.{cause.name}")
        else:
            entries = (e for e in getattr(hint, "__metadata__", ()) if isinstance(e, Metric))
            yield from (replace(entry, name=name, owner=owner) for entry in entries)
