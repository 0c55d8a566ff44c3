"""Ways to run a step that are always forecast: a file for each, with a ``VARIANT``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from launchlens.forecast.case import Change


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to run a step."""

    name: str
    """Its name; that of the variant of `launchlens profile` which runs a step so."""
    title: str
    """What stands before its time in a sentence ("as one CUDA graph")."""
    order: int
    """Place among the others."""
    change: Change
    """The step run so; None where the step leaves nothing to change."""


@cache
def variants() -> tuple[Variant, ...]:
    """All of them, in order."""
    names = (module.name for module in iter_modules(__path__))
    found: list[Variant] = [import_module(f"{__name__}.{name}").VARIANT for name in names]
    return tuple(sorted(found, key=lambda variant: variant.order))
