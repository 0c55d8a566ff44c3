"""What the report of a trace ends with: what a CUDA graph would bring, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from launchlens.records.figures import Analysis
from launchlens.report.document import Section, Text
from launchlens.report.words import sentence

_BRINGS = "What a CUDA graph would bring"


def closing_sections(
    analysis: Analysis, forecast: Sequence[str] = (), named: str = ""
) -> Iterator[Section]:
    """The forecast, in lines; of a trace without CUDA graphs the commands that measure one.

    ``named``: how a command line names the trace. Nothing where there is no forecast and the step
    launches graphs, or may do so.
    """
    if forecast:
        yield Section("forecast", _BRINGS, (Text(tuple(map(sentence, forecast)), "answer"),))
    figures = analysis.summary[0].metrics if analysis.summary else {}
    if not figures or figures["graph_launches"].median != 0 or not figures["launches"].median:
        return
    measure = "Measure it" if forecast else _BRINGS
    trace = shlex.quote(named or analysis.trace.file)
    commands = (
        _command(measure, "launchlens profile --model MODEL"),
        _command("What would block its capture", f"launchlens blockers {trace}"),
    )
    yield Section("next", "What next", commands)


def _command(title: str, command: str) -> Text:
    """A command to be copied, on a line of its own."""
    return Text((command,), "log", title=title)
