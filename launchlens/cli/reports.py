"""One comparison in the format asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.cli.options import Format
from launchlens.cli.output import terminal_width, wants_color

if TYPE_CHECKING:
    from launchlens.records.comparison import Comparison
    from launchlens.workflow.sides import LoadedSide


def render_report(
    comparison: Comparison,
    sides: Sequence[LoadedSide],
    report_format: Format,
    output: Path | None,
    *,
    verbose: bool,
) -> str:
    """The comparison as text in one of the formats."""
    from launchlens.render import write
    from launchlens.report.comparison import comparison_document
    from launchlens.workflow.timelines import timelines_of_sides

    drawn = timelines_of_sides(comparison, sides) if report_format is Format.html else ()
    return write(
        comparison_document(comparison, drawn),
        report_format.value,
        verbose=verbose,
        width=terminal_width(),
        color=wants_color(output),
    )
