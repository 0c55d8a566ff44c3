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
from launchlens.render.html_page import LegendView
from launchlens.render.html_palette import ROLE_TITLES, SPAN_KINDS, span_colour, text_on

_DTYPES = ("u1", "u2", "i4", "f8")


def encode_array(values: npt.ArrayLike) -> dict[str, str]:
    """Integers in the smallest type that holds them, as plotly.js spells typed arrays.

    Args:
        values: integers, shape (n,).

    Returns:
        ``dtype`` ("u1", "u2", "i4" or "f8") and ``bdata``, the little-endian bytes in base64.
    """
    array = np.asarray(values, np.int64)
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    # Doubles hold integers exactly up to 2**53 ns, which is 104 days: longer than any step.
    dtype = next(d for d in _DTYPES if d == "f8" or _fits(np.dtype(d), low, high))
    data = array.astype(np.dtype(dtype).newbyteorder("<")).tobytes()
    return {"dtype": dtype, "bdata": base64.b64encode(data).decode("ascii")}


def timeline_payload(timelines: Sequence[Timeline]) -> dict[str, Any]:
    """What the script needs to draw these timelines on one common time axis.

    Returns:
        ``names`` (every distinct span name once), ``sides`` (a timeline each: label, caption,
        ``window_ns`` and its lanes) and ``span_ns``, the longest window. Times are integers in
        nanoseconds from each step's start.
    """
    names: dict[str, int] = {}
    sides = [
        {
            "label": timeline.side,
            "caption": f"{timeline.range}, step {timeline.step}",
            "window_ns": timeline.window_ns,
            "lanes": [_lane_payload(lane, names) for lane in timeline.lanes if lane.spans],
        }
        for timeline in timelines
    ]
    return {
        "names": list(names),
        "sides": sides,
        "span_ns": max((t.window_ns for t in timelines), default=0),
    }


def timeline_legend(timelines: Sequence[Timeline]) -> tuple[LegendView, ...]:
    """The kinds of span that occur in these timelines, by role."""
    seen = {
        (lane.role, span.kind)
        for timeline in timelines
        for lane in timeline.lanes
        for span in lane.spans
    }
    groups = []
    for role, title in ROLE_TITLES.items():
        known = SPAN_KINDS[role]
        kinds = [k for k in known if (role, k) in seen]
        kinds += sorted(k for r, k in seen if r == role and k not in known)
        if kinds:
            words = tuple((span_colour(role, k), known.get(k, ("", k))[1]) for k in kinds)
            groups.append(LegendView(title, words))
    return tuple(groups)


def _lane_payload(lane: Lane, names: dict[str, int]) -> dict[str, Any]:
    spans = sorted(lane.spans, key=lambda span: (span.start_ns, -span.duration_ns))
    order = list(SPAN_KINDS.get(lane.role, {}))
    present = {span.kind for span in spans}
    kinds = [k for k in order if k in present] + sorted(present.difference(order))
    colours = [span_colour(lane.role, kind) for kind in kinds]
    return {
        "title": lane.title,
        "role": lane.role,
        "kinds": kinds,
        "colours": colours,
        "inks": [text_on(colour) for colour in colours],
        "start": encode_array([span.start_ns for span in spans]),
        "duration": encode_array([span.duration_ns for span in spans]),
        "name": encode_array([names.setdefault(span.name, len(names)) for span in spans]),
        "kind": encode_array([kinds.index(span.kind) for span in spans]),
    }


def _fits(dtype: np.dtype[Any], low: int, high: int) -> bool:
    limits = np.iinfo(dtype)
    return int(limits.min) <= low and high <= int(limits.max)
