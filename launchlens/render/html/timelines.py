"""Timelines as compact JSON for the page's script: columns of integers and a table of names.

The script (templates/timeline.js) draws what a zoom level can show and no more, so the page
carries every span once, at full resolution, and stays smooth (docs/develop/html-page.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from launchlens.kernel_names import short_names
from launchlens.records.timeline import Lane, Span, Timeline
from launchlens.render.html.palette import GREY, colour, kinds_of, text_on
from launchlens.report import words

Legend = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""Groups of a legend: a title, and colour and words of each entry."""

_ROLE_TITLES = {
    "host": "CUDA calls on the CPU",
    "stream": "Work on the GPU",
    "gap": "GPU idle, by cause",
    "range": "Ranges",
}
_NAMED_AFTER_KERNELS = ("stream", "gap")
_SLIVER = 0.005
"""Ranges that cover less of the window than this show nothing."""


def timeline_payload(timelines: Sequence[Timeline], numbers: Sequence[int] = ()) -> dict[str, Any]:
    """What the script needs to draw these timelines.

    ``names`` holds every distinct span name once, ``short`` the same for where there is little
    room, ``span_ns`` is the longest window. Times are integers in nanoseconds from each step's
    start. Columns that grow from span to span (start, id) hold the differences. ``numbers``: which
    side of the report each is of, for its colour.
    """
    names = _Names(timelines)
    sides = [
        {
            "label": words.clean(timeline.side),
            "colour": colour("side", str(numbers[i] if numbers else i)),
            "caption": words.clean(f"{timeline.range}, step {timeline.step}"),
            "window_ns": timeline.window_ns,
            "sign": words.BOUND_SIGNS.get(timeline.bound, ""),
            "lanes": [
                _lane_payload(lane, names, timeline) for lane in timeline.lanes if lane.spans
            ],
        }
        for i, timeline in enumerate(timelines)
    ]
    longest = max((t.window_ns for t in timelines), default=0)
    return {"names": names.full, "short": names.short, "sides": sides, "span_ns": longest}


def timeline_legend(timelines: Sequence[Timeline]) -> Legend:
    """The kinds of span that occur in these timelines, by role."""
    seen = {
        (lane.role, span.kind)
        for timeline in timelines
        for lane in timeline.lanes
        for span in lane.spans
    }
    groups = []
    for role, title in _ROLE_TITLES.items():
        kinds = _kinds(role, {kind for r, kind in seen if r == role})
        if kinds:
            groups.append((title, tuple(kinds.values())))
    return tuple(groups)


class _Names:
    """Every distinct name of some timelines once, with a short form of it, by number."""

    def __init__(self, timelines: Sequence[Timeline]) -> None:
        lanes = (lane for t in timelines for lane in t.lanes if lane.role in _NAMED_AFTER_KERNELS)
        self._shortened = short_names({span.name for lane in lanes for span in lane.spans})
        self._numbers: dict[tuple[str, str, bool], int] = {}
        self.full: list[str] = []
        self.short: list[str] = []

    def number(self, span: Span, role: str) -> int:
        kernel = role in _NAMED_AFTER_KERNELS
        key = (span.prefix, span.name, kernel)
        if key not in self._numbers:
            self._numbers[key] = len(self.full)
            short = self._shortened[span.name] if kernel else span.name
            self.full.append(words.clean(span.title))
            self.short.append(words.clean(span.prefix + short))
        return self._numbers[key]


def _kinds(role: str, present: set[str]) -> dict[str, tuple[str, str]]:
    """Colour and words of the kinds present in a role's lanes; those that no one knows are grey."""
    known = kinds_of(role)
    order = [k for k in known if k in present] + sorted(present.difference(known))
    return {kind: known.get(kind, (GREY, kind)) for kind in order}


def _lane_payload(lane: Lane, names: _Names, timeline: Timeline) -> dict[str, Any]:
    spans = sorted(lane.spans, key=lambda span: (span.start_ns, -span.duration_ns))
    known = _kinds(lane.role, {span.kind for span in spans})
    kinds = list(known)
    colours = [colour for colour, _ in known.values()]
    return {
        "title": words.clean(lane.title),
        "role": lane.role,
        "folded": _says_little(lane, timeline.window_ns),
        "kinds": kinds,
        "said": [said for _, said in known.values()],
        "colours": colours,
        "inks": [text_on(colour) for colour in colours],
        "start": _differences(span.start_ns for span in spans),
        "duration": [span.duration_ns for span in spans],
        "name": [names.number(span, lane.role) for span in spans],
        "kind": [kinds.index(span.kind) for span in spans],
        "id": _differences(-1 if s.correlation_id is None else s.correlation_id for s in spans),
    }


def _says_little(lane: Lane, window_ns: int) -> bool:
    """A range around the whole step, or slivers of ranges: lanes that need not be open."""
    if lane.role != "range":
        return False
    covered = sum(span.duration_ns for span in lane.spans)
    return len(lane.spans) == 1 or covered < _SLIVER * window_ns


def _differences(numbers: Iterable[int]) -> list[int]:
    return [after - before for before, after in pairwise([0, *numbers])]
