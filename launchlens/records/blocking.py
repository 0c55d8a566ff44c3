"""What blocks a step's capture, whether it was tried, and what a patch changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from launchlens.records.figures import Finding, TraceInfo, Verdict
from launchlens.records.variant import Equivalence

SEARCHED = (
    "Capture blockers were looked for in the CUDA API calls: a side that lists none has none there."
)
"""The note of a report whose ``blockers_searched`` is true."""

SEARCHED_IN_PART = (
    "Capture blockers were looked for in the CUDA API calls, but a trace does not show all of "
    "them: a side that lists none may have some."
)
"""The same where a side has ``blockers_unseen``."""


@dataclass(frozen=True, slots=True)
class CaptureBlocker:
    """A line at which a capture attempt failed."""

    order: int
    """The n-th failure, from 1."""
    source: str | None
    """File and line of the model."""
    error_type: str
    """Class of the error."""
    error_line: str
    """Its first line."""
    bytes: int | None
    """Bytes of the copy at that line."""
    count: int | None
    """Operators at that line in one step."""
    hint: str | None
    """What usually helps."""


@dataclass(frozen=True, slots=True)
class ReplayCheck:
    """Replays of a captured step beside the eager step, on inputs of other values.

    Apart from the protocol's, which says where a file lies on the machine: that stays there.
    """

    verdict: Literal["right", "wrong-replay", "frozen-value", "unknown"]
    """`right`: replays compute what eager does; `wrong-replay`: something else; `frozen-value`:
    a value that Python changes stays as captured; `unknown`: see `reason`."""
    inputs: int
    """Inputs on which both ran, twice on each."""
    varied: tuple[str, ...]
    """What differed between inputs: tokens, lengths, positions, masks."""
    differing: int | None
    """Inputs on which the last logits differ by more than `tolerance`."""
    max_abs_diff: float | None
    """Largest difference; null where it is not finite or not known."""
    eager_spread: float | None
    """Largest difference of the eager step from itself on the same input."""
    tolerance: float | None
    """Difference that rounding and eager's own spread explain."""
    module: str | None
    """First layer whose output differs."""
    module_class: str | None
    """Its class."""
    source: str | None
    """File and line of its forward."""
    reason: str | None
    """Why it cannot be told, or what else is known."""


@dataclass(frozen=True, slots=True)
class CaptureAttempt:
    """A capture of the step as one CUDA graph, really tried in a child process."""

    captured: bool
    """Whether the step captured in the end, with `patched_sources` patched over."""
    blockers: tuple[CaptureBlocker, ...]
    """Lines at which it failed, in order."""
    patched_sources: tuple[str, ...]
    """Lines whose copied values were kept on the GPU instead."""
    stopped: str | None
    """Why it ended without a capture."""
    complete: bool = True
    """Whether what comes after the first failure was looked for."""
    replay: ReplayCheck | None = None
    """Whether replays are right; null where nothing was captured, and in older runs."""

    @property
    def as_it_stands(self) -> bool:
        """Whether the step captures without any change."""
        return self.captured and not self.patched_sources


@dataclass(frozen=True, slots=True)
class PatchEffect:
    """What a source change brought: untraced medians, outputs beside the unpatched step's."""

    patch: str
    """File name of the patch."""
    gone: tuple[Finding, ...]
    """Findings that the patched step no longer has, with how many."""
    untraced_ns: dict[str, int]
    """Untraced step, median, by name: `eager`, `eager, patched`, `cudagraph, patched`."""
    equivalence: dict[str, tuple[Equivalence, ...]]
    """Outputs beside the unpatched eager step's, by the same names."""
    untraced_verdicts: dict[str, Verdict] = field(default_factory=dict)
    """Of each beside `eager`: better, worse, same, inconclusive or unknown."""
    untraced_processes_ns: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Median of each process, by the same names, where `--rounds` asked for several."""


@dataclass(frozen=True, slots=True)
class BlockerReport:
    """The JSON object of ``launchlens blockers --format json``."""

    schema: Literal["launchlens.blockers/1"]
    """`launchlens.blockers/1`."""
    label: str
    """What was looked at: a trace's name, or a model's."""
    phases: tuple[str, ...]
    """Phases of its steps."""
    steps: int
    """Number of steps."""
    trace: TraceInfo | None
    """Where the trace comes from; null where none was recorded."""
    findings: tuple[Finding, ...]
    """Suspected, confirmed and cleared blockers."""
    attempt: CaptureAttempt | None = None
    """The capture that was tried; null from a trace alone."""
    patched: BlockerReport | None = None
    """The same report with the patch applied."""
    effect: PatchEffect | None = None
    """What the patch changed."""
    notes: tuple[str, ...] = ()
    """What a reader must know."""
    captured: bool = False
    """Whether the steps launch CUDA graphs, so that what is in those shows no blockers."""
    unseen: tuple[str, ...] = ()
    """Why blockers may be there that the trace does not show, in sentences; empty: none can."""

    @property
    def unproven(self) -> str | None:
        """Why there may be more to find than was found; None where nothing is left open."""
        replay = self.attempt.replay if self.attempt is not None else None
        if replay is None or replay.verdict != "unknown":
            return self.unseen[0] if self.unseen and self.attempt is None else None
        return f"whether replays are right cannot be told: {replay.reason}"

    @property
    def copies_per_step(self) -> dict[str, float]:
        """Synchronizing copies in each step, by phase; phases without any are left out."""
        found: dict[str, float] = {}
        for f in self.findings:
            if f.copies:
                phase = f.phase or (self.phases[0] if len(self.phases) == 1 else "unknown")
                found[phase] = found.get(phase, 0) + f.count_per_step
        return found
