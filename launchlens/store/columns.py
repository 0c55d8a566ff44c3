"""Columns of the run database that are fields of records: nothing here names a metric."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args, get_type_hints

from launchlens.catalogue import GAPS, gap_causes, metrics
from launchlens.records.figures import Step
from launchlens.records.variant import Equivalence, RequestFigures, VariantFacts

VARIANT_FACTS = (
    *("isl", "osl", "batch", "dtype", "command"),
    *("layers_note", "layers", "model_layers"),  # how its model was shortened
)
"""Facts of a variant, beside metrics, that runs are found and compared by."""


@cache
def record_columns() -> dict[str, dict[str, str]]:
    """By table, the columns that follow from records, with their SQL types.

    A step's figures and facts, gap causes as ``gap_<cause>_ns``; a variant's facts that are
    metrics or `VARIANT_FACTS`; figures of requests; differences of outputs.
    """
    steps, facts = _columns(Step), _columns(VariantFacts)
    del steps[GAPS]
    return {
        "steps": steps | {gap_column(cause): "INTEGER" for cause in gap_causes()},
        "variants": {name: facts[name] for name in (*VARIANT_FACTS, *variant_metrics())},
        "requests": _columns(RequestFigures),
        "equivalence": _columns(Equivalence),
    }


def request_metrics() -> tuple[str, ...]:
    """Metrics that are columns of ``requests``."""
    return tuple(m.name for m in metrics() if m.owner == "request")


def variant_metrics() -> tuple[str, ...]:
    """Metrics that are columns of ``variants``."""
    facts = get_type_hints(VariantFacts)
    return tuple(m.name for m in metrics() if m.name in facts)


def gap_column(cause: str) -> str:
    """Column of the idle time that one cause of gaps explains, in ns."""
    return f"gap_{cause}_ns"


def _columns(record: type) -> dict[str, str]:
    return {name: _sql_type(hint) for name, hint in get_type_hints(record).items()}


def _sql_type(hint: Any) -> str:
    """SQL type of a field that may be None; whatever is no number is text."""
    kinds = get_args(hint) or (hint,)
    if float in kinds:
        return "REAL"
    return "INTEGER" if int in kinds or bool in kinds else "TEXT"
