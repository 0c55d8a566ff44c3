"""A recording of two seconds that shows whether tracing works on this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.capture.command import Tracing
from launchlens.capture.find import Nsys
from launchlens.capture.logs import last_line
from launchlens.capture.run import record
from launchlens.errors import CaptureError, TraceError

if TYPE_CHECKING:
    from launchlens.records.columns import Trace

TRIAL_RANGES = 3

# Since nvtx 0.2.12 get_domain asks the tool whether the domain is on, and gives a dummy when the
# answer is no; nsys 2022.4 knows no such question, which counts as no, and would trace nothing.
_DOMAIN = """
import nvtx
def open_domain(name):
    domain = nvtx.get_domain(name)
    if hasattr(domain, "handle"):
        return domain
    from nvtx._lib import lib
    domain = object.__new__(lib.Domain)
    domain.handle = lib.DomainHandle(name)
    domain.__init__(name)
    return domain
domain = open_domain("launchlens")
attributes = domain.get_event_attributes(message="trial")
"""

_CPU_PROGRAM = f"""{_DOMAIN}
for _ in range({TRIAL_RANGES}):
    domain.push_range(attributes)
    domain.pop_range()
"""

# Warmed up first, so that the capture range holds kernels and no library start-up.
_GPU_PROGRAM = f"""{_DOMAIN}
import torch
a = torch.ones(256, 256, device="cuda")
a @ a
torch.cuda.synchronize()
torch.cuda.profiler.start()
for _ in range({TRIAL_RANGES}):
    domain.push_range(attributes)
    a @ a
    domain.pop_range()
torch.cuda.synchronize()
torch.cuda.profiler.stop()
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """What the trial's export holds.

    ``ranges`` are NVTX ranges, of `TRIAL_RANGES` that were opened; ``kernels`` is None when the
    trial ran no GPU work; ``importer_used`` as in `Recording`; ``unread`` says why the export
    cannot be read.
    """

    ranges: int
    kernels: int | None
    seconds: float
    importer_used: bool
    unread: str | None = None


def run_trial(
    nsys: Nsys, read: Callable[[Path], Trace], *, python: str, gpu: bool, timeout_s: float = 120.0
) -> Trial:
    """Records a tiny program in a temporary folder and counts what came out.

    It multiplies matrices on the GPU if ``gpu``, else it opens NVTX ranges only; ``python`` needs
    nvtx, and torch with a GPU. ``read`` reads the export (`launchlens.trace.read_trace`).

    Raises:
        CaptureError: nothing could be recorded; the program's output is quoted, as its log goes
            with the temporary folder.
    """
    with tempfile.TemporaryDirectory(prefix="launchlens-trial-") as folder:
        try:
            recording = record(
                nsys,
                [python, "-c", _GPU_PROGRAM if gpu else _CPU_PROGRAM],
                Tracing(cuda=gpu),
                output=Path(folder, "trial"),
                log=Path(folder, "trial.log"),
                timeout_s=timeout_s,
            )
        except CaptureError as error:
            hint = error.hint if error.hint and folder not in error.hint else None
            raise CaptureError(error.message, hint=hint) from error
        if recording.program_exit_code != 0:
            said = last_line(recording.log) or "it printed nothing"
            raise CaptureError(f"The trial's program failed: {said}")
        from launchlens.records.columns import OpKind

        try:
            trace = read(recording.sqlite)
        except TraceError as error:  # damaged, or without the tables that a trace has
            none, said = 0 if gpu else None, error.message.rstrip(".").replace(folder + "/", "")
            return Trial(0, none, recording.seconds, recording.importer_used, said)
        kernels = int((trace.ops.kind == OpKind.KERNEL).sum()) if gpu else None
        ranges = len(trace.ranges.start_ns)
        return Trial(ranges, kernels, recording.seconds, recording.importer_used)
