"""Is this machine ready to profile? One check a line, each with what to do."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.capture.contention import find_injections, find_tracing_processes
from launchlens.capture.environment import Gpu, gpu_facts
from launchlens.capture.find import Nsys, all_nsys, find_nsys
from launchlens.capture.importer import explain_missing_libraries, find_missing_libraries
from launchlens.capture.packages import (
    Python,
    check_breakable,
    check_torch,
    check_transformers,
    read_python,
)
from launchlens.capture.trial import TRIAL_RANGES, run_trial
from launchlens.errors import CaptureError
from launchlens.records.doctor import Check

if TYPE_CHECKING:
    from launchlens.capture.trial import Trial
    from launchlens.records.columns import Trace

DISK_NEEDED_BYTES = 5 * 1024**3  # a run of two variants on a large model stays below 1 GB
_TRIAL = "tracing trial"
PARANOID_FILE = Path("/proc/sys/kernel/perf_event_paranoid")


def check_environment(
    read_trial: Callable[[Path], Trace] | None,
    *,
    nsys: Path | None = None,
    folder: Path | None = None,
    python: str = sys.executable,
    timeout_s: float = 120.0,
    on_check: Callable[[Check], None] | None = None,
) -> list[Check]:
    """Looks at everything that profiling needs; never raises for what it finds.

    Args:
        read_trial: reads a recording of two seconds (`launchlens.trace.read_trace`), made to see
            that tracing works; None makes none.
        nsys: the nsys named with --nsys.
        folder: where runs will be written; None for the working folder.
        python: interpreter that will run the model.
        timeout_s: limit for each program that is started.
        on_check: called with each check as it is done.
    """
    checks: list[Check] = []

    def add(check: Check) -> None:
        checks.append(check)
        if on_check:
            on_check(check)

    gpus = gpu_facts()
    add(_check_gpu(gpus))
    found: Nsys | None = None
    try:
        found = find_nsys(nsys)
    except CaptureError as error:
        add(Check("nsys", "fail", error.message, error.hint or "Correct the path."))
    if found is not None:
        add(_check_nsys(found))
        add(_check_importer(found))
    versions = read_python(python, timeout_s)
    add(check_torch(versions, gpus))
    add(check_transformers(versions))
    add(check_breakable(versions))
    add(_check_perf_events())
    add(_check_contention())
    add(_check_disk(folder or Path.cwd()))
    add(_check_tracing(found, read_trial, versions, python, gpus, timeout_s))
    return checks


def _check_gpu(gpus: tuple[Gpu, ...] | None) -> Check:
    if gpus is None:
        detail = "NVML, the driver's library, is missing or sees no GPU"
        remedy = (
            "Traces can be read here; to profile, use a machine with an NVIDIA GPU and its driver "
            "(in a container: start it with --gpus all)."
        )
        return Check("GPU and driver", "fail", detail, remedy)

    names = "; ".join(
        f"{gpu.name}, {gpu.memory_bytes / 1024**3:.0f} GiB" if gpu.memory_bytes else gpu.name
        for gpu in gpus
    )
    return Check("GPU and driver", "ok", f"{names}, driver {gpus[0].driver}")


def _check_nsys(nsys: Nsys) -> Check:
    others = [other for other in all_nsys() if other.path.resolve() != nsys.path.resolve()]
    named = ", ".join(f"{other.path} ({other.version_text})" for other in others)
    detail = f"{nsys.version_text} at {nsys.path}" + (f"; also {named}" if named else "")
    if nsys.default_graph_mode_loses_work:
        detail += "; it exports no graph work when graphs are traced whole"
        remedy = (
            "launchlens traces graphs node by node with it; install nsys 2024.1 or newer for "
            "whole-graph tracing."
        )
        return Check("nsys", "warn", detail, remedy)
    return Check("nsys", "ok", detail)


def _check_importer(nsys: Nsys) -> Check:
    name = "nsys importer"
    if nsys.importer is None:
        remedy = "If the trial below fails, install a full Nsight Systems."
        return Check(name, "warn", f"no QdstrmImporter beside {nsys.path}", remedy)
    if missing := find_missing_libraries(nsys.importer):
        error = explain_missing_libraries(nsys.importer, missing)
        return Check(name, "fail", error.message, error.hint or "")
    return Check(name, "ok", f"{nsys.importer} starts")


def sampling_forbidden() -> int | None:
    """The kernel's perf_event_paranoid, where it forbids sampling to this user; else None."""
    level = _paranoid_level()
    return level if level is not None and level > 2 and os.geteuid() != 0 else None


