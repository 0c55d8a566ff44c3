"""Whether a recording holds what was expected of it; what is missing, and what brings it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from launchlens.capture import Wrapped, describe_exit
from launchlens.plural import counted
from launchlens.records.columns import Trace
from launchlens.records.doctor import Check
from launchlens.workflow.running.plan import RunPlan

_FORKED = (
    "workers that are forked without exec leave empty traces: let the program spawn them "
    "(VLLM_WORKER_MULTIPROC_METHOD=spawn, multiprocessing's start method spawn)"
)
_WRAPPED = (
    "workers that MPI or Ray started elsewhere are not traced: put launchlens run behind mpirun, "
    "or run the engine with its own multiprocessing"
)
_SHARED = (
    "another user of CUPTI (torch.profiler, ncu, a second nsys, DCGM) keeps nsys from tracing CUDA"
)
_MOST = 5
_SIGNALLED = 128


def look_over(
    trace: Trace, plan: RunPlan, recorded: Wrapped, *, steps: bool, gpu: bool
) -> list[Check]:
    """What was expected of the recording, each with what was found and what to do.

    Args:
        trace: the recording.
        plan: what was run.
        recorded: what the run left, with the processes that the program was seen to consist of.
        steps: whether steps were found in it.
        gpu: whether the machine has a GPU.
    """
    checks = [
        _calls(trace, gpu),
        _ranks(trace, plan, gpu),
        _kernels(trace, plan),
        _steps(trace, plan, steps),
    ]
    found = [check for check in checks if check is not None]
    if any(check.status != "ok" for check in found):
        found += _untraced(trace, recorded.processes)
    if recorded.exit_code > _SIGNALLED:
        said = f"the program ended by {describe_exit(recorded.exit_code)}"
        found.append(Check("end", "warn", said, "Its last events may be missing."))
    found += _cut_short(trace, recorded.forked)
    return found


def _with_calls(trace: Trace) -> list[int]:
    return [trace.processes[i].pid for i in np.unique(trace.api.process).tolist()]


def _calls(trace: Trace, gpu: bool) -> Check:
    name = "CUDA calls"
    pids = _with_calls(trace)
    if pids:
        return Check(name, "ok", f"{trace.api.start_ns.size} in {_processes(len(pids))}")
    if not gpu:
        return Check(name, "skip", "none; this machine has no GPU")
    return Check(name, "fail", "none were recorded", f"{_capital(_SHARED)}; {_FORKED}.")


def _ranks(trace: Trace, plan: RunPlan, gpu: bool) -> Check | None:
    pids = _with_calls(trace)
    if plan.ranks < 2 or not (pids or gpu):
        return None
    said = f"{len(pids)} of {plan.ranks} have CUDA calls"
    if len(pids) >= plan.ranks:
        return Check("ranks", "ok", said)
    return Check("ranks", "warn", said, f"{_capital(_FORKED)}; {_WRAPPED}.")


def _kernels(trace: Trace, plan: RunPlan) -> Check | None:
    if not trace.api.start_ns.size:
        return None
    count = int(trace.ops.start_ns.size)
    if count:
        return Check("GPU operations", "ok", str(count))
    remedy = f"{_capital(_SHARED)}."
    if plan.graphs == "node":
        remedy += " If the program launches graphs only, try --graph-trace graph."
    return Check("GPU operations", "fail", "none, though CUDA was called", remedy)


def _steps(trace: Trace, plan: RunPlan, found: bool) -> Check:
    name, recipe = "step ranges", plan.recipe
    ranges = int(trace.ranges.start_ns.size)
    if found:
        return Check(name, "ok", f"among {ranges} ranges")
    if recipe is not None and recipe.steps.whole:
        return Check(name, "skip", recipe.steps.tells)
    said = "none of the ranges marks a step" if ranges else "there are no NVTX ranges"
    if recipe is not None:
        examples = " or ".join(f"{text!r}" for text in recipe.steps.examples[:2])
        remedy = f"{recipe.title} writes {examples}. {recipe.recording.opens}."
    elif ranges:
        remedy = "Name them: launchlens analyze TRACE --step REGEX."
    else:
        remedy = "Use the engine's recipe (launchlens recipes), or mark steps with NVTX ranges."
    return Check(name, "warn", said, remedy)


def _untraced(trace: Trace, processes: Mapping[int, str]) -> Iterator[Check]:
    """Processes of the program of which the recording holds nothing."""
    traced = {process.pid for process in trace.processes}
    left = {pid: name for pid, name in processes.items() if pid not in traced}
    if not left:
        return
    listed = ", ".join(f"{pid} ({name})" for pid, name in list(left.items())[:_MOST])
    more = f" and {len(left) - _MOST} more" if len(left) > _MOST else ""
    yield Check("processes that left no trace", "warn", f"{listed}{more}", f"{_capital(_FORKED)}.")


def _cut_short(trace: Trace, forked: Collection[int]) -> Iterator[Check]:
    """Forked workers end without what makes nsys write their last events (seen with 2022.4)."""
    there = sorted(process.pid for process in trace.processes if process.pid in forked)
    if there:
        said = f"{_processes(len(there))} ({', '.join(map(str, there[:_MOST]))})"
        remedy = f"Their last events may be missing; {_FORKED}."
        yield Check("forked without exec", "warn", said, remedy)


def _processes(number: int) -> str:
    return counted(number, "process", "processes")


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
