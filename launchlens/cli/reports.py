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
    if report_format is Format.json:
        from launchlens.serialize import to_json

        return to_json(comparison)
    if report_format is Format.markdown:
        from launchlens.render.markdown import render_comparison_markdown

        return render_comparison_markdown(comparison)
    if report_format is Format.csv:
        from launchlens.render.feeds import render_comparison_csv

        return render_comparison_csv(comparison)
    if report_format is Format.html:
        from launchlens.render.html import render_comparison_html
        from launchlens.workflow.timelines import timelines_of_sides

        return render_comparison_html(comparison, timelines_of_sides(comparison, sides))
    from launchlens.render.terminal import render_comparison

    return render_comparison(
        comparison, verbose=verbose, width=terminal_width(), color=wants_color(output)
    )
