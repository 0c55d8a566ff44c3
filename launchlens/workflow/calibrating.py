"""``launchlens calibrate``: one process without a profiler, one under nsys, then a file."""

from __future__ import annotations

import statistics
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens import capture
from launchlens.errors import CaptureError, HarnessError
from launchlens.protocol.result import CalibrateResult, read_result
from launchlens.protocol.spec import HarnessSpec
from launchlens.records.calibration import Calibration, CostRow
from launchlens.store import calibration_file, keep_calibration, runs_root
from launchlens.workflow.load import Choices, Loaded, load
from launchlens.workflow.profiling.child import child_command

if TYPE_CHECKING:
    from launchlens.forecast.calibration import TracedLaunches, Where

NO_MODEL = "calibration"
"""What stands in a spec for the model where none is built."""


def calibrate(nsys: Path | None, runs: Path | None, timeout_s: float) -> Calibration:
    """Measure this machine's costs and keep them beside the runs.

    Raises:
        CaptureError: no nsys, or it recorded nothing.
        HarnessError: no GPU or no torch; the costs could not be measured.
        StoreError: the file cannot be written.
    """
    found = capture.find_nsys(nsys)
    with tempfile.TemporaryDirectory(prefix="launchlens-calibrate-") as folder:
        untraced = _run(Path(folder), timeout_s)
        traced = _record(Path(folder), found, timeout_s)
    return keep(untraced, traced, found.version_text, runs)


def keep(
    untraced: CalibrateResult, traced: Loaded, nsys_version: str, runs: Path | None
) -> Calibration:
    """Work the costs out from both recordings, and write their file.

    Raises:
        LaunchlensError: something was not measured.
        StoreError: the file cannot be written.
    """
    from launchlens.forecast.calibration import as_file, calibrated
    from launchlens.forecast.constants import COSTS, choose

    environment, info = untraced.environment, traced.analysis.trace
    gpu = (environment.gpu if environment else None) or info.gpu or "an unnamed GPU"
    shipped = choose(gpu, info.format)
    where = _where(gpu, untraced, traced, nsys_version)
    made, kept = calibrated(
        by_kind(untraced), traced_launches(traced), untraced.piece, where, shipped
    )
    path = calibration_file(runs_root(runs))
    keep_calibration(path, as_file(made))
    rows = tuple(
        CostRow(
            name,
            getattr(made, name).value,
            getattr(made, name).spread,
            getattr(shipped, name).value,
            name not in kept,
        )
        for name in COSTS
    )
    return Calibration(
        gpu=gpu,
        driver=made.driver,
        cuda=made.cuda,
        cpu=made.cpu,
        shipped_gpu=shipped.gpu,
        file=str(path),
        costs=rows,
        notes=tuple(untraced.notes),
    )


def _where(gpu: str, untraced: CalibrateResult, traced: Loaded, nsys_version: str) -> Where:
    from launchlens.forecast.calibration import Where

    return Where(
        gpu=gpu,
        driver=traced.analysis.trace.driver,
        cuda=untraced.environment.cuda if untraced.environment else None,
        cpu=capture.cpu_name(),
        recorder=f"{traced.analysis.trace.format} {nsys_version}",
        format=traced.analysis.trace.format,
        day=f"{datetime.now(UTC):%Y-%m-%d}",
    )


def by_kind(result: CalibrateResult) -> Mapping[str, Mapping[int, Sequence[int]]]:
    """Samples by kind of work and size."""
    found: dict[str, dict[int, Sequence[int]]] = defaultdict(dict)
    for cost in result.costs:
        found[cost.kind][cost.size] = cost.samples_ns
    return found


def traced_launches(loaded: Loaded) -> TracedLaunches:
    """What the traced launches show; the first step is left out."""
    from launchlens.forecast.calibration import TracedLaunches
    from launchlens.records.columns import OpKind

    ops, steps = loaded.trace.ops, loaded.analysis.steps[1:] or loaded.analysis.steps
    kernels = (ops.end_ns - ops.start_ns)[ops.kind == OpKind.KERNEL]
    calls = loaded.measured.owned.calls.count.tolist()
    if not kernels.size or not steps or not calls:
        raise CaptureError("The traced launches left no kernels in the trace.")
    return TracedLaunches(
        kernel_ns=float(statistics.median(kernels.tolist())),
        calls=int(statistics.median(calls)),
        step_ns=[step.cpu_ns for step in steps],
        launches=int(statistics.median(step.launches or 0 for step in steps)),
    )


def _spec(folder: Path, *, traced: bool) -> HarnessSpec:
    name = "traced" if traced else "untraced"
    return HarnessSpec(
        model=NO_MODEL,
        result_path=str(folder / f"{name}.json"),
        mode="calibrate",
        device="cuda",
        graph_trace="none" if traced else None,
    )


def _run(folder: Path, timeout_s: float) -> CalibrateResult:
    spec, log = _spec(folder, traced=False), folder / "untraced.log"
    code = capture.run_plain(child_command(spec), log=log, timeout_s=timeout_s)
    return _answer(spec, log, code)


def _record(folder: Path, nsys: capture.Nsys, timeout_s: float) -> Loaded:
    spec, log = _spec(folder, traced=True), folder / "traced.log"
    recording = capture.record(
        nsys,
        child_command(spec),
        capture.Tracing(cuda=True),
        output=folder / "traced",
        log=log,
        timeout_s=timeout_s,
    )
    _answer(spec, log, recording.program_exit_code)
    return load(recording.sqlite, Choices())


def _answer(spec: HarnessSpec, log: Path, code: int | None) -> CalibrateResult:
    result = read_result(Path(spec.result_path), CalibrateResult)
    if result is None or result.error is not None:
        error = result.error if result else None
        said = (
            error.message if error else capture.last_line(log) or capture.describe_exit(code or 0)
        )
        raise HarnessError(
            f"The costs could not be measured: {said.rstrip('.')}.",
            hint=error.hint if error else None,
        )
    return result
