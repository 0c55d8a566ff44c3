"""Formats write a `Document` (launchlens.report.document): they lay out, and compute nothing.

A format is a file of ``formats/`` with a ``FORMAT``. Nothing else lists them: the values of
``--format`` follow.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from launchlens.render.writer import Format, Manner

if TYPE_CHECKING:
    from launchlens.report.document import Document


@cache
def all_formats() -> tuple[Format, ...]:
    """All formats, in the order in which they are offered; imports nothing heavy."""
    from launchlens.render import formats

    names = [module.name for module in iter_modules(formats.__path__)]
    found: list[Format] = [import_module(f"{formats.__name__}.{name}").FORMAT for name in names]
    return tuple(sorted(found, key=lambda f: (f.rank, f.name)))


def names_for(kind: str) -> tuple[str, ...]:
    """Names of the formats that can write a kind of document ("comparison", "runs", …)."""
    return tuple(f.name for f in all_formats() if f.serves(kind))


def format_named(name: str, kind: str) -> Format | None:
    """The format for a kind of document that a user means by a name, such as "md"; else None."""
    return next((f for f in all_formats() if f.serves(kind) and f.is_called(name)), None)


def format_of_file(path: Path) -> Format | None:
    """The format whose files are named so, of any kind; None for other suffixes."""
    suffix = path.suffix.lower()
    return next((f for f in all_formats() if suffix in f.suffixes), None)


def draws(name: str) -> bool:
    """Whether a format shows timelines, so that they have to be built for it."""
    return _find(name).draws


def write(
    document: Document, name: str, *, verbose: bool = False, width: int = 100, color: bool = False
) -> str:
    """A document in the format of this name, which serves its kind (`names_for`).

    ``width`` in columns; see `Manner`.
    """
    return _find(name).write(document, Manner(verbose=verbose, width=width, color=color))


def _find(name: str) -> Format:
    return next(f for f in all_formats() if f.name == name)
