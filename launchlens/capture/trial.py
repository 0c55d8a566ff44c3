"""A recording of two seconds that shows whether tracing works on this machine."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.capture.process import last_line
from launchlens.capture.run import record
from launchlens.errors import CaptureError

if TYPE_CHECKING:
    from launchlens.capture.find import Nsys

TRIAL_RANGES = 3
TRIAL_TIMEOUT_S = 120.0
NVTX_PUSH_POP = 59  # NVTX_EVENTS.eventType

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

    Attributes:
        ranges: NVTX ranges, of `TRIAL_RANGES` that were opened.
        kernels: GPU kernels; None when the trial ran no GPU work.
        seconds: how long the program ran under nsys.
        importer_used: whether the importer had to be run by hand.
    """

    ranges: int
    kernels: int | None
    seconds: float
    importer_used: bool


def run_trial(nsys: Nsys, *, python: str, gpu: bool) -> Trial:
    """Records a tiny program in a temporary folder and counts what came out.

    Args:
        nsys: what `find_nsys` returned.
        python: interpreter to run it with; needs nvtx, and torch with a GPU.
        gpu: whether it multiplies matrices on the GPU; otherwise it opens NVTX ranges only.

    Raises:
        CaptureError: nothing could be recorded; the program's output is quoted, as its log goes
            with the temporary folder.
    """
    with tempfile.TemporaryDirectory(prefix="launchlens-trial-") as folder:
        try:
            recording = record(
                nsys,
                [python, "-c", _GPU_PROGRAM if gpu else _CPU_PROGRAM],
                output=Path(folder, "trial"),
                log=Path(folder, "trial.log"),
                timeout_s=TRIAL_TIMEOUT_S,
                trace=("cuda", "nvtx") if gpu else ("nvtx",),
                capture_range=gpu,
            )
        except CaptureError as error:
            hint = error.hint if error.hint and folder not in error.hint else None
            raise CaptureError(error.message, hint=hint) from error
        if recording.program_exit_code != 0:
            said = last_line(recording.log) or "it printed nothing"
            raise CaptureError(f"The trial's program failed: {said}")
        ranges = _count(recording.sqlite, "NVTX_EVENTS", f"eventType = {NVTX_PUSH_POP}")
        kernels = _count(recording.sqlite, "CUPTI_ACTIVITY_KIND_KERNEL", "1") if gpu else None
        return Trial(ranges, kernels, recording.seconds, recording.importer_used)


def _count(sqlite: Path, table: str, condition: str) -> int:
    """Rows of a table; 0 when the table is missing, as nsys writes none without rows."""
    with contextlib.closing(sqlite3.connect(f"file:{sqlite}?mode=ro", uri=True)) as database:
        known = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
        if table not in known:
            return 0
        (rows,) = database.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchone()
        return int(rows)
