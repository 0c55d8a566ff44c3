"""A Mermaid chart that GitHub draws: where a step's time goes, a section for each side."""

from __future__ import annotations

import re

from launchlens.report import words
from launchlens.report.pictures import Chart, Series

_TAGS = {"busy": "active", "cause": "crit"}  # a tag chooses a colour of the theme
_SHORTEST_SHARE = 0.005  # thinner bars cannot be seen
_SIDES = 6
_WORTH = 0.05  # of a step: causes that a reader would tell apart


def step_chart(chart: Chart) -> str:
    """A stacked chart of times as a gantt chart; "" where a table of few rows says as much.

    It says more where a side waits for more than one cause.

    The parts are laid end to end, not where they were in the step. A chart's second stands for
    a millisecond, since Mermaid draws nothing shorter than a millisecond.
    """
    if not any(_causes(chart, i) > 1 for i in range(len(chart.categories))):
        return ""
    longest = max((_length(chart, i) for i in range(len(chart.categories))), default=0)
    sections = []
    for index, name in enumerate(chart.categories[:_SIDES]):
        if bars := _bars(chart, index, longest * _SHORTEST_SHARE):
            sections.append("\n".join([f"    section {_word(name)}", *bars]))
    if not sections:
        return ""
    head = [
        "```mermaid",
        "gantt",
        "    title One step: GPU time in ms (medians, traced, laid end to end)",
        "    dateFormat x",
        "    axisFormat %s",
    ]
    return "\n".join([*head, *sections, "```"])


def _bars(chart: Chart, index: int, shortest_ns: float) -> list[str]:
    bars, at_us = [], 0
    # Idle before busy, as a step begins.
    for series in sorted(chart.series, key=lambda one: one.role[0] == "busy"):
        number = series.values[index].number
        if number is None or number <= 0 or number < shortest_ns:
            continue
        end_us = at_us + max(round(number / 1000), 1)
        title = f"{_title(series)} {words.value(series.values[index])}"
        bars.append(f"    {title} :{_TAGS.get(series.role[0], 'done')}, {at_us}, {end_us}")
        at_us = end_us
    return bars


def _title(series: Series) -> str:
    return "GPU busy" if series.role[0] == "busy" else _word(series.name)


def _length(chart: Chart, index: int) -> float:
    return sum(max(series.values[index].number or 0, 0) for series in chart.series)


def _causes(chart: Chart, index: int) -> int:
    """How many causes of idle time are a part of a side's step that matters."""
    least = _WORTH * _length(chart, index)
    waits = (series.values[index].number for series in chart.series if series.role[0] == "cause")
    return sum(number is not None and number > max(least, 0) for number in waits)


def _word(text: str) -> str:
    """A name without anything that Mermaid reads as its own language."""
    kept = re.sub(r"[^A-Za-z0-9 ._+-]+", " ", words.plain(text, 60))
    return " ".join(kept.split()) or "side"
