"""Trace formats, one folder each. A folder here with a ``FORMAT`` is all that a format needs."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from launchlens.trace.interface import TraceFormat


@cache
def all_formats() -> tuple[TraceFormat, ...]:
    """Every format, by the name of its folder."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(importlib.import_module(f"{__name__}.{name}").FORMAT for name in names)
