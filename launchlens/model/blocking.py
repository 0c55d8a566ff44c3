"""What blocks a step's capture, whether it was tried, and what a patch changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from launchlens.model.figures import Finding, TraceInfo, Verdict
from launchlens.model.measured import Equivalence

COPY_RULES = ("pageable-htod", "dtoh-sync", "slow-pinned-htod")
"""Rules that find copies for which the host waits."""


@dataclass(frozen=True, slots=True)
class CaptureBlocker:
    """A line at which a capture attempt failed. ``order``: the n-th failure, from 1."""

    order: int
    source: str | None
    error_type: str
    error_line: str
    bytes: int | None
    count: int | None
    hint: str | None


@dataclass(frozen=True, slots=True)
class CaptureAttempt:
    """A capture of the step as one CUDA graph, really tried in a child process.

    ``captured``: it succeeded in the end, with ``patched_sources`` patched over (their copied
    values kept on the GPU); as it stands where there are none. ``stopped``: why it ended without.
    """

    captured: bool
    blockers: tuple[CaptureBlocker, ...]
    patched_sources: tuple[str, ...]
    stopped: str | None

    @property
    def as_it_stands(self) -> bool:
        """Whether the step captures without any change."""
        return self.captured and not self.patched_sources


@dataclass(frozen=True, slots=True)
class PatchEffect:
    """What a source change brought: untraced medians, outputs beside those of the unpatched step.

    ``untraced_ns`` by name ("eager", "eager, patched", "cudagraph, patched"), with a verdict for
    each beside "eager", and the same by process where there was more than one. ``gone`` are the
    findings of the unpatched step that the patched one no longer has.
    """

    patch: str
    gone: tuple[Finding, ...]
    untraced_ns: dict[str, int]
    equivalence: dict[str, tuple[Equivalence, ...]]
    untraced_verdicts: dict[str, Verdict] = field(default_factory=dict)
    untraced_processes_ns: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BlockerReport:
    """The JSON object of ``launchlens blockers --format json``.

    ``captured``: the steps launch CUDA graphs, and what is in those shows no blockers.
    """

    schema: Literal["launchlens.blockers/1"]
    label: str
    phases: tuple[str, ...]
    steps: int
    trace: TraceInfo | None
    findings: tuple[Finding, ...]
    attempt: CaptureAttempt | None = None
    patched: BlockerReport | None = None
    effect: PatchEffect | None = None
    notes: tuple[str, ...] = ()
    captured: bool = False

    @property
    def copies_per_step(self) -> dict[str, float]:
        """Synchronizing copies in each step, by phase; phases without any are left out."""
        found: dict[str, float] = {}
        for f in self.findings:
            if f.rule in COPY_RULES:
                phase = f.phase or (self.phases[0] if len(self.phases) == 1 else "unknown")
                found[phase] = found.get(phase, 0) + f.count_per_step
        return found
