"""Is this machine ready to profile? One check a line, each with what to do."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.capture.check import Check
from launchlens.capture.contention import find_injections, find_tracing_processes
from launchlens.capture.environment import gpu_facts
from launchlens.capture.find import all_nsys, find_nsys
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from launchlens.capture.environment import Gpu
    from launchlens.capture.find import Nsys
    from launchlens.capture.trial import Trial


DISK_NEEDED_BYTES = 5 * 1024**3  # a run of two variants on a large model stays below 1 GB
PARANOID_FILE = Path("/proc/sys/kernel/perf_event_paranoid")


def check_environment(
    *,
    nsys: Path | None = None,
    folder: Path | None = None,
    python: str = sys.executable,
    trial: bool = True,
    on_check: Callable[[Check], None] | None = None,
) -> list[Check]:
    """Looks at everything that profiling needs.

    Args:
        nsys: the nsys named with --nsys.
        folder: where runs will be written; None for the working folder.
        python: interpreter that will run the model.
        trial: whether to record for two seconds to see that tracing works.
        on_check: called with each check as it is done.

    Returns:
        The checks in order; never raises for what it finds.
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
    versions = read_python(python)
    add(check_torch(versions, gpus))
    add(check_transformers(versions))
    add(check_breakable(versions))
    add(_check_perf_events())
    add(_check_contention())
    add(_check_disk(folder or Path.cwd()))
    add(_check_tracing(found, versions, python, gpus, wanted=trial))
    return checks


def _check_gpu(gpus: tuple[Gpu, ...] | None) -> Check:
    if gpus is None:
        return Check(
            "GPU and driver",
            "fail",
            "nvidia-smi is missing or sees no GPU",
            "Traces can be read here; to profile, use a machine with an NVIDIA GPU and its driver "
            "(in a container: start it with --gpus all).",
        )

    def describe(gpu: Gpu) -> str:
        memory = f", {gpu.memory_bytes / 1024**3:.0f} GiB" if gpu.memory_bytes else ""
        return f"{gpu.name}{memory}"

    names = "; ".join(describe(gpu) for gpu in gpus)
    return Check("GPU and driver", "ok", f"{names}, driver {gpus[0].driver}")


def _check_nsys(nsys: Nsys) -> Check:
    others = [
        f"{other.path} ({other.version_text})"
        for other in all_nsys()
        if other.path.resolve() != nsys.path.resolve()
    ]
    detail = f"{nsys.version_text} at {nsys.path}"
    if others:
        detail += f"; also {', '.join(others)}"
    if nsys.default_graph_mode_loses_work:
        return Check(
            "nsys",
            "warn",
            f"{detail}; it exports no graph work when graphs are traced whole",
            "launchlens traces graphs node by node with it; install nsys 2024.1 or newer for "
            "whole-graph tracing.",
        )
    return Check("nsys", "ok", detail)


def _check_importer(nsys: Nsys) -> Check:
    if nsys.importer is None:
        return Check(
            "nsys importer",
            "warn",
            f"no QdstrmImporter beside {nsys.path}",
            "If the trial below fails, install a full Nsight Systems.",
        )
    if missing := find_missing_libraries(nsys.importer):
        error = explain_missing_libraries(nsys.importer, missing)
        return Check("nsys importer", "fail", error.message, error.hint or "")
    return Check("nsys importer", "ok", f"{nsys.importer} starts")


def _check_perf_events() -> Check:
    name = "kernel.perf_event_paranoid"
    try:
        level = int(PARANOID_FILE.read_text())
    except (OSError, ValueError):
        return Check(name, "skip", "this kernel does not tell it")
    if level <= 2 or os.geteuid() == 0:
        return Check(name, "ok", f"{level}: launches are traced at any level, call stacks too")
    return Check(
        name,
        "warn",
        f"{level}: launches are traced at any level, but call stacks need 2 or less",
        "Only for call stacks: sudo sysctl kernel.perf_event_paranoid=2.",
    )


def _check_contention() -> Check:
    name = "other users of the tracing interface"
    variables = find_injections(os.environ)
    processes = find_tracing_processes()
    if not variables and not processes:
        return Check(name, "ok", "none seen")
    found = [f"{key}={value}" for key, value in variables.items()]
    found += [f"process {pid} ({program})" for pid, program in processes]
    remedies = []
    if variables:
        remedies.append(f"unset {' '.join(variables)}")
    if processes:
        remedies.append("let these processes end first")
    return Check(
        name,
        "warn",
        ", ".join(found),
        f"nsys cannot share the interface (CUPTI): {' and '.join(remedies)}.",
    )


def _check_disk(folder: Path) -> Check:
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    detail = f"{free / 1024**3:.1f} GiB free at {place}"
    if not os.access(place, os.W_OK):
        return Check(
            "disk space", "fail", f"{place} cannot be written to", "Choose another folder."
        )
    if free < DISK_NEEDED_BYTES:
        return Check("disk space", "warn", detail, "Free some: traces of long runs take gigabytes.")
    return Check("disk space", "ok", detail)


def _check_tracing(
    nsys: Nsys | None,
    versions: Python,
    python: str,
    gpus: tuple[Gpu, ...] | None,
    *,
    wanted: bool,
) -> Check:
    """The trial: kernels where there is a GPU that torch can use, NVTX ranges elsewhere."""
    name = "tracing trial"
    if not wanted:
        return Check(name, "skip", "not asked for")
    if nsys is None:
        return Check(name, "skip", "there is no nsys", "See nsys.")
    if versions.version("nvtx") is None:
        detail = versions.error or f"{python} has no nvtx package"
        return Check(name, "skip", detail, "pip install nvtx.")
    gpu = gpus is not None and versions.facts.get("available") is True
    try:
        seen = run_trial(nsys, python=python, gpu=gpu)
    except CaptureError as error:
        remedy = error.hint or "Run nsys on a small program by hand to see more."
        return Check(name, "fail", error.message, remedy)
    return _judge_trial(seen, gpus)


def _judge_trial(seen: Trial, gpus: tuple[Gpu, ...] | None) -> Check:
    name = "tracing trial"
    by_hand = ", imported by hand" if seen.importer_used else ""
    ranges = f"{seen.ranges} of {TRIAL_RANGES} NVTX ranges"
    if seen.ranges < TRIAL_RANGES:
        return Check(
            name, "fail", f"{ranges} traced", "Unset NVTX_INJECTION64_PATH, or use a newer nsys."
        )
    if seen.kernels is None:
        return Check(
            name,
            "warn" if gpus else "ok",
            f"{ranges} traced in {seen.seconds:.1f} s{by_hand}; no kernels, as no GPU can be used",
            "Install a torch that can use the GPU, then try again." if gpus else "nothing to do",
        )
    if seen.kernels == 0:
        return Check(
            name,
            "fail",
            f"{ranges} but no kernel traced",
            "Close other profilers, and check that nsys is new enough for the driver.",
        )
    return Check(name, "ok", f"{ranges} and {seen.kernels} kernels traced{by_hand}")
