"""How engines are told which sizes to capture: a file for each, with an ``OPTION``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules


@dataclass(frozen=True, slots=True)
class CaptureOption:
    """An engine's option."""

    engine: str
    """The engine."""
    write: Callable[[Sequence[int]], str]
    """The option, for some sizes."""
    default: Callable[[int], list[int]] | None = None
    """The sizes that it captures by itself, up to a largest; None where that is not known."""
    source: str = ""
    """Where its default is described."""


@cache
def capture_options() -> tuple[CaptureOption, ...]:
    """All of them, by file name."""
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").OPTION for name in names)
