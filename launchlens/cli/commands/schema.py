"""``launchlens schema``: the JSON Schema of a report."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from launchlens.cli.options import OutputOption
from launchlens.cli.output import write


class Report(StrEnum):
    """Reports that have a schema."""

    analysis = "analysis"
    comparison = "comparison"
    blockers = "blockers"


def schema(
    report: Annotated[
        Report, typer.Argument(help="analysis, comparison or blockers.")
    ] = Report.analysis,
    output: OutputOption = None,
) -> None:
    """Print the JSON Schema of what analyze, diff or blockers print with --format json."""
    from launchlens.render.json_report import json_schema

    write(json.dumps(json_schema(report.value), indent=1) + "\n", output)
