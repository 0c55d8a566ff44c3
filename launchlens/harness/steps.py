"""Runs the measured steps: timed without a profiler, or marked for one."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from typing import Any

import numpy as np

from launchlens.harness.device import synchronize
from launchlens.harness.inputs import DECODE, PREFILL
from launchlens.harness.ranges import StepRanges, module_ranges
from launchlens.harness.session import Session
from launchlens.protocol.spec import MIN_TIMED_STEPS
from launchlens.protocol.step import StepPhase
from launchlens.protocol.timings import TimedSteps, TracedSteps

Step = tuple["StepPhase", "Callable[[], Any]"]


def warm_up(session: Session) -> None:
    """Runs the spec's rounds of steps that nothing measures."""
    for _ in range(session.spec.warmup):
        for _, step in iterate_round(session):
            step()
    synchronize(session.device)


def iterate_round(session: Session) -> Iterator[Step]:
    """Yields the steps of one round in order, each with its inputs in place, device idle.

    A round is a prefill step and, with output tokens, its decode steps. Setting the inputs
    and rewinding the cache launch work of their own, so they are waited for here, outside of
    what the caller measures.
    """
    session.inputs.rewind(0)
    synchronize(session.device)
    yield PREFILL, session.run_prefill
    for index in range(session.decode_steps):
        session.feed(index)
        synchronize(session.device)
        yield DECODE, lambda index=index: session.run_decode(index)  # type: ignore[misc]


def time_steps(session: Session) -> dict[StepPhase, TimedSteps]:
    """Times steps from their first Python instruction to the end of their GPU work.

    At least MIN_TIMED_STEPS rounds are run, more if the spec asks for more.
    """
    warm_up(session)
    samples: dict[StepPhase, list[int]] = {}
    for _ in range(max(session.spec.steps, MIN_TIMED_STEPS)):
        for phase, step in iterate_round(session):
            start_ns = time.perf_counter_ns()
            step()
            synchronize(session.device)
            samples.setdefault(phase, []).append(time.perf_counter_ns() - start_ns)
    return {
        phase: TimedSteps(tuple(values), round(statistics.median(values)))
        for phase, values in samples.items()
    }


def trace_steps(session: Session) -> dict[StepPhase, TracedSteps]:
    """Runs steps inside NVTX ranges, between the profiler's start and stop.

    The range ends with the step's last host call; the synchronization comes after it, so
    that it is no part of the step.
    """
    spec = session.spec
    warm_up(session)
    ranges = StepRanges()
    counts: dict[StepPhase, int] = {}
    with ExitStack() as stack:
        if spec.modules and all(item.kind == "eager" for item in session.prepared.values()):
            stack.enter_context(module_ranges(session.model))
        elif spec.modules:
            session.notes.append(
                "Modules are not marked: a replayed or compiled step does not run them."
            )
        stack.enter_context(_profiled(session.device))
        for _ in range(spec.steps):
            for phase, step in iterate_round(session):
                with ranges.step(phase, counts.get(phase, 0)):
                    step()
                synchronize(session.device)
                counts[phase] = counts.get(phase, 0) + 1
    return {phase: TracedSteps(count) for phase, count in counts.items()}


def collect_outputs(session: Session, dtype: str) -> dict[str, np.ndarray[Any, Any]]:
    """Runs one round with forced tokens and returns its last-token logits as float32.

    Returns:
        ``<dtype>.prefill`` of shape (batch, vocabulary) and, with output tokens,
        ``<dtype>.decode`` of shape (osl - 1, batch, vocabulary).
    """
    import numpy as np

    outputs: dict[str, list[Any]] = {}
    for phase, step in iterate_round(session):
        logits = step()[:, -1].float().cpu().numpy()
        outputs.setdefault(phase, []).append(logits)
    arrays = {f"{dtype}.{PREFILL}": outputs[PREFILL][0]}
    if DECODE in outputs:
        arrays[f"{dtype}.{DECODE}"] = np.stack(outputs[DECODE])
    return arrays


def _profiled(device: str) -> Any:
    """Between cudaProfilerStart and cudaProfilerStop; nothing on a CPU."""
    if device != "cuda":
        return nullcontext()
    import torch

    return torch.cuda.profiler.profile()
