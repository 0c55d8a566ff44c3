"""Figures of a step: a function for each metric of the catalogue, under the name of its field.

A function of this folder that is marked with `figure` computes one column: a value for each row (a
step on a device), None where it is unknown. A new metric of a step is its field in `Step` and one
such function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from launchlens.metrics.measurement import Measurement

Column = list[Any]
Compute = Callable[["Measurement"], Column]

_FIGURES: dict[str, Compute] = {}


def figure(compute: Compute) -> Compute:
    """Register what computes the field of `Step` that has the function's name."""
    _FIGURES[compute.__name__] = compute
    return compute


@cache
def figures() -> dict[str, Compute]:
    """All functions by the name of their field; the folder's files are imported once."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return _FIGURES
