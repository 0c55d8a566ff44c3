"""A copy of a trace fit to be shared: scrubbed, searched for what is left, and cut on request."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.errors import StepNotFoundError, TraceError, UsageError
from launchlens.workflow.load import Choices, Loaded, load

if TYPE_CHECKING:
    from launchlens.records.figures import Step
    from launchlens.trace.interface import Excerpt

_NOT_FIGURES = frozenset(("index", "range", "domain", "engine"))


@dataclass(frozen=True, slots=True)
class StepNumbers:
    """Numbers of steps, the last among them, as ``analyze --verbose`` shows them."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"


def write_shareable(
    trace: Path, out: Path, *, steps: StepNumbers | None = None, step: str | None = None
) -> None:
    """Write a scrubbed copy of a trace, uncompressed, and search it for what is left.

    Args:
        trace: the trace.
        out: the copy; on an error it may be left, incomplete.
        steps: cut the copy to these steps, whose figures are held against those of the trace.
        step: regular expression that names steps, instead of the known patterns.

    Raises:
        TraceError: the trace cannot be read or scrubbed; something private is left; or figures of
            the cut differ from those of the trace.
        UsageError: there are no such steps.
    """
    from launchlens.trace import find_secrets, scrub_trace

    whole = load(trace, Choices(step=step)) if steps is not None else None
    excerpt = None if whole is None or steps is None else _excerpt(whole, steps)
    scrub_trace(trace, out, excerpt)
    left = find_secrets(out)
    if left:
        raise TraceError(
            f"{trace} would still show, after scrubbing: {'; '.join(left[:3])}; nothing was "
            "written.",
            hint="Please report these places, without the trace.",
        )
    if whole is not None and steps is not None:
        _check_figures(whole, steps, out, step)


def _chosen(loaded: Loaded, steps: StepNumbers) -> list[Step]:
    return [s for s in loaded.analysis.steps if steps.first <= s.index <= steps.last]


def _excerpt(loaded: Loaded, steps: StepNumbers) -> Excerpt:
    from launchlens.trace.interface import Excerpt

    chosen = _chosen(loaded, steps)
    last = max(s.index for s in loaded.analysis.steps)
    if not chosen or steps.last > last:
        raise UsageError(
            f"--steps {steps}: {loaded.analysis.trace.file} has steps 0 to {last}.",
            hint="analyze --verbose lists them.",
        )
    pid_of = [process.pid for process in loaded.trace.processes]
    key_of = {(pid_of[t.process], t.tid): t.key for t in loaded.trace.threads}
    return Excerpt(
        min(s.start_ns for s in chosen),
        max(max(s.end_ns, s.start_ns + (s.window_ns or 0)) for s in chosen),
        tuple(dict.fromkeys((s.start_ns, s.end_ns, key_of[s.pid, s.tid]) for s in chosen)),
    )


def _check_figures(whole: Loaded, steps: StepNumbers, out: Path, step: str | None) -> None:
    try:
        cut = load(out, Choices(step=step)).analysis.steps
    except StepNotFoundError:
        cut = ()
    before, after = _figures(_chosen(whole, steps)), _figures(cut)
    if before != after:
        differing = sorted(
            {name for a, b in zip(before, after, strict=False) for name in a if a[name] != b[name]}
        )
        what = f"other {', '.join(differing)}" if differing else f"{len(after)} steps"
        raise TraceError(
            f"steps {steps} would have {what} in the cut; nothing was written.",
            hint="Scrub the whole trace, or choose other steps.",
        )


def _figures(steps: tuple[Step, ...] | list[Step]) -> list[dict[str, object]]:
    return [
        {f.name: getattr(s, f.name) for f in fields(s) if f.name not in _NOT_FIGURES} for s in steps
    ]
