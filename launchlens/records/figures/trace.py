"""Where a trace comes from, and what its recorder says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Loss = Literal["certain", "possible"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message of nsys about the recording (DIAGNOSTIC_EVENT), errors and warnings only."""

    severity: str
    """Error or warning."""
    text: str
    """Nsys's message."""
    count: int = 1
    """How often it came."""
    loss: Loss | None = None
    """`certain` if it says that events were lost, `possible` if that they may have been."""
    pids: tuple[int, ...] = ()
    """Processes it is about; empty for all."""

    def is_about(self, pid: int) -> bool:
        """Whether it concerns a process."""
        return not self.pids or pid in self.pids


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """Where a trace comes from and how it was recorded; the JSON object ``trace``."""

    file: str
    """File as named."""
    label: str
    """Short name made from the file name."""
    sha256: str | None
    """Digest of the file as named; null for files over 64 MiB."""
    nsys_version: str | None
    """Version of nsys that exported it."""
    export_schema: str | None
    """Version of the export's layout."""
    gpu: str | None
    """GPU name."""
    driver: str | None
    """Driver version."""
    cuda_driver: str | None
    """CUDA version of the driver."""
    graph_tracing: str | None
    """Graph tracing the recording was set to."""
    cuda_traced: bool | None
    """Whether the recording was set to trace CUDA."""
    api_calls: int
    """API call rows."""
    ops: int
    """GPU operation rows."""
    unlinked_ops: int
    """GPU operations without an API row."""
    profiler_overhead_ns: int | None
    """Time nsys spent on itself, as it says."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors and warnings of nsys about the recording."""
    warnings: tuple[str, ...] = ()
    """What launchlens noticed about the trace, in sentences."""
    format: str = "nsys"
    """Format of the trace, which is that of the program that recorded it."""
