"""A capture attempt: does the step capture, and if not, what stands in its way, in order.

The result's ``attempt`` object: ``captured`` (bool), ``blockers`` (in the order capture met
them: ``order``, ``source``, ``path``, ``line``, ``function``, ``kind``, ``op``, ``bytes``,
``count``, ``error_type``, ``error_line``, ``hint``), ``patched_sources`` (lines whose copies
were replaced by values kept on the GPU), ``cleared`` (lines that copy or wait in the eager step
and did not block:
``source``, ``kind``, ``bytes``, ``count``, ``seen_while_capturing``; null unless captured),
``events`` (those of the eager step), ``stopped`` (why it ended without a capture).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from launchlens.harness.dispatch import CopyEvent, Place, Recorder, observe
from launchlens.harness.failures import Failure, describe_failure
from launchlens.harness.variants.base import Context
from launchlens.harness.variants.cudagraph import warm_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from launchlens.harness.operators import Operator

MAX_ATTEMPTS = 64


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
) -> tuple[dict[str, Any], Failure | None]:
    """Tries to capture a step, patching over each blocker with ``keep_going``.

    Args:
        model: for the modules' names.
        forward: runs the step on static inputs.
        context: how to reset the cache between runs.
        patched_sources: lines patched over from the start.
        keep_going: go on after a failure, with its line patched over too.
        capture: captures a step, raising on failure; by default as one CUDA graph.

    Returns:
        The ``attempt`` object, and the first failure (None when nothing failed).
    """
    capture = capture or _capture
    recorder = Recorder(keep_results=True)
    if context.device == "cuda":
        warm_up(forward, context)
    context.reset()
    with observe(model, recorder, accelerator=context.device):
        forward()
    patched = set(patched_sources)
    blockers: list[dict[str, Any]] = []
    first: Failure | None = None
    stopped: str | None = None
    captured = False
    replacer = Replacer(recorder.results, patched)
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
                break
            assert failure.source is not None
            patched.add(failure.source)
        else:
            captured = True
            break
    attempt = {
        "captured": captured,
        "blockers": blockers,
        "patched_sources": sorted(patched),
        "cleared": _cleared(recorder.events, patched, replacer) if captured else None,
        "events": [event.to_dict() for event in recorder.events],
        "stopped": stopped,
    }
    return attempt, first


def _capture(forward: Callable[[], Any]) -> None:
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        forward()
    graph.replay()
    torch.cuda.synchronize()


def _why_stop(
    failure: Failure, patched: set[str], recorder: Recorder, device: str, *, keep_going: bool
) -> str | None:
    """Why no further attempt is made; None to go on."""
    if not keep_going:
        return "first failure"
    if failure.source is None or failure.source not in recorder.results:
        return f"no copy is known at {failure.source}, so there is nothing to patch over"
    if failure.source in patched:
        return f"{failure.source} still fails although it is patched over"
    if device == "cuda" and not _is_healthy():
        return "the failed capture broke the CUDA context: go on in a new process"
    return None


def _is_healthy() -> bool:
    """Whether the GPU still works after a failed capture."""
    import torch

    try:
        torch.cuda.synchronize()
        return bool((torch.ones(2, device="cuda") + 1).sum().item() == 4)
    except RuntimeError:
        return False


def _blocker(order: int, failure: Failure, events: list[CopyEvent]) -> dict[str, Any]:
    here = [event for event in events if event.source == failure.source]
    event = here[0] if here else None
    return {
        "order": order,
        "source": failure.source,
        "path": failure.path,
        "line": failure.line,
        "function": failure.function,
        "kind": event.kind if event else None,
        "op": event.op if event else None,
        "bytes": event.bytes if event else None,
        "count": len(here) if here else None,
        "error_type": failure.error_type,
        "error_line": failure.error_line,
        "hint": failure.hint,
    }


def _cleared(
    events: list[CopyEvent], patched: set[str], replacer: Replacer
) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str, int | None], int] = {}
    for event in events:
        if event.source is not None and event.source not in patched:
            key = event.source, event.kind, event.bytes
            groups[key] = groups.get(key, 0) + 1
    return [
        {
            "source": source,
            "kind": kind,
            "bytes": size_bytes,
            "count": count,
            "seen_while_capturing": replacer.seen[source] > 0,
        }
        for (source, kind, size_bytes), count in groups.items()
    ]
