"""Timelines as compact JSON for the page's script: typed arrays and a table of names.

The script (templates/report.js) draws what a zoom level can show and no more, so the page
carries every span once, at full resolution, and stays smooth (docs/html.md).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from launchlens.records.timeline import Lane, Timeline
from launchlens.render.html.palette import GREY, kinds_of, text_on
from launchlens.report import words

Legend = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""Groups of a legend: a title, and colour and words of each entry."""

_DTYPES = ("u1", "u2", "i4", "f8")
_ROLE_TITLES = {
    "host": "CUDA calls on the CPU",
    "stream": "Work on the GPU",
    "gap": "GPU idle, by cause",
    "range": "Ranges",
}


def encode_array(values: npt.ArrayLike) -> dict[str, str]:
    """Integers of shape (n,) in the smallest type that holds them, as plotly.js spells arrays.

    ``bdata`` are the little-endian bytes in base64.
    """
    array = np.asarray(values, np.int64)
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    # Doubles hold integers exactly up to 2**53 ns, which is 104 days: longer than any step.
    dtype = next(d for d in _DTYPES if d == "f8" or _fits(np.dtype(d), low, high))
    data = array.astype(np.dtype(dtype).newbyteorder("<")).tobytes()
    return {"dtype": dtype, "bdata": base64.b64encode(data).decode("ascii")}


def timeline_payload(timelines: Sequence[Timeline]) -> dict[str, Any]:
    """What the script needs to draw these timelines on one common time axis.

    ``names`` holds every distinct span name once, ``span_ns`` is the longest window. Times are
    integers in nanoseconds from each step's start.
    """
    names: dict[str, int] = {}
    sides = [
        {
            "label": words.clean(timeline.side),
            "caption": f"{words.clean(timeline.range)}, step {timeline.step}",
            "window_ns": timeline.window_ns,
            "sign": words.BOUND_SIGNS.get(timeline.bound, ""),
            "lanes": [_lane_payload(lane, names) for lane in timeline.lanes if lane.spans],
        }
        for timeline in timelines
    ]
    longest = max((t.window_ns for t in timelines), default=0)
    return {"names": list(names), "sides": sides, "span_ns": longest}


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


def _kinds(role: str, present: set[str]) -> dict[str, tuple[str, str]]:
    """Colour and words of the kinds present in a role's lanes; those that no one knows are grey."""
    known = kinds_of(role)
    order = [k for k in known if k in present] + sorted(present.difference(known))
    return {kind: known.get(kind, (GREY, kind)) for kind in order}


def _lane_payload(lane: Lane, names: dict[str, int]) -> dict[str, Any]:
    spans = sorted(lane.spans, key=lambda span: (span.start_ns, -span.duration_ns))
    shown = [words.clean(span.title) for span in spans]
    known = _kinds(lane.role, {span.kind for span in spans})
    kinds = list(known)
    colours = [colour for colour, _ in known.values()]
    return {
        "title": words.clean(lane.title),
        "role": lane.role,
        "kinds": kinds,
        "colours": colours,
        "inks": [text_on(colour) for colour in colours],
        "start": encode_array([span.start_ns for span in spans]),
        "duration": encode_array([span.duration_ns for span in spans]),
        "name": encode_array([names.setdefault(name, len(names)) for name in shown]),
        "kind": encode_array([kinds.index(span.kind) for span in spans]),
    }


def _fits(dtype: np.dtype[Any], low: int, high: int) -> bool:
    limits = np.iinfo(dtype)
    return int(limits.min) <= low and high <= int(limits.max)
