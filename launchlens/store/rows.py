"""Records turned into rows of the run database; one place knows the columns' names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from launchlens.catalogue import gap_causes
from launchlens.records.figures import Group, Stat, Step, TraceInfo
from launchlens.records.variant import VariantFacts
from launchlens.store.columns import gap_column, record_columns

ENVIRONMENT = (
    *("config_digest", "gpu", "driver", "cuda", "torch", "transformers", "nsys", "python"),
    *("launchlens", "git_commit", "git_dirty"),
)
_RUN_FACTS = ("id", "created", "finished", "status", "reason", "model")
_TRACE_FACTS = ("sha256", "nsys_version", "export_schema", "gpu", "driver", "graph_tracing")
UNTRACED = "untraced"
UNTRACED_METRIC = "untraced_ns"
BOTH = "traced and untraced"

Row = dict[str, Any]


def variant_id(run_id: str, name: str) -> str:
    """Key of a variant's row, and what a user writes to name it."""
    return f"{run_id}:{name}"


def run_row(document: Mapping[str, Any], folder: str) -> Row:
    """Row of ``runs`` from the object in run.json."""
    environment = document["environment"]
    return {
        **{name: document[name] for name in _RUN_FACTS},
        **{name: _plain(environment.get(name)) for name in ENVIRONMENT},
        "arguments": json.dumps(document["arguments"], sort_keys=True),
        "folder": folder,
    }


def bare_row(run_id: str, created: str, reason: str) -> Row:
    """Row of ``runs`` for a folder that does not tell what it is of."""
    facts = {"id": run_id, "created": created, "status": "incomplete", "reason": reason}
    return facts | {"arguments": "{}", "folder": run_id}


def _plain(value: Any) -> Any:
    """A value that a column can hold."""
    return value if isinstance(value, (str, int, float, type(None))) else json.dumps(value)


def variant_row(run_id: str, name: str, status: str, facts: VariantFacts) -> Row:
    """Row of ``variants``. ``untraced_ns`` is the first phase's: all phases are in figures."""
    failure = facts.failure
    return {
        "id": variant_id(run_id, name),
        "run_id": run_id,
        "name": name,
        "status": status,
        "failure_type": failure and failure.error_type,
        "failure_line": failure and failure.error_line,
        "failure_source": failure and failure.source,
        "failure_hint": failure and failure.hint,
        "failure_log": failure and failure.log,
        "captured_phases": ", ".join(facts.captured_phases) or None,
        "untraced_ns": facts.untraced[0].wall_ns.median if facts.untraced else None,
        **{name: getattr(facts, name) for name in record_columns()["variants"]},
    }


def request_rows(key: str, facts: VariantFacts) -> list[Row]:
    """Rows of ``requests``."""
    return [{"variant_id": key} | asdict(figures) for figures in facts.requests]


def equivalence_rows(key: str, facts: VariantFacts) -> list[Row]:
    """Rows of ``equivalence``."""
    return [{"variant_id": key} | asdict(item) for item in facts.equivalence]


def untraced_rows(key: str, facts: VariantFacts) -> list[Row]:
    """Rows of ``figures`` for the walls measured with no profiler."""
    return [
        _figure_row(key, UNTRACED, item.phase, 0, UNTRACED_METRIC, item.wall_ns)
        for item in facts.untraced
    ]


def trace_row(key: str, kind: str, file: str, info: TraceInfo) -> Row:
    """Row of ``traces``; ``file`` is relative to the run's folder."""
    return {
        "variant_id": key,
        "trace_kind": kind,
        "file": file,
        **{name: getattr(info, name) for name in _TRACE_FACTS},
    }


def step_row(run_id: str, variant: str, kind: str, row: int, step: Step) -> Row:
    """Row of ``steps``: every figure and fact of the step, gaps as ``gap_<cause>_ns``."""
    gaps = {gap_column(cause): step.figure(m.name) for cause, m in gap_causes().items()}
    return {
        "variant_id": variant_id(run_id, variant),
        "run_id": run_id,
        "variant": variant,
        "trace_kind": kind,
        "row": row,
        **{name: getattr(step, name) for name in record_columns()["steps"] if name not in gaps},
        **gaps,
    }


def figure_rows(key: str, kind: str, groups: Iterable[Group]) -> Iterator[Row]:
    """Rows of ``figures``; ``rank`` numbers the (process, device) groups of a phase."""
    ranks: dict[str, int] = {}
    for group in groups:
        rank = ranks.get(group.phase, 0)
        ranks[group.phase] = rank + 1
        for metric, stat in group.metrics.items():
            yield _figure_row(key, kind, group.phase, rank, metric, stat)


def _figure_row(key: str, kind: str, phase: str, rank: int, metric: str, stat: Stat) -> Row:
    return {
        "variant_id": key,
        "trace_kind": kind,
        "phase": phase,
        "rank": rank,
        "metric": metric,
        **asdict(stat),
    }
