"""From occurrences to findings: grouped, counted for each step, with position and lost time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from launchlens.blockers.hits import Hits, Rule
from launchlens.blockers.view import Rows, View, kernel_names
from launchlens.blockers.words import short_kernel
from launchlens.records.figures import Finding

_POSITIONS = 3
_STEP_SAMPLE = 200


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a program an occurrence comes from: a source line and the stack above it.

    ``function`` tells lines of one function together: they become one finding. ``text`` is
    "file.py:12", None when only native frames are known.
    """

    text: str | None
    function: str | None
    stack: tuple[str, ...]

    @property
    def key(self) -> tuple[str | None, ...]:
        """What findings are told apart by: file and function, else both ends of the stack.

        The innermost native frame is the same for all reads of a number; the outermost is the
        operator that Python called.
        """
        if self.text:
            return self.text.rpartition(":")[0], self.function
        return (None, *self.stack[:1], *self.stack[-1:])


def make_findings(
    view: View, rule: Rule, hits: Hits, places: Mapping[int, Place] | None = None
) -> list[Finding]:
    """Findings of one rule and kind, by bytes and, where known, by file and function.

    Args:
        view: the trace and its steps.
        rule: the rule that found them.
        hits: the occurrences.
        places: for API rows, where they come from.
    """
    places = places or {}
    keys: list[object] = [None] * hits.row.size
    for i, row in enumerate(hits.row.tolist() if places else ()):
        keys[i] = places[row].key if row in places else None
    groups: dict[tuple[int, object], list[int]] = defaultdict(list)
    for i, (size, key) in enumerate(zip(hits.bytes.tolist(), keys, strict=True)):
        groups[size, key].append(i)
    return [
        _finding(view, rule, hits, np.array(members, np.int64), places)
        for members in groups.values()
    ]


def _finding(
    view: View, rule: Rule, hits: Hits, members: Rows, places: Mapping[int, Place]
) -> Finding:
    step, row = hits.step[members], hits.row[members]
    counts = np.bincount(step, minlength=view.size)
    size = int(hits.bytes[members[0]])
    size_or_none = size if size >= 0 else None
    here = [places[r] for r in row.tolist() if r in places]
    whole_step = rule.id == "unstable-sequence"
    return Finding(
        rule=rule.id,
        confidence="likely" if hits.confidence == "likely" else "suspected",
        title=rule.title(hits, size_or_none),
        count_per_step=round(float(counts.mean()), 4),
        stable=bool((counts == counts[0]).all()) and not whole_step,
        bytes=size_or_none,
        kinds=hits.kinds,
        source=_joined_source(here),
        stack=here[0].stack if here else (),
        host_ns=_per_step(step, hits.host_ns[members], view.size) if hits.counted else None,
        idle_ns=_per_step(step, hits.idle_ns[members], view.size) if hits.counted else None,
        position=_position(view, row, step, counts),
        remedy=rule.remedy,
        note=hits.note,
    )


def _joined_source(places: list[Place]) -> str | None:
    """The lines of one file, in order of first appearance ("modeling.py:1727/1764")."""
    texts = list(dict.fromkeys(p.text for p in places if p.text))
    if not texts:
        return None
    file = texts[0].rpartition(":")[0]
    return f"{file}:{'/'.join(t.rpartition(':')[2] for t in texts)}"


def _per_step(step: Rows, value_ns: Rows, steps: int) -> int | None:
    """Median over all steps of the sum in each; None when nothing is known."""
    known = value_ns >= 0
    if not known.any():
        return None
    total = np.bincount(step[known], weights=value_ns[known].astype(np.float64), minlength=steps)
    return round(float(np.median(total)))


def _position(view: View, row: Rows, step: Rows, counts: Rows) -> str | None:
    """Between which kernels, and in which innermost range, in one typical step."""
    typical = int(np.argmax(counts == np.median(counts))) if counts.size else 0
    if not counts[typical]:
        typical = int(np.argmax(counts))
    rows = row[step == typical][:_STEP_SAMPLE]
    names: Counter[str] = Counter()
    around = _around(view, rows, typical)
    for (before, after), inside in zip(around, innermost_ranges(view, rows, typical), strict=True):
        text = f"after {before or 'the start of the step'}, before {after or 'the end of the step'}"
        names[f"{text}, in {inside}" if inside else text] += 1
    shown = names.most_common(_POSITIONS)
    if not shown:
        return None
    parts = [f"{text} (×{n})" if n > 1 else text for text, n in shown]
    rest = len(names) - len(shown)
    return "; ".join(parts) + (f"; and {rest} other places" if rest else "")


def _around(view: View, rows: Rows, step: int) -> list[tuple[str | None, str | None]]:
    """Names of what was submitted just before and just after each row in the step."""
    low = int(np.searchsorted(view.submitting, view.first[step]))
    high = int(np.searchsorted(view.submitting, view.last[step]))
    own = view.submitting[low:high]
    before = np.searchsorted(own, rows, side="left") - 1
    after = np.searchsorted(own, rows, side="right")
    pairs = []
    for i, j in zip(before.tolist(), after.tolist(), strict=True):
        pair = [
            short_kernel(kernel_names(view, view.op_of_call[own[k : k + 1]])[0])
            if 0 <= k < own.size
            else None
            for k in (i, j)
        ]
        pairs.append((pair[0], pair[1]))
    return pairs


def innermost_ranges(view: View, rows: Rows, step: int) -> list[str | None]:
    """Text of the innermost NVTX range around each row inside the step, None without one."""
    ranges, api = view.trace.ranges, view.trace.api
    owner = view.steps[step]
    mine = np.flatnonzero(
        (ranges.thread == view.thread[step])
        & (ranges.start_ns >= owner.start_ns)
        & (ranges.end_ns <= owner.end_ns)
    )
    # The step's own range is no place inside the step.
    mine = mine[(ranges.start_ns[mine] > owner.start_ns) | (ranges.end_ns[mine] < owner.end_ns)]
    found: list[str | None] = []
    for start in api.start_ns[rows].tolist():
        around = mine[(ranges.start_ns[mine] <= start) & (ranges.end_ns[mine] >= start)]
        inner = (
            around[np.argmin(ranges.end_ns[around] - ranges.start_ns[around])]
            if around.size
            else -1
        )
        found.append(ranges.texts[int(ranges.text[inner])] if inner >= 0 else None)
    return found
