"""What a format is: a name, the documents it can write, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launchlens.report.document import Document


@dataclass(frozen=True, slots=True)
class Manner:
    """How a report is wanted: with all details, in how many columns, in colour."""

    verbose: bool = False
    width: int = 100
    color: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """A format of reports; each is the ``FORMAT`` of a file in ``launchlens/render/formats/``.

    Attributes:
        name: the value of ``--format``.
        title: what it is, in a few words.
        suffixes: endings of its files, with the dot; without it they name the format too.
        write: a document as text. Imports what is heavy when it is called.
        kinds: kinds of document it serves; None: every kind.
        draws: whether it shows timelines, which are built only for a format that does.
        for_eyes: whether its text may go to a terminal; a page for a browser may not.
        rank: its place among the formats; those of one rank stand in the order of names.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    write: Callable[[Document, Manner], str]
    kinds: frozenset[str] | None = None
    draws: bool = False
    for_eyes: bool = True
    rank: int = 100

    def serves(self, kind: str) -> bool:
        """Whether it can write documents of a kind."""
        return self.kinds is None or kind in self.kinds

    def is_called(self, name: str) -> bool:
        """Whether a name means it: its own ("markdown"), or a suffix of its files ("md")."""
        return name.lower() in (self.name, *(suffix.removeprefix(".") for suffix in self.suffixes))
