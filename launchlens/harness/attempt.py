"""A capture attempt: does the step capture, and if not, what stands in its way, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from launchlens.harness.device import synchronize
from launchlens.harness.dispatch import Place, Recorder, observe
from launchlens.harness.failures import describe_failure
from launchlens.harness.operators import Operator
from launchlens.harness.variants.base import Context
from launchlens.harness.variants.cudagraph import warm_up
from launchlens.protocol.facts import VariantFailure
from launchlens.protocol.step import Attempt, BlockerMet, ClearedLine, CopyEvent, CopyKind, StopCode

MAX_ATTEMPTS = 64
_WORDS: dict[StopCode, str] = {
    "first-failure": "first failure",
    "no-copy-known": "no copy is known at {}, so there is nothing to patch over",
    "still-fails": "{} still fails although it is patched over",
    "context-broken": "the failed capture broke the CUDA context: go on in a new process",
}


class Replacer:
    """A handler that uses kept values at the given source lines and runs everything else."""

    def __init__(self, results: dict[str, list[Any]], sources: set[str]) -> None:
        self.seen: Counter[str] = Counter()
        self._results = results
        self._sources = sources

    def __call__(self, operator: Operator, place: Place) -> Any:
        """Replaces the n-th call at a line by the n-th value that was kept there."""
        source = place.source
        if source is None:
            return operator.run()
        index = self.seen[source]
        self.seen[source] += 1
        kept = self._results.get(source, [])
        if source not in self._sources or index >= len(kept):
            return operator.run()
        return operator.replace(kept[index])


@dataclass(frozen=True, slots=True)
class PatchableStep:
    """A step on static inputs that runs with some of its lines patched over.

    Attributes:
        model: for the modules' names.
        forward: runs it.
        context: of its inputs.
        capture_with: captures what it is given; returns what replays it and gives its output.
        recorder: what an eager run of it did, with the values that are patched in.
    """

    model: Any
    forward: Callable[[], Any]
    context: Context
    capture_with: Callable[..., Callable[[], Any]]
    recorder: Recorder

    def run(self, patched: set[str]) -> Any:
        """Runs it eager."""
        return self._within(patched, self.forward)[0]

    def capture(self, patched: set[str], **how: Any) -> tuple[Callable[[], Any], Replacer]:
        """Captures it; returns what replays it, and what capturing came to."""
        return self._within(patched, lambda: self.capture_with(self.forward, **how))

    def _within(self, patched: set[str], work: Callable[[], Any]) -> tuple[Any, Replacer]:
        self.context.reset()
        replacer = Replacer(self.recorder.results, patched)
        with observe(self.model, replacer, accelerator=self.context.device):
            return work(), replacer


def make_step(
    model: Any,
    forward: Callable[[], Any],
    context: Context,
    capture: Callable[..., Callable[[], Any]] | None = None,
) -> PatchableStep:
    """Warms a step up and records what it copies and waits for; by default for one CUDA graph."""
    recorder = Recorder(keep_results=True)
    if context.device == "cuda":
        warm_up(forward, context)
    context.reset()
    with observe(model, recorder, accelerator=context.device):
        forward()
    return PatchableStep(model, forward, context, capture or capture_graph, recorder)


def run_attempts(
    step: PatchableStep, *, patched_sources: tuple[str, ...] = (), keep_going: bool = False
) -> tuple[Attempt, VariantFailure | None, Callable[[], Any] | None]:
    """Tries to capture a step.

    ``patched_sources`` are patched over from the start; with ``keep_going`` each line that fails
    is patched over as well and the step tried again.

    Returns:
        The attempt, the first failure (None when nothing failed), and what replays the captured
        step (None when it could not be captured).
    """
    patched = set(patched_sources)
    events = step.recorder.events
    blockers: list[BlockerMet] = []
    first: VariantFailure | None = None
    stopped: StopCode | None = None
    words: str | None = None
    cleared: tuple[ClearedLine, ...] | None = None
    replay: Callable[[], Any] | None = None
    for _ in range(MAX_ATTEMPTS):
        try:
            replay, replacer = step.capture(patched)
            replay()
            synchronize(step.context.device)
        except Exception as error:  # whatever stops a capture is the answer
            replay = None
            failure = describe_failure(error, phase=step.context.phase)
            first = first or failure
            blockers.append(_blocker(len(blockers) + 1, failure, events))
            device = step.context.device
            stopped = _why_stop(failure, patched, step.recorder, device, keep_going=keep_going)
            if stopped is not None:
                words = _WORDS[stopped].format(failure.source)
                break
            assert failure.source is not None
            patched.add(failure.source)
        else:
            cleared = _cleared(events, patched, replacer)
            break
    attempt = Attempt(
        captured=cleared is not None,
        blockers=tuple(blockers),
        patched_sources=tuple(sorted(patched)),
        cleared=cleared,
        events=tuple(events),
        stopped=words,
        stop_code=stopped,
    )
    return attempt, first, replay


def capture_graph(forward: Callable[[], Any], mode: str = "global") -> Callable[[], Any]:
    """Captures a step as one CUDA graph; returns what replays it and gives its output.

    ``mode`` is torch's ``capture_error_mode``.
    """
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode=mode):
        output = forward()

    def replay() -> Any:
        graph.replay()
        return output

    return replay


def _why_stop(
    failure: VariantFailure, patched: set[str], recorder: Recorder, device: str, *, keep_going: bool
) -> StopCode | None:
    """Why no further attempt is made; None to go on."""
    if not keep_going:
        return "first-failure"
    if failure.source is None or failure.source not in recorder.results:
        return "no-copy-known"
    if failure.source in patched:
        return "still-fails"
    if device == "cuda" and not _is_healthy():
        return "context-broken"
    return None


def _is_healthy() -> bool:
    """Whether the GPU still works after a failed capture."""
    import torch

    try:
        torch.cuda.synchronize()
        return bool((torch.ones(2, device="cuda") + 1).sum().item() == 4)
    except RuntimeError:
        return False


def _blocker(order: int, failure: VariantFailure, events: list[CopyEvent]) -> BlockerMet:
    here = [event for event in events if event.source == failure.source]
    first = here[0] if here else None
    return BlockerMet(
        order=order,
        source=failure.source,
        path=failure.path,
        line=failure.line,
        function=failure.function,
        kind=first.kind if first else None,
        op=first.op if first else None,
        bytes=first.bytes if first else None,
        count=len(here) or None,
        error_type=failure.error_type,
        error_line=failure.error_line,
        hint=failure.hint,
    )


def _cleared(
    events: list[CopyEvent], patched: set[str], replacer: Replacer
) -> tuple[ClearedLine, ...]:
    groups: Counter[tuple[str, CopyKind, int | None]] = Counter(
        (event.source, event.kind, event.bytes)
        for event in events
        if event.source is not None and event.source not in patched
    )
    return tuple(
        ClearedLine(source, kind, size, count, seen_while_capturing=replacer.seen[source] > 0)
        for (source, kind, size), count in groups.items()
    )
