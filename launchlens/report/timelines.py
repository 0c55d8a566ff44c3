"""Timelines of a report: what is drawn, which sides are not, and the picture in words."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.records.comparison import Side
from launchlens.records.timeline import Timeline
from launchlens.report.document import Section
from launchlens.report.pictures import Timelines
from launchlens.report.words import format_value


def timeline_section(timelines: Sequence[Timeline], sides: Sequence[Side] = ()) -> Section:
    """One step of each side on a common time axis; those of ``sides`` without one are named."""
    names = {name: i for i, side in enumerate(sides) for name in (side.short, side.label)}
    numbers = tuple(names[timeline.side] for timeline in timelines if timeline.side in names)
    block = Timelines(
        tuple(timelines),
        _summary(timelines),
        _note(timelines, sides),
        numbers if len(numbers) == len(timelines) else (),
    )
    return Section("timelines", "Timeline of one step", (block,), glance=True)


def _summary(timelines: Sequence[Timeline]) -> str:
    parts = []
    for timeline in timelines:
        lanes = ", ".join(
            f"{format_value(len(lane.spans), 'count')} in {lane.title}" for lane in timeline.lanes
        )
        window = format_value(timeline.window_ns, "ns", timeline.bound)
        parts.append(f"{timeline.side}: {timeline.range}, window {window}, spans: {lanes}")
    return "Timeline. " + ". ".join(parts) + "."


def _note(timelines: Sequence[Timeline], sides: Sequence[Side]) -> str:
    drawn = {timeline.side for timeline in timelines}
    absent = [side for side in sides if not drawn & {side.short, side.label}]
    said = ["The step whose window is the median one."]
    if len(timelines) > 1:
        said.append("All sides are on the same time axis.")
    for words, named in (
        ("Not drawn, since the trace does not tell", [side for side in absent if side.trace]),
        ("Not drawn, since there is no trace", [side for side in absent if not side.trace]),
        (
            "Drawn from the node-level trace, not the whole-graph one",
            [side for side in sides if side.timing_trace and side not in absent],
        ),
    ):
        if named:
            said.append(f"{words}: {', '.join(side.short for side in named)}.")
    return " ".join(said)
