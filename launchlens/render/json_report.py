"""JSON in and out. Records are the schema: pydantic derives both from the dataclasses."""

from __future__ import annotations

import json
import sys
from dataclasses import is_dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from launchlens.errors import LaunchlensError
from launchlens.records.blocking import SEARCHED, BlockerReport
from launchlens.records.comparison import Comparison
from launchlens.records.figures import Analysis

ReportKind = Literal["analysis", "comparison", "blockers"]
Report = Analysis | Comparison | BlockerReport
_RECORDS: dict[ReportKind, type[Report]] = {
    "analysis": Analysis,
    "comparison": Comparison,
    "blockers": BlockerReport,
}


@lru_cache(maxsize=3)
def _adapter(kind: ReportKind) -> Any:
    from pydantic import TypeAdapter

    for module in [m for name, m in sys.modules.items() if name.startswith("launchlens.records.")]:
        for record in vars(module).values():
            if isinstance(record, type) and is_dataclass(record):
                # Descriptions of properties: the docstrings below the records' fields.
                record.__pydantic_config__ = {"use_attribute_docstrings": True}  # type: ignore[attr-defined]
    return TypeAdapter(_RECORDS[kind])


def render_json(report: Report) -> str:
    """A report as indented JSON; unknown is null, floats keep their full precision."""
    kind = next(k for k, record in _RECORDS.items() if isinstance(report, record))
    return str(_adapter(kind).dump_json(report, indent=1).decode()) + "\n"


def read_json(text: str, *, named: str) -> Report:
    """A report back from its JSON.

    Raises:
        LaunchlensError: not JSON, or not a report of a version launchlens knows.
    """
    from pydantic import ValidationError

    try:
        said = json.loads(text).get("schema", "none")
    except (ValueError, AttributeError) as error:
        raise LaunchlensError(f"{named} is not a launchlens report: {error}.") from error
    kinds: dict[str, ReportKind] = {f"launchlens.{kind}/1": kind for kind in _RECORDS}
    if not isinstance(said, str) or said not in kinds:
        raise LaunchlensError(
            f"{named} has schema {said!r:.60}; known: {', '.join(kinds)}.",
            hint="Write it with launchlens analyze or diff --format json.",
        )
    try:
        report: Report = _adapter(kinds[said]).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise LaunchlensError(f"{named} is damaged at {where}: {first['msg']}.") from error
    # Reports were written before there was a field.
    if not isinstance(report, BlockerReport) and SEARCHED in report.notes:
        report = replace(report, blockers_searched=True)
    return report


def json_schema(kind: ReportKind) -> dict[str, Any]:
    """JSON Schema (2020-12) of a report."""
    schema: dict[str, Any] = _adapter(kind).json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": schema.pop("$schema"), **schema}
