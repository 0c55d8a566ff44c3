"""Figures of a step: a function for each metric of the catalogue, under the name of its field.

A function of this folder that is marked with `figure` computes one column: a value for each row (a
step on a device), None where it is unknown. A new metric of a step is its field in `Step` and one
such function; one that counts calls of some kinds is its field alone (`Metric.calls`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from launchlens.metrics.step_rows import StepRows

Column = list[Any]
Compute = Callable[["StepRows"], Column]

_FIGURES: dict[str, Compute] = {}


def register(name: str, compute: Compute) -> None:
    """Register what computes a field of `Step`."""
    _FIGURES[name] = compute


def figure(compute: Callable[[StepRows], Column]) -> Callable[[StepRows], Column]:
    """Mark a function as what computes the field of `Step` that has its name."""
    register(compute.__name__, compute)
    return compute


@cache
def figures() -> dict[str, Compute]:
    """All functions by the name of their field; the folder's files are imported once."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return _FIGURES
