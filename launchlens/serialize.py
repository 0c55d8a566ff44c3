"""JSON of every record that launchlens writes, and back. The records are the schema.

pydantic derives JSON and JSON Schema from the dataclasses; descriptions of properties are the
docstrings below their fields.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import is_dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast, get_args, get_type_hints

from launchlens.errors import LaunchlensError, UsageError

if TYPE_CHECKING:
    from launchlens.records.comparison import Cell, Comparison
    from launchlens.records.figures import Group
    from launchlens.records.variant import VariantFacts

_BEYOND = 2.0**63
_UNUSUAL = re.compile(r"[^\n -~]|#(?=#\[)")
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that show nothing and pass for printable: fillers and selectors of variants."""

KINDS = {
    "analysis": "figures.Analysis",
    "comparison": "comparison.Comparison",
    "analyses": "figures.Analyses",
    "blockers": "blocking.BlockerReport",
    "forecast": "forecast.Forecast",
    "forecast-score": "score.ForecastScore",
    "limits": "limits.LimitReport",
    "runs": "stored.RunList",
    "stored-run": "stored.StoredRun",
    "trend": "trend.Trend",
    "models": "models.ModelList",
    "doctor": "doctor.DoctorReport",
    "calibration": "calibration.Calibration",
    "buckets": "buckets.BucketChoice",
    "recipes": "recipes.RecipeList",
}
"""Kinds of JSON, each with its record in `launchlens.records`, whose field ``schema`` names it."""


def to_json(record: Any) -> str:
    """A record as indented JSON; unknown is null, floats keep their full precision."""
    shape: Any = type(record)
    return inert_json(str(adapter(shape).dump_json(record, indent=1).decode())) + "\n"


def inert_json(text: str) -> str:
    """JSON that says the same, with escapes for what nobody sees or a terminal would obey.

    Those are control, format and bidi characters, tags (U+E0000 and on), what Unicode has not
    assigned, and "##[" of GitHub's runner.
    """
    return _UNUSUAL.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if character == "#":
        return "\\u0023"
    shown = character.isprintable() and not _UNSEEN.match(character)
    return character if shown else json.dumps(character)[1:-1]


