"""One figure over the runs of a root, by commit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launchlens.catalogue import unit_of
from launchlens.errors import StoreError, UsageError
from launchlens.records.trend import TrendPoint, TrendSeries
from launchlens.store.columns import request_metrics, variant_metrics
from launchlens.store.database import DATABASE, open_database, read_rows
from launchlens.store.rows import UNTRACED
from launchlens.suggestions import did_you_mean, near_names

if TYPE_CHECKING:
    from sqlite_utils import Database

_QUERY = """
SELECT r.id AS run_id, r.created, r.git_commit, r.git_dirty, r.model, r.config_digest, r.gpu,
       v.name AS variant, v.isl, v.osl, v.batch, v.dtype, v.layers_note, {columns}
FROM {table} AS x JOIN variants AS v ON v.id = x.{key} JOIN runs AS r ON r.id = v.run_id
WHERE {where} ORDER BY r.created, r.rowid, v.rowid, rank, concurrency"""
_MEDIANS = """x.phase, x.rank, x.trace_kind AS source, NULL AS concurrency,
       x.median AS value, x.ci_low, x.ci_high, x.bound"""
_VALUES = f"""NULL AS phase, 0 AS rank, '{UNTRACED}' AS source, {{concurrency}} AS concurrency,
       x.{{metric}} AS value, NULL AS ci_low, NULL AS ci_high, NULL AS bound"""

_POINT_COLUMNS = ("run_id", "created", "git_commit", "ci_low", "ci_high", "bound")


def trend(
    root: Path,
    metric: str,
    *,
    model: str | None = None,
    variant: str | None = None,
    phase: str | None = None,
) -> tuple[TrendSeries, ...]:
    """How one figure went over the stored runs, oldest first; series by their first run.

    Only runs that can be compared share a series: same model and configuration, GPU, shape,
    dtype, variant, phase, way of tracing. A point whose figure is unknown has value None.

    Args:
        root: the runs root.
        metric: a figure of steps ("launches", "gaps_ns.host", "untraced_ns"), of requests
            ("ttft_ns") or of a variant ("peak_memory_bytes").
        model: only this model, as it was named when recording.
        variant: only this variant.
        phase: only this phase.

    Raises:
        UsageError: no stored run has such a metric; the message names near ones.
        StoreError: there are no runs, or none that fit.
    """
    if not (root / DATABASE).exists():
        raise StoreError(f"There are no runs in {root}.")
    with open_database(root) as db:
        found = read_rows(db, *_query(db, metric))
    wanted = {"model": model, "variant": variant, "phase": phase}
    found = [
        row
        for row in found
        if all(row[k] == want for k, want in wanted.items() if want is not None)
    ]
    if not found:
        said = ", ".join(f"{k} {want}" for k, want in wanted.items() if want is not None)
        raise StoreError(f"No run in {root} has {metric}" + (f" for {said}." if said else "."))
    for row in found:  # what a stranger's database may hold instead of numbers is unknown
        row |= {name: _number(row[name]) for name in ("value", "ci_low", "ci_high", "git_dirty")}
    series: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in found:
        series.setdefault(_key(row), []).append(row)
    return tuple(_series(metric, rows) for rows in series.values())


def _query(db: Database, metric: str) -> tuple[str, list[str]]:
    # The metric's name goes into the SQL only when it is one of the catalogue.
    if metric in request_metrics():
        columns = _VALUES.format(concurrency="x.concurrency", metric=metric)
        return _QUERY.format(columns=columns, table="requests", key="variant_id", where="1"), []
    if metric in variant_metrics():
        columns = _VALUES.format(concurrency="NULL", metric=metric)
        return _QUERY.format(columns=columns, table="variants", key="id", where="1"), []
    known = [
        row["metric"] for row in read_rows(db, "SELECT DISTINCT metric FROM figures ORDER BY 1")
    ]
    if metric not in known:
        everything = [*known, *request_metrics(), *variant_metrics()]
        near = did_you_mean(near_names(metric, everything))
        hint = near or "docs/definitions.md lists all metrics."
        raise UsageError(f"No stored run has a metric {metric!r}.", hint=hint)
    where = "x.metric = ?"
    query = _QUERY.format(columns=_MEDIANS, table="figures", key="variant_id", where=where)
    return query, [metric]


def _number(value: Any) -> int | float | None:
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("model", "config_digest", "gpu", "variant", "isl", "osl", "batch", "dtype")
    more = ("layers_note", "phase", "rank", "source", "concurrency")
    return tuple(row[name] for name in (*names, *more))


def _series(metric: str, rows: list[dict[str, Any]]) -> TrendSeries:
    first = rows[0]
    parts = [
        f"{title} {first[name]}"
        for name, title in (("isl", "ISL"), ("osl", "OSL"), ("batch", "batch"))
        if first[name] is not None
    ]
    parts += [first[name] for name in ("dtype", "layers_note") if first[name]]
    if first["concurrency"] is not None:
        parts.append(f"concurrency {first['concurrency']}")
    if first["rank"]:
        parts.append(f"group {first['rank']}")
    return TrendSeries(
        metric=metric,
        unit=unit_of(metric),
        shape=", ".join(parts),
        **{name: first[name] for name in ("model", "variant", "gpu", "phase", "source")},
        points=tuple(_points(rows)),
    )


def _points(rows: list[dict[str, Any]]) -> Iterator[TrendPoint]:
    before: float | None = None
    for row in rows:
        value, dirty = row["value"], row["git_dirty"]
        yield TrendPoint(
            **{name: row[name] for name in _POINT_COLUMNS},
            git_dirty=None if dirty is None else bool(dirty),
            value=value,
            relative=value / before - 1 if value is not None and before else None,
            change=value - before if value is not None and before is not None else None,
        )
        before = before if value is None else value
