"""From occurrences to findings: grouped, counted for each step, with position and lost time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from launchlens.blockers.hits import Hits, Origin, Rule, source_text
from launchlens.blockers.view import Rows, View, kernel_names
from launchlens.kernel_names import short_kernel
from launchlens.records.figures import Finding

if TYPE_CHECKING:
    from launchlens.protocol.step import CopyKind

_POSITIONS = 3
_STEP_SAMPLE = 200


@dataclass(frozen=True, slots=True)
class Found:
    """A finding with what its rule says of it; a failure that no finding explains has no rule."""

    finding: Finding
    errors: tuple[str, ...] = ()
    """Names of the capture errors that may mean it (`Rule.errors`)."""
    operators: tuple[CopyKind, ...] = ()
    """Kinds of failing operator that mean it (`Rule.operators`)."""
    on_replay: str | None = None
    """What goes wrong on replay, in a sentence (`Hits.on_replay`)."""
    calls: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    """API rows of its occurrences; none where these stand for a whole step."""


def make_findings(view: View, rule: Rule, hits: Hits, origins: Mapping[int, Origin]) -> list[Found]:
    """Findings of one rule and kind, by bytes and, where known, by file and function.

    ``origins`` tells for API rows where they come from.
    """
    groups: dict[tuple[int, object], list[int]] = defaultdict(list)
    for i, (size, row) in enumerate(zip(hits.bytes.tolist(), hits.row.tolist(), strict=True)):
        groups[size, origins[row].key if row in origins else None].append(i)
    errors = rule.errors if hits.errors is None else hits.errors
    return [
        Found(
            _finding(view, rule, hits, members, origins),
            errors,
            rule.operators,
            hits.on_replay,
            hits.row[members] if hits.timed else np.empty(0, np.int64),
        )
        for members in (np.array(group, np.int64) for group in groups.values())
    ]


def _finding(
    view: View, rule: Rule, hits: Hits, members: Rows, origins: Mapping[int, Origin]
) -> Finding:
    step, row = hits.step[members], hits.row[members]
    counts = np.bincount(step, minlength=view.size)
    size = int(hits.bytes[members[0]])
    size_or_none = size if size >= 0 else None
    here = [origins[r] for r in row.tolist() if r in origins]
    file = next((o.file for o in here if o.file), None)
    lines = tuple(dict.fromkeys(o.line for o in here if o.line is not None))
    return Finding(
        rule=rule.id,
        confidence=hits.confidence,
        title=rule.title(hits, size_or_none),
        count_per_step=round(float(counts.mean()), 4),
        stable=bool((counts == counts[0]).all()) and not rule.whole_step,
        bytes=size_or_none,
        kinds=hits.kinds,
        source=source_text(file, lines),
        stack=here[0].stack if here else (),
        host_ns=_per_step(step, hits.host_ns[members], view.size) if hits.timed else None,
        idle_ns=_per_step(step, hits.idle_ns[members], view.size) if hits.timed else None,
        position=_position(view, row, step, counts),
        remedy=hits.remedy or rule.remedy,
        note=hits.note,
        silent=rule.silent if hits.silent is None else hits.silent,
        copies=rule.copies,
        file=file,
        lines=lines,
    )


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
    names = [None, *map(short_kernel, kernel_names(view, view.op_of_call[own])), None]
    before = np.searchsorted(own, rows, side="left").tolist()
    after = np.searchsorted(own, rows, side="right").tolist()
    return [(names[i], names[j + 1]) for i, j in zip(before, after, strict=True)]


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
    # Shortest first: the first range around a call is the innermost.
    mine = mine[np.argsort(ranges.end_ns[mine] - ranges.start_ns[mine], kind="stable")]
    start, end = ranges.start_ns[mine], ranges.end_ns[mine]
    texts = [ranges.texts[i] for i in ranges.text[mine].tolist()]
    found = (
        np.flatnonzero((start <= t) & (end >= t)).tolist() for t in api.start_ns[rows].tolist()
    )
    return [texts[around[0]] if around else None for around in found]