def from_json(text: str, *, named: str) -> Any:
    """A record of any of the kinds back from its JSON, also one that an older version wrote.

    Errors call it ``named``.

    Raises:
        LaunchlensError: not JSON, not a report of a version launchlens knows, or with numbers that
            no figure has.
    """
    from pydantic import ValidationError

    try:
        said = json.loads(text, parse_float=_number, parse_int=_number, parse_constant=_number)
        said = said.get("schema", "none")
    except (ValueError, AttributeError, RecursionError) as error:
        raise LaunchlensError(f"{named} is not a launchlens report: {error}.") from error
    known = {_layout(kind): kind for kind in KINDS}
    if not isinstance(said, str) or said not in known:
        raise LaunchlensError(
            f"{named} has schema {said!r:.60}; known: {', '.join(known)}.",
            hint="Write it with launchlens analyze or diff --format json.",
        )
    try:
        return read(record_of(known[said]), text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise LaunchlensError(f"{named} is damaged at {where}: {first['msg']}.") from error


def _number(text: str) -> float:
    """A number of a report; refuses NaN, infinity, and what no counter of nanoseconds holds."""
    number = float(text)
    if not abs(number) < _BEYOND:
        raise ValueError(f"{text:.40} is no figure")
    return number


def read(shape: Any, text: str | bytes) -> Any:
    """A record, or records in a container, from JSON; also from what an older version wrote.

    Raises:
        ValueError: the JSON does not hold them.
    """
    from pydantic import ValidationError

    try:
        return _upgrade(adapter(shape).validate_json(text))
    except ValidationError as error:
        missing = [e["loc"] for e in error.errors(include_url=False) if e["type"] == "missing"]
        if not missing:
            raise
    return _upgrade(adapter(shape).validate_python(_with_unknown(json.loads(text), missing)))


def schema(kind: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of a kind.

    Raises:
        UsageError: there is no such kind.
    """
    if kind not in KINDS:
        raise UsageError(f"There is no schema {kind!r}.", hint=f"There are: {', '.join(KINDS)}.")
    described = describe(record_of(kind))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}


def describe(record: type) -> dict[str, Any]:
    """JSON Schema of a record, where every property is described by its field's docstring."""
    from pydantic import TypeAdapter

    for name, module in list(sys.modules.items()):
        if name.startswith("launchlens.records."):
            for found in vars(module).values():
                if isinstance(found, type) and is_dataclass(found):
                    configured: Any = found
                    own = getattr(found, "__pydantic_config__", {})
                    configured.__pydantic_config__ = {**own, "use_attribute_docstrings": True}
    return TypeAdapter(record).json_schema(mode="serialization")


def record_of(kind: str) -> type:
    """The record of a kind."""
    module, _, name = KINDS[kind].partition(".")
    return cast("type", getattr(import_module(f"launchlens.records.{module}"), name))


@cache
def adapter(shape: Any) -> Any:
    """Reads and writes JSON of a shape: a record, or records in a container. Made once."""
    from pydantic import TypeAdapter

    return TypeAdapter(shape)


def _layout(kind: str) -> str:
    """What the key ``schema`` of a kind holds, such as "launchlens.trend/1"."""
    return str(get_args(get_type_hints(record_of(kind))["schema"])[0])


# --- what older versions wrote ---


def _upgrade(record: Any) -> Any:
    """A record that may come from an older version, with what it said in words said in fields."""
    from launchlens.records.blocking import SEARCHED
    from launchlens.records.comparison import Comparison
    from launchlens.records.figures import Analysis
    from launchlens.records.variant import VariantFacts

    if isinstance(record, VariantFacts):
        return _upgrade_facts(record)
    if not isinstance(record, (Analysis, Comparison)):
        return record
    searched = record.blockers_searched or SEARCHED in record.notes
    if isinstance(record, Comparison):
        return replace(_upgrade_comparison(record), blockers_searched=searched)
    summary = tuple(_with_bounds(group) for group in record.summary)
    return replace(record, summary=summary, blockers_searched=searched)


def _upgrade_facts(facts: VariantFacts) -> VariantFacts:
    if facts.commit is None or facts.dirty is not None:
        return facts
    commit, changed, _ = facts.commit.partition(" (dirty)")
    return replace(facts, commit=commit, dirty=bool(changed))


def _with_unknown(document: Any, missing: Iterable[tuple[int | str, ...]]) -> Any:
    """The document with metrics that it lacks unknown: they are newer than it is."""
    from launchlens.catalogue import by_name

    for *way, name in missing:
        if name in by_name():
            place = document
            for key in way:
                place = place[key]
            place[name] = None
    return document


def _with_bounds(group: Group) -> Group:
    from launchlens.catalogue import bound_under

    marked = {
        name: replace(stat, bound=bound_under(name, group.graph_tracing))
        for name, stat in group.metrics.items()
        if stat.bound is None and stat.median is not None
    }
    return replace(group, metrics=group.metrics | marked)


def _upgrade_comparison(comparison: Comparison) -> Comparison:
    phases = []
    for phase in comparison.phases:
        rows = [replace(r, cells=tuple(map(_upgrade_cell, r.cells))) for r in phase.rows]
        phases.append(replace(phase, rows=tuple(rows)))
    first, *others = (replace(s, facts=_upgrade_facts(s.facts)) for s in comparison.sides)
    return replace(comparison, baseline=first, candidates=tuple(others), phases=tuple(phases))


def _upgrade_cell(cell: Cell) -> Cell:
    from launchlens.records.variant import FAILED

    if cell.note in ("lower bound", "upper bound"):
        return replace(cell, bound="lower" if cell.note == "lower bound" else "upper", note=None)
    return replace(cell, failed=cell.failed or cell.note in FAILED.values())
