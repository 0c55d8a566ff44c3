"""``launchlens calibrate``: what launches and graphs cost on this machine."""

from __future__ import annotations

from typing import Annotated

from launchlens.cli import options
from launchlens.cli.output import check_output, choose_format, show


def calibrate(
    nsys: options.NsysOption = None,
    runs: options.RunsOption = None,
    timeout: options.TimeoutOption = 300.0,
    report_format: Annotated[str | None, options.format_option("calibration")] = None,
    output: options.OutputOption = None,
) -> None:
    """Measure what launches and graphs cost here, for forecasts.

    Takes under a minute on a GPU with nothing beside it. Forecasts of traces of this GPU then use
    these costs, where they are kept, in place of those that launchlens ships.
    """
    from launchlens.report.calibration import calibration_document
    from launchlens.workflow.calibrating import calibrate as measure

    check_output(output)
    chosen = choose_format("calibration", report_format, output)
    show(calibration_document(measure(nsys, runs, timeout)), chosen, output)
