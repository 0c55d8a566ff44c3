"""Forges, a file or folder each. One here with a ``FORGE`` is all that a forge needs."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from launchlens.forge.interface import Forge


@cache
def all_forges() -> tuple[Forge, ...]:
    """Every forge, by the name of its file."""
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").FORGE for name in names)
