"""JSON in and out. Records are the schema: pydantic derives both from the dataclasses."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Literal

from launchlens.errors import LaunchlensError
from launchlens.model.comparison import Comparison
from launchlens.model.figures import Analysis

ReportKind = Literal["analysis", "comparison"]


@lru_cache(maxsize=2)
def _adapter(kind: ReportKind) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Analysis if kind == "analysis" else Comparison)


def render_json(report: Analysis | Comparison) -> str:
    """A report as indented JSON; unknown is null, floats keep their full precision."""
    kind: ReportKind = "analysis" if isinstance(report, Analysis) else "comparison"
    return str(_adapter(kind).dump_json(report, indent=1).decode()) + "\n"


def read_json(text: str, *, named: str) -> Analysis | Comparison:
    """A report back from its JSON.

    Raises:
        LaunchlensError: not JSON, or not a report of a version launchlens knows.
    """
    from pydantic import ValidationError

    try:
        said = json.loads(text).get("schema", "none")
    except (ValueError, AttributeError) as error:
        raise LaunchlensError(f"{named} is not a launchlens report: {error}.") from error
    kinds: dict[str, ReportKind] = {
        "launchlens.analysis/1": "analysis",
        "launchlens.comparison/1": "comparison",
    }
    if not isinstance(said, str) or said not in kinds:
        raise LaunchlensError(
            f"{named} has schema {said!r:.60}; known: {', '.join(kinds)}.",
            hint="Write it with launchlens analyze or diff --format json.",
        )
    try:
        report: Analysis | Comparison = _adapter(kinds[said]).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise LaunchlensError(f"{named} is damaged at {where}: {first['msg']}.") from error
    return report


def json_schema(kind: ReportKind) -> dict[str, Any]:
    """JSON Schema (2020-12) of a report."""
    schema: dict[str, Any] = _adapter(kind).json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": schema.pop("$schema"), **schema}
