"""A capture attempt: does the step capture, and if not, what stands in its way, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

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


def run_attempts(
    model: Any,
    forward: Callable[[], Any],
    context: Context,
    *,
    patched_sources: tuple[str, ...] = (),
    keep_going: bool = False,
    capture: Callable[[Callable[[], Any]], None] | None = None,
) -> tuple[Attempt, VariantFailure | None]:
    """Tries to capture a step on static inputs, by default as one CUDA graph.

    ``patched_sources`` are patched over from the start; with ``keep_going`` each line that fails
    is patched over as well and the step tried again.

    Returns:
        The attempt, and the first failure (None when nothing failed).
    """
    capture = capture or _capture
    recorder = Recorder(keep_results=True)
    if context.device == "cuda":
        warm_up(forward, context)
    context.reset()
    with observe(model, recorder, accelerator=context.device):
        forward()
    patched = set(patched_sources)
    blockers: list[BlockerMet] = []
    first: VariantFailure | None = None
    stopped: StopCode | None = None
    words: str | None = None
    cleared: tuple[ClearedLine, ...] | None = None
    for _ in range(MAX_ATTEMPTS):
        context.reset()
        replacer = Replacer(recorder.results, patched)
        try:
            with observe(model, replacer, accelerator=context.device):
                capture(forward)
        except Exception as error:  # whatever stops a capture is the answer
            failure = describe_failure(error, phase=context.phase)
            first = first or failure
            blockers.append(_blocker(len(blockers) + 1, failure, recorder.events))
            stopped = _why_stop(failure, patched, recorder, context.device, keep_going=keep_going)
            if stopped is not None:
                words = _WORDS[stopped].format(failure.source)
                break
            assert failure.source is not None
            patched.add(failure.source)
        else:
            cleared = _cleared(recorder.events, patched, replacer)
            break
    attempt = Attempt(
        captured=cleared is not None,
        blockers=tuple(blockers),
        patched_sources=tuple(sorted(patched)),
        cleared=cleared,
        events=tuple(recorder.events),
        stopped=words,
        stop_code=stopped,
    )
    return attempt, first


def _capture(forward: Callable[[], Any]) -> None:
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        forward()
    graph.replay()
    torch.cuda.synchronize()


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
