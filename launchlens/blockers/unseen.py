"""What a trace does not show of blockers: why finding nothing proves nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from launchlens.blockers.failed import failed_captures
from launchlens.blockers.view import View
from launchlens.calls import LITTLE_BESIDE, CallKind
from launchlens.plural import counted
from launchlens.records.columns import Trace
from launchlens.records.figures import Step
from launchlens.records.recorder import Need


def find_unseen(trace: Trace, views: Sequence[View], *, all_threads: bool) -> Iterator[str]:
    """Why blockers may be there that no rule can see, in sentences; none where all is seen.

    ``views`` hold the steps that were looked at, ``all_threads`` says whether those own the calls
    of all threads of their process.
    """
    steps = [step for view in views for step in view.steps]
    if not steps:
        yield "no step that was looked at submits any work."
    copies = [view.rows_with(CallKind.MEMCPY)[0] for view in views]
    made = sum(rows.size for rows in copies)
    bare = made - sum(int(v.has_op[rows].sum()) for v, rows in zip(views, copies, strict=True))
    if bare:
        remedy = trace.recorder.advise(Need.EVENTS)
        said = (
            f"{bare} of {counted(made, 'memcpy call')} of the steps without a row of what was "
            "copied, which tells a copy that blocks from one that does not."
        )
        yield f"{said} {remedy}" if remedy else said
    unnamed = sum(view.rows_with(CallKind.UNNAMED)[0].size for view in views)
    if unnamed := unnamed + trace.stray_calls:
        yield f"{counted(unnamed, 'CUDA call')} without a name, or without a known thread."
    lost = sum(step.lost_launches or 0 for step in steps)
    if lost:
        yield (
            f"{counted(lost, 'kernel launch', 'kernel launches')} of the steps without a kernel "
            "row: what ran, and on which stream, is not known."
        )
    if not all_threads:
        yield from _other_threads(steps)
    if any(failed_captures(trace)):
        yield ("a capture failed in this trace: what would have stopped it next was never reached.")


def _other_threads(steps: Sequence[Step]) -> Iterator[str]:
    by_step = {(s.pid, s.tid, s.start_ns): s for s in steps}
    others = sum(s.other_thread_submissions or 0 for s in by_step.values())
    if others > LITTLE_BESIDE * sum(s.submissions or 0 for s in steps):
        yield (
            f"other threads made {others / len(by_step):.0f} launches and copies in each step, "
            "which were not looked at; --whole looks at the calls of all threads."
        )