def _paranoid_level() -> int | None:
    try:
        return int(PARANOID_FILE.read_text())
    except (OSError, ValueError):
        return None


def _check_perf_events() -> Check:
    name = "kernel.perf_event_paranoid"
    level = _paranoid_level()
    if level is None:
        return Check(name, "skip", "this kernel does not tell it")
    if sampling_forbidden() is None:
        return Check(name, "ok", f"{level}: launches are traced at any level, call stacks too")
    detail = f"{level}: launches are traced at any level, but call stacks need 2 or less"
    return Check(name, "warn", detail, f"Only for call stacks: sudo sysctl {name}=2.")


def _check_contention() -> Check:
    name = "other users of the tracing interface"
    variables = find_injections(os.environ)
    processes = find_tracing_processes()
    if not variables and not processes:
        return Check(name, "ok", "none seen")
    found = [f"{key}={value}" for key, value in variables.items()]
    found += [f"process {pid} ({program})" for pid, program in processes]
    remedies = [f"unset {' '.join(variables)}"] if variables else []
    remedies += ["let these processes end first"] if processes else []
    remedy = f"nsys cannot share the interface (CUPTI): {' and '.join(remedies)}."
    return Check(name, "warn", ", ".join(found), remedy)


def _check_disk(folder: Path) -> Check:
    absolute = folder.absolute()
    place = next(path for path in (absolute, *absolute.parents) if path.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / 1024**3:.1f} GiB free at {place}"
    if not os.access(place, os.W_OK):
        said = f"{place} cannot be written to"
        return Check("disk space", "fail", said, "Choose another folder.")
    if free < DISK_NEEDED_BYTES:
        return Check("disk space", "warn", detail, "Free some: traces of long runs take gigabytes.")
    return Check("disk space", "ok", detail)


def _check_tracing(
    nsys: Nsys | None,
    read: Callable[[Path], Trace] | None,
    versions: Python,
    python: str,
    gpus: tuple[Gpu, ...] | None,
    timeout_s: float,
) -> Check:
    """The trial: kernels where there is a GPU that torch can use, NVTX ranges elsewhere."""
    if read is None:
        return Check(_TRIAL, "skip", "not asked for")
    if nsys is None:
        return Check(_TRIAL, "skip", "there is no nsys", "See nsys.")
    if versions.version("nvtx") is None:
        detail = versions.error or f"{python} has no nvtx package"
        return Check(_TRIAL, "skip", detail, "pip install nvtx.")
    gpu = gpus is not None and versions.facts.get("available") is True
    try:
        seen = run_trial(nsys, read, python=python, gpu=gpu, timeout_s=timeout_s)
        return _judge_trial(seen, gpus)
    except CaptureError as error:
        remedy = error.hint or "Run nsys on a small program by hand to see more."
        return Check(_TRIAL, "fail", error.message, remedy)


def _judge_trial(seen: Trial, gpus: tuple[Gpu, ...] | None) -> Check:
    by_hand = ", imported by hand" if seen.importer_used else ""
    ranges = f"{seen.ranges} of {TRIAL_RANGES} NVTX ranges"
    if seen.ranges < TRIAL_RANGES:
        remedy = "Unset NVTX_INJECTION64_PATH, or use a newer nsys."
        why = f": {seen.unread}" if seen.unread else ""
        return Check(_TRIAL, "fail", f"{ranges} traced{why}", remedy)
    if seen.kernels is None:
        said = (
            f"{ranges} traced in {seen.seconds:.1f} s{by_hand}; no kernels, as no GPU can be used"
        )
        if gpus:
            remedy = "Install a torch that can use the GPU, then try again."
            return Check(_TRIAL, "warn", said, remedy)
        return Check(_TRIAL, "ok", said)
    if seen.kernels == 0:
        remedy = "Close other profilers, and check that nsys is new enough for the driver."
        return Check(_TRIAL, "fail", f"{ranges} but no kernel traced", remedy)
    return Check(_TRIAL, "ok", f"{ranges} and {seen.kernels} kernels traced{by_hand}")
