"""What launches and graphs cost on a machine: the answer of ``launchlens calibrate``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CostRow:
    """A cost of the machine, beside that of the GPU nearest to it that launchlens ships."""

    name: str
    """Its name (docs/forecast.md)."""
    ns: float
    """What it is, in nanoseconds."""
    spread_ns: float
    """Standard deviation over the measurements."""
    shipped_ns: float
    """What launchlens ships."""
    measured: bool
    """Whether it was measured here; else the shipped one stands in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A machine's costs: the JSON object of ``launchlens calibrate --format json``."""

    schema: Literal["launchlens.calibration/1"] = "launchlens.calibration/1"
    """Name and version of this layout."""
    gpu: str
    """The GPU."""
    driver: str | None
    """Its driver."""
    cuda: str | None
    """CUDA version that torch was built for."""
    cpu: str | None
    """The CPU, on which costs of calls depend."""
    shipped_gpu: str
    """GPU of the shipped costs."""
    file: str
    """Where they are kept, for forecasts of traces of this GPU."""
    costs: tuple[CostRow, ...]
    """The costs."""
    notes: tuple[str, ...] = ()
    """What a reader must know of them."""
